//! Symbols get their numbers.

use crate::{Computation, ComputeError, Dim, Op, Shape, Tensor, draft::Draft};
use std::collections::BTreeMap;

impl Computation {
    /// The same computation with every symbol replaced by its number, checked anew with these lengths.
    ///
    /// # Errors
    /// A symbol without a number, or an operation that does not take these lengths.
    pub fn bind(&self, symbols: &BTreeMap<String, u64>) -> Result<Computation, ComputeError> {
        let shape = |shape: &Shape| {
            shape.bind(symbols).map_err(|name| ComputeError::Input {
                cause: "the length has no number".into(),
                remedy: format!("say {name}=…, or bring an input that has it"),
                input: name,
            })
        };
        let mut draft = Draft::new(&self.name)?;
        for member in &self.members {
            draft.member(member)?;
        }
        for node in &self.nodes {
            let op = match &node.op {
                Op::Input(name) => {
                    let mut ty = node.ty.clone();
                    ty.shape = shape(&ty.shape)?;
                    draft.input(name, ty)?;
                    continue;
                }
                Op::Broadcast(to) => Op::Broadcast(shape(to)?),
                Op::Reshape(to) => Op::Reshape(shape(to)?),
                op => op.clone(),
            };
            draft.push(op, node.arguments.clone())?;
        }
        for output in &self.outputs {
            draft.output(&output.name, output.value, output.to.clone())?;
        }
        draft.finish()
    }

    /// The numbers of symbols that these inputs have along their axes.
    ///
    /// # Errors
    /// An input is missing, is of another type, or has another length where a symbol, or a number, stands.
    pub fn symbols_of(
        &self,
        inputs: &BTreeMap<String, Tensor>,
    ) -> Result<BTreeMap<String, u64>, ComputeError> {
        let mut found: BTreeMap<String, (u64, &str)> = BTreeMap::new();
        for (name, ty) in self.inputs() {
            let refuse = |cause: String, remedy: &str| {
                Err(ComputeError::Input { input: name.to_owned(), cause, remedy: remedy.into() })
            };
            let Some(tensor) = inputs.get(name) else {
                return refuse("it is missing".into(), "bring it");
            };
            if tensor.scalar() != ty.scalar || tensor.lengths().len() != ty.shape.rank() {
                let cause = format!("it is {} with axes {:?}, not {ty}", tensor.scalar(), tensor.lengths());
                return refuse(cause, "bring values of that type");
            }
            for (dim, len) in ty.shape.0.iter().zip(tensor.lengths()) {
                let len = *len as u64;
                match dim {
                    Dim::Known(n) if *n != len => {
                        return refuse(format!("it has {len} where {ty} has {n}"), "bring as many");
                    }
                    Dim::Known(_) => {}
                    Dim::Symbol(symbol) => {
                        let (n, first) = found.entry(symbol.to_string()).or_insert((len, name));
                        if *n != len {
                            let cause = format!("its {symbol} is {len}, that of {first} is {n}");
                            return refuse(cause, "bring as many of both");
                        }
                    }
                }
            }
        }
        Ok(found.into_iter().map(|(symbol, (n, _))| (symbol, n)).collect())
    }
}
