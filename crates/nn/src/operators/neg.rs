//! Neg.

use super::prelude::*;

pub(super) const NEG: Operator = Operator {
    error: Bound::EXACT,
    ..Operator::new("Neg", "The negative.", |op, import| op.alike(import, Kind::Neg(Neg)))
};

/// The negative.
#[derive(Clone, Debug, PartialEq)]
pub struct Neg;

impl Definition for Neg {
    fn name(&self) -> &'static str {
        "Neg"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Keeps
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| -x)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        if !held.placed.half {
            return Ok(held.with(-held.val));
        }
        // The negative of a wide value that is half a step too large is half a step too small. One
        // more step makes it half a step too large.
        let step = lower.b.number(lower.fixed(lower.wide_frac()), 1 << lower.numbers.cut);
        Ok(held.with(step - held.val))
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn negatives_of_values_and_of_sums() {
        let mut w = Writer::new("neg", 1, &[2, 3, 4]);
        let y = w.op("Neg", &["input"], &[]);
        check(&w.finish(&y), 0.5, |x| x.data.iter().map(|x| -x).collect());
        // A product that is cut after the rectifier, and one that the client gets uncut.
        let product = |x: &[f32]| [0.5 * x[0] - 0.25 * x[1] + 0.125, x[0] + 0.75 * x[1]];
        for rectified in [true, false] {
            let mut w = Writer::new("neg", 1, &[6, 2]);
            let weights = w.weights(&[2, 2], vec![0.5, 1.0, -0.25, 0.75]);
            let bias = w.weights(&[2], vec![0.125, 0.0]);
            let y = w.op("Gemm", &["input", &weights, &bias], &[]);
            let y = w.op("Neg", &[&y], &[]);
            let y = if rectified { w.relu(&y) } else { y };
            let last = |y: f32| if rectified { (-y).max(0.0) } else { -y };
            let y = if rectified { w.op("Add", &[&y, "input"], &[]) } else { y };
            check(&w.finish(&y), 3.0, |x| {
                let rows = x.data.chunks(2).flat_map(|x| product(x).map(last).into_iter().zip(x.to_vec()));
                rows.map(|(y, x)| if rectified { y + x } else { y }).collect()
            });
        }
    }
}
