//! Elu, Selu, Celu, ThresholdedRelu and HardSigmoid, composed of rectifiers, powers of e, and
//! products with weights. Their factors are the owner's secrets, like the bounds of clips.

use super::prelude::*;
use crate::onnx::Attribute;

pub(super) const ALL: &[Operator] = &[
    Operator {
        attributes: &["alpha"],
        error: STEPS,
        ..Operator::new(
            "Elu",
            "The element where it is not below 0, else `alpha` (e^x − 1).",
            |op, import| {
                let x = op.input(import, 0)?;
                powered(op, import, &x, [op.float("alpha", 1.0)?, 1.0])
            },
        )
    },
    Operator {
        attributes: &["alpha", "gamma"],
        error: STEPS,
        ..Operator::new(
            "Selu",
            "`gamma` times the element where it is not below 0, else `gamma` `alpha` (e^x − 1).",
            selu,
        )
    },
    Operator {
        attributes: &["alpha"],
        error: STEPS,
        ..Operator::new(
            "Celu",
            "The element where it is not below 0, else `alpha` (e^(x / `alpha`) − 1).",
            |op, import| {
                let (x, alpha) = (op.input(import, 0)?, op.float("alpha", 1.0)?);
                powered(op, import, &x, [alpha, alpha])
            },
        )
    },
    Operator {
        attributes: &["alpha"],
        error: Bound::ROUNDED,
        ..Operator::new("ThresholdedRelu", "The element where it is above `alpha`, else 0.", thresholded)
    },
    Operator {
        attributes: &["alpha", "beta"],
        error: Bound::ROUNDED,
        ..Operator::new("HardSigmoid", "`alpha` x + `beta`, limited to 0 and 1.", hard_sigmoid)
    },
];

/// The power of e, and its product with a factor of about 1.
const STEPS: Bound = Bound::steps(3.0);

fn one(op: &Reading<'_>, x: f32) -> Result<Known, Fault> {
    if !x.is_finite() {
        return Err(op.error("a factor is not finite", "save the model anew"));
    }
    Ok(Known::Floats(Arc::new(Array::new(&[1], vec![x]))))
}

/// max(x, 0) + α (e^(min(x, 0) / β) − 1).
fn powered(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    [alpha, beta]: [f32; 2],
) -> Result<Known, Fault> {
    let above = op.call(import, "Relu", &[x], &[])?;
    let minus = op.call(import, "Neg", &[&above], &[])?;
    let mut below = op.call(import, "Add", &[x, &minus], &[])?;
    if op.node.op == "Celu" {
        below = op.call(import, "Mul", &[&below, &one(op, 1.0 / beta)?], &[])?;
    }
    let power = op.call(import, "Exp", &[&below], &[])?;
    let less = op.call(import, "Add", &[&power, &one(op, -1.0)?], &[])?;
    let below = op.call(import, "Mul", &[&less, &one(op, alpha)?], &[])?;
    op.call(import, "Add", &[&above, &below], &[])
}

fn selu(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    // The constants of G. Klambauer et al., "Self-normalizing neural networks", 2017, as in ONNX.
    let (alpha, gamma) = (op.float("alpha", 1.673_263_2)?, op.float("gamma", 1.050_701)?);
    let made = powered(op, import, &x, [alpha, 1.0])?;
    op.call(import, "Mul", &[&made, &one(op, gamma)?], &[])
}

fn thresholded(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let above = op.call(import, "Greater", &[&x, &one(op, op.float("alpha", 1.0)?)?], &[])?;
    op.call(import, "Where", &[&above, &x, &one(op, 0.0)?], &[])
}

fn hard_sigmoid(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let (alpha, beta) = (op.float("alpha", 0.2)?, op.float("beta", 0.5)?);
    let x = op.call(import, "Mul", &[&x, &one(op, alpha)?], &[])?;
    let x = op.call(import, "Add", &[&x, &one(op, beta)?], &[])?;
    op.call(import, "Clip", &[&x], &[("min", Attribute::Float(0.0)), ("max", Attribute::Float(1.0))])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn rectifiers_with_powers() {
        let elu = |x: f32, alpha: f32| if x < 0.0 { alpha * x.exp_m1() } else { x };
        type Case<'a> = (&'a str, &'a [(&'a str, f32)], &'a dyn Fn(f32) -> f32);
        let cases: [Case<'_>; 7] = [
            ("Elu", &[("alpha", 0.5)], &|x| elu(x, 0.5)),
            ("Elu", &[], &|x| elu(x, 1.0)),
            ("Selu", &[], &|x| 1.050_701 * elu(x, 1.673_263_2)),
            ("Celu", &[("alpha", 2.0)], &|x| if x < 0.0 { 2.0 * (x / 2.0).exp_m1() } else { x }),
            ("ThresholdedRelu", &[("alpha", 0.25)], &|x| if x > 0.25 { x } else { 0.0 }),
            ("HardSigmoid", &[], &|x| (0.2 * x + 0.5).clamp(0.0, 1.0)),
            ("HardSigmoid", &[("alpha", 0.75), ("beta", 0.25)], &|x| (0.75 * x + 0.25).clamp(0.0, 1.0)),
        ];
        for (op, attributes, formula) in cases {
            let mut w = Writer::new("elu", 1, &[1, 12]);
            let attributes: Vec<_> =
                attributes.iter().map(|(name, of)| (*name, Attribute::Float(*of))).collect();
            let y = w.op(op, &["input"], &attributes);
            check(&w.finish(&y), 4.0, |x| x.data.iter().map(|x| formula(*x)).collect());
        }
    }
}
