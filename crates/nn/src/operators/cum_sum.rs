//! CumSum.

use super::prelude::*;
use crate::array::lines;
use hushwire_compute::{Op, Reduction};

pub(super) const CUM_SUM: Operator = Operator {
    inputs: 2,
    attributes: &["exclusive", "reverse"],
    error: Bound::EXACT,
    ..Operator::new("CumSum", "The sum of each element and all before it along an axis.", read)
};

/// The sums of each element and all before it along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct CumSum {
    axis: usize,
    /// Whether the element itself is excluded.
    without: bool,
    /// Whether the sums run from the end.
    reverse: bool,
}

impl Definition for CumSum {
    fn name(&self) -> &'static str {
        "CumSum"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        let mut out = Array::clone(&reads[0]);
        let (firsts, step) = lines(&out.lengths, self.axis);
        let n = out.lengths[self.axis];
        for first in firsts {
            let mut sum = 0.0;
            for i in 0..n {
                let at = first + step * if self.reverse { n - 1 - i } else { i };
                let own = out.data[at];
                out.data[at] = if self.without { sum } else { sum + own };
                sum += own;
            }
        }
        out
    }

    /// A sum from the end is the sum of all minus the sum from the start.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let x = lower.value(site.reads[0]);
        let axis = self.axis as u8;
        let sums = lower.b.apply(Op::PrefixSum(axis), &[x]);
        let made = if self.reverse {
            let mut one = site.lengths.to_vec();
            one[self.axis] = 1;
            let all = x.reduce(Reduction::Sum, axis).reshape(shape(&one)).broadcast(shape(site.lengths));
            if self.without { all - sums } else { all - sums + x }
        } else if self.without {
            sums - x
        } else {
            sums
        };
        Ok(Held::cut_already(made, lower.node(site.reads[0])))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let rank = import.lengths(op.layer(import, 0)?).len();
    let axis = op.integers(import, 1)?.unwrap_or_default();
    let [axis] = axis[..] else { return Err(op.error("it has no axis", "save the model anew")) };
    let axis = op.axis(axis, rank)?;
    let (without, reverse) = (op.flag("exclusive", false)?, op.flag("reverse", false)?);
    op.alike(import, Kind::CumSum(CumSum { axis, without, reverse }))
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn from_either_end_with_and_without_the_element() {
        for (without, reverse) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut w = Writer::new("c", 1, &[1, 4, 2]);
            let axis = w.op("Constant", &[], &[("value_int", Attribute::Int(1))]);
            let attributes = [("exclusive", Attribute::Int(without)), ("reverse", Attribute::Int(reverse))];
            let y = w.op("CumSum", &["input", &axis], &attributes);
            check(&w.finish(&y), 4.0, |x| {
                let one = |i: usize, k: usize| {
                    let range = match (without, reverse) {
                        (0, 0) => 0..i + 1,
                        (0, _) => i..4,
                        (_, 0) => 0..i,
                        _ => i + 1..4,
                    };
                    range.map(|i| x.data[2 * i + k]).sum::<f32>()
                };
                (0..8).map(|at| one(at / 2, at % 2)).collect()
            });
        }
    }
}
