//! Softmax.

use super::{
    log_softmax::{along, along_rows, by_rows},
    prelude::*,
};
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
        along_rows(&reads[0], self.axis, |x, sum| x.exp() / sum)
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
