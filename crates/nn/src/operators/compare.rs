//! Comparisons and Sign. A truth value is 0 or 1 at the nominal scale; operators that take truth
//! values take the bit itself.

use super::{function, prelude::*};
use hushwire_compute::Comparison;

macro_rules! comparisons {
    ($($operator:ident $name:literal $comparison:ident $doc:literal;)+) => {
        $(pub(super) const $operator: Operator = Operator {
            inputs: 2,
            moves: true,
            error: Bound::EXACT,
            ..Operator::new($name, $doc, |op, import| read(op, import, Comparison::$comparison))
        };)+
        const NAMES: &[(Comparison, &str)] = &[$((Comparison::$comparison, $name)),+];
    };
}

comparisons! {
    EQUAL "Equal" Equal "Whether two numbers are equal, in steps. One operand may be weights.";
    GREATER "Greater" Greater "Whether the first is greater. One operand may be weights.";
    GREATER_OR_EQUAL "GreaterOrEqual" GreaterOrEqual "Whether the first is not less. One operand may be weights.";
    LESS "Less" Less "Whether the first is less. One operand may be weights.";
    LESS_OR_EQUAL "LessOrEqual" LessOrEqual "Whether the first is not greater. One operand may be weights.";
}

pub(super) const SIGN: Operator = Operator {
    error: Bound::EXACT,
    ..Operator::new("Sign", "−1, 0 or 1.", |op, import| op.alike(import, Kind::Sign(Sign)))
};

/// The result of comparing two numbers: 1 or 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    comparison: Comparison,
    /// The second operand, if it is weights.
    weights: Option<Arc<Array>>,
}

fn holds(comparison: Comparison, x: f32, y: f32) -> bool {
    match comparison {
        Comparison::Equal => x == y,
        Comparison::NotEqual => x != y,
        Comparison::Less => x < y,
        Comparison::LessOrEqual => x <= y,
        Comparison::Greater => x > y,
        Comparison::GreaterOrEqual => x >= y,
    }
}

/// The comparison with swapped operands.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

impl Definition for Compare {
    fn name(&self) -> &'static str {
        NAMES
            .iter()
            .find(|(comparison, _)| *comparison == self.comparison)
            .map_or("NotEqual", |(_, name)| name)
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    /// Bounds beyond the ring have no effect.
    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Low, known_data(&self.weights))])
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let other = self.weights.as_ref().unwrap_or_else(|| &reads[1]);
        let (a, b) = (reads[0].broadcast(to), other.broadcast(to));
        let truth = |(x, y): (&f32, &f32)| if holds(self.comparison, *x, *y) { 1.0 } else { 0.0 };
        Array { lengths: to.to_vec(), data: a.data.iter().zip(&b.data).map(truth).collect() }
    }

    /// Weights are compared with the value before it is cut.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from, to) = (site.at, site.reads[0], site.lengths);
        let (x, y) = match &self.weights {
            None => {
                let (x, node) = (lower.value(from), lower.node(from));
                let y = lower.aligned(site.reads[1], node, 1.0, at);
                (x, lower.spread(y, site.reads[1], to))
            }
            Some(weights) => {
                let held = lower.held(from);
                let Placed { node, wide, half } = held.placed;
                let frac = if wide { lower.wide_frac() } else { lower.numbers.frac };
                let shift = if wide { lower.numbers.cut } else { 0 };
                let own = weights.lengths.clone();
                let recipe = Recipe {
                    frac,
                    to: Some(node),
                    shift,
                    half,
                    ..Recipe::of(at, WeightPart::Low, own.clone())
                };
                (held.val, along(lower.weights("bounds", recipe), &own, to))
            }
        };
        let x = lower.spread(x, from, to);
        Ok(lower.of_truth(x.compare(self.comparison, y)))
    }

    fn room(&self, room: &Room<'_>) -> f64 {
        room.reads.iter().map(|read| room.left(read.size, read.node, 0.0)).fold(f64::INFINITY, f64::min)
    }
}

fn read(op: &Reading<'_>, import: &mut Import, comparison: Comparison) -> Result<Known, Fault> {
    // Places, such as those from ArgMax, count as numbers.
    for k in 0..2 {
        if let Known::Layer(at) = op.input(import, k)?
            && import.is_places(at)
        {
            let (places, other) = (function::numbers(op, import, at)?, op.input(import, 1 - k)?);
            let inputs = if k == 0 { [&places, &other] } else { [&other, &places] };
            return op.call(import, &op.node.op, &inputs, &[]);
        }
    }
    let is_turned = !matches!(op.input(import, 0)?, Known::Layer(_));
    let (reads, weights, lengths) = op.two(import, "it compares weights")?;
    let comparison = if is_turned { turned(comparison) } else { comparison };
    op.made(import, Kind::Compare(Compare { comparison, weights }), reads, lengths)
}

/// Truth values that tell whether elements of a layer's value differ from 0.
pub(super) fn not_zero(op: &Reading<'_>, import: &mut Import, at: usize) -> Result<Known, Fault> {
    let weights = Some(Arc::new(Array::zeros(&[1])));
    let lengths = import.lengths(at).to_vec();
    op.made(import, Kind::Compare(Compare { comparison: Comparison::NotEqual, weights }), vec![at], lengths)
}

/// −1, 0 or 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Sign;

impl Definition for Sign {
    fn name(&self) -> &'static str {
        "Sign"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| if x == 0.0 { 0.0 } else { x.signum() })
    }

    /// The result does not depend on the scale.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        Ok(Held::nominal(lower.value(site.reads[0]).sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    type Truth = fn(f32, f32) -> bool;

    #[test]
    fn truth_values_are_exact() {
        let all: [(&str, Truth); 5] = [
            ("Equal", |x, y| x == y),
            ("Greater", |x, y| x > y),
            ("GreaterOrEqual", |x, y| x >= y),
            ("Less", |x, y| x < y),
            ("LessOrEqual", |x, y| x <= y),
        ];
        let weights = [0.5, -0.25, 0.125];
        for (op, truth) in all {
            let number = |x: bool| f32::from(u8::from(x));
            for turned in [false, true] {
                let mut w = Writer::new("c", 1, &[2, 3]);
                let by = w.weights(&[3], weights.to_vec());
                let y = w.op(op, &if turned { [&by, "input"] } else { ["input", &by] }, &[]);
                check(&w.finish(&y), 0.0, |x| {
                    let one = |(i, x): (usize, &f32)| {
                        let w = weights[i % 3];
                        number(if turned { truth(w, *x) } else { truth(*x, w) })
                    };
                    x.data.iter().enumerate().map(one).collect()
                });
            }
            // A product that is compared with a value before it is cut.
            let mut w = Writer::new("c", 1, &[2, 3]);
            let half = w.weights(&[1], vec![0.5]);
            let product = w.op("Mul", &["input", &half], &[]);
            let y = w.op(op, &["input", &product], &[]);
            check(&w.finish(&y), 0.0, |x| x.data.iter().map(|x| number(truth(*x, x / 2.0))).collect());
        }
        let mut w = Writer::new("c", 1, &[2, 3]);
        let y = w.op("Sign", &["input"], &[]);
        check(&w.finish(&y), 0.0, |x| x.data.iter().map(|x| x.signum()).collect());
    }
}
