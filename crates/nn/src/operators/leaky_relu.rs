//! LeakyRelu.

use super::prelude::*;

pub(super) const LEAKY_RELU: Operator = Operator {
    attributes: &["alpha"],
    error: Bound::ROUNDED,
    ..Operator::new("LeakyRelu", "The element where it is not below 0, else `alpha` times the element.", read)
};

/// The element if it is at least 0, else the element times a factor.
#[derive(Clone, Debug, PartialEq)]
pub struct LeakyRelu {
    alpha: f32,
}

impl Definition for LeakyRelu {
    fn name(&self) -> &'static str {
        "LeakyRelu"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    /// The factor is the owner's secret, like the bounds of clips.
    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        match part {
            WeightPart::Factors => Cow::Owned(vec![self.alpha]),
            _ => Cow::Borrowed(&[]),
        }
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| if x < 0.0 { self.alpha * x } else { x })
    }

    /// The rectified value, plus the rest times the factor. This product is rounded to the nearest
    /// number, so it is 0 if the rest is 0.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let cut = lower.numbers.cut;
        let x = lower.value(site.reads[0]);
        let recipe = Recipe { frac: cut, shift: cut, ..Recipe::of(site.at, WeightPart::Factors, vec![]) };
        let factor = lower.weights("weights", recipe);
        let half = lower.b.number(lower.fixed(lower.wide_frac()), 1 << (cut - 1));
        let rectified = x.max(lower.zero(x));
        let left = ((x - rectified) * factor + half).rescale(cut);
        Ok(Held::cut_already(rectified + left, lower.node(site.reads[0])))
    }

    /// The room is that of the product with the factor before it is cut.
    fn room(&self, room: &Room<'_>) -> f64 {
        let product = room.reads[0].size * f64::from(self.alpha.abs());
        room.own(0.0).min(room.left(product, room.node, room.cut()))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let alpha = op.float("alpha", 0.01)?;
    if !alpha.is_finite() {
        return Err(op.error("its alpha is not finite", "save the model anew"));
    }
    op.alike(import, Kind::LeakyRelu(LeakyRelu { alpha }))
}

#[cfg(test)]
mod tests {
    use super::super::checks::{check, refused};
    use crate::{onnx::Attribute, zoo::Writer};
    use hushwire_fault::code;

    #[test]
    fn negative_elements_times_alpha() {
        for (alpha, said) in [(0.01, None), (0.2, Some(0.2)), (-1.5, Some(-1.5))] {
            let mut w = Writer::new("leaky", 1, &[2, 3, 4]);
            let attributes: Vec<_> =
                said.map(|alpha| ("alpha", Attribute::Float(alpha))).into_iter().collect();
            let y = w.op("LeakyRelu", &["input"], &attributes);
            let leaky = |x: f32| if x < 0.0 { alpha * x } else { x };
            check(&w.finish(&y), 2.0, |x| x.data.iter().map(|x| leaky(*x)).collect());
        }
        let mut w = Writer::new("leaky", 1, &[2]);
        let y = w.op("LeakyRelu", &["input"], &[("alpha", Attribute::Float(f32::NAN))]);
        assert_eq!(refused(&w.finish(&y)), code::OPERATOR);
    }

    #[test]
    fn of_a_product_with_weights() {
        let mut w = Writer::new("leaky", 1, &[6, 2]);
        let weights = w.weights(&[2, 2], vec![0.5, 1.0, -0.25, 0.75]);
        let y = w.op("Gemm", &["input", &weights], &[]);
        let y = w.op("LeakyRelu", &[&y], &[("alpha", Attribute::Float(0.1))]);
        let leaky = |x: f32| if x < 0.0 { 0.1 * x } else { x };
        let product = |x: &[f32]| [0.5 * x[0] - 0.25 * x[1], x[0] + 0.75 * x[1]];
        check(&w.finish(&y), 3.0, |x| x.data.chunks(2).flat_map(product).map(leaky).collect());
    }
}
