//! Operations on bits: conversions, comparisons, truncation, choices.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_circuit::Adder;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::ring::{
    Bits, Column, Inject, OnBits, OnNumbers, Select, ToNumbers, Truncate, Word,
    test_support::{share_bits, share_words},
};

use super::ops::{Finish, OpSetup, Parts, deal, elements, widened};

/// This party's share of strings of bits, with one number for each row.
fn rows_of(bits: &Bits) -> Vec<u64> {
    let (planes, height) = (&bits.shares().own, bits.rows().div_ceil(8));
    let bit = |i: usize, row: usize| u64::from(planes[i * height + row / 8] >> (row % 8) & 1);
    (0..bits.rows()).map(|row| (0..bits.width()).map(|i| bit(i, row) << i).sum()).collect()
}

/// Strings of `width` bits, and the parties' shares of them.
pub(super) fn deal_bits(seed: u8, width: usize, rows: usize) -> (Vec<u64>, [Arc<Bits>; 3]) {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "bench compute bits");
    let numbers: Vec<u64> = (0..rows).map(|_| prg.next_u64() >> (64 - width)).collect();
    let shares = share_bits(&mut prg, width, &numbers).map(Arc::new);
    (numbers, shares)
}

/// The bytes of both shares of this many words for each row.
fn touched<W: Word>(n: usize, words: usize) -> usize {
    2 * n * words * W::BYTES
}

impl<W: Word> Finish for OnNumbers<W> {
    fn parts(self) -> Vec<u64> {
        rows_of(&self.finish())
    }
}

impl Finish for OnBits {
    fn parts(self) -> Vec<u64> {
        rows_of(&self.finish())
    }
}

/// Machines whose result is a share of numbers.
macro_rules! leave_numbers {
    ($($machine:ident)*) => {
        $(impl<W: Word> Finish for $machine<W> {
            fn parts(self) -> Vec<u64> {
                widened(&self.finish().own)
            }
        })*
    };
}

leave_numbers! { ToNumbers Inject Truncate Select }

pub(crate) fn to_bits<W: Word>(n: usize, adder: Adder) -> OpSetup {
    let (numbers, shares) = deal::<W>(1, n);
    let expected = (widened(&numbers), Parts::Xor);
    elements(touched::<W>(n, 2), expected, move |i, mut batch| {
        Ok(OnNumbers::to_bits(&mut batch, &shares[i], adder)?)
    })
}

pub(crate) fn to_numbers<W: Word>(n: usize, adder: Adder) -> OpSetup {
    let (numbers, shares) = deal_bits(1, W::BITS, n);
    elements(touched::<W>(n, 2), (numbers, Parts::Sum(W::BITS)), move |i, mut batch| {
        Ok(ToNumbers::<W>::new(&mut batch, &shares[i], adder)?)
    })
}

pub(crate) fn inject<W: Word>(n: usize) -> OpSetup {
    let (numbers, shares) = deal_bits(1, 1, n);
    elements(touched::<W>(n, 1), (numbers, Parts::Sum(W::BITS)), move |i, mut batch| {
        Ok(Inject::<W>::new(&mut batch, &shares[i]))
    })
}

/// The numbers of two columns, and all parties' shares of each.
type Columns<W> = ([Vec<u64>; 2], [[Arc<Column<W>>; 3]; 2]);

/// Two columns that are equal in every other row. Numbers are below the modulus divided by a power
/// of two.
fn pair<W: Word>(n: usize, shift: u32) -> Columns<W> {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([3; 16]), "bench compute pairs");
    let x: Vec<u64> = (0..n).map(|_| W::of(prg.next_u64()).number() >> shift).collect();
    let y: Vec<u64> =
        (0..n).map(|i| if i % 2 == 0 { x[i] } else { W::of(prg.next_u64()).number() >> shift }).collect();
    let shares = [&x, &y].map(|numbers| {
        let words: Vec<W> = numbers.iter().map(|number| W::of(*number)).collect();
        share_words(&mut prg, &words).map(Arc::new)
    });
    ([x, y], shares)
}

/// The expected result of a comparison of two columns.
fn compared([x, y]: &[Vec<u64>; 2], compare: fn(&u64, &u64) -> bool) -> (Vec<u64>, Parts) {
    (x.iter().zip(y).map(|(x, y)| compare(x, y).into()).collect(), Parts::Xor)
}

