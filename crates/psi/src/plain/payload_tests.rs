//! Compares payloads with a plain join; tests the effect of a changed message, and the limits of a
//! receiver that lacks an item.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hushwire_block::{Block, registry};
use hushwire_machine::drive::{Lockstep, Machine, Place};
use hushwire_ot::Level;
use hushwire_prg::Seed;
use proptest::prelude::*;

use super::payload::{Pieces, SEAL, Seals, opens};
use super::tests::{context, digests};
use super::*;
use crate::{PsiError, Store};

const LEVELS: [Level; 2] = [Level::SemiHonest, Level::Malicious];

/// The payload of the item at that place, different for each.
fn payload(item: u64, place: usize, width: usize) -> Vec<u8> {
    (0..width as u64).map(|i| (item * 31 + 7 * place as u64 + i * i) as u8).collect()
}

fn payloads(items: &[u64], width: usize) -> Payloads {
    let mut all = Payloads::new(width, items.len());
    items.iter().enumerate().for_each(|(place, item)| all.push(&payload(*item, place, width)));
    all
}

fn parameters(security: Level, sizes: [usize; 2], payload_bytes: usize, both_learn: bool) -> Parameters {
    let [receiver_items, sender_items] = sizes;
    // Either store gives the same result, since payloads depend only on values of the PRF.
    let store = if payload_bytes.is_multiple_of(2) { Store::Clustered } else { Store::Band };
    Parameters { receiver_items, sender_items, security, both_learn, payload_bytes, store }
}

type Found = (Opened, Option<Vec<u32>>);

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
    let theirs = payloads(sender, parameters.payload_bytes);
    let mut s = Sender::with_payloads(&context, parameters, digests(sender), theirs, &seeds[1])?;
    {
        let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
        Lockstep::new().run_edited(&mut parties, edit)?;
    }
    Ok((r.open(), s.finish()))
}

/// Every common item with the payload of the sender's first one.
fn joined(receiver: &[u64], sender: &[u64], width: usize) -> (Vec<u32>, Vec<Vec<u8>>) {
    let mut first = HashMap::new();
    for (place, item) in sender.iter().enumerate() {
        first.entry(*item).or_insert_with(|| payload(*item, place, width));
    }
    let common = receiver.iter().zip(0..).filter_map(|(item, i)| Some((i, first.get(item)?.clone())));
    common.unzip()
}

fn is_joined(security: Level, receiver: &[u64], sender: &[u64], width: usize, both_learn: bool) {
    let parameters = parameters(security, [receiver.len(), sender.len()], width, both_learn);
    let (opened, _) = run(&parameters, receiver, sender, |_, _| {}).expect("an honest run");
    opened.check().expect("all open");
    let found = (0..opened.common.len()).map(|i| opened.payloads.get(i).to_vec()).collect();
    assert_eq!((opened.common, found), joined(receiver, sender, width), "{security:?}, {width} bytes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn payloads_are_those_of_a_plain_join(
        receiver in prop::collection::vec(0..200u64, 0..120),
        sender in prop::collection::vec(0..200u64, 0..120),
        width in prop::sample::select(vec![1usize, 7, 31, 32, 33, 64, 65, 300]),
        both_learn in any::<bool>(),
    ) {
        for security in LEVELS {
            is_joined(security, &receiver, &sender, width, both_learn);
        }
    }
}

#[test]
fn sizes_from_none_to_several_messages_are_joined() {
    let many: Vec<u64> = (0..3000).collect();
    for [receiver, sender] in [[0, 0], [0, 5], [5, 0], [1, 1], [1, 3000], [3000, 1]] {
        for security in LEVELS {
            is_joined(security, &many[..receiver], &many[..sender], 16, false);
        }
    }
    // More than one message: payloads of more than 1 MiB in total, and single payloads that are
    // longer than that.
    for (width, sender, pieces) in [(1000, 3000, 3), (1 << 21, 3, 3)] {
        let parameters = parameters(Level::SemiHonest, [40, sender], width, false);
        assert_eq!(Pieces::new(&parameters).count(), pieces);
        is_joined(Level::SemiHonest, &many[2..42], &many[..sender], width, false);
    }
}

