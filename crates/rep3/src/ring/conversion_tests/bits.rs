//! Numbers to bits and back.

use super::super::{
    Bits, Column, OnNumbers, ToNumbers, Word,
    test_support::{open_bits, open_words, share_bits, share_words},
};
use super::*;
use crate::{Rep3, ShareError};
use hushwire_circuit::Adder;
use hushwire_machine::drive::Place;
use std::ops::Range;

fn there_and_back<W: Word>(adder: Adder, rows: usize, numbers: &[W]) {
    let shares = share_words(&mut random(), numbers);
    let bits = run(|batch, i| OnNumbers::to_bits(batch, &shares[i], adder).unwrap()).map(OnNumbers::finish);
    let expected: Vec<u64> = numbers.iter().map(|x| x.number()).collect();
    assert_eq!((bits[0].width(), bits[0].rows()), (W::BITS, rows));
    assert_eq!(open_bits(&bits), expected);
    let back = run(|batch, i| ToNumbers::<W>::new(batch, &bits[i], adder).unwrap()).map(ToNumbers::finish);
    assert_eq!(open_words(&back), numbers, "{rows} rows, {adder:?}");
}

fn all_rows<W: Word>() {
    for adder in Adder::ALL {
        for rows in ROWS {
            there_and_back(adder, rows, &numbers::<W>(&mut random(), rows));
        }
    }
}

#[test]
fn numbers_become_bits_and_numbers_again() {
    all_rows::<u8>();
    all_rows::<u16>();
    all_rows::<u32>();
    all_rows::<u64>();
}

/// Bits from any position on, of numbers of any width, and the same with negative numbers set to 0.
#[test]
fn some_bits_are_those_of_the_number_and_rectified_ones_have_no_sign() {
    let numbers = numbers::<u32>(&mut random(), 200);
    let shares = share_words(&mut random(), &numbers);
    for adder in Adder::ALL {
        for bits in [0..32, 13..32, 31..32, 0..20, 7..20, 5..6] {
            let (from, to) = (bits.start, bits.end);
            let mask = |width: usize| (1u64 << width) - 1;
            let some = run(|b, i| OnNumbers::some_bits(b, &shares[i], bits.clone(), adder).unwrap());
            let expected: Vec<u64> = numbers.iter().map(|x| (x.number() & mask(to)) >> from).collect();
            assert_eq!(open_bits(&some.map(OnNumbers::finish)), expected, "{bits:?}, {adder:?}");
            let rectified = run(|b, i| OnNumbers::rectified(b, &shares[i], bits.clone(), adder).unwrap());
            let rectified = rectified.map(OnNumbers::finish);
            assert_eq!(rectified[0].width(), to - from - 1);
            let positive = |x: &u64| if x >> (to - from - 1) & 1 == 1 { 0 } else { *x };
            assert_eq!(open_bits(&rectified), expected.iter().map(positive).collect::<Vec<_>>(), "{bits:?}");
        }
    }
    let mut party = parties().into_iter().next().unwrap();
    let mut refused = |rectified: bool, bits: Range<usize>| {
        let (batch, x) = (&mut party.next_batch().unwrap(), &shares[0]);
        match rectified {
            true => OnNumbers::rectified(batch, x, bits, Adder::Ripple).err(),
            false => OnNumbers::some_bits(batch, x, bits, Adder::Ripple).err(),
        }
    };
    assert!(
        refused(false, 0..33).is_some() && refused(true, 4..4).is_some() && refused(false, 4..4).is_none()
    );
}

/// A session keeps its circuits. Each circuit that differs from another in one parameter is a
/// separate one.
#[test]
fn circuits_that_a_session_keeps_are_those_that_are_asked_for() {
    let (x, y): (Vec<u16>, Vec<u16>) = (numbers(&mut random(), 200), numbers(&mut random(), 200));
    let [xs, ys] = [&x, &y].map(|v| share_words(&mut random(), v));
    let mut session = parties();
    for adder in Adder::ALL {
        for bits in [0..16, 3..16, 3..9, 0..9] {
            let width = bits.len();
            let some = |x: &u16| u64::from(x >> bits.start) & ((1 << width) - 1);
            let positive = |x: &u16| if some(x) >> (width - 1) == 1 { 0 } else { some(x) };
            let made = in_session(&mut session, |b, i| {
                OnNumbers::some_bits(b, &xs[i], bits.clone(), adder).unwrap()
            });
            assert_eq!(open_bits(&made.map(OnNumbers::finish)), x.iter().map(some).collect::<Vec<_>>());
            let made = in_session(&mut session, |b, i| {
                OnNumbers::rectified(b, &xs[i], bits.clone(), adder).unwrap()
            });
            assert_eq!(open_bits(&made.map(OnNumbers::finish)), x.iter().map(positive).collect::<Vec<_>>());
        }
        for is_signed in [false, true] {
            let made = in_session(&mut session, |b, i| {
                OnNumbers::less(b, &xs[i], &ys[i], is_signed, adder).unwrap()
            });
            let less =
                |(x, y): (&u16, &u16)| u64::from(if is_signed { signed(*x) < signed(*y) } else { x < y });
            let expected: Vec<u64> = x.iter().zip(&y).map(less).collect();
            assert_eq!(open_bits(&made.map(OnNumbers::finish)), expected, "{adder:?}, {is_signed}");
        }
    }
}

