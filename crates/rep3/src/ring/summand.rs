//! The two summands of a number between three parties, and what is free to share.
//!
//! ```text
//! x = u + x_2      u = x_0 + x_1 is party 0's       x_2 is known to parties 1 and 2, and is shared as (0, 0, x_2)
//! ```
//!
//! The same holds of a bit, with ⊕ in place of +.

use super::{
    column::{Bits, Column, Word},
    planes::to_planes,
};
use crate::{Context, Rep3, Role, ShareError, Shares};
use hushwire_block::{Flat, Wiped};
use hushwire_circuit::planes::plane_bytes;

/// The party that knows x_0 and x_1.
pub(super) const FIRST: Role = Role::ALL[0];

/// The summand that a party knows: u at party 0, x_2 at the others.
pub(super) fn summand<T: Flat>(
    role: Role,
    shares: &Rep3<Vec<T>>,
    sum: impl Fn(&T, &T) -> T,
) -> Wiped<Vec<T>> {
    let (own, next) = (&shares.own, &shares.next);
    Wiped::new(match role.index() {
        0 => own.iter().zip(next).map(|(a, b)| sum(a, b)).collect(),
        1 => next.clone(),
        _ => own.clone(),
    })
}

/// The summand of every number of a column.
pub(super) fn of_numbers<W: Word>(role: Role, column: &Column<W>) -> Wiped<Vec<W>> {
    summand(role, column, |a, b| a.plus(*b))
}

/// The summand of planes.
pub(super) fn of_bits(role: Role, shares: &Shares) -> Wiped<Vec<u8>> {
    summand(role, shares, |a, b| a ^ b)
}

/// Shares of what parties 1 and 2 know: (0, 0, x_2). At party 0 only the length means something.
pub(super) fn third<T: Flat>(role: Role, known: &[T]) -> Rep3<Vec<T>> {
    let zeros = || vec![T::ZERO; known.len()];
    match role.index() {
        0 => Rep3 { own: zeros(), next: zeros() },
        1 => Rep3 { own: zeros(), next: known.to_vec() },
        _ => Rep3 { own: known.to_vec(), next: zeros() },
    }
}

/// The planes of the numbers of several columns, one behind the other.
pub(super) fn planes<W: Word>(cx: &Context, columns: &[&[W]]) -> Wiped<Vec<u8>> {
    let bytes = |words: &[W]| W::BITS * plane_bytes(words.len());
    let mut out = Wiped::new(vec![0; columns.iter().map(|words| bytes(words)).sum()]);
    let mut rest = &mut out[..];
    for words in columns {
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(bytes(words));
        to_planes(cx.backend, words, own);
        rest = behind;
    }
    out
}

/// A number a bit, 0 or 1, plane by plane.
pub(super) fn numbers<W: Word>(planes: &[u8], rows: usize) -> Wiped<Vec<W>> {
    let height = plane_bytes(rows).max(1);
    let mut out = Wiped::new(Vec::with_capacity(planes.len() / height * rows));
    for plane in planes.chunks_exact(height) {
        let bits = plane.iter().flat_map(|byte| (0..8).map(move |i| W::of(u64::from(byte >> i & 1))));
        out.extend(bits.take(rows));
    }
    out
}

/// Whether all shares of columns have as many rows; how many.
pub(super) fn rows<W: Word>(columns: &[&Column<W>]) -> Result<usize, ShareError> {
    let rows = columns[0].own.len();
    for found in columns.iter().flat_map(|column| [column.own.len(), column.next.len()]) {
        same("a share of an operand", (W::BITS, rows), (W::BITS, found))?;
    }
    Ok(rows)
}

/// Whether two shapes, bits and rows, are the same.
pub(super) fn same(
    what: &'static str,
    expected: (usize, usize),
    found: (usize, usize),
) -> Result<(), ShareError> {
    if expected == found { Ok(()) } else { Err(ShareError::Operand { what, expected, found }) }
}

/// Bits of a row, and rows.
pub(super) fn shape(bits: &Bits) -> (usize, usize) {
    (bits.width(), bits.rows())
}
