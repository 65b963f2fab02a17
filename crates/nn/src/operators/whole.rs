//! Rounding of a sum of products to the nearest whole number, which the cut after it does.

use super::prelude::*;

/// The nearest whole number; for two that are equally near, either one.
#[derive(Clone, Debug, PartialEq)]
pub struct Whole;

impl Definition for Whole {
    fn name(&self) -> &'static str {
        "Round"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(f32::round_ties_even)
    }

    /// At the scale 1, a wide value has `cut` fractional bits. It contains half a step, which makes
    /// the cut round to the nearest number. No other operation is needed.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let from = site.reads[0];
        let Placed { node, wide, half } = lower.held(from).placed;
        if wide && half && lower.tie_to_one(node) {
            return Ok(Held::cut_already(lower.value(from), node));
        }
        let x = lower.at_nominal(from, site.at);
        Ok(Held::nominal(x.round_even()))
    }
}

/// The elements of a layer's value, rounded to the nearest whole numbers.
pub(super) fn whole(op: &Reading<'_>, import: &mut Import, at: usize) -> Result<Known, Fault> {
    let lengths = import.lengths(at).to_vec();
    op.made(import, Kind::Whole(Whole), vec![at], lengths)
}
