//! Add.

use super::{choose, prelude::*};

pub(super) const ADD: Operator = Operator {
    inputs: 2,
    error: Bound::ROUNDED,
    ..Operator::new(
        "Add",
        "The sum. One operand may be weights, which from 10^9 on count as 2^15; axes of length 1 are repeated.",
        read,
    )
};

/// The sum of two values, or of a value and weights; axes of length 1 are repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Add {
    /// The added weights; `None` if the other operand is a value.
    pub(crate) weights: Option<Arc<Array>>,
}

impl Definition for Add {
    fn name(&self) -> &'static str {
        "Add"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Terms, known_data(&self.weights))])
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let other = self.weights.as_ref().unwrap_or_else(|| &reads[1]);
        let (a, b) = (reads[0].broadcast(to), other.broadcast(to));
        Array { lengths: to.to_vec(), data: a.data.iter().zip(&b.data).map(|(a, b)| a + b).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from, to) = (site.at, site.reads[0], site.lengths);
        let x = lower.value(from);
        let node = lower.node(from);
        let y = match &self.weights {
            None => {
                let y = lower.aligned(site.reads[1], node, 1.0, at);
                lower.spread(y, site.reads[1], to)
            }
            Some(weights) => {
                let own = weights.lengths.clone();
                let frac = lower.numbers.frac;
                let recipe =
                    Recipe { frac, to: Some(node), ..Recipe::of(at, WeightPart::Terms, own.clone()) };
                along(lower.weights("terms", recipe), &own, to)
            }
        };
        Ok(Held::cut_already(lower.spread(x, from, to) + y, node))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    for k in 0..2 {
        if let Known::Floats(array) = op.input(import, k)?
            && array.data.iter().any(|x| x.abs() >= 1e9)
        {
            let weights = Known::Floats(Arc::new(choose::limited(op, &array)?));
            let other = op.input(import, 1 - k)?;
            return op.call(import, "Add", &[&other, &weights], &[]);
        }
    }
    let (reads, weights, lengths) = op.two(import, "it adds weights")?;
    op.made(import, Kind::Add(Add { weights }), reads, lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn sums_of_values_and_of_weights() {
        let mut w = Writer::new("add", 1, &[2, 3, 4]);
        let a = w.weights(&[3, 1], vec![0.5, -1.25, 2.0]);
        let y = w.op("Add", &["input", &a], &[]);
        let y = w.op("Add", &[&y, "input"], &[]);
        check(&w.finish(&y), 2.0, |x| {
            let own = |(i, x): (usize, &f32)| x + [0.5, -1.25, 2.0][i / 4 % 3] + x;
            x.data.iter().enumerate().map(own).collect()
        });
    }
}
