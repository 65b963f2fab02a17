//! Whole runs, compared with the standard library's sets.

use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_machine::{Channel, PartyId, Tap, Toss, inproc};
use hushwire_psi::{
    Found, KeySpec, Method, Outcome, PsiError, PsiSide, PsiTerms, Reveal, Set, TableKeys, intersect,
};
use proptest::prelude::*;
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

fn channels() -> [Channel; 2] {
    let ids = [PartyId(0), PartyId(1)];
    let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
    let mut channel = |me: usize| nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).unwrap();
    [channel(0), channel(1)]
}

/// Runs both parties, on a thread each.
fn both(terms: [PsiTerms; 2], sets: [&[String]; 2]) -> [Result<Outcome, PsiError>; 2] {
    over(channels(), terms, sets)
}

fn over(
    channels: [Channel; 2],
    terms: [PsiTerms; 2],
    sets: [&[String]; 2],
) -> [Result<Outcome, PsiError>; 2] {
    let [mut a, mut b] = channels;
    let run = |channel: &mut Channel, side: PsiSide| {
        let i = usize::from(side == PsiSide::B);
        let mut last = None;
        let outcome = intersect(channel, side, sets[i], &terms[i], Backend::best(), &mut |done, of| {
            // The first report has no AND done, and every later one has more than the one before.
            assert!(last.map_or(done == 0, |(before, all)| done > before && all == of) && done <= of);
            last = Some((done, of));
        });
        if let Ok(outcome) = &outcome {
            let whole = Some((outcome.ands, outcome.ands));
            assert!(last == whole || outcome.ands == 0, "progress comes to its end");
        }
        outcome
    };
    let _watch = registry::watch();
    thread::scope(|scope| {
        let [first, second] = [0, 1].map(|end| registry::here().end(end));
        let other = scope.spawn(move || {
            let _end = second.enter();
            run(&mut b, PsiSide::B)
        });
        let _end = first.enter();
        let first = run(&mut a, PsiSide::A);
        drop(a);
        [first, other.join().unwrap()]
    })
}

fn check(terms: PsiTerms, sets: [&[String]; 2]) -> [Outcome; 2] {
    let [a, b] = both([terms; 2], sets).map(Result::unwrap);
    let hashed: Vec<HashSet<&String>> = sets.iter().map(|set| set.iter().collect()).collect();
    let expected = |i: usize| sets[i].iter().map(|key| hashed[1 - i].contains(key)).collect::<Vec<bool>>();
    let common = expected(0).iter().filter(|f| **f).count() as u64;
    let (for_a, for_b) = match terms.reveal {
        Reveal::Size => (Found::Size(common), Found::Size(common)),
        Reveal::Items => (Found::Keys(expected(0)), Found::Keys(expected(1))),
        Reveal::Flags => (Found::Keys(expected(0)), Found::Nothing),
    };
    assert_eq!((&a.found, &b.found), (&for_a, &for_b), "{terms:?}");
    assert_eq!(
        Outcome { found: Found::Nothing, ..a.clone() },
        Outcome { found: Found::Nothing, ..b.clone() }
    );
    assert_eq!(a.sizes, [sets[0].len(), sets[1].len()]);
    [a, b]
}

fn keys(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|i| format!("customer {i}")).collect()
}

const ALL: [Reveal; 3] = [Reveal::Size, Reveal::Items, Reveal::Flags];
const METHODS: [Option<Method>; 2] = [Some(Method::Scs), Some(Method::Phasing)];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn intersections_are_those_of_sets(a in 0usize..60, b in 0usize..60, shift in 0usize..60, kind in 0usize..6) {
        let terms = PsiTerms { circuit: METHODS[kind % 2], ..PsiTerms::new(ALL[kind / 2]) };
        check(terms, [&keys(0, a), &keys(shift, shift + b)]);
    }
}

#[test]
fn every_circuit_reveals_what_was_agreed() {
    for reveal in ALL {
        for circuit in METHODS {
            let terms = PsiTerms { circuit, ..PsiTerms::new(reveal) };
            for (a, b) in
                [(0..0, 0..5), (0..5, 0..0), (0..0, 0..0), (0..1, 0..1), (0..1, 1..2), (0..40, 20..23)]
            {
                let [outcome, _] = check(terms, [&keys(a.start, a.end), &keys(b.start, b.end)]);
                assert_eq!(Some(outcome.circuit), circuit);
                assert!(outcome.salts <= 2);
            }
        }
    }
}

/// Tables of several pieces, for the stash and the bins.
#[test]
fn large_tables_run_in_pieces() {
    for reveal in ALL {
        let terms = PsiTerms { circuit: Some(Method::Phasing), ..PsiTerms::new(reveal) };
        check(terms, [&keys(0, 20), &keys(10, 3_010)]);
    }
    let terms = PsiTerms { circuit: Some(Method::Phasing), ..PsiTerms::new(Reveal::Flags) };
    check(terms, [&keys(0, 2), &keys(1, 10_001)]);
}

