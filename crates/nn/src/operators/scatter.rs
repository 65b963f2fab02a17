//! Scatter, ScatterElements and ScatterND at known places.
//!
//! The data and the updates are joined, and each place takes one of their elements. With a
//! reduction, the updates of a place are applied one after another, in one round each.

use super::{pick, prelude::*};
use crate::array::steps;

macro_rules! scatters {
    ($($name:literal $doc:literal $of:ident [$($attribute:literal),*];)+) => {
        /// The operators.
        pub(super) const ALL: &[Operator] = &[$(Operator {
            inputs: 3,
            attributes: &[$($attribute),*],
            error: Bound::ROUNDED,
            ..Operator::new($name, $doc, |op, import| read(op, import, $of))
        }),+];
    };
}

scatters! {
    "Scatter" "Elements at known places along an axis are replaced." elements ["axis"];
    "ScatterElements" "Elements at known places along an axis are replaced, or made greater, less, a sum or a product with others." elements ["axis", "reduction"];
    "ScatterND" "Parts at known places along the first axes are replaced, or made greater, less, sums or products with others." parts ["reduction"];
}

/// LOCAL: the largest number of updates of one place with a reduction.
const ROUNDS: usize = 256;

/// The place in the data of each element of the updates.
type Targets = fn(&Reading<'_>, &[usize], &[usize], &[i64], &[usize]) -> Result<Vec<usize>, Fault>;

fn elements(
    op: &Reading<'_>,
    from: &[usize],
    lengths: &[usize],
    places: &[i64],
    updates: &[usize],
) -> Result<Vec<usize>, Fault> {
    let axis = op.axis(op.int("axis", 0)?, from.len())?;
    let fits = lengths == updates
        && lengths.len() == from.len()
        && (0..from.len()).all(|k| k == axis || lengths[k] <= from[k]);
    if !fits {
        let cause = format!("it replaces {lengths:?} of {from:?} by {updates:?}");
        return Err(op.error(cause, "save the model anew"));
    }
    pick::along_axis(op, from, axis, lengths, places)
}

fn parts(
    op: &Reading<'_>,
    from: &[usize],
    lengths: &[usize],
    places: &[i64],
    updates: &[usize],
) -> Result<Vec<usize>, Fault> {
    let depth = lengths.last().copied().filter(|depth| (1..=from.len()).contains(depth));
    let to = depth.map(|depth| [&lengths[..lengths.len() - 1], &from[depth..]].concat());
    let Some(depth) = depth.filter(|_| to.as_deref() == Some(updates)) else {
        let cause = format!("it replaces {lengths:?} of {from:?} by {updates:?}");
        return Err(op.error(cause, "save the model anew"));
    };
    let own = steps(from);
    let inner: usize = from[depth..].iter().product();
    let mut all = vec![];
    for tuple in places.chunks(depth) {
        let mut first = 0;
        for (k, place) in tuple.iter().enumerate() {
            first += pick::among(op, &[*place], from[k])?[0] * own[k];
        }
        all.extend(first..first + inner);
    }
    Ok(all)
}

fn read(op: &Reading<'_>, import: &mut Import, targets: Targets) -> Result<Known, Fault> {
    let (data, updates) = (op.input(import, 0)?, op.input(import, 2)?);
    let (from, of) = (import.lengths_of(&data), import.lengths_of(&updates));
    let Known::Ints(lengths, places) = op.input(import, 1)? else {
        return Err(op.error("its places are not known before the run", "export it with known places"));
    };
    let targets = targets(op, &from, &lengths, &places, &of)?;
    let reduction = match &op.text("reduction", "none")?[..] {
        "none" => None,
        "add" => Some("Add"),
        "mul" => Some("Mul"),
        "max" => Some("Max"),
        "min" => Some("Min"),
        other => return Err(op.error(format!("its reduction is {}", shown(other)), "save the model anew")),
    };
    let count: usize = from.iter().product();
    let mut made = pick::reshaped(op, import, data, vec![count])?;
    let updates = pick::reshaped(op, import, updates, vec![targets.len()])?;
    if targets.is_empty() {
        return pick::reshaped(op, import, made, from);
    }
    // Each round has updates of different places.
    let mut rounds: Vec<Vec<(usize, usize)>> = vec![];
    let mut times = vec![0usize; count];
    for (update, target) in targets.iter().enumerate() {
        let round = if reduction.is_some() { times[*target] } else { 0 };
        times[*target] += 1;
        if round == rounds.len() {
            rounds.push(vec![]);
        }
        rounds[round].push((update, *target));
    }
    if rounds.len() > ROUNDS {
        let cause = format!("a place has {} updates", rounds.len());
        return Err(op.error(cause, "reduce the updates with ReduceSum, or another reduction"));
    }
    for round in rounds {
        let own = round.iter().map(|(update, _)| *update).collect();
        let mut new = pick::pick(op, import, updates.clone(), 0, own)?;
        if let Some(reduction) = reduction {
            let before = round.iter().map(|(_, target)| *target).collect();
            let before = pick::pick(op, import, made.clone(), 0, before)?;
            new = op.call(import, reduction, &[&before, &new], &[])?;
        }
        let attributes = [("axis", crate::onnx::Attribute::Int(0))];
        let both = op.call(import, "Concat", &[&made, &new], &attributes)?;
        let mut places: Vec<usize> = (0..count).collect();
        // The last of several updates stays.
        round.iter().enumerate().for_each(|(k, (_, target))| places[*target] = count + k);
        made = pick::pick(op, import, both, 0, places)?;
    }
    pick::reshaped(op, import, made, from)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn replaced_and_reduced() {
        type Pair = fn(f32, f32) -> f32;
        let all: [(&str, Pair); 5] = [
            ("none", |_, y| y),
            ("add", |x, y| x + y),
            ("mul", |x, y| x * y),
            ("max", f32::max),
            ("min", f32::min),
        ];
        let updates = [0.5, -0.75, 1.25, -2.0, 0.125, 3.0];
        for (reduction, pair) in all {
            let mut w = Writer::new("s", 1, &[1, 4, 2]);
            let places = w.integers(7, &[3, 2], vec![0, 2, 0, 0, 0, 2]);
            let by = w.weights(&[3, 2], updates.to_vec());
            let attributes = [("reduction", Attribute::Text(reduction.into()))];
            let y = w.op("ScatterND", &["input", &places, &by], &attributes);
            check(&w.finish(&y), 6.0, |x| {
                let mut x = x.data.clone();
                for (k, row) in [2, 0, 2].into_iter().enumerate() {
                    for i in 0..2 {
                        x[2 * row + i] = pair(x[2 * row + i], updates[2 * k + i]);
                    }
                }
                x
            });
        }
    }

    #[test]
    fn along_an_axis() {
        let mut w = Writer::new("s", 1, &[1, 4]);
        let places = w.integers(7, &[1, 2], vec![-1, 1]);
        let by = w.op(
            "Slice",
            &["input"],
            &[
                ("starts", Attribute::Ints(vec![0])),
                ("ends", Attribute::Ints(vec![2])),
                ("axes", Attribute::Ints(vec![1])),
            ],
        );
        let y = w.op("ScatterElements", &["input", &places, &by], &[("axis", Attribute::Int(1))]);
        check(&w.finish(&y), 0.5, |x| vec![x.data[0], x.data[1], x.data[2], x.data[0]]);
    }
}
