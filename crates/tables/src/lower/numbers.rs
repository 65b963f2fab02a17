//! Numbers and constants of a computation: widths that hold a range, and single public values.

use crate::algebra::Range;
use hushwire_compute::{Builder, Comparison, Scalar, Shape, Tensor, Val};

/// The width in which numbers of a range are held.
pub(crate) fn width(range: Range) -> u8 {
    let size = |n: i128| 129 - if n < 0 { n.leading_ones() } else { n.leading_zeros() };
    match size(range.low).max(size(range.high)) {
        ..=8 => 8,
        9..=16 => 16,
        17..=32 => 32,
        33..=64 => 64,
        more => more.div_ceil(8) as u8 * 8,
    }
}

/// A public number with the scalar of `val`.
pub(crate) fn number<'b>(val: Val<'b>, n: i128) -> Val<'b> {
    match val.ty() {
        Some(ty) => val.builder().number(ty.scalar, n),
        None => val,
    }
}

/// A public truth value.
pub(crate) fn truth(b: &Builder, truth: bool) -> Val<'_> {
    b.constant(Tensor::single(Scalar::Bool, truth.into()))
}

/// A single zero of a scalar.
pub(crate) fn zero(b: &Builder, scalar: Scalar) -> Val<'_> {
    b.constant(Tensor::zeros(scalar, &[]))
}

/// Rows of zeros like those of another value.
pub(crate) fn zeros(like: Val<'_>, rows: u64) -> Val<'_> {
    match like.ty() {
        Some(ty) => zero(like.builder(), ty.scalar).broadcast(Shape::vector(rows)),
        None => like,
    }
}

/// A number converted to another width.
pub(crate) fn resized(val: Val<'_>, bits: u8) -> Val<'_> {
    match val.ty() {
        Some(ty) if ty.scalar != Scalar::signed(bits) => val.cast(Scalar::signed(bits)),
        _ => val,
    }
}

/// Whether absolute values exceed `most`.
pub(crate) fn beyond(val: Val<'_>, most: i128) -> Val<'_> {
    let below = val.compare(Comparison::Less, number(val, -most));
    below | val.compare(Comparison::Greater, number(val, most))
}

/// The smallest symmetric range around a range; a quotient by −1 needs it too.
pub(crate) fn mirrored(range: Range) -> Range {
    let size = range.low.saturating_abs().max(range.high.saturating_abs());
    Range { low: -size, high: size }
}
