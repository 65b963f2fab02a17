//! Operators on 8-bit numbers and others of few bits: products with weights, sums, and roundings.
//!
//! ```text
//! quantize        x / scale, to the nearest whole number, plus the zero point, limited to the type
//! dequantize      (x − zero point) × scale
//! QLinear…        (x − zero) · ((w − zero) × scales), to the nearest, plus the zero, limited
//! …Integer        (x − zero) · (w − zero)
//! dynamic         undone if only products read it: they take the unquantized value
//! ```
//!
//! Known scales become part of the weights. A product therefore takes one cut, and that cut is also
//! the rounding ([`whole`](super::whole)).

use super::{pick, prelude::*, whole::whole};
use crate::onnx::{Attribute, kind_name};

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: 3,
        attributes: &["axis", "block_size", "output_dtype", "precision", "saturate"],
        error: Bound::WHOLE,
        ..Operator::new(
            "QuantizeLinear",
            "The nearest whole number to the quotient by a scale, plus a zero point, limited to integers of 2 to 16 bits.",
            quantize,
        )
    },
    Operator {
        inputs: 3,
        attributes: &["axis", "block_size", "output_dtype"],
        error: Bound::ROUNDED,
        ..Operator::new("DequantizeLinear", "The element less a zero point, times a scale.", dequantize)
    },
    Operator {
        outputs: 3,
        error: Bound::WHOLE,
        ..Operator::several(
            "DynamicQuantizeLinear",
            "The element in 256 steps of the range of all; where products of integers alone read it, the element itself.",
            dynamic,
        )
    },
    Operator {
        inputs: 9,
        attributes: &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"],
        error: Bound::WHOLE,
        ..Operator::new(
            "QLinearConv",
            "A convolution of quantized values with quantized weights, quantized.",
            convolution,
        )
    },
    Operator {
        inputs: 8,
        error: Bound::WHOLE,
        ..Operator::new("QLinearMatMul", "The product of quantized matrices, quantized.", product)
    },
    Operator {
        inputs: 4,
        attributes: &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"],
        error: Bound::ROUNDED,
        ..Operator::new(
            "ConvInteger",
            "A convolution of integers less a zero point with weights less another.",
            |op, import| {
                let (x, zero) = (op.input(import, 0)?, op.maybe(import, 2)?);
                let x = without(op, import, &x, zero)?;
                let (w, zero) = (op.input(import, 1)?, op.maybe(import, 3)?);
                let zero = zero.map(|zero| filters(op, import, zero, &w)).transpose()?;
                let w = without(op, import, &w, zero)?;
                op.call(import, "Conv", &[&x, &w], &attributes(op))
            },
        )
    },
    Operator {
        inputs: 4,
        error: Bound::ROUNDED,
        ..Operator::new(
            "MatMulInteger",
            "The product of matrices of integers, each less a zero point.",
            |op, import| {
                let (x, zero) = (op.input(import, 0)?, op.maybe(import, 2)?);
                let zero = zero.map(|zero| before(op, import, zero, 1)).transpose()?;
                let x = without(op, import, &x, zero)?;
                let (y, zero) = (op.input(import, 1)?, op.maybe(import, 3)?);
                let y = without(op, import, &y, zero)?;
                op.call(import, "MatMul", &[&x, &y], &[])
            },
        )
    },
];

/// The least and the greatest number of a type.
fn limits(op: &Reading<'_>, kind: i64) -> Result<[f32; 2], Fault> {
    Ok(match kind {
        2 => [0.0, 255.0],
        3 => [-128.0, 127.0],
        4 => [0.0, 65_535.0],
        5 => [-32_768.0, 32_767.0],
        21 => [0.0, 15.0],
        22 => [-8.0, 7.0],
        25 => [0.0, 3.0],
        26 => [-2.0, 1.0],
        _ => {
            let cause = format!("it quantizes to {}", kind_name(kind));
            return Err(op.error(cause, "quantize to integers of 2 to 16 bits"));
        }
    })
}

/// A value minus its zero point.
fn without(op: &Reading<'_>, import: &mut Import, x: &Known, zero: Option<Known>) -> Result<Known, Fault> {
    match zero {
        Some(Known::Ints(_, all)) if all.iter().all(|n| *n == 0) => Ok(x.clone()),
        Some(zero) => op.call(import, "Sub", &[x, &zero], &[]),
        None => Ok(x.clone()),
    }
}

