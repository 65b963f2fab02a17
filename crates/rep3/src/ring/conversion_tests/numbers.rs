//! Conversion of bits to numbers, selection and truncation.

use super::super::{
    Bits, Column, Inject, OnBits, OnNumbers, Select, ToNumbers, Truncate, Word,
    planes::to_words,
    test_support::{open_words, share_bits, share_words},
};
use super::*;
use crate::{Rep3, ShareError};
use hushwire_circuit::Adder;
use hushwire_machine::{
    Cost,
    drive::{Machine, Place},
};
use std::fmt::Debug;

fn injected<W: Word>() {
    for width in [1, 2, 3] {
        for rows in ROWS {
            let strings: Vec<u64> =
                numbers::<u64>(&mut random(), rows).iter().map(|x| x & ((1 << width) - 1)).collect();
            let bits = share_bits(&mut random(), width, &strings);
            let out = run(|batch, i| Inject::<W>::new(batch, &bits[i])).map(Inject::finish);
            let expected: Vec<W> =
                (0..width).flat_map(|i| strings.iter().map(move |x| W::of(x >> i & 1))).collect();
            assert_eq!(open_words(&out), expected);
        }
    }
}

#[test]
fn bits_become_numbers_zero_and_one() {
    injected::<u8>();
    injected::<u16>();
    injected::<u32>();
    injected::<u64>();
}

fn chosen<W: Word>() {
    for rows in ROWS {
        let choose: Vec<u64> = numbers::<u64>(&mut random(), rows).iter().map(|x| x >> 7 & 1).collect();
        let (x, y) = (numbers::<W>(&mut random(), rows), numbers::<W>(&mut random(), rows));
        let [xs, ys] = [&x, &y].map(|v| share_words(&mut random(), v));
        let bits = share_bits(&mut random(), 1, &choose);
        let out = run(|batch, i| {
            let machine = Select::new(batch, &bits[i], &xs[i], &ys[i]).unwrap();
            assert_eq!(machine.cost().unwrap().rounds, if rows > 0 { 2 } else { 0 });
            machine
        });
        let expected: Vec<W> = (0..rows).map(|r| if choose[r] == 1 { x[r] } else { y[r] }).collect();
        assert_eq!(open_words(&out.map(Select::finish)), expected);
    }
}

#[test]
fn numbers_are_chosen_in_two_rounds() {
    chosen::<u8>();
    chosen::<u16>();
    chosen::<u32>();
    chosen::<u64>();
    let mut party = parties().into_iter().next().unwrap();
    let mut batch = party.next_batch().unwrap();
    let [nine, ten] = [9, 10].map(Column::<u8>::zeros);
    let plane = |width: usize| {
        Bits::new(width, 9, Rep3 { own: vec![0; 2 * width], next: vec![0; 2 * width] }).unwrap()
    };
    let refused =
        |expected, found| Some(ShareError::Operand { what: "the plane of choices", expected, found });
    assert_eq!(Select::new(&mut batch, &plane(2), &nine, &nine).err(), refused((1, 9), (2, 9)));
    assert_eq!(Select::new(&mut batch, &plane(1), &ten, &ten).err(), refused((1, 10), (1, 9)));
    assert!(Select::new(&mut batch, &plane(1), &nine, &ten).is_err());
}

fn truncated<W: Word>(numbers: &[W], bits: u32) {
    let shares = share_words(&mut random(), numbers);
    for adder in Adder::ALL {
        for sign in [false, true] {
            let out = run(|batch, i| Truncate::new(batch, &shares[i], bits, sign, adder).unwrap());
            let floor = |x: &W| match sign {
                false => W::of(x.number().checked_shr(bits).unwrap_or(0)),
                true => W::of((signed(*x) >> bits.min(63)) as u64),
            };
            let expected: Vec<W> = numbers.iter().map(floor).collect();
            assert_eq!(
                open_words(&out.map(Truncate::finish)),
                expected,
                "by {bits}, signed {sign}, {adder:?}"
            );
        }
    }
}

#[test]
fn every_byte_is_truncated_by_every_count() {
    // Each byte comes 16 times, so that both carries are often 0 and often 1.
    let all: Vec<u8> = (0..16 * 256).map(|i| i as u8).collect();
    for bits in 0..=9 {
        truncated(&all, bits);
    }
}

