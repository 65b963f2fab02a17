//! Operations' names, and how many operands they take.

use crate::{Op, Reduction};

/// Operations' names in messages and text.
pub(crate) fn name(op: &Op) -> &'static str {
    match op {
        Op::Input(_) => "input",
        Op::Constant(_) => "constant",
        Op::Add => "+",
        Op::Sub | Op::Neg => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::Abs => "abs",
        Op::Min => "min",
        Op::Max => "max",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Not => "!",
        Op::Compare(c) => c.sign(),
        Op::Select => "select",
        Op::ShiftLeft(_) => "<<",
        Op::ShiftRight(_) => ">>",
        Op::Rescale(_) => "rescale",
        Op::Cast(_) => "cast",
        Op::Reduce(r, _) => r.name(),
        Op::PrefixSum(_) => "prefix_sum",
        Op::MatMul => "matmul",
        Op::Broadcast(_) => "broadcast",
        Op::Reshape(_) => "reshape",
        Op::Transpose(_) => "transpose",
        Op::Slice { .. } => "slice",
        Op::Concat(_) => "concat",
        Op::Gather => "gather",
        Op::Order { .. } => "order",
        Op::Meet { .. } => "meet",
        Op::Permute => "permute",
        Op::Invert => "invert",
        Op::Compact { .. } => "compact",
        Op::Reveal(_) => "reveal",
        Op::Scan(scan) => scan.name(),
        Op::Conv2d { .. } => "conv2d",
        Op::Pool { reduction, .. } => pool_name(*reduction),
        Op::Circuit(_) => "circuit",
        Op::Part { .. } => "part",
        Op::Join => "join",
        Op::Wrapping => "wrapping",
    }
}

/// The name of pooling by a reduction.
pub(crate) const fn pool_name(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::Sum => "pool_sum",
        Reduction::Mean => "pool_mean",
        Reduction::Min => "pool_min",
        Reduction::Max => "pool_max",
        _ => "pool",
    }
}

/// How many operands an operation takes; `None` for any number from 1.
pub(crate) fn arity(op: &Op) -> Option<usize> {
    Some(match op {
        Op::Input(_) | Op::Constant(_) => 0,
        Op::Neg
        | Op::Abs
        | Op::Not
        | Op::ShiftLeft(_)
        | Op::ShiftRight(_)
        | Op::Rescale(_)
        | Op::Cast(_)
        | Op::Reduce(..)
        | Op::PrefixSum(_)
        | Op::Broadcast(_)
        | Op::Reshape(_)
        | Op::Transpose(_)
        | Op::Slice { .. }
        | Op::Invert
        | Op::Pool { .. }
        | Op::Part { .. }
        | Op::Wrapping
        | Op::Reveal(_) => 1,
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Rem
        | Op::Min
        | Op::Max
        | Op::And
        | Op::Or
        | Op::Xor
        | Op::Compare(_)
        | Op::MatMul
        | Op::Gather
        | Op::Permute
        | Op::Scan(_)
        | Op::Conv2d { .. }
        | Op::Compact { .. } => 2,
        Op::Select => 3,
        Op::Circuit(circuit) => circuit.inputs().len(),
        Op::Concat(_) | Op::Order { .. } | Op::Meet { .. } | Op::Join => return None,
    })
}