/// The lengths of all messages, by round and party.
fn lengths(parameters: &Parameters, receiver: &[u64], sender: &[u64]) -> Vec<(usize, usize, usize)> {
    let mut lengths = vec![];
    let end = run(parameters, receiver, sender, |place, message| {
        lengths.push((place.round, place.party, message.len()));
    });
    end.expect("an honest run");
    lengths
}

#[test]
fn lengths_depend_on_sizes_and_the_width_alone() {
    for security in LEVELS {
        let parameters = parameters(security, [60, 40], 20, false);
        let first = lengths(&parameters, &(0..60).collect::<Vec<_>>(), &(0..40).collect::<Vec<_>>());
        for (receiver, sender) in
            [(vec![], vec![]), (vec![3; 60], vec![3; 40]), ((100..160).collect(), vec![1])]
        {
            assert_eq!(lengths(&parameters, &receiver, &sender), first, "{security:?}");
        }
        let plain = Parameters { payload_bytes: 0, ..parameters };
        let bare = lengths(&plain, &[1], &[1]);
        assert_eq!(sent(&first) - sent(&bare), 40 * (20 + SEAL), "{security:?}");
        let declared = [parameters, plain].map(|parameters| cost(&parameters)[1].bytes_sent as usize);
        assert_eq!(declared[0] - declared[1], 40 * (20 + SEAL));
        assert_eq!(cost(&parameters)[1].rounds, cost(&plain)[1].rounds + 1);
    }
}

fn sent(lengths: &[(usize, usize, usize)]) -> usize {
    lengths.iter().map(|(.., len)| len).sum()
}

/// The round of a run's only message of payloads.
fn round_of_payloads(parameters: &Parameters, receiver: &[u64], sender: &[u64]) -> usize {
    let bytes = Pieces::new(parameters).bytes(0);
    let all = lengths(parameters, receiver, sender);
    let sealed: Vec<_> = all.iter().filter(|(_, party, len)| *party == 1 && *len == bytes).collect();
    assert_eq!(sealed.len(), 1, "another message has that length; take other sizes");
    sealed[0].0
}

/// A payload is changed on the way. An honest receiver counts it if the item is common, and cannot
/// know about others; the malicious mode compares transcripts.
#[test]
fn changed_payloads_are_noticed() {
    let items: Vec<u64> = (0..7).collect();
    for security in LEVELS {
        // The receiver has the first three of seven items.
        let parameters = parameters(security, [3, 7], 21, false);
        let round = round_of_payloads(&parameters, &items[..3], &items);
        let mut damaged = 0;
        let mut spoil = |change: &dyn Fn(&mut Vec<u8>)| {
            let end = run(&parameters, &items[..3], &items, |place, message| {
                if (place.round, place.party) == (round, 1) {
                    change(message);
                }
            });
            match (security, end) {
                (Level::Malicious, Err(PsiError::Abort { check: "transcript", .. })) => {}
                (Level::SemiHonest, Ok((opened, None))) => {
                    assert_eq!(opened.common, [0, 1, 2]);
                    let zeros = (0..3).filter(|i| opened.payloads.get(*i).iter().all(|byte| *byte == 0));
                    assert_eq!(zeros.count(), opened.damaged, "nothing is given of what does not open");
                    assert_eq!(opened.check().is_err(), opened.damaged > 0);
                    if let Err(e) = opened.check() {
                        assert!(matches!(e, PsiError::Abort { check: "payload", .. }), "{e}");
                    }
                    damaged += opened.damaged;
                }
                (_, end) => panic!("{security:?}: {end:?}"),
            }
        };
        // Every bit of one record or another, by its place in it; each record is also changed in
        // its first byte.
        let record = 21 + SEAL;
        for at in 0..record {
            spoil(&|message| message[at % 7 * record + at] ^= 1 << (at % 8));
        }
        (0..7).for_each(|i| spoil(&|message| message[i * record] ^= 0x80));
        spoil(&|message| message.rotate_left(record));
        spoil(&|message| message.fill(0));
        if security == Level::SemiHonest {
            // Some of the 29 changes by place hit common items; so do three of the seven changed
            // first bytes. A rotated and a zeroed message hit all three.
            assert!((3 + 3 + 3..29 + 9).contains(&damaged), "{damaged}");
        }
    }
}

