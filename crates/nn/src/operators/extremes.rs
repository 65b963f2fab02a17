//! Min, Max, Mean and Abs, composed of sums and rectifiers, whose comparison is the fastest one.

use super::prelude::*;

pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: usize::MAX,
        error: Bound::EXACT,
        ..Operator::new(
            "Max",
            "The greatest of all operands; axes of length 1 are repeated.",
            |op, import| folded(op, import, greater),
        )
    },
    Operator {
        inputs: usize::MAX,
        error: Bound::EXACT,
        ..Operator::new("Min", "The least of all operands; axes of length 1 are repeated.", |op, import| {
            folded(op, import, lesser)
        })
    },
    Operator {
        inputs: usize::MAX,
        error: Bound::ROUNDED,
        ..Operator::new("Mean", "The mean of all operands; axes of length 1 are repeated.", mean)
    },
    Operator { error: Bound::EXACT, ..Operator::new("Abs", "The absolute value.", absolute) },
];

type Pair = fn(&Reading<'_>, &mut Import, &Known, &Known) -> Result<Known, Fault>;

fn folded(op: &Reading<'_>, import: &mut Import, pair: Pair) -> Result<Known, Fault> {
    let mut made = op.input(import, 0)?;
    for k in 1..op.node.inputs.len() {
        let other = op.input(import, k)?;
        made = pair(op, import, &made, &other)?;
    }
    Ok(made)
}

/// x − y or y − x, and at least 0.
fn above(op: &Reading<'_>, import: &mut Import, x: &Known, y: &Known) -> Result<Known, Fault> {
    let difference = op.call(import, "Sub", &[x, y], &[])?;
    op.call(import, "Relu", &[&difference], &[])
}

/// x + max(y − x, 0).
fn greater(op: &Reading<'_>, import: &mut Import, x: &Known, y: &Known) -> Result<Known, Fault> {
    let above = above(op, import, y, x)?;
    op.call(import, "Add", &[&above, x], &[])
}

/// x − max(x − y, 0).
fn lesser(op: &Reading<'_>, import: &mut Import, x: &Known, y: &Known) -> Result<Known, Fault> {
    let above = above(op, import, x, y)?;
    op.call(import, "Sub", &[x, &above], &[])
}

fn mean(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let all = op.node.inputs.len();
    let sum = folded(op, import, |op, import, x, y| op.call(import, "Add", &[x, y], &[]))?;
    if all == 1 {
        return Ok(sum);
    }
    let by = Known::Floats(Arc::new(Array::new(&[1], vec![1.0 / all as f32])));
    op.call(import, "Mul", &[&sum, &by], &[])
}

/// 2 max(x, 0) − x.
fn absolute(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let above = op.call(import, "Relu", &[&x], &[])?;
    let twice = op.call(import, "Add", &[&above, &above], &[])?;
    op.call(import, "Sub", &[&twice, &x], &[])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn of_values_and_of_weights() {
        type Formula = fn(f32, f32) -> f32;
        let pairs: [(&str, Formula); 3] =
            [("Max", f32::max), ("Min", f32::min), ("Mean", |x, y| (x + y) / 2.0)];
        let weights = [0.5, -0.25, 0.125];
        for (op, formula) in pairs {
            for turned in [false, true] {
                let mut w = Writer::new("m", 1, &[2, 3]);
                let by = w.weights(&[3], weights.to_vec());
                let y = w.op(op, &if turned { [&by, "input"] } else { ["input", &by] }, &[]);
                check(&w.finish(&y), 2.0, |x| {
                    x.data.iter().enumerate().map(|(i, x)| formula(*x, weights[i % 3])).collect()
                });
            }
            let mut w = Writer::new("m", 1, &[2, 3]);
            let minus = w.op("Neg", &["input"], &[]);
            let y = w.op(op, &["input", &minus], &[]);
            check(&w.finish(&y), 2.0, |x| x.data.iter().map(|x| formula(*x, -x)).collect());
        }
        let mut w = Writer::new("m", 1, &[2, 3]);
        let y = w.op("Abs", &["input"], &[]);
        check(&w.finish(&y), 1.0, |x| x.data.iter().map(|x| x.abs()).collect());
    }
}