/// Two columns of strings that are equal in every other row.
fn strings(width: usize, n: usize) -> ([Vec<u64>; 2], [[Arc<Bits>; 3]; 2]) {
    let (x, xs) = deal_bits(3, width, n);
    let (mut y, _) = deal_bits(4, width, n);
    y.iter_mut().zip(&x).step_by(2).for_each(|(y, x)| *y = *x);
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([5; 16]), "bench compute strings");
    let ys = share_bits(&mut prg, width, &y).map(Arc::new);
    ([x, y], [xs, ys])
}

/// The bytes of both shares of this many bits for each row.
fn touched_bits(n: usize, bits: usize) -> usize {
    2 * n.div_ceil(8) * bits
}

pub(crate) fn less(width: usize, n: usize, adder: Adder) -> OpSetup {
    let (numbers, [x, y]) = strings(width, n);
    elements(touched_bits(n, 2 * width), compared(&numbers, |x, y| x < y), move |i, mut batch| {
        Ok(OnBits::less(&mut batch, &x[i], &y[i], false, adder)?)
    })
}

pub(crate) fn equal_strings(width: usize, n: usize) -> OpSetup {
    let (numbers, [x, y]) = strings(width, n);
    elements(touched_bits(n, 2 * width), compared(&numbers, |x, y| x == y), move |i, mut batch| {
        Ok(OnBits::equal(&mut batch, &x[i], &y[i])?)
    })
}

pub(crate) fn select_strings(width: usize, n: usize) -> OpSetup {
    let (choices, choose) = deal_bits(2, 1, n);
    let (numbers, [x, y]) = strings(width, n);
    let expected = (chosen(&choices, &numbers), Parts::Xor);
    elements(touched_bits(n, 3 * width), expected, move |i, mut batch| {
        Ok(OnBits::select(&mut batch, &choose[i], &x[i], &y[i])?)
    })
}

/// The first of two numbers if the choice is 1, else the second.
fn chosen(choices: &[u64], [x, y]: &[Vec<u64>; 2]) -> Vec<u64> {
    let rows = choices.iter().zip(x.iter().zip(y));
    rows.map(|(choice, (x, y))| if *choice == 1 { *x } else { *y }).collect()
}

pub(crate) fn less_arith<W: Word>(n: usize, adder: Adder) -> OpSetup {
    let (numbers, [x, y]) = pair::<W>(n, 0);
    elements(touched::<W>(n, 2), compared(&numbers, |x, y| x < y), move |i, mut batch| {
        Ok(OnNumbers::less(&mut batch, &x[i], &y[i], false, adder)?)
    })
}

pub(crate) fn less_bounded<W: Word>(n: usize, adder: Adder) -> OpSetup {
    let (numbers, [x, y]) = pair::<W>(n, 1);
    elements(touched::<W>(n, 2), compared(&numbers, |x, y| x < y), move |i, mut batch| {
        Ok(OnNumbers::less_bounded(&mut batch, &x[i], &y[i], adder)?)
    })
}

pub(crate) fn equal<W: Word>(n: usize) -> OpSetup {
    let (numbers, [x, y]) = pair::<W>(n, 0);
    elements(touched::<W>(n, 2), compared(&numbers, |x, y| x == y), move |i, mut batch| {
        Ok(OnNumbers::equal(&mut batch, &x[i], &y[i])?)
    })
}

pub(crate) fn trunc<W: Word>(n: usize, adder: Adder) -> OpSetup {
    let (numbers, shares) = deal::<W>(1, n);
    let shift = W::BITS as u32 / 2;
    let expected = numbers.iter().map(|number| number.number() >> shift).collect();
    elements(touched::<W>(n, 2), (expected, Parts::Sum(W::BITS)), move |i, mut batch| {
        Ok(Truncate::new(&mut batch, &shares[i], shift, false, adder)?)
    })
}

pub(crate) fn select<W: Word>(n: usize) -> OpSetup {
    let (choices, choose) = deal_bits(2, 1, n);
    let (numbers, [x, y]) = pair::<W>(n, 0);
    let expected = (chosen(&choices, &numbers), Parts::Sum(W::BITS));
    elements(touched::<W>(n, 3), expected, move |i, mut batch| {
        Ok(Select::new(&mut batch, &choose[i], &x[i], &y[i])?)
    })
}