/// A message of payloads that is too short, too long, or from another run: its length is known
/// before, and its keys belong to one session.
#[test]
fn truncated_and_replayed_payloads_are_noticed() {
    let items: Vec<u64> = (0..7).collect();
    for security in LEVELS {
        let parameters = parameters(security, [3, 7], 21, false);
        let round = round_of_payloads(&parameters, &items[..3], &items);
        for change in [-1isize, 1, 1 << 20] {
            let end = run(&parameters, &items[..3], &items, |place, message| {
                if (place.round, place.party) == (round, 1) {
                    message.resize(message.len().saturating_add_signed(change), 0);
                }
            });
            assert!(matches!(end, Err(PsiError::Net(_))), "{security:?}: {end:?}");
        }
        // An earlier run, with a store for 40 items: all its bands differ.
        let mut before = vec![];
        let others = Parameters { receiver_items: 40, ..parameters };
        let earlier = round_of_payloads(&others, &items[..4], &items);
        let noted = run(&others, &items[..4], &items, |place, message| {
            if (place.round, place.party) == (earlier, 1) {
                before.clone_from(message);
            }
        });
        noted.expect("an honest run");
        let end = run(&parameters, &items[..3], &items, |place, message| {
            if (place.round, place.party) == (round, 1) {
                message.clone_from(&before);
            }
        });
        match (security, end) {
            (Level::SemiHonest, Ok((opened, _))) => assert_eq!(opened.damaged, 3),
            (Level::Malicious, Err(PsiError::Abort { check: "transcript", .. })) => {}
            (_, end) => panic!("{security:?}: {end:?}"),
        }
    }
}

/// A corrupted sender sees the same rounds, lengths and good end, whether or not the receiver has
/// the item whose payload it damaged. The receiver knows.
#[test]
fn a_sender_that_damages_a_payload_sees_nothing_of_it() {
    for security in LEVELS {
        let parameters = parameters(security, [3, 2], 5, false);
        let view = |receiver: &[u64]| {
            let (seeds, context) = ([1, 2].map(|seed| Seed::from_bytes([seed; 16])), context());
            let mut r = Receiver::new(&context, &parameters, digests(receiver), &seeds[0]).expect("few");
            let theirs = payloads(&[1, 2], 5);
            // The damage is done after sealing, so both parties' transcripts contain the damaged
            // payload.
            let s = Sender::damaging(&context, &parameters, digests(&[1, 2]), theirs, &seeds[1]);
            let mut s = s.expect("few");
            let mut seen = vec![];
            let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
            let end = Lockstep::new().run_edited(&mut parties, |place, message| {
                seen.push((place.round, place.party, message.len()));
            });
            end.expect("nobody ends it");
            let opened = r.open();
            (seen, [opened.common.len(), opened.damaged])
        };
        let (with, without) = (view(&[1, 2, 30]), view(&[2, 30, 31]));
        assert_eq!(with.0, without.0, "{security:?}");
        assert_eq!([with.1, without.1], [[2, 1], [1, 0]], "{security:?}");
    }
}

