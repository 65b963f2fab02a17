//! The keys of a sort as one string of bits per row.
//!
//! ```text
//! low    row number   ⌈log2 rows⌉ bits: all strings differ, so equal keys keep their order
//!        last key     signed: the sign's bit flipped; descending: all bits flipped
//!        …
//! high   first key
//! ```

use super::{
    column::{Bits, Column},
    planes::to_words,
};
use crate::{
    Context, Rep3, ShareError,
    pool::{self, Scratch},
};
use hushwire_circuit::planes::plane_bytes;
use std::{ops::Range, sync::Arc};

/// A key of a sort: a string of bits per row, lowest bit first.
pub struct SortKey {
    /// The bits of every row.
    pub bits: Arc<Bits>,
    /// Whether the bits are a number in two's complement.
    pub signed: bool,
    /// Whether the greatest key comes first.
    pub descending: bool,
}

/// Strings of bits as XOR-shared columns of 32 bits, lowest first.
pub(super) struct Strings {
    pub(super) width: usize,
    pub(super) columns: Vec<Arc<Column<u32>>>,
}

/// The number of bits of a row's number.
fn number_bits(rows: usize) -> usize {
    (usize::BITS - rows.saturating_sub(1).leading_zeros()) as usize
}

/// The number of bits of a row's string, for keys of `keys` bits in all.
pub(super) fn string_bits(rows: usize, keys: usize) -> usize {
    number_bits(rows) + keys
}

/// One bit plane of the strings.
#[derive(Clone, Copy)]
struct Plane<'k> {
    shares: [&'k [u8]; 2],
    flipped: bool,
}

/// Joins the keys of the rows with these numbers, out of `all` rows; the first key is the highest.
///
/// # Errors
/// [`ShareError::Length`] unless all keys have the same number of rows.
pub(super) fn strings(
    cx: &Context,
    numbers: Range<usize>,
    all: usize,
    keys: &[SortKey],
) -> Result<Strings, ShareError> {
    let rows = numbers.len();
    let height = plane_bytes(rows);
    // The planes of row numbers are filled in later.
    let zeros = vec![0; height];
    let mut planes = vec![Plane { shares: [&zeros; 2], flipped: false }; number_bits(all)];
    for SortKey { bits, signed, descending } in keys.iter().rev() {
        if bits.rows() != rows {
            let what = "a key of the sort, in rows,";
            return Err(ShareError::Length { what, expected: rows, found: bits.rows() });
        }
        let Rep3 { own, next } = bits.shares();
        for i in 0..bits.width() {
            let plane = i * height..(i + 1) * height;
            let sign = *signed && i + 1 == bits.width();
            planes.push(Plane { shares: [&own[plane.clone()], &next[plane]], flipped: descending ^ sign });
        }
    }
    let column = |(c, planes): (usize, &[Plane<'_>])| {
        let word = |share: usize| {
            let mut joined = Scratch::<u8>::room(planes.len() * height);
            planes.iter().for_each(|plane| joined.extend_from_slice(plane.shares[share]));
            let mut words = pool::zeros::<u32>(rows);
            to_words(cx.backend, &joined, &mut words);
            words
        };
        let mut column = Rep3 { own: word(0), next: word(1) };
        let flips =
            planes.iter().enumerate().fold(0, |word, (i, plane)| word | u32::from(plane.flipped) << i);
        let known = match cx.role.constant_slot() {
            Some(0) => Some(&mut column.own),
            Some(_) => Some(&mut column.next),
            None => None,
        };
        for (row, word) in numbers.clone().zip(known.into_iter().flatten()) {
            *word ^= flips ^ if c == 0 { row as u32 } else { 0 };
        }
        Arc::new(column)
    };
    let columns = planes.chunks(32).enumerate().map(column).collect();
    Ok(Strings { width: planes.len(), columns })
}
