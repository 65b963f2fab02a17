//! Lowers a computation to stages, node by node.

use super::values::{Lowered, Site, Values};
use crate::{Computation, ComputeError, Node, Op, Scalar, Tensor, ops::Lowering};
use hushwire_circuit::Program;

/// Lowers a computation without symbols to a program of at most `most` registers.
pub(super) fn lower(computation: &Computation, most: usize) -> Result<Program, ComputeError> {
    let mut values = Values::new(most);
    let mut inputs = vec![];
    for node in computation.nodes() {
        let to = lengths(node)?;
        let value = if matches!(node.op, Op::Input(_)) {
            // Inputs come first in canonical order, so their registers do too.
            let bits = to.iter().product::<usize>().checked_mul(node.ty.scalar.bits());
            let registers = values.stages.registers(bits.unwrap_or(usize::MAX))?;
            inputs.push(registers.len());
            Lowered::Bits(registers.collect())
        } else {
            lowered(&mut values, node, &to)?
        };
        values.push(value, node.ty.scalar, to);
    }
    let outputs = computation.outputs().iter();
    let outputs = outputs.map(|o| values.bits(o.value.0 as usize)).collect::<Result<Vec<_>, _>>()?;
    Ok(values.stages.program(computation.name(), inputs, &outputs))
}

fn lengths(node: &Node) -> Result<Vec<usize>, ComputeError> {
    node.ty.shape.lengths().filter(|_| node.ty.shape.elements().is_some()).ok_or_else(|| {
        ComputeError::ty(
            format!("a value has the shape {}", node.ty.shape),
            "bind all symbols before, to lengths that fit",
        )
    })
}

fn lowered(values: &mut Values, node: &Node, to: &[usize]) -> Result<Lowered, ComputeError> {
    let args: Vec<usize> = node.arguments.iter().map(|v| v.0 as usize).collect();
    let scalar = node.ty.scalar;
    let known: Option<Vec<&Tensor>> = args.iter().map(|a| values.known(*a)).collect();
    if let Some(known) = known.filter(|_| scalar != Scalar::Place) {
        return node.op.compute(&known, scalar, to).map(Lowered::Known);
    }
    let site = Site { args: &args, scalar, to };
    match node.op.def().lowering() {
        Lowering::Elements(block) => values.each(site, &*block).map(Lowered::Bits),
        // A moved permutation is still a permutation.
        Lowering::Moves(_) if scalar == Scalar::Place => Ok(Lowered::Order(values.order(args[0]))),
        Lowering::Moves(places) => {
            let lengths: Vec<&[usize]> = args.iter().map(|a| values.lengths(*a)).collect();
            let places = places(&lengths, to);
            values.moved(&args, &places).map(Lowered::Bits)
        }
        Lowering::Stages(make) => make(values, site),
    }
}
