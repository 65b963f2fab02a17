//! Numbers of 1 to 16 bytes, least significant byte first.

use crate::{BitSlice, PIECE, bits::ones};
use std::ops::RangeInclusive;

/// Consecutive numbers.
#[derive(Clone, Copy, Debug)]
pub struct NumberSlice<'a> {
    /// Their bytes.
    pub bytes: &'a [u8],
    /// The bytes of a number: 1, 2, 4, 8 or 16.
    pub width: usize,
    /// Whether the highest bit is a sign.
    pub signed: bool,
}

/// An integer of `W` bytes.
trait Integer<const W: usize>: Copy {
    fn of(bytes: [u8; W]) -> Self;
    fn long(self) -> i128;
}

macro_rules! integers {
    ($($kind:ty: $width:literal),*) => {$(
        impl Integer<$width> for $kind {
            fn of(bytes: [u8; $width]) -> Self {
                <$kind>::from_le_bytes(bytes)
            }

            fn long(self) -> i128 {
                self.into()
            }
        }
    )*};
}

integers!(i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8, i128: 16);

/// Calls a function that is generic in the type of integers, with the type for these numbers' width
/// and sign.
macro_rules! of_width {
    ($numbers:expr, $function:ident($($argument:expr),*)) => {
        match ($numbers.width, $numbers.signed) {
            (1, true) => $function::<1, i8>($($argument),*),
            (1, false) => $function::<1, u8>($($argument),*),
            (2, true) => $function::<2, i16>($($argument),*),
            (2, false) => $function::<2, u16>($($argument),*),
            (4, true) => $function::<4, i32>($($argument),*),
            (4, false) => $function::<4, u32>($($argument),*),
            (8, true) => $function::<8, i64>($($argument),*),
            (8, false) => $function::<8, u64>($($argument),*),
            // Unsigned numbers of 16 bytes are read as signed, so numbers from 2^127 on become
            // negative.
            (16, _) => $function::<16, i128>($($argument),*),
            _ => panic!("no numbers have {} bytes", $numbers.width),
        }
    };
}

fn all<const W: usize, I: Integer<W>>(bytes: &[u8]) -> impl Iterator<Item = I> {
    bytes.as_chunks::<W>().0.iter().map(|number| I::of(*number))
}

impl NumberSlice<'_> {
    fn rows(&self) -> usize {
        self.bytes.len() / self.width
    }
}

/// The first row with a number outside a range, among rows that have a value. If `valid` is `None`,
/// all rows have one. Unsigned numbers of 16 bytes from 2^127 on are outside every range.
///
/// # Panics
/// If the width is invalid, or `valid` has fewer bits than there are numbers.
#[must_use]
pub fn first_outside(
    numbers: NumberSlice<'_>,
    valid: Option<BitSlice<'_>>,
    range: RangeInclusive<i128>,
) -> Option<usize> {
    let low = if numbers.width == 16 && !numbers.signed { 0.max(*range.start()) } else { *range.start() };
    of_width!(numbers, outside(numbers.bytes, valid, low, *range.end()))
}

fn outside<const W: usize, I: Integer<W> + Bounded>(
    bytes: &[u8],
    valid: Option<BitSlice<'_>>,
    low: i128,
    high: i128,
) -> Option<usize> {
    let is_valid = |row: usize| valid.is_none_or(|valid| valid.get(row));
    // The range in the integers' own type, so that the compiler compares vectors.
    let (Some(low), Some(high)) = (I::at_least(low), I::at_most(high)) else {
        return (0..bytes.len() / W).find(|row| is_valid(*row));
    };
    bytes.chunks(W * PIECE).enumerate().find_map(|(piece, bytes)| {
        // Pieces with a number outside the range are rare; only such a piece is searched again.
        if !all::<W, I>(bytes).fold(false, |any, n| any | (n < low) | (n > high)) {
            return None;
        }
        let rows = all::<W, I>(bytes).enumerate().map(|(i, n)| (piece * PIECE + i, n));
        rows.filter(|(_, n)| *n < low || *n > high).map(|(row, _)| row).find(|row| is_valid(*row))
    })
}

/// Integers with a least and a greatest one.
trait Bounded: PartialOrd + Sized {
    /// The least integer that is at least this number.
    fn at_least(n: i128) -> Option<Self>;
    /// The greatest integer that is at most this number.
    fn at_most(n: i128) -> Option<Self>;
}

macro_rules! bounded {
    ($($kind:ty),*) => {$(
        impl Bounded for $kind {
            fn at_least(n: i128) -> Option<Self> {
                <$kind>::try_from(n.max(<$kind>::MIN.into())).ok()
            }

            fn at_most(n: i128) -> Option<Self> {
                <$kind>::try_from(n.min(<$kind>::MAX.into())).ok()
            }
        }
    )*};
}

