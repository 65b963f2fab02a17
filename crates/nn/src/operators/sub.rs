//! Sub and Sum, composed of Add and Neg.

use super::prelude::*;

const SUB: Operator = Operator {
    inputs: 2,
    error: Bound::ROUNDED,
    ..Operator::new("Sub", "The difference. One operand may be weights; axes of length 1 are repeated.", sub)
};
const SUM: Operator = Operator {
    inputs: usize::MAX,
    error: Bound::ROUNDED,
    ..Operator::new("Sum", "The sum of all operands.", sum)
};

/// The operators.
pub(super) const ALL: &[Operator] = &[SUB, SUM];

fn sub(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, y) = (op.input(import, 0)?, op.input(import, 1)?);
    let y = op.call(import, "Neg", &[&y], &[])?;
    op.call(import, "Add", &[&x, &y], &[])
}

fn sum(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut sum = op.input(import, 0)?;
    for k in 1..op.node.inputs.len() {
        let other = op.input(import, k)?;
        sum = op.call(import, "Add", &[&sum, &other], &[])?;
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn differences_of_values_and_of_weights() {
        for turned in [false, true] {
            let mut w = Writer::new("sub", 1, &[2, 3, 4]);
            let a = w.weights(&[3, 1], vec![0.5, -1.25, 2.0]);
            let y = w.op("Sub", &if turned { [&a, "input"] } else { ["input", &a] }, &[]);
            let y = w.op("Sub", &[&y, "input"], &[]);
            check(&w.finish(&y), 2.0, |x| {
                let own = |(i, x): (usize, &f32)| {
                    let a = [0.5, -1.25, 2.0][i / 4 % 3];
                    if turned { a - x - x } else { x - a - x }
                };
                x.data.iter().enumerate().map(own).collect()
            });
        }
    }
}
