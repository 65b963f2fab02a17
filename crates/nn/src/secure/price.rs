//! About what a computation costs, to compare rings.

use hushwire_compute::{Computation, Node, Op, Reduction, Scalar, Visibility};

/// The bits of the words in which three parties keep numbers.
fn word(scalar: Scalar) -> u64 {
    let bits = scalar.bits() as u64;
    [8, 16, 32, 64].into_iter().find(|word| bits <= *word).unwrap_or(bits)
}

/// About the bits that each of three parties sends for a run.
pub(super) fn price(computation: &Computation) -> u64 {
    let nodes = computation.nodes();
    nodes.iter().map(|node| of_node(node, nodes)).sum()
}

fn of_node(node: &Node, nodes: &[Node]) -> u64 {
    let argument = |k: usize| node.arguments.get(k).map(|value| &nodes[value.0 as usize]);
    let is_public = |node: &Node| node.ty.visibility == Visibility::Public;
    let elements = |node: &Node| node.ty.shape.elements().unwrap_or_default() as u64;
    let Some(first) = argument(0).filter(|_| node.ty.visibility == Visibility::Secret) else { return 0 };
    let scalar = first.ty.scalar;
    let (bits, words) = (scalar.bits() as u64, word(node.ty.scalar));
    match &node.op {
        Op::MatMul | Op::Conv2d { .. } | Op::Mul => {
            let public = is_public(first) || argument(1).is_some_and(is_public);
            if public { 0 } else { elements(node) * words }
        }
        Op::Add | Op::Sub | Op::Neg | Op::ShiftLeft(_) | Op::PrefixSum(_) | Op::Wrapping => 0,
        Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Slice { .. } | Op::Concat(_) => 0,
        Op::Reduce(Reduction::Sum, _) | Op::Pool { reduction: Reduction::Sum, .. } => 0,
        // A narrower ring takes nothing.
        Op::Cast(to) if to.is_number() && to.frac() == scalar.frac() && to.bits() as u64 <= bits => 0,
        // As bits, and as words again.
        Op::Reduce(..) | Op::Pool { .. } => elements(first) * 2 * bits + elements(node) * words,
        _ => elements(node) * (2 * bits + words),
    }
}
