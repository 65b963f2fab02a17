//! Floats as whole numbers of steps.

use crate::{BitSlice, NumberSlice, PIECE, append, numbers::clear};
use std::ops::RangeInclusive;

/// Consecutive floats that become whole numbers of steps.
#[derive(Clone, Copy, Debug)]
pub struct FloatSlice<'a> {
    /// Their bytes, least significant first.
    pub bytes: &'a [u8],
    /// The bytes of a float: 4 or 8.
    pub width: usize,
    /// The number of steps in 1.
    pub unit: f64,
}

/// The number 2^52 + 2^51. Added to a number below 2^51 in absolute value, it gives a sum whose
/// last 52 bits hold the nearest whole number (ties to even).
const MIDDLE: f64 = (3u64 << 51) as f64;
/// A bound on steps: no type holds more.
const MOST: f64 = 1.7e38;

impl FloatSlice<'_> {
    /// The number of floats.
    fn rows(&self) -> usize {
        self.bytes.len() / self.width
    }

    fn real(&self, row: usize) -> f64 {
        match self.width {
            4 => f32::from_le_bytes(self.bytes.as_chunks().0[row]).into(),
            8 => f64::from_le_bytes(self.bytes.as_chunks().0[row]),
            _ => panic!("no floats have {} bytes", self.width),
        }
    }

    /// The steps of a float: the nearest whole number (ties to even). `None` if that number has
    /// more than about 127 bits, or the float is NaN.
    ///
    /// # Panics
    /// If floats have another width than 4 or 8, or there is no such row.
    #[must_use]
    pub fn steps(&self, row: usize) -> Option<i128> {
        let steps = (self.real(row) * self.unit).round_ties_even();
        (-MOST..MOST).contains(&steps).then_some(steps as i128)
    }

    fn piece(&self, first: usize, rows: usize) -> Self {
        FloatSlice { bytes: &self.bytes[first * self.width..][..rows * self.width], ..*self }
    }

    /// Whether each float's steps lie within a range; the ends of the range are floats.
    fn within(&self, low: f64, high: f64) -> bool {
        fn each<const W: usize>(
            bytes: &[u8],
            (unit, low, high): (f64, f64, f64),
            real: impl Fn([u8; W]) -> f64,
        ) -> bool {
            // NaN is in no range.
            bytes.as_chunks::<W>().0.iter().fold(true, |all, float| {
                let steps = real(*float) * unit;
                all & (steps >= low) & (steps <= high)
            })
        }
        let ends = (self.unit, low, high);
        match self.width {
            4 => each::<4>(self.bytes, ends, |four| f32::from_le_bytes(four).into()),
            8 => each::<8>(self.bytes, ends, f64::from_le_bytes),
            _ => panic!("no floats have {} bytes", self.width),
        }
    }

    /// Writes the steps in 8 bytes. Returns whether each is below 2^51 in absolute value; otherwise
    /// the bytes are wrong.
    fn write(&self, to: &mut [u8]) -> bool {
        fn each<const W: usize>(
            bytes: &[u8],
            to: &mut [u8],
            unit: f64,
            real: impl Fn([u8; W]) -> f64,
        ) -> bool {
            let mut other = 0;
            for (record, float) in to.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<W>().0) {
                let sum = (real(*float) * unit + MIDDLE).to_bits();
                // A larger sum has another exponent, and so have infinity and NaN.
                other |= sum ^ MIDDLE.to_bits();
                *record = sum.wrapping_sub(MIDDLE.to_bits()).to_le_bytes();
            }
            other >> 52 == 0
        }
        match self.width {
            4 => each::<4>(self.bytes, to, self.unit, |four| f32::from_le_bytes(four).into()),
            8 => each::<8>(self.bytes, to, self.unit, f64::from_le_bytes),
            _ => panic!("no floats have {} bytes", self.width),
        }
    }
}

/// The first row whose steps are outside a range, among rows that have a value. If `valid` is
/// `None`, all rows have one.
///
/// # Panics
/// If floats have another width than 4 or 8, or `valid` has fewer bits than there are floats.
#[must_use]
pub fn first_unfit(
    floats: FloatSlice<'_>,
    valid: Option<BitSlice<'_>>,
    range: RangeInclusive<i128>,
) -> Option<usize> {
    // The ends as floats, rounded into the range.
    let (low, high) = (*range.start() as f64, *range.end() as f64);
    let low = if (low as i128) < *range.start() { low.next_up() } else { low }.max(-MOST);
    let high = if high as i128 > *range.end() { high.next_down() } else { high }.min(MOST.next_down());
    let mut held = vec![];
    (0..floats.rows()).step_by(PIECE).find_map(|first| {
        let rows = PIECE.min(floats.rows() - first);
        let piece = floats.piece(first, rows);
        if piece.within(low, high) {
            return None;
        }
        let valid = valid.map(|valid| valid.part(first, rows));
        if let Some(valid) = valid {
            // Rows without a value may hold anything, for example NaN.
            held.clear();
            held.extend_from_slice(piece.bytes);
            clear(&mut held, piece.width, valid);
            if (low..=high).contains(&0.0) && (FloatSlice { bytes: &held, ..piece }).within(low, high) {
                return None;
            }
        }
        let odd = |row: &usize| {
            valid.is_none_or(|valid| valid.get(*row))
                && piece.steps(*row).is_none_or(|steps| !range.contains(&steps))
        };
        (0..rows).find(odd).map(|row| first + row)
    })
}

