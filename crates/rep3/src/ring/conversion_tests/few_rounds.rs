//! The greatest of numbers, truncations and signs in few rounds.

use super::super::{
    Column, Greatest, NegativeInFew, TruncateInFew, Word,
    test_support::{open_bits, open_words, share_words},
};
use super::*;
use crate::ShareError;
use hushwire_machine::Cost;

/// Numbers in two's complement, any two of which differ by at most what `bits` signed bits hold.
/// They begin at a random number, and include both ends of the range.
fn near<W: Word>(prg: &mut Prg, rows: usize, bits: usize) -> Vec<W> {
    let base = prg.next_u64();
    let least = |n: u64| if bits == 64 { n >> 1 } else { n % (1 << (bits - 1)) };
    let number = |k: usize, n: u64| match k % 7 {
        0 => 0,
        1 => least(u64::MAX),
        _ => least(n),
    };
    let offset: Vec<u64> = (0..rows).map(|_| prg.next_u64()).collect();
    offset.into_iter().enumerate().map(|(k, n)| W::of(base.wrapping_add(number(k + n as usize, n)))).collect()
}

fn greatest<W: Word>() {
    for bits in (1..=W::BITS).step_by(W::BITS.div_ceil(12)).chain([W::BITS]) {
        for rows in ROWS {
            let mut prg = random();
            // All numbers come from one vector, so that they are near each other.
            let all = near::<W>(&mut prg, 3 * rows, bits);
            let base = all.first().copied().unwrap_or_default();
            let columns: Vec<&[W]> = (0..3).map(|k| &all[k * rows..(k + 1) * rows]).collect();
            let shares: Vec<[Column<W>; 3]> =
                columns.iter().map(|column| share_words(&mut prg, column)).collect();
            for count in [2, 3] {
                let offset = |x: &W| signed(x.minus(base));
                let greatest = |i: usize| columns[..count].iter().map(|c| c[i]).max_by_key(offset).unwrap();
                let expected: Vec<W> = (0..rows).map(greatest).collect();
                let made = run(|batch, i| {
                    let columns: Vec<&Column<W>> = shares[..count].iter().map(|of| &of[i]).collect();
                    Greatest::new(batch, &columns, bits).unwrap()
                });
                assert_eq!(open_words(&made.map(Greatest::finish)), expected, "{count} of {bits} bits");
            }
        }
    }
}

#[test]
fn the_greatest_of_two_and_of_three_is_found() {
    greatest::<u8>();
    greatest::<u16>();
    greatest::<u32>();
    greatest::<u64>();
}

/// All triples of a few numbers, including equal ones.
#[test]
fn the_greatest_of_equal_numbers_is_any_of_them() {
    let all: Vec<[i8; 3]> = (0..125).map(|k| [k / 25, k / 5 % 5, k % 5].map(|n| 7 * (n as i8 - 2))).collect();
    let column = |k: usize| all.iter().map(|triple| triple[k] as u8).collect::<Vec<u8>>();
    let shares = [0, 1, 2].map(|k| share_words(&mut random(), &column(k)));
    let made = run(|batch, i| {
        let columns: Vec<&Column<u8>> = shares.iter().map(|of| &of[i]).collect();
        Greatest::new(batch, &columns, 6).unwrap()
    });
    let expected: Vec<u8> = all.iter().map(|triple| *triple.iter().max().unwrap() as u8).collect();
    assert_eq!(open_words(&made.map(Greatest::finish)), expected);
}

fn truncates<W: Word>() {
    for by in (1..W::BITS).step_by(W::BITS / 8).chain([2, W::BITS - 2, W::BITS - 1]) {
        for is_signed in [false, true] {
            for rows in ROWS {
                let x = numbers::<W>(&mut random(), rows);
                let shares = share_words(&mut random(), &x);
                let expected =
                    |x: &W| W::of(if is_signed { (signed(*x) >> by) as u64 } else { x.number() >> by });
                let expected: Vec<W> = x.iter().map(expected).collect();
                let made = run(|batch, i| TruncateInFew::new(batch, &shares[i], by, is_signed).unwrap());
                let made = open_words(&made.map(TruncateInFew::finish));
                assert_eq!(made, expected, "by {by}, signed {is_signed}, {rows} rows");
            }
        }
    }
}

