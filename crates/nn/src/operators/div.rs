//! Div.

use super::prelude::*;
use crate::onnx::Attribute;

pub(super) const DIV: Operator = Operator {
    inputs: 2,
    error: Bound { weights: 1.0, ..Bound::share(1.0, 1.0 / 8.0) },
    ..Operator::new("Div", "The quotient. One operand may be weights; axes of length 1 are repeated.", read)
};

/// The quotient of two values, or of weights and a value; axes of length 1 are repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct Div {
    /// The dividend, if it is weights.
    weights: Option<Arc<Array>>,
}

impl Definition for Div {
    fn name(&self) -> &'static str {
        "Div"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Terms, known_data(&self.weights))])
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let first = self.weights.as_ref().unwrap_or_else(|| &reads[0]);
        let (a, b) = (first.broadcast(to), reads[reads.len() - 1].broadcast(to));
        Array { lengths: to.to_vec(), data: a.data.iter().zip(&b.data).map(|(a, b)| a / b).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let x = lower.operand(&site, &self.weights, site.reads[0], site.at);
        let y = lower.operand(&site, &None, site.reads[site.reads.len() - 1], site.at + 1_000_000);
        Ok(Held::nominal(x.divide(y)))
    }
}

/// The quotient of integers, rounded towards 0. The dividend without its remainder is divided and
/// rounded to the nearest number. The rest is divided once more, so that large quotients are exact.
pub(crate) fn whole_quotient(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    y: &Known,
) -> Result<Known, Fault> {
    let Known::Layer(_) = x else {
        return Err(
            op.error("it divides known integers by secret ones", "export the model with floats there")
        );
    };
    if let Known::Ints(_, all) = y
        && all.contains(&0)
    {
        return Err(op.error("it divides by 0", "train the model again"));
    }
    let rest = op.call(import, "Mod", &[x, y], &[("fmod", Attribute::Int(1))])?;
    let multiple = op.call(import, "Sub", &[x, &rest], &[])?;
    let near = |import: &mut Import, of: &Known| {
        let made = op.call(import, "Div", &[of, y], &[])?;
        op.call(import, "Round", &[&made], &[])
    };
    let made = near(import, &multiple)?;
    let back = op.call(import, "Mul", &[&made, y], &[])?;
    let left = op.call(import, "Sub", &[&multiple, &back], &[])?;
    let more = near(import, &left)?;
    op.call(import, "Add", &[&made, &more], &[])
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    if op.reads_whole(import, 0) || op.reads_whole(import, 1) {
        let (x, y) = (op.input(import, 0)?, op.input(import, 1)?);
        return whole_quotient(op, import, &x, &y);
    }
    let Known::Layer(by) = op.input(import, 1)? else {
        let (x, weights) = (op.input(import, 0)?, op.weights(import, 1)?);
        if weights.data.contains(&0.0) {
            return Err(op.error("it divides by 0", "train the model again"));
        }
        return op.call(import, "Mul", &[&x, &Known::Floats(Arc::new(weights.each(f32::recip)))], &[]);
    };
    let (reads, weights, lengths) = op.two(import, "it divides weights")?;
    // If the dividend is weights, the layer reads only the divisor.
    let reads = if weights.is_some() { vec![by] } else { reads };
    op.made(import, Kind::Div(Div { weights }), reads, lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::{check, refused};
    use crate::zoo::Writer;
    use hushwire_fault::code;

    #[test]
    fn quotients_of_values_and_of_weights() {
        let weights = [0.5, -1.25, 2.0];
        for turned in [false, true] {
            let mut w = Writer::new("div", 1, &[2, 3]);
            let by = w.weights(&[3], weights.to_vec());
            let x = w.op("Abs", &["input"], &[]);
            let half = w.weights(&[], vec![0.5]);
            let x = w.op("Add", &[&x, &half], &[]);
            let y = w.op("Div", &if turned { [&by, &x] } else { [&x, &by] }, &[]);
            check(&w.finish(&y), 8.0, |x| {
                let one = |(i, x): (usize, &f32)| {
                    let (x, w) = (x.abs() + 0.5, weights[i % 3]);
                    if turned { w / x } else { x / w }
                };
                x.data.iter().enumerate().map(one).collect()
            });
        }
        let mut w = Writer::new("div", 1, &[2, 3]);
        let three = w.weights(&[1], vec![3.0]);
        let by = w.op("Add", &["input", &three], &[]);
        let y = w.op("Div", &["input", &by], &[]);
        check(&w.finish(&y), 2.0, |x| x.data.iter().map(|x| x / (x + 3.0)).collect());
        let mut w = Writer::new("div", 1, &[2, 3]);
        let zero = w.weights(&[1], vec![0.0]);
        let y = w.op("Div", &["input", &zero], &[]);
        assert_eq!(refused(&w.finish(&y)), code::OPERATOR);
    }
}