/// Appends the steps of floats as records of `record` bytes, with zeros for rows without a value.
/// Steps that do not fit a record lose their highest bits.
///
/// # Panics
/// If a width is invalid, or `valid` has fewer bits than there are floats.
pub fn append_steps(to: &mut Vec<u8>, record: usize, floats: FloatSlice<'_>, valid: Option<BitSlice<'_>>) {
    to.reserve(floats.rows() * record);
    let (mut held, mut made) = (vec![], vec![0; 8 * PIECE]);
    for first in (0..floats.rows()).step_by(PIECE) {
        let rows = PIECE.min(floats.rows() - first);
        let mut piece = floats.piece(first, rows);
        let valid = valid.map(|valid| valid.part(first, rows));
        let made = &mut made[..8 * rows];
        let mut small = piece.write(made);
        if let (false, Some(valid)) = (small, valid) {
            held.clear();
            held.extend_from_slice(piece.bytes);
            clear(&mut held, piece.width, valid);
            piece = FloatSlice { bytes: &held, ..piece };
            small = piece.write(made);
        }
        if small {
            append(to, record, NumberSlice { bytes: made, width: 8, signed: true }, valid);
            continue;
        }
        for row in 0..rows {
            let steps = valid.is_none_or(|valid| valid.get(row)).then(|| piece.steps(row)).flatten();
            to.extend_from_slice(&steps.unwrap_or_default().to_le_bytes()[..record]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(bytes: &[u8], width: usize, unit: f64, valid: Option<BitSlice<'_>>, record: usize) -> Vec<u8> {
        let mut to = vec![5];
        append_steps(&mut to, record, FloatSlice { bytes, width, unit }, valid);
        assert_eq!(to.remove(0), 5);
        to
    }

    #[test]
    fn steps_are_the_nearest_whole_numbers() {
        let two = 2f64.powi(51);
        let mut reals =
            vec![0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.1, two, -two, two - 0.5, 0.5 - two];
        reals.extend((0..3000u32).map(|i| f64::from(i.wrapping_mul(0x9e37_79b9)) / 7.0 - 1e8));
        // The first piece has large numbers, the second has none.
        for unit in [1.0, 0.25, 65_536.0] {
            for record in [8, 13, 16] {
                let bytes: Vec<u8> = reals.iter().flat_map(|x| x.to_le_bytes()).collect();
                let whole = |x: f64| ((x * unit).round_ties_even() as i128).to_le_bytes()[..record].to_vec();
                let wanted: Vec<u8> = reals.iter().flat_map(|x| whole(*x)).collect();
                assert_eq!(made(&bytes, 8, unit, None, record), wanted);
                let narrow: Vec<f32> = reals.iter().map(|x| *x as f32).collect();
                let bytes: Vec<u8> = narrow.iter().flat_map(|x| x.to_le_bytes()).collect();
                let wanted: Vec<u8> = narrow.iter().flat_map(|x| whole((*x).into())).collect();
                assert_eq!(made(&bytes, 4, unit, None, record), wanted);
            }
        }
    }

    /// Ranges whose ends are not floats, and floats next to these ends.
    #[test]
    fn ends_of_ranges_are_exact() {
        let ends =
            [0, 1, (1 << 53) + 1, (1i128 << 63) - 1, 10i128.pow(20) + 7, 10i128.pow(38) - 1, i128::MAX];
        for end in ends {
            for (low, high) in [(-end, end), (i128::MIN, end), (-end, i128::MAX), (end, i128::MAX)] {
                let near = end as f64;
                for x in [near, near.next_up(), near.next_down(), -near, -near.next_up(), 0.5, f64::NAN] {
                    let bytes = x.to_le_bytes();
                    let floats = FloatSlice { bytes: &bytes, width: 8, unit: 1.0 };
                    let fits = floats.steps(0).is_some_and(|steps| (low..=high).contains(&steps));
                    assert_eq!(
                        first_unfit(floats, None, low..=high).is_none(),
                        fits,
                        "{x} in {low}..={high}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_beyond_is_named_by_its_row_where_it_has_a_value() {
        for odd in [f64::NAN, f64::INFINITY, -1e300, 9.3e18, 12_346.0, -12_346.0] {
            let mut reals = vec![12_345.0; 5000];
            reals[4321] = odd;
            let bytes: Vec<u8> = reals.iter().flat_map(|x| x.to_le_bytes()).collect();
            let floats = FloatSlice { bytes: &bytes, width: 8, unit: 1.0 };
            assert_eq!(first_unfit(floats, None, -12_345..=12_345), Some(4321));
            assert_eq!(first_unfit(floats, None, 0..=i128::MAX).is_none(), odd > 0.0 && odd < 1e38);
            let mut bits = vec![u8::MAX; 625];
            bits[4321 / 8] &= !(1 << (4321 % 8));
            let valid = BitSlice::new(&bits, 0, 5000);
            assert_eq!(first_unfit(floats, valid, -12_345..=12_345), None);
            reals[4321] = 0.0;
            let wanted: Vec<u8> = reals.iter().flat_map(|x| (*x as i64).to_le_bytes()).collect();
            assert_eq!(made(&bytes, 8, 1.0, valid, 8), wanted);
        }
    }
}