#[test]
fn numbers_of_every_width_are_truncated() {
    for rows in ROWS {
        truncated::<u16>(&numbers(&mut random(), rows), 5);
        truncated::<u32>(&numbers(&mut random(), rows), 16);
        truncated::<u64>(&numbers(&mut random(), rows), 20);
    }
    for bits in [1, 13, 15, 16] {
        truncated::<u16>(&numbers(&mut random(), 200), bits);
    }
    for bits in [1, 7, 31, 32, 100] {
        truncated::<u32>(&numbers(&mut random(), 200), bits);
    }
    for bits in [1, 31, 32, 33, 62, 63, 64, u32::MAX] {
        truncated::<u64>(&numbers(&mut random(), 200), bits);
    }
}

#[test]
fn carries_are_brought_in_exactly() {
    // Summands at the edges of both carries: u + x_2 is one below, at or above 2^f and 2^k.
    let (k, f) = (16u32, 5u32);
    let edges = |n: u32| [(1u32 << n) - 1, 1 << n, (1 << n) + 1, 0, 1];
    let mut pairs = vec![];
    for u in edges(f).into_iter().chain(edges(k)).chain([0xffff, 0x8000]) {
        for sum in edges(f).into_iter().chain(edges(k)) {
            pairs.push((u as u16, sum.wrapping_sub(u) as u16));
        }
    }
    let x_0: Vec<u16> = numbers(&mut random(), pairs.len());
    let x_1: Vec<u16> = pairs.iter().zip(&x_0).map(|((u, _), x_0)| u.wrapping_sub(*x_0)).collect();
    let x_2: Vec<u16> = pairs.iter().map(|(_, x_2)| *x_2).collect();
    let shares = [
        Rep3 { own: x_0.clone(), next: x_1.clone() },
        Rep3 { own: x_1, next: x_2.clone() },
        Rep3 { own: x_2, next: x_0 },
    ];
    let expected: Vec<u16> = pairs.iter().map(|(u, x_2)| u.wrapping_add(*x_2) >> f).collect();
    let out = run(|batch, i| Truncate::new(batch, &shares[i], f, false, Adder::Ripple).unwrap());
    assert_eq!(open_words(&out.map(Truncate::finish)), expected);
}

/// The message of party 0 in the first round.
fn first_message<M: Machine<Error: Debug>>(machines: &mut [M; 3]) -> Vec<u8> {
    let mut message = vec![];
    let first = Place { round: 0, party: 0, slot: 1 };
    Lockstep::new()
        .run_edited(machines, |at, bytes| {
            if at == first {
                message = bytes.clone();
            }
        })
        .unwrap();
    message
}

#[test]
fn bits_and_numbers_are_dealt_under_words_of_their_own() {
    let x = numbers::<u32>(&mut random(), 40);
    let shares = share_words(&mut random(), &x);
    let mut parties = keyed();
    let mut machines = [0, 1, 2].map(|i| {
        let mut batch = parties[i].next_batch().unwrap();
        Truncate::new(&mut batch, &shares[i], 9, false, Adder::Ripple).unwrap()
    });
    let message = first_message(&mut machines);
    let planes = 32 * 5;
    assert_eq!(message.len(), planes + 4 * 40);
    // The mask of the numbers is subtracted. It begins at the first word of the stream behind those
    // of the planes.
    let mask = test_support::random(&keyed()[2], 0, 0, planes.next_multiple_of(16) + 4 * 40).next.clone();
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let u = shares[0].own.iter().zip(&shares[0].next).map(|(a, b)| a.wrapping_add(*b));
    let masks = mask[planes.next_multiple_of(16)..].chunks(4).map(word);
    let expected: Vec<u32> = u.clone().zip(masks).map(|(u, mask)| (u >> 9).wrapping_sub(mask)).collect();
    assert_eq!(message[planes..].chunks(4).map(word).collect::<Vec<_>>(), expected);
    let first = word(&message[..4]) ^ word(&mask[..4]);
    let plane: u32 = u.take(32).enumerate().map(|(j, u)| (u & 1) << j).sum();
    assert_eq!(first, plane, "plane 0 of u, with ⊕");
}