/// The messages that a party sends.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<Vec<u8>>>>);

impl Tap for Sent {
    fn outgoing(&mut self, _: PartyId, _: u16, message: &[u8]) -> Option<Vec<u8>> {
        self.0.lock().unwrap().push(message.to_vec());
        None
    }
    fn incoming(&mut self, _: PartyId, _: u16, _: &mut [u8]) {}
}

/// All messages of A and of B after the single byte of each salt.
fn messages(terms: PsiTerms, sets: [&[String]; 2]) -> [Vec<Vec<u8>>; 2] {
    let (mut channels, sent) = (channels(), [Sent::default(), Sent::default()]);
    channels.iter_mut().zip(&sent).for_each(|(channel, sent)| channel.tap(Box::new(sent.clone())));
    over(channels, [terms; 2], sets).into_iter().for_each(|ended| drop(ended.unwrap()));
    sent.map(|sent| sent.0.lock().unwrap().iter().skip(1).skip_while(|m| m.len() == 1).cloned().collect())
}

#[test]
fn lengths_of_messages_tell_sizes_and_nothing_else() {
    for (reveal, circuit) in ALL.into_iter().flat_map(|reveal| METHODS.map(|circuit| (reveal, circuit))) {
        let terms = PsiTerms { circuit, ..PsiTerms::new(reveal) };
        let lengths = |from: usize| {
            let messages = messages(terms, [&keys(0, 20), &keys(from, from + 30)]);
            messages.map(|all| all.iter().map(Vec::len).collect::<Vec<_>>())
        };
        assert_eq!(lengths(0), lengths(20), "{terms:?}: all or none in common");
    }
}

/// The places in A's file would tell B more than was agreed.
#[test]
fn items_are_told_in_order_and_filled_up() {
    for circuit in METHODS {
        let terms = PsiTerms { circuit, ..PsiTerms::new(Reveal::Items) };
        let [sent, _] = messages(terms, [&keys(0, 20), &keys(10, 40)]);
        let values =
            sent.last().unwrap().chunks_exact(16).map(|value| u128::from_le_bytes(value.try_into().unwrap()));
        let values: Vec<_> = values.collect();
        assert!(values.len() == 20 && values[10..] == [0; 10], "{values:?}");
        assert!(values[0] != 0 && values[..10].is_sorted(), "{values:?}");
    }
}

/// A count for each piece of the tables would tell A more than their sum.
#[test]
fn what_a_learns_of_a_size_before_the_last_message_is_masked() {
    let terms = PsiTerms { circuit: Some(Method::Phasing), ..PsiTerms::new(Reveal::Size) };
    let last = || messages(terms, [&keys(0, 20), &keys(10, 40)]).map(|all| all.last().cloned().unwrap());
    let runs = [last(), last()];
    for side in 0..2 {
        assert!(runs.iter().all(|run| run[side].len() == 4), "{runs:?}");
        // Two equal values, or a small number in the clear, occur by chance once in 2^20 runs.
        assert_ne!(runs[0][side], runs[1][side], "{runs:?}");
        assert!(runs.iter().all(|run| run[side][2..] != [0, 0] || run[side][1] != 0), "{runs:?}");
    }
    let sums = runs.map(|run| {
        run.iter()
            .fold(0u32, |sum, share| sum.wrapping_add(u32::from_le_bytes(share[..].try_into().unwrap())))
    });
    assert_eq!(sums, [10, 10]);
}

#[test]
fn the_cheaper_circuit_is_taken() {
    let circuit = |reveal, a, b| check(PsiTerms::new(reveal), [&keys(0, a), &keys(0, b)])[0].clone();
    let few = circuit(Reveal::Flags, 1, 50);
    assert_eq!((few.circuit, few.ands), (Method::Phasing, 50 * (few.width as u64 - 1)));
    assert_eq!(circuit(Reveal::Size, 40, 40).circuit, Method::Scs);
    assert_eq!(circuit(Reveal::Flags, 1100, 1100).circuit, Method::Phasing);
}

#[test]
fn parties_that_want_something_else_hear_so() {
    let sets = [keys(0, 3), keys(0, 3)];
    let terms = [PsiTerms::new(Reveal::Size), PsiTerms::new(Reveal::Items)];
    for result in both(terms, [&sets[0], &sets[1]]) {
        let error = result.unwrap_err();
        assert!(matches!(error, PsiError::Terms { peer: Some(_) }), "{error}");
    }
}

