//! The plain evaluator: computes everything in the clear. It is the oracle of all back ends, which
//! must give the same bits.

use crate::{Computation, ComputeError, Node, Op, Tensor, Value};
use std::collections::BTreeMap;

/// Evaluates a computation: takes inputs by name, and returns outputs by name. The inputs determine
/// the symbols' numbers.
///
/// # Errors
/// Inputs do not fit or are outside a promised range, or a `gather` names a place that does not
/// exist.
pub fn evaluate(
    computation: &Computation,
    inputs: &BTreeMap<String, Tensor>,
) -> Result<BTreeMap<String, Tensor>, ComputeError> {
    let bound = computation.bind(&computation.symbols_of(inputs)?)?;
    computation.check_promises(inputs)?;
    let wanted: Vec<Value> = bound.outputs().iter().map(|output| output.value).collect();
    let values = some(&bound, |name| inputs.get(name), &wanted)?;
    Ok(bound.outputs().iter().map(|o| o.name.clone()).zip(values).collect())
}

/// The values of all nodes of a computation without symbols.
#[cfg(test)]
pub(crate) fn values(
    bound: &Computation,
    inputs: &BTreeMap<String, Tensor>,
) -> Result<Vec<Tensor>, ComputeError> {
    let mut values: Vec<Tensor> = Vec::with_capacity(bound.nodes().len());
    for node in bound.nodes() {
        let operands: Vec<&Tensor> = node.arguments.iter().map(|v| &values[v.0 as usize]).collect();
        let value = match &node.op {
            Op::Input(name) => inputs[name].clone(),
            op => op.compute(&operands, node.ty.scalar, &lengths(node)?)?,
        };
        values.push(value);
    }
    Ok(values)
}

/// Computes some values of a computation without symbols, and nothing that they do not need.
/// `input` returns the inputs.
pub(crate) fn some<'t>(
    bound: &Computation,
    input: impl Fn(&str) -> Option<&'t Tensor>,
    wanted: &[Value],
) -> Result<Vec<Tensor>, ComputeError> {
    some_of(bound, input, wanted, lengths)
}

/// Like [`some`], with lengths for nodes that differ from their types.
pub(crate) fn some_of<'t>(
    bound: &Computation,
    input: impl Fn(&str) -> Option<&'t Tensor>,
    wanted: &[Value],
    lengths: impl Fn(&Node) -> Result<Vec<usize>, ComputeError>,
) -> Result<Vec<Tensor>, ComputeError> {
    let nodes = bound.nodes();
    // The number of reads of each value; wanted values count one more.
    let mut readers = vec![0usize; nodes.len()];
    wanted.iter().for_each(|v| readers[v.0 as usize] += 1);
    for at in (0..nodes.len()).rev() {
        if readers[at] > 0 {
            nodes[at].arguments.iter().for_each(|v| readers[v.0 as usize] += 1);
        }
    }
    let mut values: Vec<Option<Tensor>> = vec![None; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        if readers[at] == 0 {
            continue;
        }
        let read = |v: &Value| values[v.0 as usize].as_ref().expect("it is kept while it has readers");
        let operands: Vec<&Tensor> = node.arguments.iter().map(read).collect();
        let value = match &node.op {
            Op::Input(name) => input(name).expect("inputs are brought").clone(),
            op => op.compute(&operands, node.ty.scalar, &lengths(node)?)?,
        };
        values[at] = Some(value);
        for v in &node.arguments {
            readers[v.0 as usize] -= 1;
            if readers[v.0 as usize] == 0 {
                values[v.0 as usize] = None;
            }
        }
    }
    Ok(wanted.iter().map(|v| values[v.0 as usize].clone().expect("it is wanted")).collect())
}

pub(crate) fn lengths(node: &Node) -> Result<Vec<usize>, ComputeError> {
    let lengths = node.ty.shape.lengths();
    lengths.ok_or_else(|| ComputeError::ty("a value is too large", "bring fewer rows"))
}
