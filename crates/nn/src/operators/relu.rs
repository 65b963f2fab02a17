//! Relu.

use super::prelude::*;

pub(super) const RELU: Operator = Operator {
    error: Bound::EXACT,
    ..Operator::new("Relu", "The greater of 0 and the element.", |op, import| {
        op.alike(import, Kind::Relu(Relu))
    })
};

/// The greater of 0 and the element.
#[derive(Clone, Debug, PartialEq)]
pub struct Relu;

impl Definition for Relu {
    fn name(&self) -> &'static str {
        "Relu"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Keeps
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| x.max(0.0))
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        // It is applied to the wide value. Three parties then cut it for free, and convert only the
        // remaining bits to words.
        let held = lower.held(site.reads[0]);
        Ok(held.with(held.val.max(lower.zero(held.val))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn the_greater_of_0() {
        let mut w = Writer::new("relu", 1, &[2, 3, 4]);
        let y = w.relu("input");
        check(&w.finish(&y), 0.5, |x| x.data.iter().map(|x| if *x > 0.0 { *x } else { 0.0 }).collect());
    }
}