/// Scales or zero points along one axis of a value, which `axes` more axes follow. A single number
/// stays as it is.
fn before(op: &Reading<'_>, import: &mut Import, of: Known, axes: usize) -> Result<Known, Fault> {
    match import.lengths_of(&of)[..] {
        [n] if n > 1 => pick::reshaped(op, import, of, [vec![n], vec![1; axes]].concat()),
        _ => Ok(of),
    }
}

/// Scales or zero points for filters, along the first axis of their weights.
fn filters(op: &Reading<'_>, import: &mut Import, of: Known, w: &Known) -> Result<Known, Fault> {
    let axes = import.lengths_of(w).len().saturating_sub(1);
    before(op, import, of, axes)
}

/// The attributes of a convolution.
fn attributes<'o>(op: &'o Reading<'_>) -> Vec<(&'o str, Attribute)> {
    op.node.attributes.iter().map(|(name, of)| (&name[..], of.clone())).collect()
}

/// Scales or zero points along the axes of a value: one for all, one for each place of an axis, or
/// one for each block of places.
fn spread(op: &Reading<'_>, import: &mut Import, of: Known, lengths: &[usize]) -> Result<Known, Fault> {
    let own = import.lengths_of(&of);
    let count: usize = own.iter().product();
    let rank = lengths.len();
    if count == 1 {
        return pick::reshaped(op, import, of, vec![1]);
    }
    let axis = op.axis(op.int("axis", 1)?, rank)?;
    if own.len() == 1 && count == lengths[axis] {
        let mut along = vec![1; rank - axis];
        along[0] = count;
        return pick::reshaped(op, import, of, along);
    }
    let block = usize::try_from(op.int("block_size", 0)?).unwrap_or(0);
    let fits = own.len() == rank && (0..rank).all(|k| k == axis || own[k] == lengths[k]);
    let block = match block {
        0 if fits => lengths[axis].div_ceil(own[axis].max(1)),
        block => block,
    };
    if !fits || block == 0 || lengths[axis].div_ceil(block) != own[axis] {
        let cause = format!("its scales have the lengths {own:?}, and its value {lengths:?}");
        return Err(op.error(cause, "give one for all, for each place of an axis, or for each block"));
    }
    pick::pick(op, import, of, axis, (0..lengths[axis]).map(|i| i / block).collect())
}

/// The nearest whole numbers plus a zero point, limited to a type.
fn rounded(
    op: &Reading<'_>,
    import: &mut Import,
    x: &Known,
    zero: Option<&Known>,
    kind: i64,
) -> Result<Known, Fault> {
    let bounds = limits(op, kind)?;
    // The zero point, if it is one known number for all elements.
    let single = match zero {
        None => Some(0.0),
        Some(Known::Ints(_, all)) => {
            all.first().filter(|first| all.iter().all(|n| n == *first)).map(|n| *n as f32)
        }
        Some(_) => None,
    };
    // Limits that are whole, and the same for all elements, can be applied before the rounding as
    // well: sums of products are limited, and cut to whole numbers.
    if let (Known::Layer(_), Some(zero)) = (x, single) {
        let [low, high] = bounds.map(|bound| bound - zero);
        let high = Known::floats(&[], vec![high]);
        let limited = if low == 0.0 {
            let above = op.call(import, "Relu", &[x], &[])?;
            op.call_all(import, "Clip", &[Some(&above), None, Some(&high)], 1, &[])?.remove(0)
        } else {
            op.call(import, "Clip", &[x, &Known::floats(&[], vec![low]), &high], &[])?
        };
        let Known::Layer(at) = limited else { return Ok(limited) };
        let made = whole(op, import, at)?;
        return match zero {
            0.0 => Ok(made),
            zero => op.call(import, "Add", &[&made, &Known::floats(&[], vec![zero])], &[]),
        };
    }
    let [low, high] = bounds.map(|bound| Known::floats(&[], vec![bound]));
    let mut made = op.call(import, "Round", &[x], &[])?;
    match zero {
        Some(Known::Ints(_, all)) if all.iter().all(|n| *n == 0) => {}
        Some(zero) => made = op.call(import, "Add", &[&made, zero], &[])?,
        None => {}
    }
    op.call(import, "Clip", &[&made, &low, &high], &[])
}

fn quantize(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, scale, zero) = (op.input(import, 0)?, op.input(import, 1)?, op.maybe(import, 2)?);
    let lengths = import.lengths_of(&x);
    let scale = spread(op, import, scale, &lengths)?;
    let zero = zero.map(|zero| spread(op, import, zero, &lengths)).transpose()?;
    let quotient = op.call(import, "Div", &[&x, &scale], &[])?;
    let kind = op.makes(import).unwrap_or(2);
    rounded(op, import, &quotient, zero.as_ref(), kind)
}

