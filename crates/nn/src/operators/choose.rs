//! Where.

use super::prelude::*;
use crate::array::together;

pub(super) const WHERE: Operator = Operator {
    inputs: 3,
    error: Bound::ROUNDED,
    ..Operator::new(
        "Where",
        "The second operand where the first is true, else the third; both may be weights. Weights from 10^9 on count as 2^15.",
        read,
    )
};

/// AGREEMENT: replaces weights that only mean "greater than everything".
const HUGE: f32 = 32_768.0;

/// One of two values, chosen by a truth value.
#[derive(Clone, Debug, PartialEq)]
pub struct Where {
    /// The condition, if all members know it.
    condition: Option<Arc<Array>>,
    /// The values for a true and for a false condition, if they are weights.
    weights: [Option<Arc<Array>>; 2],
}

impl Definition for Where {
    fn name(&self) -> &'static str {
        "Where"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        let [low, high] = &self.weights;
        part.of(&[(WeightPart::Low, known_data(low)), (WeightPart::High, known_data(high))])
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let mut reads = reads.iter();
        let mut next = |known: &Option<Arc<Array>>| {
            known.as_ref().or_else(|| reads.next()).map_or_else(|| Array::zeros(to), |of| of.broadcast(to))
        };
        let condition = next(&self.condition);
        let [yes, no] = self.weights.each_ref().map(next);
        let one = |i: usize| if condition.data[i] != 0.0 { yes.data[i] } else { no.data[i] };
        Array { lengths: to.to_vec(), data: (0..condition.data.len()).map(one).collect() }
    }

    /// The result has the scale of the first operand that is a value.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, to) = (site.at, site.lengths);
        let mut reads = site.reads.iter().copied();
        let condition = match &self.condition {
            Some(known) => lower.known_truth(&known.broadcast(to)),
            None => {
                let from = reads.next().unwrap_or_default();
                let bit = lower.truth(from);
                lower.spread(bit, from, to)
            }
        };
        let values: Vec<usize> = reads.collect();
        let node = values.first().map_or(crate::scale::Classes::NOMINAL, |first| lower.node(*first));
        let mut values = values.into_iter();
        let mut sides = vec![];
        for (k, weights) in self.weights.iter().enumerate() {
            let (part, name) = [(WeightPart::Low, "yes"), (WeightPart::High, "no")][k];
            sides.push(match weights {
                Some(weights) => {
                    let (frac, own) = (lower.numbers.frac, weights.lengths.clone());
                    let recipe = Recipe { frac, to: Some(node), ..Recipe::of(at, part, own.clone()) };
                    along(lower.weights(name, recipe), &own, to)
                }
                None => {
                    let from = values.next().unwrap_or_default();
                    let x = lower.aligned(from, node, 1.0, at * 2 + k);
                    lower.spread(x, from, to)
                }
            });
        }
        Ok(Held::cut_already(lower.b.select(condition, sides[0], sides[1]), node))
    }
}

/// A choice by a condition of weights: c x + (1 − c) y, where c is 0 or 1.
fn by_weights(op: &Reading<'_>, import: &mut Import, condition: &Array) -> Result<Known, Fault> {
    let yes = condition.each(|c| f32::from(u8::from(c != 0.0)));
    let no = Known::Floats(Arc::new(yes.each(|c| 1.0 - c)));
    let yes = Known::Floats(Arc::new(yes));
    let mut parts = vec![];
    for (k, by) in [(1, yes), (2, no)] {
        let of = match op.input(import, k)? {
            Known::Floats(array) => Known::Floats(Arc::new(limited(op, &array)?)),
            of => of,
        };
        parts.push(op.call(import, "Mul", &[&of, &by], &[])?);
    }
    op.call(import, "Add", &[&parts[0], &parts[1]], &[])
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    if let Known::Floats(condition) = op.input(import, 0)? {
        return by_weights(op, import, &condition);
    }
    let (mut reads, mut lengths) = (vec![], vec![]);
    let mut own = [None, None, None];
    for (k, own) in own.iter_mut().enumerate() {
        let of = op.input(import, k)?;
        let these = import.lengths_of(&of);
        lengths = together(&lengths, &these).ok_or_else(|| {
            let cause = format!("its operands have the lengths {lengths:?} and {these:?}");
            op.error(cause, "give axes of equal lengths, or of length 1")
        })?;
        *own = match of {
            Known::Layer(at) => {
                reads.push(at);
                None
            }
            Known::Floats(array) => Some(Arc::new(limited(op, &array)?)),
            Known::Ints(lengths, all) => {
                let array = Array { lengths, data: all.iter().map(|n| *n as f32).collect() };
                Some(Arc::new(if k == 0 { array } else { limited(op, &array)? }))
            }
        };
    }
    if reads.is_empty() {
        return Err(op.error("it chooses between weights", "fold what is known before the export"));
    }
    let [condition, yes, no] = own;
    op.made(import, Kind::Where(Where { condition, weights: [yes, no] }), reads, lengths)
}

/// Limits weights that mean "greater than everything" to a size that fits rings.
pub(super) fn limited(op: &Reading<'_>, of: &Array) -> Result<Array, Fault> {
    if of.data.iter().any(|x| x.is_nan()) {
        return Err(op.error("its weights are not all numbers", "train the model again"));
    }
    Ok(of.each(|x| if x.abs() >= 1e9 { HUGE.copysign(x) } else { x }))
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn of_values_and_of_weights() {
        let build = |which: usize| {
            let mut w = Writer::new("w", 1, &[2, 3]);
            let low = w.weights(&[1], vec![-0.25]);
            let weights = w.weights(&[3], vec![0.5, -0.25, 2.0]);
            let above = w.op("Greater", &["input", &low], &[]);
            let minus = w.op("Neg", &["input"], &[]);
            let operands =
                [["input", &minus], ["input", &weights], [&weights, "input"], [&weights, &low]][which];
            let y = w.op("Where", &[&above, operands[0], operands[1]], &[]);
            w.finish(&y)
        };
        for which in 0..4 {
            check(&build(which), 1.0, |x| {
                let one = |(i, x): (usize, &f32)| {
                    let w = [0.5, -0.25, 2.0][i % 3];
                    let [yes, no] = [[*x, -x], [*x, w], [w, *x], [w, -0.25]][which];
                    if *x > -0.25 { yes } else { no }
                };
                x.data.iter().enumerate().map(one).collect()
            });
        }
        let mut w = Writer::new("w", 1, &[2, 3]);
        let huge = w.weights(&[], vec![f32::NEG_INFINITY]);
        let zero = w.weights(&[], vec![0.0]);
        let above = w.op("Greater", &["input", &zero], &[]);
        let y = w.op("Where", &[&above, "input", &huge], &[]);
        let y = w.op("Softmax", &[&y], &[]);
        check(&w.finish(&y), 4.0, |x| {
            let row = |row: &[f32]| {
                let of = |x: f32| if x > 0.0 { x.exp() } else { 0.0 };
                let sum: f32 = row.iter().map(|x| of(*x)).sum();
                row.iter().map(|x| of(*x) / sum).collect::<Vec<f32>>()
            };
            x.data.chunks(3).flat_map(row).collect()
        });
    }
}
