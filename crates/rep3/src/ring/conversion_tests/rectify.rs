//! Rectifiers in few rounds, and by bits.

use super::super::{
    Column, Rectify, RectifyByBits, Word,
    test_support::{open_words, share_words},
};
use super::*;
use crate::{Rep3, ShareError};
use hushwire_machine::drive::Place;

/// max(⌊x / 2^from⌋, 0) of the lowest bits of a word.
fn rectified<W: Word>(x: W, from: usize, to: usize) -> W {
    let x = (x.number() << (64 - to)) as i64 >> (64 - to);
    W::of((x.max(0) >> from) as u64)
}

fn bits<W: Word>() -> Vec<(usize, usize)> {
    let all = [(0, W::BITS), (3, W::BITS), (W::BITS / 2 - 3, W::BITS), (W::BITS - 1, W::BITS)];
    all.into_iter().chain([(0, 1), (1, 2), (0, 2), (2, 3), (2, W::BITS - 1), (0, W::BITS / 2)]).collect()
}

fn rectifies<W: Word>() {
    for (from, to) in bits::<W>() {
        for rows in ROWS {
            let x = numbers::<W>(&mut random(), rows);
            let shares = share_words(&mut random(), &x);
            let expected: Vec<W> = x.iter().map(|x| rectified(*x, from, to)).collect();
            let few = run(|batch, i| Rectify::new(batch, &shares[i], from..to).unwrap());
            assert_eq!(open_words(&few.map(Rectify::finish)), expected, "{from}..{to}, {rows} rows");
        }
    }
}

#[test]
fn numbers_are_rectified_in_few_rounds() {
    rectifies::<u8>();
    rectifies::<u16>();
    rectifies::<u32>();
    rectifies::<u64>();
}

/// As above, by bits, with a round for each bit.
#[test]
fn numbers_are_rectified_by_their_bits() {
    for (from, to) in bits::<u32>() {
        for rows in ROWS {
            let x = numbers::<u32>(&mut random(), rows);
            let shares = share_words(&mut random(), &x);
            let expected: Vec<u32> = x.iter().map(|x| rectified(*x, from, to)).collect();
            let mut session = parties();
            let mut machines = [0, 1, 2].map(|i| {
                let batch = session[i].next_batch().unwrap();
                RectifyByBits::new(batch, &shares[i], from..to).unwrap()
            });
            Lockstep::new().run(&mut machines).unwrap();
            assert_eq!(open_words(&machines.map(RectifyByBits::finish)), expected, "{from}..{to}");
        }
    }
}

/// Five rounds and 19 bytes per row for 32 bits, with a third of the rows per dealer; six rounds
/// for 64 bits.
#[test]
fn rounds_and_bytes_of_rectifiers() {
    let cost = |machine: &dyn Machine<Error = NetError>| machine.cost().unwrap();
    let all = parties().map(|mut party| {
        let mut batch = party.next_batch().unwrap();
        let narrow = Rectify::new(&mut batch, &Column::<u32>::zeros(24_000), 13..32).unwrap();
        let wide = Rectify::new(&mut batch, &Column::<u64>::zeros(24_000), 24..64).unwrap();
        let by_bits = RectifyByBits::new(batch, &Column::<u32>::zeros(24_000), 13..32).unwrap();
        [cost(&narrow), cost(&wide), cost(&by_bits)]
    });
    for [narrow, wide, by_bits] in all {
        assert_eq!((narrow, wide.rounds), (all[0][0], 6), "all send as much");
        assert_eq!((narrow.rounds, narrow.bytes_sent.div_ceil(24_000)), (5, 19));
        assert!(by_bits.rounds > 60 && by_bits.bytes_sent < narrow.bytes_sent);
    }
}

#[test]
fn bits_that_a_word_lacks_are_refused() {
    let [mut party, ..] = parties();
    let mut batch = party.next_batch().unwrap();
    for bits in [0..9, 8..8, 3..3, 0..0] {
        let refused = Rectify::new(&mut batch, &Column::<u8>::zeros(9), bits.clone()).err();
        assert!(matches!(refused, Some(ShareError::Operand { .. })), "{bits:?}");
    }
    let uneven = Rep3 { own: vec![0u8; 9], next: vec![0; 8] };
    assert!(Rectify::new(&mut batch, &uneven, 0..8).is_err());
}

/// The gate refuses a message of another length. A changed masked bit changes only the result.
#[test]
fn a_short_dealing_is_refused() {
    let shares = share_words(&mut random(), &[5u32; 64]);
    let mut session = parties();
    let mut machines =
        [0, 1, 2].map(|i| Rectify::new(&mut session[i].next_batch().unwrap(), &shares[i], 13..32).unwrap());
    let ran = Lockstep::new().run_edited(&mut machines, |at, bytes| {
        if at == (Place { round: 0, party: 0, slot: 1 }) {
            bytes.pop();
        }
    });
    assert!(ran.is_err());
}
