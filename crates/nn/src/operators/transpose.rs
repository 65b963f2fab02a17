//! Transpose.

use super::prelude::*;
use hushwire_compute::Op;

pub(super) const TRANSPOSE: Operator = Operator {
    attributes: &["perm"],
    moves: true,
    error: Bound::EXACT,
    ..Operator::new("Transpose", "Axes in another order.", read)
};

/// Axes in another order.
#[derive(Clone, Debug, PartialEq)]
pub struct Transpose {
    pub(crate) axes: Vec<usize>,
}

impl Definition for Transpose {
    fn name(&self) -> &'static str {
        "Transpose"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Moves
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].transposed(&self.axes)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let axes = self.axes.iter().map(|axis| *axis as u8).collect();
        Ok(held.with(lower.b.apply(Op::Transpose(axes), &[held.val])))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let from = import.lengths_of(&of);
    let axes = match op.ints("perm")? {
        Some(all) => all.iter().map(|axis| op.axis(*axis, from.len())).collect::<Result<Vec<_>, _>>()?,
        None => (0..from.len()).rev().collect(),
    };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..from.len()) {
        return Err(op.error(format!("its axes are {axes:?}"), "name each axis once"));
    }
    let lengths = axes.iter().map(|axis| from[*axis]).collect();
    match of {
        Known::Layer(at) => op.made(import, Kind::Transpose(Transpose { axes }), vec![at], lengths),
        Known::Floats(array) => Ok(Known::Floats(Arc::new(array.transposed(&axes)))),
        Known::Ints(..) => Err(op.error("it turns integers", "save the model anew")),
    }
}
