//! ArgMax.

use super::prelude::*;
use crate::array::lines;
use hushwire_compute::Reduction;

pub(super) const ARG_MAX: Operator = Operator {
    attributes: &["axis", "keepdims", "select_last_index"],
    ..Operator::new(
        "ArgMax",
        "The index of the greatest element along an axis, the first if several are equal. Only moves of elements may follow.",
        read,
    )
};

/// The first place of the greatest element along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgMax {
    pub(crate) axis: usize,
}

impl Definition for ArgMax {
    fn name(&self) -> &'static str {
        "ArgMax"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Places(self.axis)
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let x = &reads[0];
        let (firsts, step) = lines(&x.lengths, self.axis);
        let one = |first: usize| {
            let better = |best: usize, i: usize| {
                if x.data[first + i * step] > x.data[first + best * step] { i } else { best }
            };
            (1..x.lengths[self.axis]).fold(0, better) as f32
        };
        Array { lengths: to.to_vec(), data: firsts.into_iter().map(one).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let places = held.val.reduce(Reduction::ArgMax, self.axis as u8);
        Ok(Held::cut_already(places.reshape(shape(site.lengths)), lower.classes.fresh()))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let at = op.layer(import, 0)?;
    let mut lengths = import.lengths(at).to_vec();
    let axis = op.axis(op.int("axis", 0)?, lengths.len())?;
    if op.flag("select_last_index", false)? {
        return Err(op.error("it takes the last of equal elements", "take the first"));
    }
    let keep = op.flag("keepdims", true)?;
    lengths[axis] = 1;
    if !keep {
        lengths.remove(axis);
    }
    op.made(import, Kind::ArgMax(ArgMax { axis }), vec![at], lengths)
}