#[test]
fn numbers_are_truncated_in_few_rounds() {
    truncates::<u8>();
    truncates::<u16>();
    truncates::<u32>();
    truncates::<u64>();
}

fn compares<W: Word>() {
    for rows in ROWS {
        let mut prg = random();
        let [x, y] = [0; 2].map(|_| near::<W>(&mut prg, rows, W::BITS - 1));
        // Less by the sign of the difference.
        let expected: Vec<bool> = x.iter().zip(&y).map(|(x, y)| signed(x.minus(*y)) < 0).collect();
        let [x, y] = [x, y].map(|numbers| share_words(&mut prg, &numbers));
        let made = run(|batch, i| NegativeInFew::less_bounded(batch, &x[i], &y[i]).unwrap());
        let found = open_bits(&made.map(NegativeInFew::finish));
        let found: Vec<bool> = found.into_iter().map(|bit| bit == 1).collect();
        assert_eq!(found, expected, "{rows} rows");
    }
}

#[test]
fn numbers_are_compared_in_few_rounds() {
    compares::<u8>();
    compares::<u16>();
    compares::<u32>();
    compares::<u64>();
}

/// The rounds, and the bytes of a row of 32-bit words, which are the same at all parties.
#[test]
fn rounds_and_bytes_in_few_rounds() {
    const ROWS: usize = 24_000;
    let cost = |machine: &dyn Machine<Error = NetError>| {
        let Cost { rounds, bytes_sent } = machine.cost().unwrap();
        (rounds, bytes_sent as f64 / ROWS as f64)
    };
    let x = Column::<u32>::zeros(ROWS);
    for mut party in parties() {
        let mut batch = party.next_batch().unwrap();
        let mut of = |count: usize, bits: usize| {
            cost(&Greatest::new(&mut batch, &[&x, &x, &x][..count], bits).unwrap())
        };
        let [two, three, wide] = [of(2, 19), of(3, 19), of(2, 32)];
        assert_eq!([two.0, three.0, wide.0], [4, 4, 5]);
        assert!(two.1 < 10.3 && three.1 < 32.1 && wide.1 < 12.5, "{two:?} {three:?} {wide:?}");
        let truncation = cost(&TruncateInFew::new(&mut batch, &x, 13, true).unwrap());
        assert!(truncation.0 == 5 && truncation.1 < 16.4, "{truncation:?}");
        let sign = cost(&NegativeInFew::less_bounded(&mut batch, &x, &x).unwrap());
        assert!(sign.0 == 4 && sign.1 < 7.1, "{sign:?}");
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let [mut party, ..] = parties();
    let mut batch = party.next_batch().unwrap();
    let [x, longer] = [9, 10].map(Column::<u8>::zeros);
    for columns in [&[&x][..], &[&x; 4], &[&x, &longer], &[&x, &x, &longer]] {
        assert!(matches!(Greatest::new(&mut batch, columns, 8).err(), Some(ShareError::Operand { .. })));
    }
    for bits in [0, 9] {
        let refused = Greatest::new(&mut batch, &[&x, &x], bits).err();
        assert!(matches!(refused, Some(ShareError::Operand { .. })), "{bits}");
    }
    for by in [0, 8, 9] {
        let refused = TruncateInFew::new(&mut batch, &x, by, true).err();
        assert!(matches!(refused, Some(ShareError::Operand { .. })), "{by}");
    }
    assert!(NegativeInFew::less_bounded(&mut batch, &x, &longer).is_err());
}