#[test]
fn one_mask_for_a_number_and_its_shift_would_tell_the_number() {
    // The attack that the rule prevents; only a test can name a stream twice. Party 1 receives u ⊕
    // m and (u ≫ f) ⊕ m.
    let f = 5;
    let u: Vec<u32> = numbers(&mut random(), 64);
    let shifted: Vec<u32> = u.iter().map(|u| u >> f).collect();
    let [sent, again] = [&u, &shifted].map(|values| {
        let mut message = vec![];
        let shares = crate::Role::ALL.map(|role| Column::known(role, values));
        let mut parties = keyed();
        let mut machines = [0, 1, 2].map(|i| {
            let mut batch = parties[i].next_batch().unwrap();
            OnNumbers::to_bits(&mut batch, &shares[i], Adder::Prefix).unwrap()
        });
        let dealing = Place { round: 0, party: 0, slot: 1 };
        Lockstep::new()
            .run_edited(&mut machines, |at, bytes| {
                if at == dealing {
                    message = bytes.clone();
                }
            })
            .unwrap();
        message
    });
    // The sum of the two messages is u ⊕ (u ≫ f). Its highest f bits are those of u, and each lower
    // bit follows from a higher one.
    let sum: Vec<u8> = sent.iter().zip(&again).map(|(a, b)| a ^ b).collect();
    let mut told = vec![0u32; 64];
    to_words(Backend::best(), &sum, &mut told);
    for bit in (0..32 - f).rev() {
        told.iter_mut().for_each(|t| *t ^= (*t >> f) & 1 << bit);
    }
    assert_eq!(told, u);
}

#[test]
fn an_injection_deals_under_the_key_of_the_others() {
    let bits = share_bits(&mut random(), 1, &(0..80).map(|i| (i % 3) & 1).collect::<Vec<_>>());
    let mut parties = keyed();
    let mut machines = [0, 1, 2].map(|i| {
        let mut batch = parties[i].next_batch().unwrap();
        Inject::<u16>::new(&mut batch, &bits[i])
    });
    let message = first_message(&mut machines);
    let mask = test_support::random(&keyed()[2], 0, 0, 160).next.clone();
    let word = |bytes: &[u8]| u16::from_le_bytes(bytes.try_into().unwrap());
    let [b_0, b_1] = [&bits[0].shares().own, &bits[0].shares().next];
    for (j, (message, mask)) in message.chunks(2).zip(mask.chunks(2)).enumerate() {
        let a = u16::from((b_0[j / 8] ^ b_1[j / 8]) >> (j % 8) & 1);
        assert_eq!(word(message), a.wrapping_sub(word(mask)));
    }
    assert_eq!(message.len(), 160);
}

