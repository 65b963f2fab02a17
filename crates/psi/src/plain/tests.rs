//! Comparison with a plain intersection; sizes of messages; the effect of changed messages.

use std::collections::HashSet;

use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_machine::drive::{Lockstep, Machine, Place};
use hushwire_ot::base::{BaseProtocol, ChouOrlandi, ChouOrlandi16};
use hushwire_ot::{Context, Level, Opening, OtError, Passive, Protocol, Security, Sid};
use hushwire_prg::Seed;
use proptest::prelude::*;

use super::*;
use crate::{PsiError, Store};

pub(crate) fn context() -> Context {
    Context { sid: Sid([7; 32]), backend: Backend::best() }
}

pub(crate) fn digests(items: &[u64]) -> Vec<ItemDigest> {
    let digester = Digester::new(&context().sid);
    items.iter().map(|item| digester.digest(&item.to_le_bytes())).collect()
}

/// The numbers of items of `a` that are also in `b`.
fn common(a: &[u64], b: &[u64]) -> Vec<u32> {
    let b: HashSet<_> = b.iter().collect();
    (0..a.len() as u32).filter(|i| b.contains(&a[*i as usize])).collect()
}

type Found = (Vec<u32>, Option<Vec<u32>>);

/// A run in lockstep; `edit` may change messages.
fn run(
    parameters: &Parameters,
    receiver: &[u64],
    sender: &[u64],
    edit: impl FnMut(Place, &mut Vec<u8>),
) -> Result<Found, PsiError> {
    let _watch = registry::watch();
    let (seeds, context) = ([1, 2].map(|seed| Seed::from_bytes([seed; 16])), context());
    let mut r = Receiver::new(&context, parameters, digests(receiver), &seeds[0])?;
    let mut s = Sender::new(&context, parameters, digests(sender), &seeds[1])?;
    {
        let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
        Lockstep::new().run_edited(&mut parties, edit)?;
    }
    Ok((r.finish(), s.finish()))
}

fn parameters(receiver_items: usize, sender_items: usize, both_learn: bool) -> Parameters {
    let (security, store) = (Level::SemiHonest, Store::Clustered);
    Parameters { receiver_items, sender_items, security, both_learn, payload_bytes: 0, store }
}

fn honest(receiver: &[u64], sender: &[u64], both_learn: bool) -> Result<(), TestCaseError> {
    for security in [Level::SemiHonest, Level::Malicious] {
        honest_at(security, receiver, sender, both_learn)?;
    }
    Ok(())
}

