//! DFT and STFT, as products with matrices of cosines and sines.

use super::{pick, prelude::*};
use crate::import::operator::ELEMENTS;
use std::f64::consts::TAU;

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: 3,
        attributes: &["axis", "inverse", "onesided"],
        error: Bound::ROUNDED,
        ..Operator::new("DFT", "The discrete Fourier transform along an axis, of known length.", transform)
    },
    Operator {
        inputs: 4,
        attributes: &["onesided"],
        error: Bound::ROUNDED,
        ..Operator::new("STFT", "The discrete Fourier transforms of windows of a real signal.", windowed)
    },
];

/// A matrix from `from` elements of `parts` numbers each (real, or real and imaginary) to `to`
/// frequencies of two numbers.
fn matrix(
    op: &Reading<'_>,
    [from, parts, to]: [usize; 3],
    n: usize,
    inverse: bool,
) -> Result<Vec<f32>, Fault> {
    let count = (from * parts).checked_mul(2 * to).filter(|n| *n <= ELEMENTS);
    let count = count.ok_or_else(|| op.error("its matrix has too many elements", "take shorter windows"))?;
    let (sign, share) = if inverse { (-1.0, 1.0 / n as f64) } else { (1.0, 1.0) };
    let one = |i: usize| {
        let (row, column) = (i / (2 * to), i % (2 * to));
        let (time, part, frequency) = (row / parts, row % parts, column / 2);
        let angle = sign * TAU * ((time * frequency) % n) as f64 / n as f64;
        let of = match (part, column % 2) {
            (0, 0) | (1, 1) => angle.cos(),
            (0, _) => -angle.sin(),
            _ => angle.sin(),
        };
        (of * share) as f32
    };
    Ok((0..count).map(one).collect())
}

/// A positive length that is known.
fn length(op: &Reading<'_>, import: &Import, k: usize) -> Result<Option<usize>, Fault> {
    let Some(all) = op.integers(import, k)? else { return Ok(None) };
    let found = all.first().and_then(|n| usize::try_from(*n).ok()).filter(|n| (1..1 << 24).contains(n));
    found.map(Some).ok_or_else(|| op.error(format!("its length is {all:?}"), "save the model anew"))
}

fn transform(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let mut x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let rank = lengths.len();
    // Before set 20 the axis is an attribute.
    let axis = match op.integers(import, 2)?.and_then(|all| all.first().copied()) {
        Some(axis) => axis,
        None => op.int("axis", if import.opset < 20 { 1 } else { -2 })?,
    };
    let axis = op.axis(axis, rank)?;
    let parts = lengths.last().copied().unwrap_or(0);
    if rank < 2 || axis + 1 == rank || !(1..=2).contains(&parts) {
        let cause = format!("its value has the lengths {lengths:?}");
        return Err(op.error(cause, "give it numbers with one or two parts along the last axis"));
    }
    let n = length(op, import, 1)?.unwrap_or(lengths[axis]);
    let (inverse, half) = (op.flag("inverse", false)?, op.flag("onesided", false)?);
    if half && (inverse || parts == 2) {
        return Err(op.error("it takes one side of an inverse, or of complex numbers", "take both sides"));
    }
    let from = n.min(lengths[axis]);
    x = pick::pick(op, import, x, axis, (0..from).collect())?;
    let order: Vec<usize> = (0..rank - 1).filter(|k| *k != axis).chain([axis, rank - 1]).collect();
    let x = pick::turned(op, import, &x, &order)?;
    let before: Vec<usize> = order[..rank - 2].iter().map(|k| lengths[*k]).collect();
    let x = pick::reshaped(op, import, x, [&before[..], &[from * parts]].concat())?;
    let to = if half { n / 2 + 1 } else { n };
    let weights = matrix(op, [from, parts, to], n, inverse)?;
    let made = op.call(import, "MatMul", &[&x, &Known::floats(&[from * parts, 2 * to], weights)], &[])?;
    let made = pick::reshaped(op, import, made, [&before[..], &[to, 2]].concat())?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(new, old)| back[*old] = new);
    pick::turned(op, import, &made, &back)
}

fn windowed(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let ([rows, count] | [rows, count, 1]) = lengths[..] else {
        let cause = format!("its value has the lengths {lengths:?}");
        return Err(op.error(cause, "give it real signals: [n, elements, 1]"));
    };
    let step = length(op, import, 1)?.ok_or_else(|| op.error("it has no step", "save the model anew"))?;
    let window = op.maybe_weights(import, 2)?;
    let n = match (length(op, import, 3)?, &window) {
        (Some(n), _) => n,
        (None, Some(window)) => window.data.len(),
        (None, None) => return Err(op.error("it has no length of windows", "save the model anew")),
    };
    let window = window.map_or_else(|| vec![1.0; n], |window| window.data.clone());
    if window.len() != n || n > count {
        let cause = format!("its windows of {} of {n} elements meet {count}", window.len());
        return Err(op.error(cause, "export the model for longer signals"));
    }
    let frames = (count - n) / step + 1;
    let to = if op.flag("onesided", true)? { n / 2 + 1 } else { n };
    let x = pick::reshaped(op, import, x, vec![rows, count])?;
    let places = (0..frames).flat_map(|frame| (0..n).map(move |i| frame * step + i)).collect();
    let x = pick::pick(op, import, x, 1, places)?;
    let x = pick::reshaped(op, import, x, vec![rows, frames, n])?;
    let mut weights = matrix(op, [n, 1, to], n, false)?;
    weights.chunks_mut(2 * to).zip(&window).for_each(|(row, w)| row.iter_mut().for_each(|x| *x *= w));
    let made = op.call(import, "MatMul", &[&x, &Known::floats(&[n, 2 * to], weights)], &[])?;
    pick::reshaped(op, import, made, vec![rows, frames, to, 2])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    /// The inverse transform gives the value back, and windows of two give sums and differences.
    #[test]
    fn transforms() {
        let mut w = Writer::new("d", 1, &[1, 5, 1]);
        let y = w.op("DFT", &["input"], &[("axis", Attribute::Int(1))]);
        let attributes = [("axis", Attribute::Int(1)), ("inverse", Attribute::Int(1))];
        let y = w.op("DFT", &[&y], &attributes);
        check(&w.finish(&y), 8.0, |x| x.data.iter().flat_map(|x| [*x, 0.0]).collect());
        let mut w = Writer::new("s", 1, &[1, 4, 1]);
        let step = w.integers(7, &[], vec![1]);
        let window = w.weights(&[2], vec![1.0, 0.5]);
        let y = w.op("STFT", &["input", &step, &window], &[]);
        check(&w.finish(&y), 2.0, |x| {
            let two = |x: &[f32]| [x[0] + x[1] / 2.0, 0.0, x[0] - x[1] / 2.0, 0.0];
            x.data.windows(2).flat_map(two).collect()
        });
    }
}
