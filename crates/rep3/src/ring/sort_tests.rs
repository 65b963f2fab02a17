use super::*;
use crate::{
    Rep3Party, circuit_cost,
    ring::{
        column::Bits,
        permutation::tests::{assert_even, row_order},
        planes::planes_of,
        test_support::parties,
        word::Word,
    },
};
use hushwire_aes::Backend;
use hushwire_circuit::Program;
use hushwire_machine::{SessionId, drive::Lockstep};
use hushwire_prg::{Prg, PrssKeys, Seed};

fn prg() -> Prg {
    Prg::new(Backend::best(), &Seed::random(), "test")
}

/// Plain keys of one column.
#[derive(Clone)]
pub(in crate::ring) struct Plain {
    words: Vec<u64>,
    width: usize,
    signed: bool,
    descending: bool,
}

impl Plain {
    pub(in crate::ring) fn of<W: Word>(words: &[W], signed: bool, descending: bool) -> Plain {
        Plain { words: words.iter().map(|w| w.number()).collect(), width: W::BITS, signed, descending }
    }

    fn less(&self, i: usize, j: usize) -> std::cmp::Ordering {
        let number = |i: usize| {
            let shifted = self.words[i] << (64 - self.width);
            if self.signed { i128::from(shifted.cast_signed()) } else { i128::from(shifted) }
        };
        let order = number(i).cmp(&number(j));
        if self.descending { order.reverse() } else { order }
    }

    /// The keys of some rows.
    pub(in crate::ring) fn of_rows(&self, rows: std::ops::Range<usize>) -> Plain {
        Plain { words: self.words[rows].to_vec(), ..*self }
    }

    pub(in crate::ring) fn share(&self, prg: &mut Prg) -> [SortKey; 3] {
        let mut planes = planes_of(Backend::best(), &self.words);
        planes.truncate(self.width * plane_bytes(self.words.len()));
        crate::share(prg, &planes).map(|shares| SortKey {
            bits: Arc::new(Bits::new(self.width, self.words.len(), shares).unwrap()),
            signed: self.signed,
            descending: self.descending,
        })
    }
}

/// The resulting order, the opened planes of each level, and the bytes and rounds of each party.
struct Outcome {
    order: Vec<u32>,
    opened: Vec<Vec<u8>>,
    spent: [Cost; 3],
}

fn sort(parties: &mut [Rep3Party; 3], prg: &mut Prg, rows: usize, keys: &[Plain], wide: usize) -> Outcome {
    let mut shared: Vec<_> = keys.iter().map(|key| key.share(prg).into_iter()).collect();
    let mut machines: Vec<_> = parties
        .iter_mut()
        .map(|party| {
            let keys: Vec<_> = shared.iter_mut().map(|key| key.next().unwrap()).collect();
            Sort::wide_from(party.next_batch().unwrap(), rows, &keys, wide).unwrap()
        })
        .collect();
    let (mut opened, mut spent) = (Vec::<(usize, Vec<u8>)>::new(), [Cost::default(); 3]);
    Lockstep::new()
        .run_edited(&mut machines, |place, message| {
            spent[place.party].bytes_sent += message.len() as u64;
            spent[place.party].rounds = place.round as u64 + 1;
            // After the shuffle, slot 1 carries only shares of values to open.
            if place.slot == 1 && place.round >= 2 && !message.is_empty() {
                match opened.last_mut() {
                    Some((round, sum)) if *round == place.round => crate::xor_into(sum, message),
                    _ => opened.push((place.round, message.clone())),
                }
            }
        })
        .unwrap();
    let permutations: Vec<_> = machines.into_iter().map(Sort::finish).collect();
    let order = row_order([0, 1, 2].map(|p: usize| &*permutations[p]));
    Outcome { order, opened: opened.into_iter().map(|(_, plane)| plane).collect(), spent }
}

