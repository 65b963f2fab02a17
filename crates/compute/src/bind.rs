//! Replaces symbols by numbers.

use crate::{
    Computation, ComputeError, Dim, Op, Range, Shape, Tensor, Value, draft::Draft, graph::Written,
    tensor::Decimal,
};
use std::collections::BTreeMap;

impl Computation {
    /// The computation with every symbol replaced by its number, checked again with these lengths.
    ///
    /// # Errors
    /// A symbol has no number, or an operation does not take these lengths, such as the median of
    /// no rows.
    pub fn bind(&self, symbols: &BTreeMap<String, u64>) -> Result<Computation, ComputeError> {
        let shape = |shape: &Shape| {
            shape.bind(symbols).map_err(|name| {
                let remedy = format!("say {name}=…, or bring an input that has it");
                ComputeError::ty(format!("length {name} has no number"), remedy)
            })
        };
        self.check_rows(symbols)?;
        let mut draft = Draft::new(&self.name)?;
        for member in &self.members {
            draft.member(member)?;
        }
        // Two nodes may become one if their shapes differed only in symbols.
        let mut values: Vec<Value> = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            let op = match &node.op {
                Op::Input(name) => {
                    let mut ty = node.ty.clone();
                    ty.shape = shape(&ty.shape)?;
                    values.push(draft.input_within(name, ty, self.promised(Value(at as u32)))?);
                    continue;
                }
                op => op.bound(&shape)?,
            };
            let arguments = node.arguments.iter().map(|v| values[v.0 as usize]).collect();
            values.push(draft.push(op, arguments)?);
        }
        for (value, form) in &self.forms {
            let operands = form.operands.iter().map(|v| values[v.0 as usize]).collect();
            draft.written(values[value.0 as usize], Written { operands, ..form.clone() });
        }
        for output in &self.outputs {
            draft.output(&output.name, values[output.value.0 as usize], output.to.clone())?;
        }
        draft.finish()
    }

    /// The numbers that symbols have in these inputs.
    ///
    /// # Errors
    /// An input is missing, has another type, or has a length that contradicts a number or another
    /// length.
    pub fn symbols_of(
        &self,
        inputs: &BTreeMap<String, Tensor>,
    ) -> Result<BTreeMap<String, u64>, ComputeError> {
        let mut lengths = BTreeMap::new();
        for (name, ty) in self.inputs() {
            let Some(tensor) = inputs.get(name) else {
                return refuse(name, "it is missing".into(), "bring it");
            };
            if tensor.scalar() != ty.scalar {
                let cause = format!("it is {} with axes {:?}, not {ty}", tensor.scalar(), tensor.lengths());
                return refuse(name, cause, "bring values of that type");
            }
            lengths.insert(name.to_owned(), tensor.lengths().to_vec());
        }
        self.symbols_with(&BTreeMap::new(), &lengths)
    }

    /// The numbers that symbols have in inputs of these lengths, in addition to the given ones.
    /// Inputs may be missing, because other members bring them.
    ///
    /// # Errors
    /// An input has a length that contradicts a number or another length.
    pub fn symbols_with(
        &self,
        given: &BTreeMap<String, u64>,
        lengths: &BTreeMap<String, Vec<usize>>,
    ) -> Result<BTreeMap<String, u64>, ComputeError> {
        let mut found: BTreeMap<String, (u64, Option<&str>)> =
            given.iter().map(|(symbol, n)| (symbol.clone(), (*n, None))).collect();
        for (name, ty) in self.inputs() {
            let Some(lengths) = lengths.get(name) else { continue };
            if lengths.len() != ty.shape.rank() {
                let cause = format!("it has axes {lengths:?}, and {ty} has {}", ty.shape.rank());
                return refuse(name, cause, "bring values of that type");
            }
            for (dim, len) in ty.shape.0.iter().zip(lengths) {
                let len = *len as u64;
                match dim {
                    Dim::Known(n) if *n != len => {
                        return refuse(name, format!("it has {len} where {ty} has {n}"), "bring as many");
                    }
                    Dim::Known(_) => {}
                    Dim::Symbol(symbol) => {
                        let (n, first) = found.entry(symbol.to_string()).or_insert((len, Some(name)));
                        if *n != len {
                            let of =
                                first.map_or("the agreed one".to_owned(), |first| format!("that of {first}"));
                            let cause = format!("its {symbol} is {len}, {of} is {n}");
                            return refuse(name, cause, "bring as many of both");
                        }
                    }
                }
            }
        }
        Ok(found.into_iter().map(|(symbol, (n, _))| (symbol, n)).collect())
    }

    /// Checks inputs against the ranges that they promise, and the order of histogram edges that
    /// depend on them. Members call it before they bring their inputs. Missing inputs are not
    /// checked.
    ///
    /// # Errors
    /// An element is outside its range, or edges fall.
    pub fn check_promises(&self, inputs: &BTreeMap<String, Tensor>) -> Result<(), ComputeError> {
        for (at, node) in self.nodes.iter().enumerate() {
            let (Op::Input(name), Some(range)) = (&node.op, self.promised(Value(at as u32))) else {
                continue;
            };
            let Some(tensor) = inputs.get(name) else { continue };
            let outside =
                |i: &usize| tensor.number(*i).is_none_or(|n| !range.holds(Range { low: n, high: n }));
            if let Some(i) = (0..tensor.len()).find(outside) {
                let [low, high] = [range.low, range.high].map(|n| Decimal(n, node.ty.scalar.frac()));
                return Err(ComputeError::Input {
                    input: name.clone(),
                    // The message does not contain the value, which only its owner may see.
                    cause: format!("element {i} is not within {low} to {high}, which it promises"),
                    remedy: "bring what is within, or agree on a wider range".into(),
                });
            }
        }
        self.check_edges(inputs)
    }

    /// Whether [`Self::check_promises`] may look at an input: it has a range, or there are edges.
    #[must_use]
    pub fn has_promise(&self, input: &str) -> bool {
        let mut nodes = self.nodes.iter().enumerate();
        let is_promised = nodes.any(|(at, node)| {
            matches!(&node.op, Op::Input(name) if name == input) && self.promised(Value(at as u32)).is_some()
        });
        is_promised || self.has_edges()
    }
}

fn refuse<T>(input: &str, cause: String, remedy: &str) -> Result<T, ComputeError> {
    Err(ComputeError::Input { input: input.to_owned(), cause, remedy: remedy.into() })
}
