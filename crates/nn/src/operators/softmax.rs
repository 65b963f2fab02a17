//! Softmax.

use super::{
    log_softmax::{along_rows, by_rows},
    pick::reshaped,
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
    let rank = import.lengths(op.layer(import, 0)?).len();
    let before = import.opset < 13;
    let axis = op.axis(op.int("axis", if before { 1 } else { -1 })?, rank)?;
    if before && axis + 1 != rank {
        // Before set 13 it covers all axes from the given one on.
        let x = op.input(import, 0)?;
        let lengths = import.lengths_of(&x);
        let flat = [lengths[..axis].iter().product::<usize>(), lengths[axis..].iter().product()];
        let flat = reshaped(op, import, x, flat.to_vec())?;
        let Known::Layer(at) = flat else { return Err(op.error("it is known", "leave it out")) };
        let made =
            op.made(import, Kind::Softmax(Softmax { axis: 1 }), vec![at], import.lengths(at).to_vec())?;
        return reshaped(op, import, made, lengths);
    }
    op.alike(import, Kind::Softmax(Softmax { axis }))
}