pub(in crate::ring) fn expected(rows: usize, keys: &[Plain]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    order.sort_by(|i, j| {
        let by = |key: &Plain| key.less(*i as usize, *j as usize);
        keys.iter().fold(std::cmp::Ordering::Equal, |so_far, key| so_far.then_with(|| by(key)))
    });
    order
}

/// The cost of a sort, computed from the planes that its levels opened.
fn cost_of(role: Role, rows: usize, bits: usize, wide: usize, opened: &[Vec<u8>]) -> Cost {
    if rows < 2 {
        return Cost::default();
    }
    let width = string_bits(rows, bits);
    let mut cost = permute_cost(role, false, rows * 4 * width.div_ceil(32));
    let (mut ranking, mut pairs) = (Ranking::new(rows as u32), vec![]);
    for plane in opened {
        ranking.ask(&mut pairs);
        let adder = if pairs.len() < wide { Adder::Prefix } else { Adder::Ripple };
        let level = circuit_cost(&Program::flat("less", &less(adder, width)), pairs.len());
        cost.rounds += level.rounds + 1;
        cost.bytes_sent += level.bytes_sent + plane.len() as u64;
        ranking.hear(|i| answer(plane, i, pairs.len()), |_, _| ());
    }
    cost
}

fn sorts<W: Word>(top: u64) {
    let (mut parties, prg) = (parties(), &mut prg());
    let edges = [0, 1, u64::MAX, top, top - 1, top + 1].map(W::of);
    for rows in [0, 1, 2, 3, 9, 70, 1000] {
        for (signed, descending) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut few = || -> Vec<W> { (0..rows).map(|_| edges[prg.next_u64() as usize % 6]).collect() };
            let (few, other) = (few(), few());
            let many: Vec<W> = (0..rows).map(|_| W::of(prg.next_u64())).collect();
            for columns in [vec![], vec![&many], vec![&few], vec![&few, &other, &few, &many]] {
                let keys: Vec<_> = columns
                    .into_iter()
                    .enumerate()
                    .map(|(i, words)| Plain::of(words, signed, descending ^ (i == 1)))
                    .collect();
                let wide = if descending { WIDE } else { 100 };
                let outcome = sort(&mut parties, prg, rows, &keys, wide);
                assert!(outcome.order == expected(rows, &keys), "{rows} rows, {} keys", keys.len());
                let bits = keys.iter().map(|key| key.width).sum();
                for (role, spent) in Role::ALL.into_iter().zip(outcome.spent) {
                    let bound = sort_bound(role, rows, bits, wide);
                    assert_eq!(spent, cost_of(role, rows, bits, wide, &outcome.opened));
                    assert!(
                        spent.rounds <= bound.rounds && spent.bytes_sent <= bound.bytes_sent,
                        "{rows} rows, {bits} bits: {spent:?} beyond {bound:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn rows_come_in_the_order_of_a_stable_sort() {
    sorts::<u8>(1 << 7);
    sorts::<u16>(1 << 15);
    sorts::<u32>(1 << 31);
    sorts::<u64>(1 << 63);
}

#[test]
fn many_rows_come_in_order_for_what_their_levels_cost() {
    let (mut parties, prg) = (parties(), &mut prg());
    let rows = 100_000;
    let words: Vec<u16> = (0..rows).map(|_| prg.next_u64() as u16).collect();
    let keys = [Plain::of(&words, true, false)];
    let mut rounds = vec![];
    for wide in [WIDE, usize::MAX] {
        let outcome = sort(&mut parties, prg, rows, &keys, wide);
        assert!(outcome.order == expected(rows, &keys));
        let width = string_bits(rows, 16);
        assert_eq!(width, 33);
        for (role, spent) in Role::ALL.into_iter().zip(outcome.spent) {
            let bound = sort_bound(role, rows, 16, wide);
            assert!(spent.rounds <= bound.rounds && spent.bytes_sent <= bound.bytes_sent);
            // The bound is less than four times the real cost.
            assert!(2 * spent.bytes_sent > bound.bytes_sent / 2);
        }
        rounds.push(outcome.spent[0].rounds);
    }
    assert!(rounds[1] < rounds[0] / 2, "trees where every level is few: {rounds:?}");
}

#[test]
fn keys_of_other_lengths_are_refused() {
    let [mut party, ..] = parties();
    let shares = Rep3 { own: vec![0; 2], next: vec![0; 2] };
    let key = SortKey { bits: Arc::new(Bits::new(1, 9, shares).unwrap()), signed: false, descending: false };
    let error = Sort::new(party.next_batch().unwrap(), 10, &[key]).err();
    assert_eq!(
        error,
        Some(ShareError::Length { what: "a key of the sort, in rows,", expected: 10, found: 9 })
    );
}

/// Opened comparisons are a function of the shuffle and of the keys' order: other keys in the same
/// order, under the same shuffle, open the same values.
#[test]
fn keys_in_one_order_open_the_same_under_one_shuffle() {
    let prg = &mut prg();
    let rows = 500;
    let seeds = [0; 3].map(|_| Seed::random());
    let mut opened = |words: Vec<u64>, descending: bool| {
        // The same session keys again give the same shuffle; only a test can do this.
        let mut parties = Role::ALL.map(|role| {
            let (own, prev) = (seeds[role.index()].clone(), seeds[role.left().index()].clone());
            crate::test_support::party(role, Backend::best(), SessionId([0; 16]), &PrssKeys { own, prev })
        });
        let keys = [Plain::of(&words, false, descending)];
        sort(&mut parties, prg, rows, &keys, 64).opened
    };
    let n = rows as u64;
    let equal = opened(vec![7; rows], false);
    assert!(equal.len() > 5);
    assert_eq!(equal, opened((0..n).collect(), false));
    assert_eq!(equal, opened((0..n).map(|i| i * i * 1_000_003).collect(), false));
    assert_eq!(equal, opened((0..n).rev().collect(), true));
    assert_ne!(equal, opened((0..n).rev().collect(), false), "another order under the same shuffle");
}

/// The opened order is uniform, whether keys are equal, ascending or descending.
#[test]
fn opened_comparisons_are_those_of_uniform_orders_whatever_the_keys() {
    let (mut parties, prg) = (parties(), &mut prg());
    for words in [[5u8, 5, 5], [1, 2, 3], [3, 2, 1]] {
        let mut counts = [0; 8];
        for _ in 0..3000 {
            let outcome = sort(&mut parties, prg, 3, &[Plain::of(&words, false, false)], WIDE);
            assert_eq!(outcome.opened.len(), 1, "one level of three pairs");
            counts[outcome.opened[0][0] as usize] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|n| *n > 0).collect();
        assert_eq!(seen.len(), 6, "two of the eight answers are no order: {counts:?}");
        assert_even(&seen);
    }
}

/// The attack: with two sorts under one shuffle, both orders of shuffled rows together reveal how
/// the keys are related, here that they are equal. A sort draws its own shuffle, and no caller can
/// give it one.
#[test]
fn two_sorts_of_one_column_open_orders_that_have_nothing_to_do_with_each_other() {
    let prg = &mut prg();
    let words: Vec<u64> = (0..64).map(|_| prg.next_u64()).collect();
    let keys = [Plain::of(&words, false, false)];
    let mut parties = parties();
    let mut opened = |parties: &mut [Rep3Party; 3]| sort(parties, prg, 64, &keys, WIDE).opened;
    let (first, second) = (opened(&mut parties), opened(&mut parties));
    assert_ne!(first, second, "each under its own shuffle");
    let seeds = [0; 3].map(|_| Seed::random());
    let again = || {
        Role::ALL.map(|role| {
            let (own, prev) = (seeds[role.index()].clone(), seeds[role.left().index()].clone());
            crate::test_support::party(role, Backend::best(), SessionId([0; 16]), &PrssKeys { own, prev })
        })
    };
    assert_eq!(opened(&mut again()), opened(&mut again()), "the attack: equal columns show");
}