#[test]
fn every_byte_from_many_splits() {
    // Each number comes 16 times, so that all combinations of summands occur.
    let all: Vec<u8> = (0..16 * 256).map(|i| i as u8).collect();
    for adder in Adder::ALL {
        there_and_back(adder, all.len(), &all);
    }
}

#[test]
fn short_strings_become_numbers_without_a_sign() {
    for adder in Adder::ALL {
        for width in [0, 1, 3, 8, 31, 32] {
            let numbers: Vec<u64> =
                numbers::<u64>(&mut random(), 77).iter().map(|x| x & ((1 << width) - 1)).collect();
            let bits = share_bits(&mut random(), width, &numbers);
            let back = run(|batch, i| ToNumbers::<u32>::new(batch, &bits[i], adder).unwrap());
            let expected: Vec<u32> = numbers.iter().map(|x| *x as u32).collect();
            assert_eq!(open_words(&back.map(ToNumbers::finish)), expected, "{width} bits");
        }
    }
    let wide = share_bits(&mut random(), 33, &[5]);
    let mut party = parties().into_iter().next().unwrap();
    let refused = ToNumbers::<u32>::new(&mut party.next_batch().unwrap(), &wide[0], Adder::Ripple).err();
    assert_eq!(refused, Some(ShareError::Operand { what: "a string", expected: (32, 1), found: (33, 1) }));
}

#[test]
fn uneven_shares_are_refused() {
    let mut party = parties().into_iter().next().unwrap();
    let uneven: Column<u16> = Rep3 { own: vec![1, 2], next: vec![1] };
    let refused = OnNumbers::to_bits(&mut party.next_batch().unwrap(), &uneven, Adder::Ripple).err();
    assert_eq!(
        refused,
        Some(ShareError::Operand { what: "a share of an operand", expected: (16, 2), found: (16, 1) })
    );
}

/// The messages of a run, by round, party and slot.
fn messages<M: Machine<Error = NetError>>(mut machines: [M; 3]) -> Vec<(Place, Vec<u8>)> {
    let mut all = vec![];
    Lockstep::new().run_edited(&mut machines, |place, message| all.push((place, message.clone()))).unwrap();
    all
}

fn dealt<M: Machine<Error = NetError>>(machines: [M; 3], dealer: usize) -> Vec<u8> {
    let place = Place { round: 0, party: dealer, slot: 1 };
    messages(machines).into_iter().find(|(at, _)| *at == place).unwrap().1
}

fn planes_of(numbers: &[u64], width: usize) -> Vec<u8> {
    let clear = share_bits(&mut random(), width, numbers);
    let mut planes = clear[0].shares().own.clone();
    for share in [&clear[1], &clear[2]] {
        crate::xor_into(&mut planes, &share.shares().own);
    }
    planes
}

#[test]
fn the_dealt_bits_are_masked_by_the_key_of_the_others() {
    let shares = share_words::<u16>(&mut random(), &numbers(&mut random(), 100));
    let make = |stream_of: u32| {
        let mut parties = keyed();
        let machines = [0, 1, 2].map(|i| {
            let mut batch = parties[i].next_batch().unwrap();
            (0..stream_of).for_each(|_| drop(batch.context()));
            OnNumbers::to_bits(&mut batch, &shares[i], Adder::Ripple).unwrap()
        });
        (machines, keyed())
    };
    let u: Vec<u64> =
        shares[0].own.iter().zip(&shares[0].next).map(|(a, b)| u64::from(a.wrapping_add(*b))).collect();
    let mut masks = vec![];
    for stream in [0, 2] {
        let (machines, parties) = make(stream);
        let mut message = dealt(machines, 0);
        // The words that parties 2 and 0 draw from their key at this stream, which party 1 lacks.
        let mask = test_support::random(&parties[2], 0, stream, message.len());
        assert_eq!(mask.next, test_support::random(&parties[0], 0, stream, message.len()).own);
        crate::xor_into(&mut message, &mask.next);
        assert_eq!(message, planes_of(&u, 16));
        masks.push(mask.next.clone());
    }
    assert_ne!(masks[0], masks[1], "another dealing, another mask");
}

