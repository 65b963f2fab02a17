//! The shares that parties hold of values, and linear maps that act on each share.
//!
//! The sharing must be additive. A linear map of a shared value is then the same map on each share,
//! and takes no message. [`Sharing`] hides the number of shares that a party has of each value: one
//! between two parties, two among three.

use crate::{
    form::StepValue,
    picks::{Moves, Picks},
    size::{Axis, Pooling},
};
use hushwire_circuit::planes::plane_bytes;
use hushwire_compute::Tensor;
use std::{ops::Range, sync::Arc};

/// The secret sharing of a back end. It is additive, so a linear map acts on each share alone.
pub trait Sharing: Sized {
    /// A party's shares of bit planes: plane after plane, ⌈rows/8⌉ bytes each.
    type BitShares;
    /// A party's shares of numbers modulo a power of two.
    type WordShares: Clone;
    /// A party's part of an order of rows.
    type RowOrder: Clone;

    /// The numbers of planes and rows.
    fn size_of_bits(bits: &Self::BitShares) -> [usize; 2];
    /// Planes of zeros.
    fn zero_bits(width: usize, rows: usize) -> Self::BitShares;
    /// The party's shares of planes.
    fn planes(bits: &Self::BitShares) -> impl Iterator<Item = &[u8]>;
    /// The shares of planes for writing, if nothing else refers to them.
    fn planes_mut(bits: &mut Self::BitShares) -> Option<impl Iterator<Item = &mut [u8]>>;

