//! Mod.

use super::prelude::*;
use hushwire_compute::Comparison;

pub(super) const MOD: Operator = Operator {
    inputs: 2,
    attributes: &["fmod"],
    error: Bound::EXACT,
    ..Operator::new(
        "Mod",
        "The remainder, with the divisor's sign, or with the dividend's if `fmod` is set. The divisor may be weights.",
        read,
    )
};

/// The remainder of a quotient.
#[derive(Clone, Debug, PartialEq)]
pub struct Remainder {
    /// The divisor, if it is weights.
    weights: Option<Arc<Array>>,
    /// Whether it has the dividend's sign.
    of_dividend: bool,
}

impl Definition for Remainder {
    fn name(&self) -> &'static str {
        "Mod"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Terms, known_data(&self.weights))])
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let by = self.weights.as_ref().unwrap_or_else(|| &reads[1]);
        let (a, b) = (reads[0].broadcast(to), by.broadcast(to));
        let one = |(x, y): (&f32, &f32)| {
            let rest = x % y;
            if !self.of_dividend && rest != 0.0 && (rest < 0.0) != (*y < 0.0) { rest + y } else { rest }
        };
        Array { lengths: to.to_vec(), data: a.data.iter().zip(&b.data).map(one).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let x = lower.operand(&site, &None, site.reads[0], site.at);
        let by = site.reads[site.reads.len() - 1];
        let y = lower.operand(&site, &self.weights, by, site.at + 1_000_000);
        let rest = x % y;
        if self.of_dividend {
            return Ok(Held::nominal(rest));
        }
        let zero = lower.zero(rest);
        let differ = rest.less(zero) ^ y.less(zero);
        let differ = differ & rest.compare(Comparison::NotEqual, zero);
        Ok(Held::nominal(lower.b.select(differ, rest + y, rest)))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    op.layer(import, 0)?;
    let of_dividend = op.flag("fmod", false)?;
    let (reads, weights, lengths) = op.two(import, "it divides weights")?;
    op.made(import, Kind::Remainder(Remainder { weights, of_dividend }), reads, lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn with_either_sign() {
        let weights = [0.5, -0.25, 0.75];
        for fmod in [0, 1] {
            let mut w = Writer::new("m", 1, &[2, 3]);
            let by = w.weights(&[3], weights.to_vec());
            let y = w.op("Mod", &["input", &by], &[("fmod", Attribute::Int(fmod))]);
            check(&w.finish(&y), 1.0, |x| {
                let one = |(i, x): (usize, &f32)| {
                    let y = weights[i % 3];
                    if fmod == 1 { x % y } else { x - y * (x / y).floor() }
                };
                x.data.iter().enumerate().map(one).collect()
            });
        }
    }
}
