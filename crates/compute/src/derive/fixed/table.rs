//! The coefficients of a number's piece, chosen by one circuit.
//!
//! ```text
//! x ──► sign, |x| − sign ──► upper bits: the piece, as "at least k" for each k ──► coefficients
//!                       └──► lower bits + sign: the place within the piece
//! ```
//!
//! A bit of a coefficient is the XOR of "at least k" for all k at which the bit changes. So only
//! the search for the piece takes ANDs, about one for each piece. For numbers below 0, an odd
//! function has the XOR of each coefficient with the sign. That is the negative minus one unit of
//! the last place, which is far less than a step.

use super::series::{Curve, Pieces, Precision};
use crate::Netlist;
use hushwire_circuit::{Bit, Builder, words};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// LOCAL: the number of tables that a process keeps.
const KEPT: usize = 64;

/// The tables that were made.
static MADE: Mutex<BTreeMap<Lookup, Arc<CurveTable>>> = Mutex::new(BTreeMap::new());

/// How a function of numbers from 0 on extends to those below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sides {
    /// Numbers have no sign.
    Right,
    /// f(−x) = f(x)
    Even,
    /// f(−x) = −f(x)
    Odd,
}

/// The arguments of a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lookup {
    pub(super) curve: Curve,
    pub(super) sides: Sides,
    /// The bits of the number.
    pub(super) bits: u16,
    pub(super) precision: Precision,
}

/// A circuit from a number to the coefficients of its piece, the lowest first, and its place
/// within the piece.
pub(super) struct CurveTable {
    pub(super) circuit: Netlist,
    /// The bits of each coefficient, which has a sign.
    pub(super) widths: Vec<u8>,
    /// The bits of a piece. A place is from 0 to 2^`below`.
    pub(super) below: u8,
}

impl CurveTable {
    /// Returns the table of a function. A process makes each table once, since a network needs the
    /// same one many times.
    pub(super) fn of(lookup: Lookup) -> Arc<CurveTable> {
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        // Texts of strangers may name thousands of types.
        if made.len() >= KEPT && !made.contains_key(&lookup) {
            made.clear();
        }
        made.entry(lookup).or_insert_with(|| Arc::new(CurveTable::new(lookup))).clone()
    }

    fn new(lookup: Lookup) -> CurveTable {
        let Pieces { half, rows } = Pieces::new(lookup.curve, lookup.precision);
        let below = lookup.precision.of + 1 - half as u8;
        let mut c = Builder::new();
        let x = c.input(lookup.bits.into());
        let (size, sign) = match (lookup.sides, x.split_last()) {
            (Sides::Even | Sides::Odd, Some((sign, size))) => (size, *sign),
            _ => (&*x, Bit::ZERO),
        };
        let size: Vec<Bit> = size.iter().map(|bit| c.xor(*bit, sign)).collect();
        let (low, high) = size.split_at(below.into());
        let (mut place, carry) = words::add(&mut c, low, &vec![Bit::ZERO; low.len()], sign);
        place.push(carry);
        let passed = passed(&mut c, high, rows.len() - 1);
        let negated = if lookup.sides == Sides::Odd { sign } else { Bit::ZERO };
        let column = |n: usize| rows.iter().map(move |row| row[n]);
        let widths: Vec<u8> = (0..rows[0].len()).map(|n| width(column(n))).collect();
        let mut out = vec![];
        for (n, width) in widths.iter().enumerate() {
            let bits = (0..*width).map(|bit| {
                let values: Vec<bool> = column(n).map(|value| value >> bit & 1 == 1).collect();
                let first = c.xor(Bit::constant(values[0]), negated);
                let changes = values.windows(2).zip(&passed).filter(|(two, _)| two[0] != two[1]);
                changes.fold(first, |sum, (_, passed)| c.xor(sum, *passed))
            });
            out.push(bits.collect::<Vec<Bit>>());
        }
        out.push(place);
        let circuit = Netlist::new(c.finish(&out)).expect("numbers and coefficients have few bits");
        CurveTable { circuit, widths, below }
    }
}

/// Whether a number is at least k, for each k from 1 to `most`.
fn passed(c: &mut Builder, number: &[Bit], most: usize) -> Vec<Bit> {
    let (low, high) = number.split_at(number.len().min(most.ilog2() as usize + 1));
    // Numbers of more bits are as the greatest of these.
    let beyond = words::any(c, high);
    let mut passed: Vec<Bit> = vec![];
    for bit in low {
        let bit = or(c, *bit, beyond);
        let both: Vec<Bit> = passed.iter().map(|at_least| c.and(bit, *at_least)).collect();
        for (at_least, both) in passed.iter_mut().zip(&both) {
            let differ = c.xor(*at_least, bit);
            *at_least = c.xor(differ, *both);
        }
        passed.push(bit);
        passed.extend(both);
    }
    passed.truncate(most);
    passed
}

fn or(c: &mut Builder, x: Bit, y: Bit) -> Bit {
    let (both, differ) = (c.and(x, y), c.xor(x, y));
    c.xor(both, differ)
}

/// The bits of numbers with a sign.
fn width(numbers: impl Iterator<Item = i128>) -> u8 {
    numbers.map(|n| 129 - (if n < 0 { !n } else { n }).leading_zeros() as u8).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scalar, Tensor};

    #[test]
    fn a_process_keeps_few_tables() {
        for bits in 16..40 {
            for of in [4, 5, 6, 7] {
                let precision = Precision { of, step: of, p: of + 8, to: of };
                CurveTable::of(Lookup { curve: Curve::Sigmoid, sides: Sides::Odd, bits, precision });
                assert!(MADE.lock().unwrap().len() <= KEPT);
            }
        }
    }

    /// Every number of 14 bits has the coefficients of its piece, by a search for it.
    #[test]
    fn each_number_has_the_coefficients_of_its_piece() {
        let precision = Precision { of: 6, step: 6, p: 14, to: 6 };
        for sides in [Sides::Right, Sides::Even, Sides::Odd] {
            for curve in [Curve::Sigmoid, Curve::Tail, Curve::Arc] {
                let Pieces { half, rows } = Pieces::new(curve, precision);
                let table = CurveTable::new(Lookup { curve, sides, bits: 14, precision });
                assert_eq!(u32::from(table.below), 7 - half);
                let numbers = 0..1u128 << 14;
                let x = Tensor::from_words(Scalar::Bits(14), &[1 << 14], numbers.clone());
                let width: usize = table.circuit.output_bits();
                let made = table.circuit.run(&[x], Scalar::Bits(width as u16), &[1 << 14]);
                for x in numbers {
                    let made = made.get(x as usize);
                    let is_below = sides != Sides::Right && x >> 13 == 1;
                    let size = if is_below { (1 << 14) - x } else { x };
                    // The end of a piece below 0 counts as its last place, and not as the next
                    // one's first.
                    let piece = ((size - u128::from(is_below)) >> table.below) as usize;
                    let row = &rows[piece.min(rows.len() - 1)];
                    let mut at = 0;
                    for (c, width) in row.iter().zip(&table.widths) {
                        let expected = if is_below && sides == Sides::Odd { !c } else { *c };
                        let mask = (1u128 << width) - 1;
                        assert_eq!(made >> at & mask, expected.cast_unsigned() & mask, "{x}");
                        at += width;
                    }
                    let place = size - ((size - u128::from(is_below)) >> table.below << table.below);
                    assert_eq!(made >> at, place, "{x}");
                }
            }
        }
    }
}
