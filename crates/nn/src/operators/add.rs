//! Add.

use super::prelude::*;

pub(super) const ADD: Operator = Operator { inputs: 2, ..Operator::new("Add", read) };

/// The sum of two values, or of a value and weights; axes of length 1 are repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Add {
    /// The weights that are added, if it is not another value.
    pub(crate) weights: Option<Arc<Array>>,
}

impl Definition for Add {
    fn name(&self) -> &'static str {
        "Add"
    }

    fn role(&self) -> Role {
        Role::Other
    }

    fn part(&self, part: Part) -> Cow<'_, [f32]> {
        match (&self.weights, part) {
            (Some(weights), Part::Terms) => Cow::Borrowed(&weights.data),
            _ => Cow::Borrowed(&[]),
        }
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let other = self.weights.as_ref().unwrap_or_else(|| &reads[1]);
        let (a, b) = (reads[0].broadcast(to), other.broadcast(to));
        Array { lengths: to.to_vec(), data: a.data.iter().zip(&b.data).map(|(a, b)| a + b).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, NnError> {
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
                let recipe = Recipe { frac, to: Some(node), ..Recipe::of(at, Part::Terms, own.clone()) };
                along(lower.weights("terms", recipe), &own, to)
            }
        };
        Ok(Held::cut_already(lower.spread(x, from, to) + y, node))
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, NnError> {
    let (reads, weights, lengths) = op.two(import, "it adds weights")?;
    op.made(import, Kind::Add(Add { weights }), reads, lengths)
}
