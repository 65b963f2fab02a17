//! Clip.

use super::prelude::*;

pub(super) const CLIP: Operator = Operator {
    inputs: 3,
    attributes: &["max", "min"],
    twice: &[(1, "min"), (2, "max")],
    error: Bound::ROUNDED,
    ..Operator::new("Clip", "The element, limited to bounds that the model gives, or to values.", read)
};

/// The element, limited to bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// The lower bound.
    pub low: Option<f32>,
    /// The upper bound.
    pub high: Option<f32>,
}

impl Definition for Clip {
    fn name(&self) -> &'static str {
        "Clip"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Keeps
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        let bound = match part {
            WeightPart::Low => self.low,
            WeightPart::High => self.high,
            _ => None,
        };
        Cow::Owned(bound.into_iter().collect())
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        let (low, high) = (self.low.unwrap_or(f32::NEG_INFINITY), self.high.unwrap_or(f32::INFINITY));
        reads[0].each(|x| x.max(low).min(high))
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let Placed { node, wide, half } = held.placed;
        let mut x = held.val;
        for (part, name, bound) in [(WeightPart::Low, "low", self.low), (WeightPart::High, "high", self.high)]
        {
            if bound.is_none() {
                continue;
            }
            let frac = if wide { lower.wide_frac() } else { lower.numbers.frac };
            let shift = if wide { lower.numbers.cut } else { 0 };
            let recipe = Recipe { frac, to: Some(node), shift, half, ..Recipe::of(site.at, part, vec![]) };
            let bound = lower.weights(name, recipe).broadcast(shape(site.lengths));
            x = if part == WeightPart::Low { x.max(bound) } else { x.min(bound) };
        }
        Ok(held.with(x))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let bounds = [op.maybe(import, 1)?, op.maybe(import, 2)?];
    if bounds.iter().flatten().any(|bound| matches!(bound, Known::Layer(_))) {
        let mut made = op.input(import, 0)?;
        for (bound, name) in bounds.iter().zip(["Max", "Min"]) {
            if let Some(bound) = bound {
                made = op.call(import, name, &[&made, bound], &[])?;
            }
        }
        return Ok(made);
    }
    let bound = |import: &Import, k: usize, name: &str| match op.maybe_weights(import, k)? {
        Some(array) => match array.data[..] {
            [x] => Ok(Some(x)),
            _ => Err(op.error("a bound is not one number", "give one for all elements")),
        },
        None => op.maybe_float(name),
    };
    let (low, high) = (bound(import, 1, "min")?, bound(import, 2, "max")?);
    op.alike(import, Kind::Clip(Clip { low, high }))
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn bounds_that_are_values() {
        let mut w = Writer::new("clip", 1, &[2, 3]);
        let (low, half) = (w.weights(&[], vec![-0.25]), w.weights(&[1], vec![0.5]));
        let high = w.op("Mul", &["input", &half], &[]);
        let y = w.op("Clip", &["input", &low, &high], &[]);
        check(&w.finish(&y), 2.0, |x| x.data.iter().map(|x| x.max(-0.25).min(x / 2.0)).collect());
    }
}
