//! Rules of forms that have no value for some lengths or elements. They are checked when symbols
//! have numbers and public elements are known.

use crate::{
    Computation, ComputeError, Dim, Op, Shape, Tensor, Value, eval::some, evaluation::less, graph::Written,
    tensor::Literal,
};
use std::collections::{BTreeMap, BTreeSet};

/// The first two neighbouring elements that fall, as people write them.
pub(super) fn falls(edges: &Tensor) -> Option<[String; 2]> {
    let of = edges.scalar();
    let at = (1..edges.len()).find(|i| less(of, edges.get(*i), edges.get(i - 1)))?;
    Some([at - 1, at].map(|i| Literal(of, edges.get(i)).to_string()))
}

/// The cause and remedy if a column of a form has too few rows.
pub(super) fn lacks_rows(form: &str, column: &Shape, rows: Option<u64>) -> Option<(String, String)> {
    let Some(Dim::Known(n)) = column.0.first() else { return None };
    match (form, rows) {
        ("median", _) if *n == 0 => {
            Some(("a column of no rows has no median".into(), "bring a row at least".into()))
        }
        ("top_k", Some(rows)) if *n < rows => {
            let cause = format!("`top_k` takes {rows} rows of a column of {n}");
            Some((cause, "bring as many at least, or take fewer".into()))
        }
        _ => None,
    }
}

impl Computation {
    /// Refuses lengths for which a form has no value.
    pub(crate) fn check_rows(&self, symbols: &BTreeMap<String, u64>) -> Result<(), ComputeError> {
        for form in self.forms.values() {
            let of = form.operands[0];
            let Ok(column) = self.node(of).ty.shape.bind(symbols) else { continue };
            if let Some((cause, remedy)) = lacks_rows(form.name, &column, form.rows) {
                return Err(ComputeError::Input { input: self.shown_as(of), cause, remedy });
            }
        }
        Ok(())
    }

    fn histograms(&self) -> impl Iterator<Item = &Written> {
        self.forms.values().filter(|form| form.name == "histogram")
    }

    /// Whether there are edges that [`Self::check_edges`] may refuse.
    pub(crate) fn has_edges(&self) -> bool {
        self.histograms().next().is_some()
    }

    /// Refuses falling edges of histograms, if they follow from constants and these inputs alone
    /// and their lengths are known.
    pub(crate) fn check_edges(&self, inputs: &BTreeMap<String, Tensor>) -> Result<(), ComputeError> {
        for form in self.histograms() {
            let edges = form.operands[1];
            if !self.follows_from(edges, inputs) {
                continue;
            }
            let found = some(self, |name| inputs.get(name), &[edges])?;
            if let Some([high, low]) = falls(&found[0]) {
                let cause = format!("as the edges of a histogram they fall from {high} to {low}");
                let remedy = "bring them in ascending order".into();
                return Err(ComputeError::Input { input: self.shown_as(edges), cause, remedy });
            }
        }
        Ok(())
    }

    /// Whether these inputs and constants are enough to compute a value.
    fn follows_from(&self, value: Value, inputs: &BTreeMap<String, Tensor>) -> bool {
        let (mut stack, mut seen) = (vec![value], BTreeSet::new());
        while let Some(value) = stack.pop() {
            let node = self.node(value);
            let known = match &node.op {
                Op::Input(name) => inputs.contains_key(name),
                _ => node.ty.shape.lengths().is_some(),
            };
            if !known {
                return false;
            }
            stack.extend(node.arguments.iter().filter(|v| seen.insert(**v)));
        }
        true
    }
}
