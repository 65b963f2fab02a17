//! Rectifiers in few rounds, and by bits.

use super::super::{
    Column, Rectify, RectifyByBits, Word,
    test_support::{open_words, share_words},
};
use super::*;
use crate::{Rep3, ShareError};
use hushwire_block::registry;
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

/// The same by bits, in a round for each of them.
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

/// Five rounds and 22 bytes a row of 32 bits, a third of the rows each, and six rounds of 64 bits.
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
        assert_eq!((narrow.rounds, narrow.bytes_sent.div_ceil(24_000)), (5, 22));
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

/// The messages that a party hears from another, by round.
fn heard_by<W: Word>(x: &[Column<W>; 3], bits: (usize, usize)) -> Vec<(Place, Vec<u8>)> {
    let mut session = parties();
    // The record of keys' uses finds a stream that serves twice, also where no one party sees it.
    let watch = registry::watch();
    let mut machines = [0, 1, 2].map(|i| {
        let new = || Rectify::new(&mut session[i].next_batch().unwrap(), &x[i], bits.0..bits.1);
        registry::as_end(i, new).unwrap()
    });
    assert!(watch.uses() >= 3 * 3 * 2);
    let mut all = vec![];
    Lockstep::new().run_edited(&mut machines, |at, bytes| all.push((at, bytes.clone()))).unwrap();
    all
}

/// Whether planes are alike, or opposite: whoever sees both knows whether their bits are equal.
fn alike(x: &[u8], y: &[u8]) -> bool {
    let first = x[0] ^ y[0];
    (first == 0 || first == u8::MAX) && x.iter().zip(y).all(|(x, y)| x ^ y == first)
}

/// Words that mask nothing else mask each message. All rows have the same shares, so
/// that all rows of a bit are alike, but for its mask. The planes that R hears from the dealer, and
/// those that R and L make of each other's messages, are neither alike nor opposite to any other,
/// nor one bit throughout; words differ from row to row.
#[test]
fn every_message_of_a_rectifier_has_masks_of_its_own() {
    const ROWS: usize = 3 * 64;
    let mut prg = random();
    let [a, b, c] = [0; 3].map(|_: u8| prg.next_u64() as u32);
    let column = |own: u32, next: u32| Column { own: vec![own; ROWS], next: vec![next; ROWS] };
    let shares = [column(a, b), column(b, c), column(c, a)];
    let all = heard_by(&shares, (13, 32));
    let (height, last) = (64 / 8, all.iter().map(|(at, _)| at.round).max().unwrap());
    for party in 0..3 {
        let sent = |round: usize, party: usize, slot: usize| {
            let found = all.iter().find(|(at, _)| *at == Place { round, party, slot });
            found.map_or(&[][..], |(_, bytes)| bytes)
        };
        // R of the dealer to its left: the dealing, then L's messages beside its own.
        let [left, right] = [(party + 2) % 3, (party + 1) % 3];
        let dealt = sent(0, left, 1);
        let (bits, words) = dealt.split_at(dealt.len() - 7 * 4 * 64);
        let mut planes: Vec<Vec<u8>> = bits.chunks(height).map(<[u8]>::to_vec).collect();
        let mut all_words: Vec<Vec<u8>> = words.chunks(4 * 64).map(<[u8]>::to_vec).collect();
        for round in 1..=last {
            let [own, theirs] = [sent(round, party, 1), sent(round, right, 0)];
            assert!(!own.is_empty() && own.len() == theirs.len());
            if round == last {
                let words = own.chunks(4).zip(theirs.chunks(4)).flat_map(|(x, y)| {
                    let [x, y] = [x, y].map(|x| u32::from_le_bytes(x.try_into().unwrap()));
                    x.wrapping_add(y).to_le_bytes()
                });
                all_words.push(words.collect());
            } else {
                let both: Vec<u8> = own.iter().zip(theirs).map(|(x, y)| x ^ y).collect();
                planes.extend(both.chunks(height).map(<[u8]>::to_vec));
            }
        }
        assert!(planes.len() > 150);
        for (i, plane) in planes.iter().enumerate() {
            assert!(!alike(plane, &vec![0; height]), "party {party}: plane {i} has no mask");
            let other = planes[..i].iter().position(|other| alike(plane, other));
            assert_eq!(other, None, "party {party}: plane {i} has the mask of another");
        }
        for (i, words) in all_words.iter().enumerate() {
            let differs = |words: &[u8]| words.chunks(4).any(|word| word != &words[..4]);
            assert!(differs(words), "party {party}: words {i} have no masks");
            for other in &all_words[..i] {
                let difference: Vec<u8> = words
                    .chunks(4)
                    .zip(other.chunks(4))
                    .flat_map(|(x, y)| {
                        let [x, y] = [x, y].map(|x| u32::from_le_bytes(x.try_into().unwrap()));
                        x.wrapping_sub(y).to_le_bytes()
                    })
                    .collect();
                assert!(differs(&difference), "party {party}: words {i} have the masks of others");
            }
        }
    }
}

/// A message of another length, or one changed: the gate refuses the first, and a change of a
/// masked bit changes the result alone.
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