fn dequantize(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, scale, zero) = (op.input(import, 0)?, op.input(import, 1)?, op.maybe(import, 2)?);
    let lengths = import.lengths_of(&x);
    let zero = zero.map(|zero| spread(op, import, zero, &lengths)).transpose()?;
    let x = without(op, import, &x, zero)?;
    let scale = spread(op, import, scale, &lengths)?;
    op.call(import, "Mul", &[&x, &scale], &[])
}

fn dynamic(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let x = op.input(import, 0)?;
    let number = |x: f32| Known::floats(&[], vec![x]);
    if op.node.outputs.first().is_some_and(|name| import.undone.contains(name)) {
        return Ok(vec![x, number(1.0), Known::Ints(vec![], vec![0])]);
    }
    let mut end = |reduction: &str, of: &str| {
        let made = op.call(import, reduction, &[&x], &[("keepdims", Attribute::Int(0))])?;
        op.call(import, of, &[&made, &number(0.0)], &[])
    };
    let (low, high) = (end("ReduceMin", "Min")?, end("ReduceMax", "Max")?);
    let range = op.call(import, "Sub", &[&high, &low], &[])?;
    let scale = op.call(import, "Mul", &[&range, &number(1.0 / 255.0)], &[])?;
    // The products come before the quotient, because the scale itself has few digits.
    let mut steps = |of: &Known, by: f32| {
        let made = op.call(import, "Mul", &[of, &number(by)], &[])?;
        op.call(import, "Div", &[&made, &range], &[])
    };
    let (zero, x) = (steps(&low, -255.0)?, steps(&x, 255.0)?);
    let zero = rounded(op, import, &zero, None, 2)?;
    let made = rounded(op, import, &x, Some(&zero), 2)?;
    Ok(vec![made, scale, zero])
}

/// The factor of sums of products: both operands' scales, divided by the result's.
fn factor(op: &Reading<'_>, import: &mut Import, of: [Known; 3]) -> Result<Known, Fault> {
    let [x, w, y] = of;
    let both = op.call(import, "Mul", &[&x, &w], &[])?;
    op.call(import, "Div", &[&both, &y], &[])
}

fn convolution(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, zero) = (op.input(import, 0)?, op.input(import, 2)?);
    let x = without(op, import, &x, Some(zero))?;
    let (w, zero) = (op.input(import, 3)?, op.input(import, 5)?);
    let zero = filters(op, import, zero, &w)?;
    let w = without(op, import, &w, Some(zero))?;
    let scales = [op.input(import, 1)?, op.input(import, 4)?, op.input(import, 6)?];
    let factor = factor(op, import, scales)?;
    let bias = op.maybe(import, 8)?;
    let kind = op.makes(import).unwrap_or(2);
    let convolve = |import: &mut Import, w: &Known, bias: Option<&Known>| -> Result<Known, Fault> {
        Ok(op.call_all(import, "Conv", &[Some(&x), Some(w), bias], 1, &attributes(op))?.remove(0))
    };
    let made = if factor.is_known() {
        let along = filters(op, import, factor.clone(), &w)?;
        let w = op.call(import, "Mul", &[&w, &along], &[])?;
        let bias = match bias {
            Some(bias) => {
                let outputs = import.lengths_of(&w).first().copied().unwrap_or(1);
                let flat = pick::reshaped(op, import, bias, vec![outputs])?;
                let factors = if import.lengths_of(&factor).is_empty() {
                    pick::reshaped(op, import, factor, vec![1])?
                } else {
                    factor
                };
                Some(op.call(import, "Mul", &[&flat, &factors], &[])?)
            }
            None => None,
        };
        convolve(import, &w, bias.as_ref())?
    } else {
        let made = convolve(import, &w, bias.as_ref())?;
        // Channels are the second axis.
        let axes = import.lengths_of(&made).len().saturating_sub(2);
        let along = before(op, import, factor, axes)?;
        op.call(import, "Mul", &[&made, &along], &[])?
    };
    rounded(op, import, &made, Some(&op.input(import, 7)?), kind)
}