bounded!(i8, u8, i16, u16, i32, u32, i64, u64, i128);

/// Appends numbers as records of `record` bytes, 1 to 16, with zeros for rows without a value.
/// Numbers that do not fit a record lose their highest bits.
///
/// # Panics
/// If a width or a record's length is invalid, or `valid` has fewer bits than there are numbers.
pub fn append(to: &mut Vec<u8>, record: usize, numbers: NumberSlice<'_>, valid: Option<BitSlice<'_>>) {
    to.reserve(numbers.rows() * record);
    for (piece, bytes) in numbers.bytes.chunks(numbers.width * PIECE).enumerate() {
        let start = to.len();
        if record == numbers.width {
            to.extend_from_slice(bytes);
        } else {
            to.resize(start + bytes.len() / numbers.width * record, 0);
            of_width!(numbers, resized(&mut to[start..], record, bytes));
        }
        if let Some(valid) = valid {
            clear(&mut to[start..], record, valid.part(piece * PIECE, PIECE));
        }
    }
}

fn resized<const W: usize, I: Integer<W>>(to: &mut [u8], record: usize, bytes: &[u8]) {
    fn into<const W: usize, I: Integer<W>, const R: usize>(to: &mut [u8], bytes: &[u8]) {
        for (record, number) in to.as_chunks_mut::<R>().0.iter_mut().zip(all::<W, I>(bytes)) {
            if R <= 8 {
                // The record has at most 8 bytes, so higher ones are not needed.
                record.copy_from_slice(&(number.long() as u64).to_le_bytes()[..R.min(8)]);
            } else {
                record.copy_from_slice(&number.long().to_le_bytes()[..R]);
            }
        }
    }
    match record {
        1 => into::<W, I, 1>(to, bytes),
        2 => into::<W, I, 2>(to, bytes),
        4 => into::<W, I, 4>(to, bytes),
        8 => into::<W, I, 8>(to, bytes),
        16 => into::<W, I, 16>(to, bytes),
        // Wide decimals have records of any length.
        _ => {
            for (to, number) in to.chunks_exact_mut(record).zip(all::<W, I>(bytes)) {
                to.copy_from_slice(&number.long().to_le_bytes()[..record]);
            }
        }
    }
}

/// Sets records of rows without a value to 0.
pub(crate) fn clear(records: &mut [u8], record: usize, valid: BitSlice<'_>) {
    macro_rules! each {
        ($kind:ty, $width:literal) => {
            for (k, records) in records.chunks_mut(64 * $width).enumerate() {
                let mut word = valid.word(k);
                if word == ones(records.len() / $width) {
                    continue;
                }
                for record in records.as_chunks_mut::<$width>().0 {
                    let keep = <$kind>::from(word & 1 == 1).wrapping_neg();
                    *record = (<$kind>::from_le_bytes(*record) & keep).to_le_bytes();
                    word >>= 1;
                }
            }
        };
    }
    assert_eq!(records.len() / record, valid.len(), "a bit for each row");
    match record {
        1 => each!(u8, 1),
        2 => each!(u16, 2),
        4 => each!(u32, 4),
        8 => each!(u64, 8),
        16 => each!(u128, 16),
        _ => {
            for (row, to) in records.chunks_exact_mut(record).enumerate() {
                if !valid.get(row) {
                    to.fill(0);
                }
            }
        }
    }
}

/// Multiplies numbers by a factor, giving 8 bytes each. `None` if a product does not fit, or the
/// numbers have more than 8 bytes.
#[must_use]
pub fn multiplied(numbers: NumberSlice<'_>, by: i64) -> Option<Vec<u8>> {
    if numbers.width > 8 {
        return None;
    }
    of_width!(numbers, products(numbers.bytes, by))
}

fn products<const W: usize, I: Integer<W>>(bytes: &[u8], by: i64) -> Option<Vec<u8>> {
    let mut made = Vec::with_capacity(bytes.len() / W * 8);
    let mut fits = true;
    for number in all::<W, I>(bytes) {
        let number = number.long();
        let short = number as i64;
        let (product, over) = short.overflowing_mul(by);
        fits &= !over & (i128::from(short) == number);
        made.extend_from_slice(&product.to_le_bytes());
    }
    fits.then_some(made)
}

/// Divides signed numbers of 8 bytes by a divisor, giving 8 bytes each. Rows without a value get 0.
///
/// # Errors
/// The first row whose number is not a multiple of the divisor.
///
/// # Panics
/// If the divisor is 0, or `valid` has fewer bits than there are numbers.
pub fn divided(bytes: &[u8], valid: Option<BitSlice<'_>>, by: i64) -> Result<Vec<u8>, usize> {
    // The compiler replaces a division by a constant with a product by its inverse.
    match by {
        1000 => quotients(bytes, valid, |n| (n / 1000, n % 1000)),
        86_400_000 => quotients(bytes, valid, |n| (n / 86_400_000, n % 86_400_000)),
        by => quotients(bytes, valid, |n| (n / by, n % by)),
    }
}

