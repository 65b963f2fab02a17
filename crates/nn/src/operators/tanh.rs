//! Tanh.

use super::prelude::*;

pub(super) const TANH: Operator = Operator {
    error: Bound::steps(1.0 + 1.0 / 32.0),
    ..Operator::new("Tanh", "The hyperbolic tangent.", |op, import| op.alike(import, Kind::Tanh(Tanh)))
};

/// The hyperbolic tangent.
#[derive(Clone, Debug, PartialEq)]
pub struct Tanh;

impl Definition for Tanh {
    fn name(&self) -> &'static str {
        "Tanh"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(f32::tanh)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        Ok(Held::nominal(lower.at_nominal(site.reads[0], site.at).tanh()))
    }
}
