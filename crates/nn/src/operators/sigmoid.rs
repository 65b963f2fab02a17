//! Sigmoid.

use super::prelude::*;

pub(super) const SIGMOID: Operator = Operator {
    error: Bound::steps(1.0 + 1.0 / 32.0),
    ..Operator::new("Sigmoid", "1 / (1 + e^−x).", |op, import| op.alike(import, Kind::Sigmoid(Sigmoid)))
};

/// 1 / (1 + e^−x).
#[derive(Clone, Debug, PartialEq)]
pub struct Sigmoid;

impl Definition for Sigmoid {
    fn name(&self) -> &'static str {
        "Sigmoid"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| 1.0 / (1.0 + (-x).exp()))
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        Ok(Held::nominal(lower.at_nominal(site.reads[0], site.at).sigmoid()))
    }
}
