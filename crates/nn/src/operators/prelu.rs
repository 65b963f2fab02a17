//! PRelu, composed of a rectifier and products with weights.

use super::prelude::*;

const PRELU: Operator = Operator {
    inputs: 2,
    error: Bound { weights: 2.0, ..Bound::steps(1.0) },
    ..Operator::new("PRelu", "The element where it is not below 0, else weights times the element.", read)
};

/// The operator.
pub(super) const ALL: &[Operator] = &[PRELU];

/// s x + (1 − s) max(x, 0), which takes one comparison.
fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let slope = op.weights(import, 1)?;
    let rest = Known::Floats(Arc::new(slope.each(|s| 1.0 - s)));
    let rectified = op.call(import, "Relu", &[&x], &[])?;
    let more = op.call(import, "Mul", &[&rectified, &rest], &[])?;
    let all = op.call(import, "Mul", &[&x, &Known::Floats(slope)], &[])?;
    op.call(import, "Add", &[&all, &more], &[])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn each_channel_has_a_slope() {
        let mut w = Writer::new("prelu", 1, &[2, 3, 4]);
        let slope = w.weights(&[3, 1], vec![0.25, -0.5, 1.5]);
        let y = w.op("PRelu", &["input", &slope], &[]);
        check(&w.finish(&y), 4.0, |x| {
            let own = |(i, x): (usize, &f32)| if *x < 0.0 { [0.25, -0.5, 1.5][i / 4 % 3] * x } else { *x };
            x.data.iter().enumerate().map(own).collect()
        });
    }
}
