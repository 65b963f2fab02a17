//! Compares results with a plain intersection, over channels.

use std::{collections::HashSet, thread, time::Duration};

use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_machine::{Channel, Meter, PartyId, inproc};
use hushwire_ot::{Context, Sid};
use hushwire_prg::Seed;
use proptest::prelude::*;

use super::table::{BinPlaces, HASHES, distinct};
use super::*;
use crate::plain::{Digester, ItemDigest};

fn context() -> Context {
    Context { sid: Sid([8; 32]), backend: Backend::best() }
}

fn digests(items: &[u64]) -> Vec<ItemDigest> {
    let digester = Digester::new(&context().sid);
    items.iter().map(|item| digester.digest(&item.to_le_bytes())).collect()
}

fn number(item: u64) -> u64 {
    (item + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn channels(meters: &[Meter; 2]) -> [Channel; 2] {
    let ids = [PartyId(0), PartyId(1)];
    let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
    let mut channel = |me: usize| {
        let mut channel = nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("a channel");
        channel.tap(Box::new(meters[me].clone()));
        channel
    };
    [channel(0), channel(1)]
}

/// Both outcomes, and the bytes that each party sent.
fn run(parameters: &Parameters, receiver: &[u64], sender: &[u64]) -> ([Outcome; 2], [u64; 2]) {
    let meters = [Meter::new(), Meter::new()];
    let [mut a, mut b] = channels(&meters);
    let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
    let numbers: Vec<u64> = receiver.iter().map(|item| number(*item)).collect();
    let _watch = registry::watch();
    let outcomes = thread::scope(|scope| {
        let [first, second] = [0, 1].map(|end| registry::here().end(end));
        let (b, seed) = (&mut b, &seeds[1]);
        let other = scope.spawn(move || {
            let _end = second.enter();
            send(b, &context(), parameters, &digests(sender), seed, &mut |_, _| {})
        });
        let _end = first.enter();
        let own = digests(receiver);
        let first = receive(&mut a, &context(), parameters, &own, &numbers, &seeds[0], &mut |_, _| {});
        [first.expect("an honest run"), other.join().expect("no panic").expect("an honest run")]
    });
    (outcomes, meters.map(|meter| meter.reading().bytes_sent()))
}

fn check(receiver: &[u64], sender: &[u64]) {
    let [a, b] = [receiver, sender].map(|items| items.iter().copied().collect::<HashSet<u64>>());
    let common: HashSet<u64> = a.intersection(&b).copied().collect();
    let count = common.len() as u64;
    let sum = common.iter().fold(0u64, |sum, item| sum.wrapping_add(number(*item)));
    let flags = (0..receiver.len() as u32).filter(|i| common.contains(&receiver[*i as usize])).collect();
    for (reveal, expected) in [
        (Reveal::Size, [Outcome::Size(count), Outcome::Size(count)]),
        (Reveal::Flags, [Outcome::Flags(flags), Outcome::Nothing]),
        (Reveal::Sum, [Outcome::Sum { count, sum }, Outcome::Sum { count, sum }]),
    ] {
        // Alternates between the stores, depending on the sizes and the result.
        let store = Store::ALL[(receiver.len() + sender.len() + usize::from(reveal == Reveal::Flags)) % 2];
        let parameters =
            Parameters { receiver_items: receiver.len(), sender_items: sender.len(), reveal, store };
        assert_eq!(run(&parameters, receiver, sender).0, expected, "{parameters:?}");
    }
}

#[test]
fn sizes_flags_and_sums_are_those_of_the_plain_intersection() {
    let many: Vec<u64> = (0..3000).collect();
    check(&[], &many[..5]);
    check(&many[..5], &[]);
    check(&[7], &[7]);
    check(&[7], &[8]);
    check(&many[1000..2500], &many[..1200]);
    // Each item twice, and unequal sizes.
    check(&[1, 2, 3, 3, 2, 1, 9], &[&many[2..900], &many[2..900]].concat());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn any_sets_with_duplicates_have_the_plain_intersection(
        receiver in prop::collection::vec(0..300u64, 0..200),
        sender in prop::collection::vec(0..300u64, 0..200),
    ) {
        check(&receiver, &sender);
    }
}

#[test]
#[ignore = "minutes: sets of a million"]
fn large_sets_have_the_plain_intersection() {
    let many: Vec<u64> = (0..1_000_000).collect();
    check(&many[..300_000], &many[250_000..]);
    check(&many, &many[7..9]);
    check(&many[999..1000], &many);
}

#[test]
fn bytes_depend_on_sizes_alone() {
    for reveal in [Reveal::Size, Reveal::Flags, Reveal::Sum] {
        let parameters = Parameters { receiver_items: 30, sender_items: 20, reveal, store: Store::Clustered };
        let all: Vec<u64> = (0..30).collect();
        let (_, first) = run(&parameters, &all, &all[..20]);
        assert_eq!(run(&parameters, &[], &[]).1, first);
        assert_eq!(run(&parameters, &[5; 30], &all[3..4]).1, first);
    }
}

#[test]
fn a_table_holds_every_item_in_a_bin_of_its_own() {
    let items: Vec<u64> = (0..20_000).collect();
    let digests = digests(&items);
    let parameters = Parameters {
        receiver_items: items.len(),
        sender_items: 1,
        reveal: Reveal::Size,
        store: Store::Clustered,
    };
    let places = BinPlaces::new(&context(), parameters.bins());
    let table = places.cuckoo(&context(), &digests, &Seed::from_bytes([3; 16])).expect("there is room");
    let mut seen = vec![false; items.len()];
    for (bin, held) in table.iter().enumerate() {
        if let Some((item, j)) = held {
            assert_eq!(places.bin(&digests[*item as usize], *j as usize), bin);
            assert!(!std::mem::replace(&mut seen[*item as usize], true));
        }
    }
    assert!(seen.iter().all(|seen| *seen));
}

#[test]
fn an_item_has_another_digest_under_each_function() {
    let places = BinPlaces::new(&context(), 100);
    let digests = digests(&[1, 2]);
    let pairs: Vec<_> = digests.iter().flat_map(|digest| (0..HASHES as u8).map(|j| (*digest, j))).collect();
    let all: HashSet<_> = places.digests(Backend::best(), pairs.into_iter()).into_iter().collect();
    assert_eq!(all.len(), 2 * HASHES);
}

#[test]
fn items_that_come_twice_have_the_first_s_place() {
    let (firsts, like) = distinct(&digests(&[4, 5, 4, 6, 5, 4]));
    assert_eq!(firsts.len(), 3);
    for (item, first) in [(0, 0), (1, 1), (2, 0), (3, 3), (4, 1), (5, 0)] {
        assert_eq!(firsts[like[item] as usize], first);
    }
}

#[test]
fn more_items_than_agreed_are_refused() {
    let parameters =
        Parameters { receiver_items: 1, sender_items: 1, reveal: Reveal::Size, store: Store::Clustered };
    let meters = [Meter::new(), Meter::new()];
    let [mut a, _b] = channels(&meters);
    let seed = Seed::from_bytes([1; 16]);
    let result = receive(&mut a, &context(), &parameters, &digests(&[1, 2]), &[], &seed, &mut |_, _| {});
    assert!(matches!(result, Err(PsiError::TooLarge { count: 2, most: 1, .. })));
    let parameters = Parameters { sender_items: MOST_ITEMS + 1, ..parameters };
    let result = receive(&mut a, &context(), &parameters, &digests(&[1]), &[], &seed, &mut |_, _| {});
    assert!(matches!(result, Err(PsiError::TooLarge { .. })));
}

/// A receiver that runs up to the sender's store: the digests for which it asks, and their values
/// under F.
fn asked(channel: &mut Channel, parameters: &Parameters, receiver: &[u64]) -> (Vec<ItemDigest>, Vec<Block>) {
    let (context, own, seed) = (context(), digests(receiver), Seed::from_bytes([9; 16]));
    let places = BinPlaces::new(&context, parameters.bins());
    let table = places.cuckoo(&context, &own, &seed).expect("there is room");
    let pairs: Vec<_> = table.iter().flatten().map(|(item, j)| (own[*item as usize], *j)).collect();
    let asked = places.digests(context.backend, pairs.into_iter());
    let values = opprf::ask(channel, &context.child("opprf", 0), &parameters.asked(), &asked, &seed);
    (asked, values.expect("an honest sender"))
}

/// The result of `look` on a sender's store; every byte of the sender's seed is `seed`.
fn looked<T: Send>(
    parameters: &Parameters,
    sender: &[u64],
    seed: u8,
    look: impl FnOnce(&mut Channel) -> T + Send,
) -> T {
    let [mut a, b] = channels(&[Meter::new(), Meter::new()]);
    let seed = Seed::from_bytes([seed; 16]);
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            let mut channel = b;
            send(&mut channel, &context(), parameters, &digests(sender), &seed, &mut |_, _| {})
        });
        let seen = look(&mut a);
        drop(a);
        assert!(other.join().expect("no panic").is_err(), "the receiver is gone");
        seen
    })
}