fn quotients(
    bytes: &[u8],
    valid: Option<BitSlice<'_>>,
    by: impl Fn(i64) -> (i64, i64),
) -> Result<Vec<u8>, usize> {
    let mut made = Vec::with_capacity(bytes.len());
    append(&mut made, 8, NumberSlice { bytes, width: 8, signed: true }, valid);
    for (row, number) in made.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let (quotient, rest) = by(i64::from_le_bytes(*number));
        if rest != 0 {
            return Err(row);
        }
        *number = quotient.to_le_bytes();
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }
    }

    fn plain(numbers: NumberSlice<'_>, i: usize) -> i128 {
        let bytes = &numbers.bytes[i * numbers.width..][..numbers.width];
        let negative = numbers.signed && bytes[numbers.width - 1] >> 7 == 1;
        let mut all = [if negative { u8::MAX } else { 0 }; 16];
        all[..numbers.width].copy_from_slice(bytes);
        i128::from_le_bytes(all)
    }

    #[test]
    fn records_are_those_of_a_loop_over_rows() {
        let mut random = Random(3);
        for case in 0..300 {
            let (width, record) = ([1, 2, 4, 8, 16][case % 5], [1, 2, 4, 8, 16, 3, 13][case / 5 % 7]);
            let rows = [0, 1, 63, 64, 65, 300, 2048, 5000][random.below(8) as usize];
            let bytes: Vec<u8> = (0..rows * width).map(|_| random.below(256) as u8).collect();
            let bits: Vec<u8> = (0..rows / 8 + 2).map(|_| random.below(256) as u8).collect();
            let valid = (case % 3 > 0).then(|| BitSlice::new(&bits, 5, rows).unwrap());
            let numbers = NumberSlice { bytes: &bytes, width, signed: case % 2 == 0 };
            let mut made = vec![9];
            append(&mut made, record, numbers, valid);
            assert_eq!(made.len(), 1 + rows * record);
            for (i, found) in made[1..].chunks_exact(record).enumerate() {
                let number = if valid.is_none_or(|valid| valid.get(i)) { plain(numbers, i) } else { 0 };
                assert_eq!(found, &number.to_le_bytes()[..record], "case {case}, row {i}");
            }
            let ends: Vec<i128> = (0..2)
                .map(|_| if rows == 0 { 0 } else { plain(numbers, random.below(rows as u64) as usize) })
                .collect();
            for (low, high) in [
                (ends[0].min(ends[1]), ends[0].max(ends[1])),
                (i128::MIN, i128::MAX),
                (-(1 << 70), 1 << 70),
                (1 << 66, 1 << 67),
                (-5, 100),
            ] {
                let odd = |i: &usize| {
                    let n = plain(numbers, *i);
                    valid.is_none_or(|valid| valid.get(*i))
                        && (n < low || n > high || (n < 0 && !numbers.signed))
                };
                assert_eq!(
                    first_outside(numbers, valid, low..=high),
                    (0..rows).find(odd),
                    "case {case}: {low} to {high}"
                );
            }
        }
    }

    #[test]
    fn products_and_quotients_are_those_of_wide_integers() {
        let numbers = [0i64, 5000, -7000, i64::MAX / 1000 * 1000, 86_400_000_000];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        for by in [1000, 500, 86_400_000] {
            let fits = numbers.iter().all(|n| n % by == 0);
            let wanted: Vec<u8> = numbers.iter().flat_map(|n| (n / by).to_le_bytes()).collect();
            match divided(&bytes, None, by) {
                Ok(made) => assert!(fits && made == wanted),
                Err(row) => assert_eq!(numbers.iter().position(|n| n % by != 0), Some(row)),
            }
        }
        // The odd number has no value.
        let odd: Vec<u8> = [3i64, 2000].iter().flat_map(|n| n.to_le_bytes()).collect();
        let made = divided(&odd, BitSlice::new(&[0b10], 0, 2), 1000).unwrap();
        assert_eq!(made, [0i64, 2].map(i64::to_le_bytes).concat());
        let whole = |bytes, width, signed| NumberSlice { bytes, width, signed };
        assert_eq!(multiplied(whole(&bytes, 8, true), 1000), None);
        assert_eq!(multiplied(whole(&[u8::MAX; 8], 8, false), 1), None);
        assert_eq!(multiplied(whole(&[0; 16], 16, true), 1), None);
        let small = multiplied(whole(&[200, 7], 1, false), 1000).unwrap();
        assert_eq!(small, [200_000i64, 7000].map(i64::to_le_bytes).concat());
    }
}