    /// The bits of the words' ring, and the number of rows.
    fn size_of_words(words: &Self::WordShares) -> (u32, usize);
    /// Words of zeros.
    fn zero_words(ring: u32, rows: usize) -> Self::WordShares;
    /// Words of the same ring. Each of their shares is a map of the same share of the operands. The
    /// result has `rows` rows.
    fn mapped(reads: &[&Self::WordShares], map: &WordMap<'_>, rows: usize) -> Self::WordShares;
    /// The same numbers modulo a smaller power of two.
    fn narrowed(words: &Self::WordShares, ring: u32) -> Self::WordShares;
    /// Writes a piece to its rows. Nothing else refers to the words.
    fn put_words(words: &mut Self::WordShares, rows: &Range<usize>, piece: &Self::WordShares);
    /// Whether nothing else refers to the words.
    fn is_alone(words: &mut Self::WordShares) -> bool;

    /// The inverse of an order.
    fn inverted(order: &Self::RowOrder) -> Self::RowOrder;
}

/// A number modulo a power of two.
pub trait Residue: Copy + Default {
    /// A number modulo the ring's power of two.
    fn reduced(number: u64) -> Self;
    /// a + b.
    #[must_use]
    fn added(self, other: Self) -> Self;
    /// a − b.
    #[must_use]
    fn taken(self, other: Self) -> Self;
    /// a b.
    #[must_use]
    fn multiplied(self, other: Self) -> Self;
}

macro_rules! residues {
    ($($word:ident)*) => {$(
        impl Residue for $word {
            fn reduced(number: u64) -> Self {
                number as $word
            }
            fn added(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn taken(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn multiplied(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
        }
    )*};
}

residues!(u8 u16 u32 u64);

/// A linear map of words.
pub enum WordMap<'a> {
    /// a + b, or a − b.
    Sum {
        /// Whether it is a − b.
        minus: bool,
    },
    /// Products with known elements: one element for all, or one for each.
    Scale(&'a Tensor),
    /// Products with a power of two.
    Shift(u32),
    /// Sums along an axis: of each series, or up to each element.
    Fold(Axis, bool),
    /// Sums of windows.
    PoolSum(&'a Pooling),
    /// Elements, moved to their places.
    Move(&'a Moves),
    /// Some rows.
    StepPiece(&'a Range<usize>),
}

impl WordMap<'_> {
    /// Appends the elements of the result.
    pub fn apply<W: Residue>(&self, reads: &[&[W]], out: &mut Vec<W>) {
        let x = reads[0];
        let scale = |by: u64| {
            let by = W::reduced(by);
            move |x: &W| x.multiplied(by)
        };
        match self {
            WordMap::Sum { minus: false } => out.extend(x.iter().zip(reads[1]).map(|(x, y)| x.added(*y))),
            WordMap::Sum { minus: true } => out.extend(x.iter().zip(reads[1]).map(|(x, y)| x.taken(*y))),
            WordMap::Scale(factors) if factors.len() == 1 => {
                out.extend(x.iter().map(scale(factors.element(0)[0])));
            }
            WordMap::Scale(factors) => {
                let each = |(i, x): (usize, &W)| x.multiplied(W::reduced(factors.element(i)[0]));
                out.extend(x.iter().enumerate().map(each));
            }
            WordMap::Shift(by) => out.extend(x.iter().map(scale(1 << by))),
            WordMap::Fold(axis, prefix) => axis.sums(x, *prefix, out),
            WordMap::PoolSum(pooling) => pooling.sums(x, out),
            WordMap::Move(moves) => moves.copy(reads, out),
            WordMap::StepPiece(rows) => out.extend_from_slice(&x[(*rows).clone()]),
        }
    }
}

/// Bits, each of whose shares is a map of the same share of the operands. The map writes to planes
/// of zeros.
fn mapped_bits<B: Sharing>(
    reads: &[&B::BitShares],
    [width, rows]: [usize; 2],
    map: impl Fn(&[&[u8]], &mut [u8]),
) -> B::BitShares {
    let mut made = B::zero_bits(width, rows);
    let mut shares: Vec<_> = reads.iter().map(|bits| B::planes(bits)).collect();
    for to in B::planes_mut(&mut made).expect("they are new") {
        map(&shares.iter_mut().filter_map(Iterator::next).collect::<Vec<_>>(), to);
    }
    made
}

/// Picks elements of values of one form. Places count through all values in turn.
pub fn picked<B: Sharing>(reads: &[&StepValue<B>], picks: &Picks) -> StepValue<B> {
    if let [form] = reads
        && picks.is_all(form.rows())
    {
        return (*form).clone();
    }
    let lengths: Vec<usize> = reads.iter().map(|form| form.rows()).collect();
    let moves = picks.within(&lengths);
    if let StepValue::Words(_) = reads[0] {
        let words: Vec<&B::WordShares> = reads.iter().map(|form| form.words()).collect();
        return StepValue::Words(B::mapped(&words, &WordMap::Move(&moves), picks.len()));
    }
    let bits: Vec<&B::BitShares> = reads.iter().map(|form| &**form.bits()).collect();
    let [width, _] = B::size_of_bits(bits[0]);
    StepValue::of_bits(mapped_bits::<B>(&bits, [width, picks.len()], |of, to| {
        for (plane, to) in to.chunks_exact_mut(plane_bytes(picks.len()).max(1)).enumerate() {
            let one = |(of, rows): (&&'_ [u8], &usize)| plane * plane_bytes(*rows)..of.len();
            let planes: Vec<&[u8]> = of.iter().zip(&lengths).map(|part| &part.0[one(part)]).collect();
            moves.copy_bits(&planes, to);
        }
    }))
}

/// The rows of a value of bits or words, from a multiple of eight on. A known value is returned
/// whole.
pub fn piece<B: Sharing>(form: &StepValue<B>, rows: &Range<usize>) -> StepValue<B> {
    match form {
        StepValue::Known(_) | StepValue::Order(_) => form.clone(),
        StepValue::Words(words) => {
            StepValue::Words(B::mapped(&[words], &WordMap::StepPiece(rows), rows.len()))
        }
        StepValue::Bits(bits) => {
            let [width, all] = B::size_of_bits(bits);
            let (height, len) = (plane_bytes(all), plane_bytes(rows.len()));
            StepValue::of_bits(mapped_bits::<B>(&[bits], [width, rows.len()], |of, to| {
                for (to, plane) in to.chunks_exact_mut(len.max(1)).zip(0..) {
                    to.copy_from_slice(&of[0][plane * height + rows.start / 8..][..len]);
                }
            }))
        }
    }
}

/// Writes a piece to its rows, which begin at a multiple of eight.
pub(crate) fn put_bits<B: Sharing>(bits: &mut Arc<B::BitShares>, rows: &Range<usize>, piece: &B::BitShares) {
    let (height, len) = (plane_bytes(B::size_of_bits(bits)[1]), plane_bytes(rows.len()));
    let to = Arc::get_mut(bits).and_then(B::planes_mut).expect("nobody else has them");
    for (to, from) in to.zip(B::planes(piece)) {
        for (to, from) in to.chunks_exact_mut(height.max(1)).zip(from.chunks_exact(len.max(1))) {
            to[rows.start / 8..][..len].copy_from_slice(from);
        }
    }
}

/// All bits of all elements, element by element, as one row.
pub fn flattened<B: Sharing>(bits: &B::BitShares) -> B::BitShares {
    let [width, rows] = B::size_of_bits(bits);
    let height = plane_bytes(rows);
    mapped_bits::<B>(&[bits], [width * rows, 1], |of, to| {
        for (r, to) in to.chunks_exact_mut(width.max(1)).enumerate() {
            to.iter_mut().enumerate().for_each(|(b, to)| *to = of[0][b * height + r / 8] >> (r % 8) & 1);
        }
    })
}

/// The reverse of [`flattened`], for the bits from `from` on.
pub fn gathered_bits<B: Sharing>(row: &B::BitShares, from: usize, [width, rows]: [usize; 2]) -> B::BitShares {
    let height = plane_bytes(rows);
    mapped_bits::<B>(&[row], [width, rows], |of, to| {
        for (i, bit) in of[0][from..][..width * rows].iter().enumerate() {
            let (r, b) = (i / width, i % width);
            to[b * height + r / 8] |= (bit & 1) << (r % 8);
        }
    })
}

/// Some planes.
pub fn some_planes<B: Sharing>(bits: &B::BitShares, planes: Range<usize>) -> B::BitShares {
    let [_, rows] = B::size_of_bits(bits);
    let first = planes.start * plane_bytes(rows);
    mapped_bits::<B>(&[bits], [planes.len(), rows], |of, to| {
        to.copy_from_slice(&of[0][first..first + to.len()]);
    })
}

/// The planes of several values with the same number of rows, stacked. The first `width` planes are
/// returned.
pub fn stacked<B: Sharing>(parts: &[&B::BitShares], [width, rows]: [usize; 2]) -> B::BitShares {
    mapped_bits::<B>(parts, [width, rows], |of, to| {
        let mut rest = to;
        for from in of {
            let (now, behind) = rest.split_at_mut(from.len().min(rest.len()));
            now.copy_from_slice(&from[..now.len()]);
            rest = behind;
        }
    })
}