/// All that a receiver has about an item that it lacks: the values of the list, the item's digest,
/// and its guess of the item's PRF. No key from these opens a payload, and the key of an item that
/// it has opens one.
#[test]
fn without_the_item_no_payload_opens() {
    let (ours, theirs) = ([1u64, 2, 3], [1u64, 50, 60, 70]);
    let parameters = parameters(Level::SemiHonest, [3, 4], 24, false);
    let (shape, context) = (parameters.shape(), context());
    let opened = |instead: Option<u64>| {
        let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
        // A receiver that evaluates another item than the one in its store, and notes its keys.
        let tried = [instead.unwrap_or(ours[0]), ours[1], ours[2]];
        let (items, keys) = ([&ours[..], &tried].map(digests), Arc::default());
        let curious = Receiver::curious(&context, &parameters, items, &seeds[0], &keys);
        let mut curious = curious.expect("few");
        let s =
            Sender::with_payloads(&context, &parameters, digests(&theirs), payloads(&theirs, 24), &seeds[1]);
        let mut s = s.expect("few");
        let mut heard = vec![];
        let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut curious, &mut s];
        let end = Lockstep::new().run_edited(&mut parties, |place, message| {
            if place.party == 1 && !message.is_empty() {
                heard.push(message.clone());
            }
        });
        end.expect("an honest run");
        let [.., high, low, sealed] = &heard[..] else { panic!("three messages") };
        let mut list = list::List::new(&shape, high).expect("as many values");
        list.add_low(low);
        let (seals, mut keys) = (Seals::new(&context), keys.lock().expect("it is idle").clone());
        assert_eq!((list.each().len(), keys.len()), (4, 3));
        for digest in digests(&theirs) {
            for x in list.each().into_iter().chain([0]) {
                seals.keys(Block::ZERO, &[digest], &[Block::from_u128(x)], &mut keys);
            }
        }
        let records = || sealed.chunks_exact(24 + SEAL);
        keys.iter().filter(|key| records().any(|record| opens(key, record))).count()
    };
    assert_eq!(opened(None), 1, "the item that both have");
    assert_eq!(opened(Some(50)), 0, "an item that is in no store of the receiver's");
}

/// Values and payloads in place of missing items must look like others: they are uniform, and new
/// in every run.
#[test]
fn missing_items_are_filled_up_with_random_values_and_payloads() {
    const AGREED: usize = 400;
    for security in LEVELS {
        let parameters = parameters(security, [3, AGREED], 24, false);
        let (shape, pieces) = (parameters.shape(), Pieces::new(&parameters));
        let sent = |seed: u8| {
            let (seeds, context) = ([seed + 9, seed].map(|seed| Seed::from_bytes([seed; 16])), context());
            let mut r = Receiver::new(&context, &parameters, digests(&[1, 2, 3]), &seeds[0]).expect("few");
            let theirs = payloads(&[1, 2], 24);
            let s = Sender::with_payloads(&context, &parameters, digests(&[1, 2]), theirs, &seeds[1]);
            let (mut s, mut heard) = (s.expect("few"), vec![]);
            let mut parties: [&mut dyn Machine<Error = PsiError>; 2] = [&mut r, &mut s];
            let end = Lockstep::new().run_edited(&mut parties, |place, message| {
                if place.party == 1 && !message.is_empty() {
                    heard.push(message.clone());
                }
            });
            end.expect("an honest run");
            assert_eq!(r.finish(), [0, 1]);
            let of = |bytes: usize| heard.iter().rfind(|message| message.len() == bytes).expect("it is sent");
            let mut list = list::List::new(&shape, of(shape.high_bytes())).expect("as many values");
            list.add_low(of(shape.low_bytes(0)));
            let records = of(pieces.bytes(0)).chunks_exact(24 + SEAL);
            (list.each(), records.map(<[u8]>::to_vec).collect::<Vec<_>>())
        };
        let runs = [sent(2), sent(3)];
        for (values, records) in &runs {
            let near = |ones: u32, bits: usize| {
                // Within six standard deviations.
                (f64::from(ones) - bits as f64 / 2.0).abs() < 3.0 * (bits as f64).sqrt()
            };
            let ones = values.iter().map(|value| value.count_ones()).sum();
            assert!(near(ones, AGREED * shape.bits() as usize), "{security:?}: {ones} ones of values");
            let ones = records.iter().flatten().map(|byte| byte.count_ones()).sum();
            assert!(near(ones, AGREED * 8 * (24 + SEAL)), "{security:?}: {ones} ones of payloads");
        }
        let [mut values, mut records] = [HashSet::new(), HashSet::new()];
        for (of_run, payloads) in runs {
            values.extend(of_run.iter().map(|value| value.to_le_bytes().to_vec()));
            records.extend(payloads);
        }
        assert_eq!([values.len(), records.len()], [2 * AGREED; 2], "{security:?}: some come again");
    }
}
