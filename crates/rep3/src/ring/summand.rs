//! The two summands of a number that is shared among three parties, and the values that can be
//! shared for free.
//!
//! ```text
//! x = u + x_2      party 0 knows u = x_0 + x_1; parties 1 and 2 know x_2, which is shared as
//!                  (0, 0, x_2)
//! ```
//!
//! The same applies to a bit, with ⊕ in place of +.

use super::{
    column::{Bits, Column},
    planes::to_planes,
    word::Word,
};
use crate::{
    Context, Rep3, Role, ShareError, Shares,
    pool::{self, Element, Scratch},
};
use hushwire_aes::Backend;
use hushwire_circuit::planes::plane_bytes;
use hushwire_simd::{Kernel, Lanes};

/// The party that knows x_0 and x_1.
pub(super) const FIRST: Role = Role::ALL[0];

/// The summand that a party knows: u at party 0, x_2 at the others.
pub(super) fn summand<T: Element>(
    role: Role,
    shares: &Rep3<Vec<T>>,
    sum: impl Fn(&T, &T) -> T,
) -> Scratch<T> {
    let (own, next) = (&shares.own, &shares.next);
    Scratch::new(match role.index() {
        0 => pool::collect(own.iter().zip(next).map(|(a, b)| sum(a, b))),
        1 => pool::copy(next),
        _ => pool::copy(own),
    })
}

/// The summand of every number of a column.
pub(super) fn of_numbers<W: Word>(role: Role, column: &Column<W>) -> Scratch<W> {
    summand(role, column, |a, b| a.plus(*b))
}

/// The summand of planes.
pub(super) fn of_bits(role: Role, shares: &Shares) -> Scratch<u8> {
    summand(role, shares, |a, b| a ^ b)
}

/// Shares of a value that parties 1 and 2 know: (0, 0, x_2). At party 0 only the length matters.
pub(super) fn third<T: Element>(role: Role, known: &[T]) -> Rep3<Vec<T>> {
    let zeros = || pool::zeros(known.len());
    match role.index() {
        0 => Rep3 { own: zeros(), next: zeros() },
        1 => Rep3 { own: zeros(), next: pool::copy(known) },
        _ => Rep3 { own: pool::copy(known), next: zeros() },
    }
}

/// The planes of the numbers of several columns, one behind the other.
pub(super) fn planes<W: Word>(cx: &Context, columns: &[&[W]]) -> Scratch<u8> {
    let bytes = |words: &[W]| W::BITS * plane_bytes(words.len());
    let mut out = Scratch::zeros(columns.iter().map(|words| bytes(words)).sum());
    let mut rest = &mut out[..];
    for words in columns {
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(bytes(words));
        to_planes(cx.backend, words, own);
        rest = behind;
    }
    out
}

/// A number per bit, 0 or 1, plane by plane.
pub(super) fn numbers<W: Word>(backend: Backend, planes: &[u8], rows: usize) -> Scratch<W> {
    let height = plane_bytes(rows).max(1);
    let mut out = Scratch::zeros(planes.len() / height * rows);
    for (plane, out) in planes.chunks_exact(height).zip(out.chunks_exact_mut(rows.max(1))) {
        backend.run(Spread { plane, out });
    }
    out
}

/// Puts every bit into a word of its own.
struct Spread<'a, W> {
    plane: &'a [u8],
    out: &'a mut [W],
}

impl<W: Word> Kernel for Spread<'_, W> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let (whole, rest) = self.out.as_chunks_mut::<8>();
        for (words, byte) in whole.iter_mut().zip(self.plane) {
            for (i, word) in words.iter_mut().enumerate() {
                *word = W::of(u64::from(*byte) >> i & 1);
            }
        }
        let last = self.plane.get(whole.len()).copied().unwrap_or(0);
        rest.iter_mut().enumerate().for_each(|(i, word)| *word = W::of(u64::from(last) >> i & 1));
    }
}

/// Checks that all shares of the columns have the same number of rows, and returns it.
pub(super) fn rows<W: Word>(columns: &[&Column<W>]) -> Result<usize, ShareError> {
    let rows = columns[0].own.len();
    for found in columns.iter().flat_map(|column| [column.own.len(), column.next.len()]) {
        same("a share of an operand", (W::BITS, rows), (W::BITS, found))?;
    }
    Ok(rows)
}

/// Checks that two shapes, bits and rows, are the same.
pub(super) fn same(
    what: &'static str,
    expected: (usize, usize),
    found: (usize, usize),
) -> Result<(), ShareError> {
    if expected == found { Ok(()) } else { Err(ShareError::Operand { what, expected, found }) }
}

/// The bits of a row, and the number of rows.
pub(super) fn shape(bits: &Bits) -> (usize, usize) {
    (bits.width(), bits.rows())
}
