//! Mul.

use super::prelude::*;

pub(super) const MUL: Operator = Operator {
    inputs: 2,
    error: Bound::ROUNDED,
    ..Operator::new("Mul", "The product. One operand may be weights; axes of length 1 are repeated.", read)
};

/// The product of two values, or of a value and weights; axes of length 1 are repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Mul {
    /// The weights that it multiplies by; `None` if the other operand is a value.
    pub(crate) weights: Option<Arc<Array>>,
}

impl Definition for Mul {
    fn name(&self) -> &'static str {
        "Mul"
    }

    fn role(&self) -> ScaleRole {
        if self.weights.is_some() { ScaleRole::Weights } else { ScaleRole::Other }
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Factors, known_data(&self.weights))])
    }

    fn factors(&self) -> Option<Factors> {
        self.weights.as_ref().map(|weights| Factors { rows: weights.data.len(), inner: 1 })
    }

    fn products(&self, made: u64, _: &[&[usize]]) -> u64 {
        made
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let other = self.weights.as_ref().unwrap_or_else(|| &reads[1]);
        let (a, b) = (reads[0].broadcast(to), other.broadcast(to));
        Array { lengths: to.to_vec(), data: a.data.iter().zip(&b.data).map(|(a, b)| a * b).collect() }
    }

    /// Weights convert any scale to any other. Values have the nominal scale, and their product has
    /// twice the fractional bits until it is cut.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from, to) = (site.at, site.reads[0], site.lengths);
        let half = |lower: &Lower<'b>, bits: u8| {
            lower.b.number(lower.fixed(lower.numbers.frac + bits), 1 << (bits - 1))
        };
        let Some(weights) = &self.weights else {
            let (x, other) = (lower.at_nominal(from, at), site.reads[1]);
            let y = lower.at_nominal(other, at + 1_000_000);
            let product = lower.spread(x, from, to) * lower.spread(y, other, to);
            let frac = lower.numbers.frac;
            return Ok(Held::nominal((product + half(lower, frac)).rescale(frac)));
        };
        let x = lower.value(from);
        let node = lower.classes.fresh();
        let w = lower.factors(at, weights.lengths.clone(), from, node);
        let product = lower.spread(x, from, to) * along(w, &weights.lengths, to);
        Ok(match lower.halved(at) {
            true => Held::wide(product + half(lower, lower.numbers.cut), node, true),
            false => Held::wide(product, node, false),
        })
    }

    /// The room is that of products before they are cut.
    fn room(&self, room: &Room<'_>) -> f64 {
        room.own(if self.weights.is_some() { room.wide() } else { room.frac() })
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (reads, weights, lengths) = op.two(import, "it multiplies weights")?;
    op.made(import, Kind::Mul(Mul { weights }), reads, lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{check, refused};
    use crate::zoo::Writer;
    use hushwire_fault::code;

    /// Products with one number, with one for each channel, and with more axes than the value has,
    /// from either side.
    #[test]
    fn products_with_weights() {
        let by = [0.5, -1.25, 2.0];
        for (lengths, turned) in [(&[][..], false), (&[3, 1], false), (&[3, 1], true), (&[1, 1, 3, 1], false)]
        {
            let mut w = Writer::new("mul", 1, &[2, 3, 4]);
            let weights = w.weights(lengths, if lengths.is_empty() { vec![0.75] } else { by.to_vec() });
            let inputs = if turned { [&weights, "input"] } else { ["input", &weights] };
            let y = w.op("Mul", &inputs, &[]);
            let factor = |i: usize| if lengths.is_empty() { 0.75 } else { by[i / 4 % 3] };
            let product = |(i, x): (usize, &f32)| factor(i) * x;
            check(&w.finish(&y), 2.0, |x| x.data.iter().enumerate().map(product).collect());
        }
    }

    /// A value times itself, and a wide value times a repeated column. Cutting rounds.
    #[test]
    fn products_of_values() {
        let mut w = Writer::new("mul", 1, &[2, 3, 4]);
        let y = w.op("Mul", &["input", "input"], &[]);
        check(&w.finish(&y), 6.0, |x| x.data.iter().map(|x| x * x).collect());
        let mut w = Writer::new("mul", 1, &[6, 2]);
        let weights = w.weights(&[2, 1], vec![0.5, -0.25]);
        let column = w.op("Gemm", &["input", &weights], &[]);
        let y = w.op("Mul", &[&column, "input"], &[]);
        check(&w.finish(&y), 8.0, |x| {
            let row = |x: &[f32]| [x[0], x[1]].map(|y| (0.5 * x[0] - 0.25 * x[1]) * y);
            x.data.chunks(2).flat_map(row).collect()
        });
    }

    /// Weights after a rectifier, where the product is cut.
    #[test]
    fn rectified_products() {
        let mut w = Writer::new("mul", 1, &[2, 3, 4]);
        let weights = w.weights(&[4], vec![0.5, -1.0, 0.25, 1.5]);
        let y = w.op("Mul", &["input", &weights], &[]);
        let y = w.relu(&y);
        let y = w.op("Add", &[&y, "input"], &[]);
        check(&w.finish(&y), 3.0, |x| {
            let own = |(i, x): (usize, &f32)| ([0.5, -1.0, 0.25, 1.5][i % 4] * x).max(0.0) + x;
            x.data.iter().enumerate().map(own).collect()
        });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut w = Writer::new("mul", 1, &[2, 3, 4]);
        let weights = w.weights(&[3], vec![1.0; 3]);
        let y = w.op("Mul", &["input", &weights], &[]);
        assert_eq!(refused(&w.finish(&y)), code::OPERATOR);
    }
}