/// The receiver sees a different random value in each bin of a common item, and in each run. If
/// values were equal, it would know that their items are common.
#[test]
fn every_bin_has_a_value_of_its_own() {
    let (receiver, sender): (Vec<u64>, Vec<u64>) = ((0..40).collect(), (0..60).collect());
    let (reveal, store) = (Reveal::Size, Store::Clustered);
    let parameters = Parameters { receiver_items: 40, sender_items: 60, reveal, store };
    let mut all = HashSet::new();
    for seed in [2, 3] {
        let seen = looked(&parameters, &sender, seed, |channel| {
            let (asked, values) = asked(channel, &parameters, &receiver);
            let told =
                opprf::hear(channel, &context(), &parameters.told(), &asked).expect("an honest sender");
            values.iter().zip(told).map(|(value, told)| opprf::low(*value) ^ told).collect::<Vec<_>>()
        });
        all.extend(seen);
    }
    assert_eq!(all.len(), 80);
}

/// The sender's store is sent in clear. If the sender has fewer items than agreed, the remaining
/// entries are also random.
#[test]
fn stores_of_missing_items_are_random() {
    let (reveal, store) = (Reveal::Size, Store::Clustered);
    for (items, agreed) in [(1, 60), (40, 60), (1, 100), (100, 4000)] {
        let sender: Vec<u64> = (0..items).collect();
        let parameters = Parameters { receiver_items: 5, sender_items: agreed, reveal, store };
        let stores = [2, 3].map(|seed| {
            looked(&parameters, &sender, seed, |channel| {
                drop(asked(channel, &parameters, &[1, 2, 3, 4, 5]));
                let mut store = vec![0; 8 * parameters.told().bin_entries()];
                channel.recv("store of masked values", &mut store).expect("an honest sender");
                store
            })
        });
        let ones: u32 = stores[0].iter().map(|byte| byte.count_ones()).sum();
        let bits = 8 * stores[0].len() as u32;
        assert!(ones.abs_diff(bits / 2) < 3 * bits.isqrt(), "{items} of {agreed}: {ones} of {bits}");
        assert!(stores[0].chunks_exact(8).zip(stores[1].chunks_exact(8)).all(|(a, b)| a != b));
    }
}

/// With one key for all bins, every bin would add to the knowledge of Δ.
#[test]
fn values_are_under_a_key_of_the_bin_and_the_session() {
    let of = |context: &Context, bin: usize| {
        let mut out = vec![];
        opprf::hash(context, bin, &[Block::from_u128(5)], &mut out);
        out[0]
    };
    let other = Context { sid: Sid([9; 32]), ..context() };
    let all: HashSet<_> =
        (0..30).flat_map(|bin| [of(&context(), bin), of(&other, bin)]).map(|b| b.0).collect();
    assert_eq!(all.len(), 60);
}
