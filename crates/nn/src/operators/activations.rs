//! Functions of elements that are composed of other operators: Swish, Shrink, Hardmax and Trilu.

use super::{pick, prelude::*};
use crate::onnx::Attribute;

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        attributes: &["alpha"],
        error: Bound::operand(1.0, 1.0 + 1.0 / 32.0),
        ..Operator::new("Swish", "x / (1 + e^(−`alpha` x)).", |op, import| {
            let x = op.input(import, 0)?;
            let alpha = op.float("alpha", 1.0)?;
            let inner = if alpha == 1.0 {
                x.clone()
            } else {
                op.call(import, "Mul", &[&x, &Known::floats(&[], vec![alpha])], &[])?
            };
            let share = op.call(import, "Sigmoid", &[&inner], &[])?;
            op.call(import, "Mul", &[&x, &share], &[])
        })
    },
    Operator {
        attributes: &["bias", "lambd"],
        error: Bound::ROUNDED,
        ..Operator::new(
            "Shrink",
            "The element less `bias` above `lambd`, plus `bias` below −`lambd`, and 0 between.",
            shrunk,
        )
    },
    Operator {
        attributes: &["axis"],
        error: Bound::EXACT,
        ..Operator::new("Hardmax", "1 at the first of the greatest elements along an axis, else 0.", hardmax)
    },
    Operator {
        inputs: 2,
        attributes: &["upper"],
        error: Bound::EXACT,
        ..Operator::new("Trilu", "The upper or lower triangle of matrices; zeros elsewhere.", triangle)
    },
];

fn shrunk(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let (bias, bound) = (op.float("bias", 0.0)?, op.float("lambd", 0.5)?);
    let number = |x: f32| Known::floats(&[], vec![x]);
    let side = |import: &mut Import, comparison: &str, sign: f32| {
        let is = op.call(import, comparison, &[&x, &number(sign * bound)], &[])?;
        let moved = op.call(import, "Add", &[&x, &number(-sign * bias)], &[])?;
        op.call(import, "Where", &[&is, &moved, &number(0.0)], &[])
    };
    let (above, below) = (side(import, "Greater", 1.0)?, side(import, "Less", -1.0)?);
    op.call(import, "Add", &[&above, &below], &[])
}

fn hardmax(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let before = import.opset < 13;
    let axis = op.axis(op.int("axis", if before { 1 } else { -1 })?, lengths.len())?;
    // Before set 13 it covers all axes from the given one on.
    let (flat, along) = if before {
        (vec![lengths[..axis].iter().product(), lengths[axis..].iter().product()], 1)
    } else {
        (lengths.clone(), axis)
    };
    let x = pick::reshaped(op, import, x, flat.clone())?;
    let attributes = [("axis", Attribute::Int(along as i64)), ("keepdims", Attribute::Int(0))];
    let place = op.call(import, "ArgMax", &[&x], &attributes)?;
    let depth = Known::Ints(vec![], vec![flat[along] as i64]);
    let inputs = [&place, &depth, &Known::list(&[0, 1])];
    let made = op.call(import, "OneHot", &inputs, &[("axis", Attribute::Int(along as i64))])?;
    pick::reshaped(op, import, made, lengths)
}

fn triangle(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let [.., rows, columns] = lengths[..] else {
        return Err(op.error("its value is no matrix", "save the model anew"));
    };
    let k = op.integers(import, 1)?.and_then(|k| k.first().copied()).unwrap_or(0);
    let upper = op.flag("upper", true)?;
    let stays = |i: usize| {
        let above = (i % columns) as i64 - (i / columns) as i64;
        i64::from(if upper { above >= k } else { above <= k })
    };
    let is = Known::Ints(vec![rows, columns], (0..rows * columns).map(stays).collect());
    op.call(import, "Where", &[&is, &x, &Known::floats(&[], vec![0.0])], &[])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn functions_of_elements() {
        let mut w = Writer::new("s", 1, &[2, 3]);
        let y = w.op("Swish", &["input"], &[("alpha", Attribute::Float(1.5))]);
        check(&w.finish(&y), 4.0, |x| x.data.iter().map(|x| x / (1.0 + (-1.5 * x).exp())).collect());
        let mut w = Writer::new("s", 1, &[2, 3]);
        let attributes = [("lambd", Attribute::Float(0.5)), ("bias", Attribute::Float(0.25))];
        let y = w.op("Shrink", &["input"], &attributes);
        check(&w.finish(&y), 1.0, |x| {
            let one = |x: &f32| match *x {
                x if x > 0.5 => x - 0.25,
                x if x < -0.5 => x + 0.25,
                _ => 0.0,
            };
            x.data.iter().map(one).collect()
        });
    }

    #[test]
    fn places_and_triangles() {
        let mut w = Writer::new("h", 1, &[1, 4]);
        let y = w.op("Hardmax", &["input"], &[("axis", Attribute::Int(1))]);
        check(&w.finish(&y), 0.0, |x| {
            let best = (0..4).fold(0, |best, i| if x.data[i] > x.data[best] { i } else { best });
            (0..4).map(|i| f32::from(u8::from(i == best))).collect()
        });
        let mut w = Writer::new("t", 1, &[1, 2, 3]);
        let y = w.op("Trilu", &["input"], &[("upper", Attribute::Int(0))]);
        check(&w.finish(&y), 0.5, |x| vec![x.data[0], 0.0, 0.0, x.data[3], x.data[4], 0.0]);
    }
}