fn honest_at(
    security: Level,
    receiver: &[u64],
    sender: &[u64],
    both_learn: bool,
) -> Result<(), TestCaseError> {
    for store in Store::ALL {
        let parameters =
            Parameters { security, store, ..parameters(receiver.len(), sender.len(), both_learn) };
        let (found, told) = run(&parameters, receiver, sender, |_, _| {}).expect("an honest run");
        prop_assert_eq!(found, common(receiver, sender));
        prop_assert_eq!(told, both_learn.then(|| common(sender, receiver)));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_sets_with_duplicates_have_the_plain_intersection(
        receiver in prop::collection::vec(0..300u64, 0..200),
        sender in prop::collection::vec(0..300u64, 0..200),
        both_learn in any::<bool>(),
    ) {
        honest(&receiver, &sender, both_learn)?;
    }
}

#[test]
fn empty_single_unequal_and_equal_sets() {
    let many: Vec<u64> = (0..8192).collect();
    for (receiver, sender) in [
        (0, 0),
        (0, 5),
        (5, 0),
        (1, 1),
        (1, 2000),
        (191, 192),
        (192, 191),
        (2000, 2000),
        (8191, 3),
        (8192, 1),
    ] {
        honest(&many[..receiver], &many[..sender], true).expect("the plain intersection");
    }
    honest(&[9; 50], &[9; 30], true).expect("the plain intersection");
    honest(&[9; 50], &[8; 30], true).expect("the plain intersection");
}

#[test]
fn several_bins_hold_many_items() {
    let receiver: Vec<u64> = (0..270_000).collect();
    let sender: Vec<u64> = (260_000..262_000).chain(300_000..301_000).collect();
    assert_eq!(parameters(270_000, 1, false).layout().bins(), 2);
    honest_at(Level::SemiHonest, &receiver, &sender, true).expect("the plain intersection");
}

/// Sizes up to a million, equal and unequal, with duplicates; the malicious mode only for about
/// equal sizes.
#[test]
#[ignore = "a minute: sets of a million"]
fn large_sets_have_the_plain_intersection() {
    let mut state = 5u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for (r, s) in [
        (1_000_000, 1_000_000),
        (1_000_000, 3),
        (3, 1_000_000),
        (100_000, 99_999),
        (700_001, 0),
        (65_536, 4097),
    ] {
        let (receiver, sender): (Vec<u64>, Vec<u64>) =
            ((0..r).map(|_| random(1_200_000)).collect(), (0..s).map(|_| random(1_200_000)).collect());
        for security in [Level::SemiHonest, Level::Malicious] {
            if security == Level::SemiHonest || r.max(s) <= 100_000 || r == s {
                honest_at(security, &receiver, &sender, r % 2 == 0).expect("the plain intersection");
            }
        }
    }
}

/// A run on these digests instead of the items' digests.
fn run_of(
    parameters: &Parameters,
    receiver: Vec<ItemDigest>,
    sender: Vec<ItemDigest>,
) -> Result<Found, PsiError> {
    let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
    let mut r = Receiver::new(&context(), parameters, receiver, &seeds[0])?;
    let mut s = Sender::new(&context(), parameters, sender, &seeds[1])?;
    let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
    Lockstep::new().run(&mut parties)?;
    Ok((r.finish(), s.finish()))
}

/// Keys that were chosen under the name of one session so that no store holds them. If they are the
/// receiver's, they end that session with an error that names the cause. At the sender they are
/// like other keys, since its items are in no store. Names are drawn after sets are fixed.
#[test]
fn keys_that_were_chosen_against_a_name_end_the_session_by_name() {
    const ITEMS: usize = 8192;
    let items: Vec<u64> = (0..ITEMS as u64).collect();
    // Five rows with the same place are one more than the dense entries can distinguish.
    let (others, mut chosen) = (digests(&items), digests(&items));
    chosen[..5].iter_mut().for_each(|digest| digest[4..16].fill(0));
    for security in [Level::SemiHonest, Level::Malicious] {
        let parameters = Parameters { security, ..parameters(ITEMS, ITEMS, true) };
        let end = run_of(&parameters, chosen.clone(), others.clone());
        assert!(matches!(end, Err(PsiError::NoStore)), "{end:?}");
        let (found, _) = run_of(&parameters, others.clone(), chosen.clone()).expect("an honest run");
        assert_eq!(found, (5..ITEMS as u32).collect::<Vec<_>>());
    }
}

/// The same with bands: more keys start together than a band has bits.
#[test]
fn keys_that_were_chosen_to_start_together_end_the_session_by_name() {
    let parameters = Parameters { store: Store::Band, ..parameters(500, 5, true) };
    let mut digests = digests(&(0..500).collect::<Vec<_>>());
    digests.iter_mut().for_each(|digest| digest[4..8].fill(0));
    let end = run_of(&parameters, digests.clone(), digests[..5].to_vec());
    assert!(matches!(end, Err(PsiError::NoStore)), "{end:?}");
}

/// The same for few keys: two digests have one point and two values.
#[test]
fn keys_that_were_chosen_to_share_a_point_end_the_session_by_name() {
    for security in [Level::SemiHonest, Level::Malicious] {
        let mut digests = digests(&(0..20).collect::<Vec<_>>());
        let point: [u8; 16] = *digests[0][8..].first_chunk().expect("16 bytes");
        digests[1][8..24].copy_from_slice(&point);
        let end = run_of(
            &Parameters { security, ..parameters(20, 5, true) },
            digests.clone(),
            digests[..5].to_vec(),
        );
        assert!(matches!(end, Err(PsiError::NoStore)), "{end:?}");
    }
}

/// The lengths of all messages, by round and party.
fn lengths(parameters: &Parameters, receiver: &[u64], sender: &[u64]) -> Vec<(usize, usize, usize)> {
    let mut lengths = vec![];
    run(parameters, receiver, sender, |place, message| {
        lengths.push((place.round, place.party, message.len()));
    })
    .expect("an honest run");
    lengths
}

#[test]
fn lengths_depend_on_sizes_alone() {
    let levels = [Level::SemiHonest, Level::Malicious];
    for (security, store) in levels.into_iter().flat_map(|security| Store::ALL.map(|store| (security, store)))
    {
        let parameters = Parameters { security, store, ..parameters(60, 40, true) };
        let first = lengths(&parameters, &(0..60).collect::<Vec<_>>(), &(0..40).collect::<Vec<_>>());
        for (receiver, sender) in
            [(vec![], vec![]), (vec![3; 60], vec![3; 40]), ((100..160).collect(), vec![1])]
        {
            assert_eq!(lengths(&parameters, &receiver, &sender), first, "{security:?}, {store}");
        }
    }
}

/// The rounds and bytes of both parties, receiver first.
fn spent<E>(parties: &mut [&mut dyn Machine<Error = E>; 2]) -> [(u64, u64); 2]
where
    E: std::fmt::Debug,
{
    let mut spent = [(0, 0); 2];
    let count = |place: Place, message: &mut Vec<u8>| {
        spent[place.party] = (place.round as u64 + 1, spent[place.party].1 + message.len() as u64);
    };
    Lockstep::new().run_edited(parties, count).expect("an honest run");
    spent
}

fn set_up<S: Security>(protocol: Protocol) -> [(u64, u64); 2] {
    let open = |end: fn(&Context, Protocol, &Seed) -> Result<Opening<S>, _>, seed| {
        end(&context(), protocol, &Seed::from_bytes([seed; 16])).expect("it exists")
    };
    let (mut r, mut s) = (open(Opening::receiver, 1), open(Opening::sender, 2));
    spent(&mut [&mut r, &mut s])
}

/// The rounds and bytes of base OTs, whose receiver is the sender of the VOLE.
fn base<P: BaseProtocol<Level = Passive>>() -> [(u64, u64); 2] {
    let seed = Seed::from_bytes([3; 16]);
    let (mut r, mut s) =
        (P::sender(&context(), 128, &seed), P::receiver(&context(), vec![false; 128], &seed));
    spent(&mut [&mut r, &mut s])
}

#[test]
fn cost_is_what_moves() {
    use Level::{Malicious, SemiHonest};
    // The protocols that VOLE uses for so few entries.
    use Protocol::{FerretB9, SoftSpoken4};
    for (receiver_items, sender_items, both_learn, security, protocol, store) in [
        (50, 70_000, true, SemiHonest, SoftSpoken4, Store::Clustered),
        (2000, 10, false, SemiHonest, FerretB9, Store::Clustered),
        (2000, 10, false, SemiHonest, FerretB9, Store::Band),
        (0, 5, true, SemiHonest, SoftSpoken4, Store::Band),
        (50, 20, true, Malicious, SoftSpoken4, Store::Clustered),
        (1000, 300, false, Malicious, FerretB9, Store::Clustered),
        (1000, 300, false, Malicious, FerretB9, Store::Band),
    ] {
        let payload_bytes = 0;
        let parameters =
            Parameters { receiver_items, sender_items, security, both_learn, payload_bytes, store };
        let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
        let mut r = Receiver::new(&context(), &parameters, vec![], &seeds[0]).expect("few items");
        let mut s = Sender::new(&context(), &parameters, digests(&[1]), &seeds[1]).expect("few items");
        let moved = spent(&mut [&mut r, &mut s]);
        let set_up = match security {
            _ if receiver_items == 0 => [(0, 0); 2],
            SemiHonest => {
                let (usual, fast) = (base::<ChouOrlandi>(), base::<ChouOrlandi16>());
                let set_up = set_up::<hushwire_ot::SemiHonest>(protocol);
                [0, 1].map(|i| (set_up[i].0 + fast[i].0 - usual[i].0, set_up[i].1 + fast[i].1 - usual[i].1))
            }
            Malicious => set_up::<hushwire_ot::Malicious>(protocol),
        };
        for (party, cost) in cost(&parameters).into_iter().enumerate() {
            let sum = (set_up[party].0 + cost.rounds, set_up[party].1 + cost.bytes_sent);
            assert_eq!(moved[party], sum, "party {party} of {parameters:?}");
        }
    }
}

/// Every message of a malicious run is flipped in its first, middle and last byte, zeroed, and
/// replaced by an earlier one. An honest party ends with the error of a check, or with one that
/// names the message.
#[test]
fn changed_messages_are_caught_in_the_malicious_mode() {
    for (store, items) in [(Store::Clustered, 6), (Store::Band, 200)] {
        changed_messages_are_caught(store, items);
    }
}

fn changed_messages_are_caught(store: Store, items: usize) {
    let parameters = Parameters { security: Level::Malicious, store, ..parameters(items, items - 1, true) };
    let items: Vec<u64> = (0..items as u64).collect();
    let all = lengths(&parameters, &items, &items[1..]);
    let all: Vec<_> = all.into_iter().filter(|(.., len)| *len > 0).collect();
    // The OTs' own tests change each of their messages. Here, one in nine of them is changed with
    // one store, and all messages of this protocol.
    let own = all.len() - 9;
    for (i, (round, party, len)) in all.iter().copied().enumerate() {
        if i < own && (i % 9 != 1 || store == Store::Band) {
            continue;
        }
        let mut before = vec![];
        for change in 0..4 {
            let result = run(&parameters, &items, &items[1..], |place, message| {
                if (place.round, place.party) == (round, party) {
                    match change {
                        0 => message[0] ^= 1,
                        1 => message[len / 2] ^= 0x10,
                        2 => message[len - 1] ^= 0x80,
                        _ => message.fill(0),
                    }
                }
            });
            assert_named(&result, &format!("{store}: change {change} of message {i} of {}", all.len()));
        }
        let result = run(&parameters, &items, &items[1..], |place, message| {
            if (place.round, place.party) == (round, party) {
                before.resize(len, 7);
                message.clone_from(&before);
            } else if place.party == party && !message.is_empty() {
                before.clone_from(message);
            }
        });
        assert_named(&result, &format!("the message before {i} again"));
    }
}

/// Every message of a malicious run is made longer, shorter, and far longer than agreed: its
/// receiver ends at once.
#[test]
fn messages_of_other_lengths_end_the_malicious_mode() {
    let parameters = Parameters { security: Level::Malicious, ..parameters(6, 5, true) };
    let items: Vec<u64> = (0..6).collect();
    let all = lengths(&parameters, &items, &items[1..]);
    let all: Vec<_> = all.into_iter().filter(|(.., len)| *len > 0).collect();
    let own = all.len() - 9;
    for (i, (round, party, len)) in all.into_iter().enumerate().filter(|(i, _)| *i >= own || i % 5 == 2) {
        for other in [len - 1, len + 1, len + (1 << 20)] {
            let mut last = 0;
            let result = run(&parameters, &items, &items[1..], |place, message| {
                last = place.round;
                if (place.round, place.party) == (round, party) {
                    message.resize(other, 0);
                }
            });
            assert!(matches!(result, Err(PsiError::Net(_) | PsiError::Ot(_))), "message {i}: {result:?}");
            assert_eq!(last, round, "message {i}: nobody goes on");
        }
    }
}

fn assert_named(result: &Result<Found, PsiError>, what: &str) {
    let named = match result {
        Err(PsiError::Abort { .. } | PsiError::Malformed { .. }) => true,
        Err(PsiError::Ot(e)) => matches!(e, OtError::Abort { .. } | OtError::Malformed { .. }),
        _ => false,
    };
    assert!(named, "{what}: {result:?}");
}

/// A sender opens another mask than it committed to. It would have to do so to match values that it
/// made before it had A'.
#[test]
fn another_mask_than_the_commitment_s_is_refused() {
    let parameters = Parameters { security: Level::Malicious, ..parameters(6, 5, false) };
    let items: Vec<u64> = (0..6).collect();
    let all = lengths(&parameters, &items, &items[1..]);
    let (round, ..) =
        *all.iter().rfind(|(_, party, len)| *party == 1 && *len == close::OPENING).expect("an opening");
    // The closing comparison also has that length, and is last.
    let opening = all.iter().rfind(|(r, party, len)| *r < round && *party == 1 && *len == close::OPENING);
    let (round, ..) = *opening.expect("an opening");
    let result = run(&parameters, &items, &items[1..], |place, message| {
        if (place.round, place.party) == (round, 1) {
            message[3] ^= 4;
        }
    });
    assert!(matches!(result, Err(PsiError::Abort { check: "mask", .. })), "{result:?}");
}

/// A receiver that claims to have all of the sender's items: without their tags the sender does not
/// believe it.
#[test]
fn a_receiver_cannot_claim_items_that_it_has_not() {
    let parameters = Parameters { security: Level::Malicious, ..parameters(6, 5, true) };
    let items: Vec<u64> = (0..6).collect();
    let all = lengths(&parameters, &items, &[3, 100, 101, 102, 103]);
    let (round, ..) = *all
        .iter()
        .rfind(|(_, party, len)| *party == 0 && *len == parameters.answer_bytes())
        .expect("an answer");
    let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
    let mut r = Receiver::new(&context(), &parameters, digests(&items), &seeds[0]).expect("few items");
    let sent = [3, 100, 101, 102, 103];
    let mut s = Sender::new(&context(), &parameters, digests(&sent), &seeds[1]).expect("few items");
    let mut rounds = 0;
    let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
    let result = Lockstep::new().run_edited(&mut parties, |place, message| {
        rounds = place.round;
        if (place.round, place.party) == (round, 0) {
            message.fill(0xff);
        }
    });
    // A deviating party's own transcript covers what it sent. Here the flip is detected, and
    // nothing was learnt before.
    assert!(matches!(result, Err(PsiError::Abort { check: "transcript", .. })), "{result:?}");
    assert!(rounds > round);
}

#[test]
fn more_items_than_agreed_are_refused() {
    let result = run(&parameters(2, 5, false), &[1, 2, 3], &[1], |_, _| {});
    assert!(matches!(result, Err(PsiError::TooLarge { count: 3, most: 2, .. })));
    let result = run(&parameters(2, 1 << 29, false), &[1], &[1], |_, _| {});
    assert!(matches!(result, Err(PsiError::TooLarge { most, .. }) if most == MOST_ITEMS as u64));
}

#[test]
fn other_lengths_and_lists_are_malformed() {
    let parameters = parameters(20, 20, false);
    let items: Vec<u64> = (0..20).collect();
    let all = lengths(&parameters, &items, &items);
    let high = all.iter().rposition(|(_, party, len)| *party == 1 && *len == parameters.shape().high_bytes());
    let (round, party, _) = all[high.expect("a high part")];
    for change in [|m: &mut Vec<u8>| m[0] ^= 1, |m: &mut Vec<u8>| m.fill(0)] {
        let result = run(&parameters, &items, &items, |place, message| {
            if (place.round, place.party) == (round, party) {
                change(message);
            }
        });
        assert!(matches!(result, Err(PsiError::Malformed { message: "values, high parts", .. })));
    }
    // Every message, longer or shorter.
    for (round, party, len) in all.into_iter().filter(|(.., len)| *len > 0) {
        for longer in [true, false] {
            let result = run(&parameters, &items, &items, |place, message| {
                if (place.round, place.party) == (round, party) {
                    message.resize(if longer { len + 1 } else { len - 1 }, 0);
                }
            });
            assert!(result.is_err(), "message of party {party} in round {round}");
        }
    }
}

/// The sender's view of A' reveals nothing: u hides every entry of P, whatever the items are.
#[test]
fn what_the_receiver_sends_is_masked() {
    // Stores of one item and of none differ in about three entries of P. Under the mask no byte of
    // A' is equal for two seeds. For one seed, the difference of two sets is that of their stores.
    let parameters = parameters(1, 1, false);
    let store = |receiver: &[u64]| {
        let mut all = vec![];
        let bytes = 8 * parameters.layout().entries();
        run(&parameters, receiver, &[5], |place, message| {
            if place.party == 0 && message.len() == bytes {
                all.clone_from(message);
            }
        })
        .expect("an honest run");
        all
    };
    let zero = store(&[]);
    assert!(zero.chunks_exact(8).all(|entry| entry != [0; 8]), "u hides an empty store");
    assert_ne!(zero, store(&[5]));
}

/// Every message, except the bits of an answer, depends on its own party's randomness: none repeats
/// with other seeds.
#[test]
fn every_message_is_random_by_its_party_s_seed() {
    for security in [Level::SemiHonest, Level::Malicious] {
        let parameters = Parameters { security, ..parameters(6, 50, true) };
        let (receiver, sender): (Vec<u64>, Vec<u64>) = ((0..6).collect(), (3..53).collect());
        let said = |seeds: [u8; 2]| {
            let [r, s] = seeds.map(|seed| Seed::from_bytes([seed; 16]));
            let mut r = Receiver::new(&context(), &parameters, digests(&receiver), &r).expect("few items");
            let mut s = Sender::new(&context(), &parameters, digests(&sender), &s).expect("few items");
            let mut said = [vec![], vec![]];
            let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
            let end = Lockstep::new().run_edited(&mut parties, |place, message| {
                if message.len() >= 16 {
                    said[place.party].push(message.clone());
                }
            });
            end.expect("an honest run");
            said
        };
        let before = said([1, 2]);
        for (party, seeds) in [(0, [3, 2]), (1, [1, 4])] {
            let after = said(seeds);
            assert_eq!(before[party].len(), after[party].len());
            for (i, (one, other)) in before[party].iter().zip(&after[party]).enumerate() {
                assert_ne!(one, other, "{security:?}: message {i} of party {party}");
            }
        }
    }
}

#[test]
fn digests_are_of_the_session_and_of_whole_fields() {
    let [a, b] = [1, 2].map(|sid| Digester::new(&Sid([sid; 32])));
    assert_ne!(a.digest(b"item"), b.digest(b"item"));
    let fields = |fields: &[&'static [u8]]| a.digest_fields(fields.iter().copied());
    let all = [
        fields(&[b"ab", b"c"]),
        fields(&[b"a", b"bc"]),
        fields(&[b"abc"]),
        fields(&[b"abc", b""]),
        fields(&[b"", b"abc"]),
        a.digest(b"abc"),
    ];
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}
