//! Softmax.

use super::{
    log_softmax::{along, by_rows},
    prelude::*,
};
use crate::array::lines;
use hushwire_compute::Val;

pub(super) const SOFTMAX: Operator = Operator {
    attributes: &["axis"],
    error: Bound::ROW,
    ..Operator::new("Softmax", "e^x divided by the sum of e^x along an axis.", read)
};

/// e^x divided by the sum of e^x along an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax {
    pub(crate) axis: usize,
}

impl Definition for Softmax {
    fn name(&self) -> &'static str {
        "Softmax"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        let x = &reads[0];
        let (firsts, step) = lines(&x.lengths, self.axis);
        let mut out = Array::clone(x);
        for first in firsts {
            let at = |i: usize| first + i * step;
            let n = x.lengths[self.axis];
            let most = (0..n).map(|i| x.data[at(i)]).fold(f32::NEG_INFINITY, f32::max);
            let sum: f32 = (0..n).map(|i| (x.data[at(i)] - most).exp()).sum();
            (0..n).for_each(|i| out.data[at(i)] = (x.data[at(i)] - most).exp() / sum);
        }
        out
    }

    /// Computes all rows at once.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let x = lower.at_nominal(site.reads[0], site.at);
        Ok(Held::nominal(by_rows(x, site.lengths, self.axis, Val::softmax)))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    along(op, import, |axis| Kind::Softmax(Softmax { axis }))
}