#[test]
fn two_dealings_under_one_mask_tell_their_difference() {
    // The attack that the rule prevents: a batch gives no stream twice, and only a test can take
    // one twice.
    let pair: [Vec<u16>; 2] = [numbers(&mut random(), 64), numbers(&mut random(), 64)];
    let shares = pair.each_ref().map(|x| share_words(&mut random(), x));
    let messages = shares.each_ref().map(|shares| {
        let mut parties = keyed();
        dealt(
            [0, 1, 2].map(|i| {
                let mut batch = parties[i].next_batch().unwrap();
                OnNumbers::to_bits(&mut batch, &shares[i], Adder::Ripple).unwrap()
            }),
            0,
        )
    });
    let u = shares.each_ref().map(|shares| {
        let sums = shares[0].own.iter().zip(&shares[0].next);
        planes_of(&sums.map(|(a, b)| u64::from(a.wrapping_add(*b))).collect::<Vec<_>>(), 16)
    });
    let sum = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(a, b)| a ^ b).collect::<Vec<_>>();
    assert_eq!(sum(&messages[0], &messages[1]), sum(&u[0], &u[1]));
    // Two machines of one batch have different masks.
    let mut parties = keyed();
    let mut batches = parties.each_mut().map(|party| party.next_batch().unwrap());
    let [first, second] = [0, 1].map(|k| {
        let shares: &[Column<u16>; 3] = &shares[k];
        let mut at = 0;
        let machines = batches.each_mut().map(|batch| {
            at += 1;
            OnNumbers::to_bits(batch, &shares[at - 1], Adder::Ripple).unwrap()
        });
        dealt(machines, 0)
    });
    assert_ne!(sum(&first, &second), sum(&u[0], &u[1]));
}

#[test]
fn the_number_of_bits_is_opened_to_two_parties_alone() {
    let numbers = numbers::<u32>(&mut random(), 50);
    let bits = share_bits(&mut random(), 32, &numbers.iter().map(|x| u64::from(*x)).collect::<Vec<_>>());
    let mut parties = keyed();
    let machines = [0, 1, 2].map(|i| {
        let mut batch = parties[i].next_batch().unwrap();
        ToNumbers::<u32>::new(&mut batch, &bits[i], Adder::Prefix).unwrap()
    });
    let all = messages(machines);
    let last = all.iter().map(|(at, _)| at.round).max().unwrap();
    for (at, message) in &all {
        // Slot 1 carries party 1's dealing, and two shares of x_0; nothing goes from party 0 to
        // party 1.
        let talks = match (at.round, at.slot) {
            (_, 0) => at.round > 0 && at.round < last,
            (0, _) => at.party == 1,
            (round, _) => round == last && at.party > 0,
        };
        assert_eq!(!message.is_empty(), talks, "{at:?}");
    }
    // The dealt bits are those of −(x_1 + x_2), masked by the key of parties 0 and 1.
    let (mut message, parties) =
        (all.into_iter().find(|(at, _)| at.slot == 1 && at.party == 1).unwrap().1, keyed());
    let mask = test_support::random(&parties[0], 0, 1, message.len());
    crate::xor_into(&mut message, &mask.next);
    let random = test_support::random(&parties[1], 0, 0, 4 * 50);
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let v: Vec<u64> = (random.own.chunks(4).zip(random.next.chunks(4)))
        .map(|(x_1, x_2)| u64::from(0u32.wrapping_sub(word(x_1)).wrapping_sub(word(x_2))))
        .collect();
    assert_eq!(message, planes_of(&v, 32));
}

#[test]
fn a_machine_is_lost_after_a_message_of_another_length() {
    let shares = share_words::<u8>(&mut random(), &[1, 2, 3]);
    for party in 0..3 {
        for slot in 0..2 {
            for round in 0..3 {
                let mut machines = parties().map(|mut p| {
                    let i = p.role().index();
                    OnNumbers::to_bits(&mut p.next_batch().unwrap(), &shares[i], Adder::Ripple).unwrap()
                });
                let target = Place { round, party, slot };
                let run = Lockstep::new().run_edited(&mut machines, |at, message| {
                    if at == target {
                        message.push(1);
                    }
                });
                assert!(run.is_err(), "{target:?}");
                let who = if slot == 0 { (party + 2) % 3 } else { (party + 1) % 3 };
                assert!(machines[who].read(&[]).is_err() && machines[who].write(0, &mut []).is_err());
                assert!(machines[who].round(0).is_some(), "not taken for done");
            }
        }
    }
}

#[test]
fn empty_columns_cost_nothing() {
    let mut party = parties().into_iter().next().unwrap();
    let mut batch = party.next_batch().unwrap();
    let machine = OnNumbers::<u64>::to_bits(&mut batch, &Column::zeros(0), Adder::Prefix).unwrap();
    assert!(machine.round(0).is_none() && machine.cost() == Some(hushwire_machine::Cost::default()));
    let none = Bits::new(64, 0, Rep3 { own: vec![], next: vec![] }).unwrap();
    let machine = ToNumbers::<u64>::new(&mut batch, &none, Adder::Prefix).unwrap();
    assert!(machine.round(0).is_none() && machine.finish().rows() == 0);
}