#[test]
fn two_parties_of_one_side_hear_so() {
    let [mut a, mut b] = channels();
    let (set, terms) = (
        keys(0, 3),
        PsiTerms { protocol: hushwire_psi::CircuitProtocol::Gmw, ..PsiTerms::new(Reveal::Size) },
    );
    let run = |channel: &mut Channel| {
        intersect(channel, PsiSide::A, &set, &terms, Backend::best(), &mut |_, _| {}).unwrap_err()
    };
    let errors = thread::scope(|scope| {
        let other = scope.spawn(|| run(&mut b));
        [run(&mut a), other.join().unwrap()]
    });
    assert!(errors.iter().all(|e| matches!(e, PsiError::Terms { .. })), "{errors:?}");
}

#[test]
fn a_bin_that_memory_could_not_hold_is_refused() {
    let [mut a, mut b] = channels();
    let peer = thread::spawn(move || {
        let mut hello = [0; 73];
        b.recv("hello", &mut hello).unwrap();
        let toss = Toss::new("hushwire psi toss v2", &hello[40..72], 1).unwrap();
        hello[..32].copy_from_slice(&toss.commitment());
        hello[32..40].copy_from_slice(&(1u64 << 22).to_le_bytes());
        hello[72] ^= b'a' ^ b'b';
        b.send("hello", &hello).unwrap();
        b.exchange("name", &toss.opening(), &mut [0; 32]).unwrap();
    });
    let most = hushwire_psi::Most([Some(1 << 22); 2]);
    let terms = PsiTerms { circuit: Some(Method::Phasing), most, ..PsiTerms::new(Reveal::Flags) };
    let error =
        intersect(&mut a, PsiSide::A, &keys(0, 17), &terms, Backend::best(), &mut |_, _| {}).unwrap_err();
    assert!(matches!(error, PsiError::TooLarge { .. }), "{error}");
    peer.join().unwrap();
}

/// A malicious peer sends impossible numbers: no memory is allocated for them.
#[test]
fn a_peer_with_impossible_numbers_is_named() {
    let hello = |count: u64, ours: &[u8; 73]| {
        let mut theirs = *ours;
        theirs[72] ^= b'a' ^ b'b';
        theirs[32..40].copy_from_slice(&count.to_le_bytes());
        theirs
    };
    let terms = || PsiTerms::new(Reveal::Items);
    for (count, salt) in [(u64::MAX, None), (1 << 40, None), (3, Some(7u8))] {
        let [mut a, mut b] = channels();
        let peer = thread::spawn(move || {
            let mut ours = [0; 73];
            b.recv("hello", &mut ours).unwrap();
            let toss = Toss::new("hushwire psi toss v2", &ours[40..72], 1).unwrap();
            let mut theirs = hello(count, &ours);
            theirs[..32].copy_from_slice(&toss.commitment());
            b.send("hello", &theirs).unwrap();
            if let Some(salt) = salt {
                b.exchange("name", &toss.opening(), &mut [0; 32]).unwrap();
                b.exchange("salt", &[salt], &mut [0]).unwrap();
            }
        });
        let keys = keys(0, 3);
        let error =
            intersect(&mut a, PsiSide::A, &keys, &terms(), Backend::best(), &mut |_, _| {}).unwrap_err();
        match salt {
            None => assert!(matches!(error, PsiError::TooLarge { .. }), "{error}"),
            Some(_) => assert!(matches!(error, PsiError::Malformed { message: "salt", .. }), "{error}"),
        }
        peer.join().unwrap();
    }
}

#[test]
fn duplicates_count_once_and_rows_keep_their_order() {
    let keys =
        |text: &str| TableKeys::from_csv("x.csv".as_ref(), text.as_bytes(), &KeySpec::column("id")).unwrap();
    let sets = ["name,id\nx,7\ny, 8 \nz,7\nw,\n\"v, w\",9\n", "id\n9\n9\n7\n"].map(|text| {
        let keys = keys(text);
        let set = Set::of(&keys, |key| *blake3::hash(key).as_bytes());
        let mut texts: Vec<Option<String>> = vec![None; set.items().len()];
        for (key, item) in keys.each().zip(set.by_row()) {
            if let (Some(key), Some(item)) = (key, item) {
                texts[item] = TableKeys::fields(key).pop();
            }
        }
        (set, texts.into_iter().map(Option::unwrap).collect::<Vec<_>>())
    });
    let [(a, ours), (_, theirs)] = sets;
    assert_eq!(ours, ["7", "8", "9"]);
    let [outcome, _] = check(PsiTerms::new(Reveal::Flags), [&ours, &theirs]);
    let Found::Keys(found) = outcome.found else { panic!("A learns flags") };
    assert_eq!(a.flags(&found), [true, false, true, false, true]);
}
