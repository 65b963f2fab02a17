//! The computations that an owner does alone, on a part of its rows, if no process has all of them.
//!
//! ```text
//! by rows       x < 10 and 2 x + y: an element depends on the elements in the same place
//! of all rows   x − mean(x), x[1:], a prefix sum: an element depends on other elements, too
//! ```

use crate::{Computation, ComputeError, Node, Op, Tensor, Value, eval};
use std::collections::BTreeSet;

impl Computation {
    /// The inputs on which a vector depends row by row: each of its elements depends only on the
    /// elements of these inputs in the same place, and on inputs of a single element. `None` if an
    /// element depends on others, or if the value is not a vector. The computation must have no
    /// symbols.
    #[must_use]
    pub fn by_rows(&self, value: Value) -> Option<BTreeSet<&str>> {
        let length = |node: &Node| match node.ty.shape.lengths()?[..] {
            [] => Some(None),
            [n] => Some(Some(n)),
            _ => None,
        };
        let rows = length(self.node(value))??;
        let (mut inputs, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![value]);
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            let node = self.node(value);
            let own = length(node)?;
            for read in &node.arguments {
                let read = length(self.node(*read))?;
                if read.is_some_and(|n| own.is_none() || n != rows) {
                    return None;
                }
            }
            match (&node.op, own) {
                (Op::Input(name), _) => drop(inputs.insert(name.as_str())),
                (_, Some(n)) if n != rows => return None,
                // A single element that depends on others is the same for all rows.
                (_, None) | (Op::Broadcast(_) | Op::Wrapping, _) => {}
                (op, _) if op.is_element_wise() => {}
                _ => return None,
            }
            open.extend(&node.arguments);
        }
        Some(inputs)
    }

    /// Computes some rows of vectors that are computed by rows ([`Computation::by_rows`]). `input`
    /// has these rows of the inputs, and single elements. The function `rows` maps a number of all
    /// rows to the number of rows here.
    ///
    /// # Errors
    /// An input has another number of rows.
    ///
    /// # Panics
    /// If an input is missing.
    pub fn some_rows<'t>(
        &self,
        wanted: &[Value],
        input: impl Fn(&str) -> Option<&'t Tensor>,
        rows: impl Fn(usize) -> usize,
    ) -> Result<Vec<Tensor>, ComputeError> {
        let lengths = |node: &Node| {
            let whole = eval::lengths(node)?;
            Ok(whole.into_iter().map(&rows).collect::<Vec<usize>>())
        };
        let needs: BTreeSet<&str> =
            wanted.iter().filter_map(|value| self.by_rows(*value)).flatten().collect();
        for node in self.nodes() {
            let Op::Input(name) = &node.op else { continue };
            if needs.contains(name.as_str())
                && input(name).is_some_and(|i| Ok(i.lengths()) != lengths(node).as_deref())
            {
                let cause = format!("input {name} has other rows than its range");
                return Err(ComputeError::ty(cause, "bring the rows of the range"));
            }
        }
        eval::some_of(self, input, wanted, lengths)
    }

    /// Values that one owner computes in the clear. `input` has the inputs on which they depend.
    ///
    /// # Errors
    /// A `gather` names a place that does not exist.
    ///
    /// # Panics
    /// If an input is missing.
    pub fn alone<'t>(
        &self,
        wanted: &[Value],
        input: impl Fn(&str) -> Option<&'t Tensor>,
    ) -> Result<Vec<Tensor>, ComputeError> {
        eval::some(self, input, wanted)
    }
}