fn product(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, zero) = (op.input(import, 0)?, op.input(import, 2)?);
    let zero = before(op, import, zero, 1)?;
    let x = without(op, import, &x, Some(zero))?;
    let (y, zero) = (op.input(import, 3)?, op.input(import, 5)?);
    let y = without(op, import, &y, Some(zero))?;
    let of_x = op.input(import, 1)?;
    let of_x = before(op, import, of_x, 1)?;
    let single = import.lengths_of(&of_x).iter().product::<usize>() == 1;
    let scales = [of_x, op.input(import, 4)?, op.input(import, 6)?];
    let factor = factor(op, import, scales)?;
    let kind = op.makes(import).unwrap_or(2);
    let made = if factor.is_known() && y.is_known() && single {
        let y = op.call(import, "Mul", &[&y, &factor], &[])?;
        op.call(import, "MatMul", &[&x, &y], &[])?
    } else {
        let made = op.call(import, "MatMul", &[&x, &y], &[])?;
        op.call(import, "Mul", &[&made, &factor], &[])?
    };
    rounded(op, import, &made, Some(&op.input(import, 7)?), kind)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    /// A value that is quantized and dequantized is within half a step, and within the type.
    #[test]
    fn there_and_back() {
        let mut w = Writer::new("q", 1, &[2, 3]);
        let scale = w.weights(&[3], vec![0.25, 0.5, 0.0625]);
        let zero = w.integers(3, &[3], vec![-3, 0, 100]);
        let y = w.op("QuantizeLinear", &["input", &scale, &zero], &[("axis", Attribute::Int(1))]);
        let y = w.op("DequantizeLinear", &[&y, &scale, &zero], &[]);
        check(&w.finish(&y), 1.0, |x| {
            let one = |(i, x): (usize, &f32)| {
                let (scale, zero) = ([0.25, 0.5, 0.0625][i % 3], [-3.0, 0.0, 100.0][i % 3]);
                (((x / scale).round_ties_even() + zero).clamp(-128.0, 127.0) - zero) * scale
            };
            x.data.iter().enumerate().map(one).collect()
        });
    }

    /// A product of a value's 256 steps with integers, whose scales are applied afterwards.
    #[test]
    fn dynamic_quantization_is_undone() {
        let mut w = Writer::new("q", 1, &[2, 3]);
        let weights = w.integers(3, &[3, 2], vec![10, -20, 30, 5, -7, 100]);
        let scale = w.weights(&[], vec![0.125]);
        let name = w.op("DynamicQuantizeLinear", &["input"], &[]);
        let (of, zero) = (format!("{name}_scale"), format!("{name}_zero"));
        w.outputs_of_last(&[&of, &zero]);
        let product = w.op("MatMulInteger", &[&name, &weights, &zero], &[]);
        let product = w.op("Cast", &[&product], &[("to", Attribute::Int(1))]);
        let by = w.op("Mul", &[&of, &scale], &[]);
        let y = w.op("Mul", &[&product, &by], &[]);
        check(&w.finish(&y), 4.0, |x| {
            let row = |x: &[f32]| {
                [10.0 * x[0] + 30.0 * x[1] - 7.0 * x[2], -20.0 * x[0] + 5.0 * x[1] + 100.0 * x[2]]
                    .map(|y| 0.125 * y)
            };
            x.data.chunks(3).flat_map(row).collect()
        });
    }

    #[test]
    fn products_are_quantized() {
        let mut w = Writer::new("q", 1, &[2, 3]);
        let one = |w: &mut Writer, x: f32| w.weights(&[], vec![x]);
        let (sx, sw, sy) = (one(&mut w, 0.015_625), one(&mut w, 0.5), one(&mut w, 0.25));
        let zx = w.integers(2, &[], vec![128]);
        let zw = w.integers(3, &[], vec![1]);
        let x = w.op("QuantizeLinear", &["input", &sx, &zx], &[]);
        let weights = w.integers(3, &[3, 2], vec![3, -5, 2, 1, 0, 7]);
        let y = w.op("QLinearMatMul", &[&x, &sx, &zx, &weights, &sw, &zw, &sy, &zx], &[]);
        let y = w.op("DequantizeLinear", &[&y, &sy, &zx], &[]);
        check(&w.finish(&y), 1.0, |x| {
            let q = |x: f32| ((x / 0.015_625).round_ties_even() + 128.0).clamp(0.0, 255.0) - 128.0;
            let row = |x: &[f32]| {
                let x: Vec<f32> = x.iter().map(|x| q(*x)).collect();
                [[2.0, 1.0, -1.0], [-6.0, 0.0, 6.0]].map(|w| {
                    let sum: f32 = w.iter().zip(&x).map(|(w, x)| w * x).sum();
                    let steps = (sum * 0.015_625 * 0.5 / 0.25).round_ties_even() + 128.0;
                    (steps.clamp(0.0, 255.0) - 128.0) * 0.25
                })
            };
            x.data.chunks(3).flat_map(row).collect()
        });
    }
}