fn documented<W: Word>() {
    let (k, log) = (W::BITS, W::BITS.ilog2() as usize);
    let rows = 80;
    let [mut dealer, _, mut party] = parties();
    let (mut dealers, mut batch) = (dealer.next_batch().unwrap(), party.next_batch().unwrap());
    let x = Column::<W>::zeros(rows);
    let plane = |width: usize| {
        let share = vec![0; width * rows / 8];
        Bits::new(width, rows, Rep3 { own: share.clone(), next: share }).unwrap()
    };
    // The rounds, and the ANDs as computed from the bytes of a party that deals nothing.
    let of = |cost: Option<Cost>| {
        let cost = cost.unwrap();
        (cost.rounds as usize, cost.bytes_sent as usize / (rows / 8))
    };
    let ripple = Adder::Ripple;
    assert_eq!(of(OnNumbers::to_bits(&mut batch, &x, ripple).unwrap().cost()), (k, k - 1));
    assert_eq!(of(OnNumbers::less_bounded(&mut batch, &x, &x, ripple).unwrap().cost()), (k, k - 1));
    assert_eq!(of(OnNumbers::less(&mut batch, &x, &x, true, ripple).unwrap().cost()), (k + 1, 3 * k - 2));
    assert_eq!(of(OnNumbers::equal(&mut batch, &x, &x).unwrap().cost()), (1 + log, k - 1));
    assert_eq!(of(ToNumbers::<W>::new(&mut dealers, &plane(k), ripple).unwrap().cost()), (k + 1, k - 1));
    assert_eq!(of(OnBits::less(&mut batch, &plane(k), &plane(k), false, ripple).unwrap().cost()), (k, k));
    assert_eq!(of(OnBits::equal(&mut batch, &plane(k), &plane(k)).unwrap().cost()), (log, k - 1));
    assert_eq!(of(OnBits::select(&mut batch, &plane(1), &plane(k), &plane(k)).unwrap().cost()), (1, k));
    // A word per row has the size of k planes.
    assert_eq!(of(Inject::<W>::new(&mut batch, &plane(1)).cost()), (2, k));
    assert_eq!(of(Select::new(&mut batch, &plane(1), &x, &x).unwrap().cost()), (2, 2 * k));
    assert_eq!(of(Select::new(&mut dealers, &plane(1), &x, &x).unwrap().cost()), (2, 3 * k));
    let truncate = Truncate::new(&mut batch, &x, 3, true, ripple).unwrap();
    assert_eq!(of(truncate.cost()), (k + 3, k + 2 * k));
    let truncate = Truncate::new(&mut dealers, &x, 3, true, ripple).unwrap();
    assert_eq!(of(truncate.cost()), (k + 3, k + 2 * k + k + 3 * k));
    let prefix = Adder::Prefix;
    assert_eq!(of(OnNumbers::to_bits(&mut batch, &x, prefix).unwrap().cost()).0, 2 + log);
    assert_eq!(of(OnNumbers::less_bounded(&mut batch, &x, &x, prefix).unwrap().cost()).0, 2 + log);
    assert_eq!(of(OnNumbers::less(&mut batch, &x, &x, true, prefix).unwrap().cost()).0, 3 + log);
    assert!(of(Truncate::new(&mut batch, &x, 3, true, prefix).unwrap().cost()).0 <= 5 + log);
    assert!(of(OnNumbers::less(&mut batch, &x, &x, true, prefix).unwrap().cost()).1 < 9 * k);
}

#[test]
fn costs_are_as_documented() {
    documented::<u8>();
    documented::<u16>();
    documented::<u32>();
    documented::<u64>();
}

/// Bits past the last row of planes, such as another owner's rows, do not reach the parties to
/// which x_0 is opened.
#[test]
fn numbers_from_bits_open_nothing_past_the_last_row() {
    for rows in [1, 4, 13] {
        let strings: Vec<u64> = numbers::<u64>(&mut random(), rows).iter().map(|x| x & 0xff).collect();
        let height = rows.div_ceil(8);
        let bits = share_bits(&mut random(), 8, &strings).map(|bits| {
            let mut shares = bits.into_shares();
            for share in [&mut shares.own, &mut shares.next] {
                // Every bit past the last row is one.
                share.chunks_exact_mut(height).for_each(|plane| plane[height - 1] |= 0xff << (rows % 8));
            }
            Bits::new(8, rows, shares).unwrap()
        });
        let mut machines = parties().map(|mut party| {
            let bits = &bits[party.role().index()];
            ToNumbers::<u16>::new(&mut party.next_batch().unwrap(), bits, Adder::Ripple).unwrap()
        });
        let mut last = std::collections::BTreeMap::new();
        Lockstep::new()
            .run_edited(&mut machines, |Place { round, party, slot }, bytes| {
                if !bytes.is_empty() {
                    last.insert((party, slot), (round, bytes.clone()));
                }
            })
            .unwrap();
        let end = last.values().map(|(round, _)| *round).max().unwrap();
        let opened: Vec<_> = last.values().filter(|(round, _)| *round == end).collect();
        assert_eq!(opened.len(), 2, "two parties learn x_0");
        for (_, message) in opened {
            assert_eq!(message.len(), 16 * height);
            let past = message.chunks_exact(height).map(|plane| plane[height - 1] >> (rows % 8));
            assert!(past.into_iter().all(|bits| bits == 0), "{rows} rows: something stands past the last");
        }
        let expected: Vec<u16> = strings.iter().map(|x| *x as u16).collect();
        assert_eq!(open_words(&machines.map(ToNumbers::finish)), expected);
    }
}
