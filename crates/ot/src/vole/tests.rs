//! Entries satisfy their relation and cost what is declared, and every changed message is caught in
//! the malicious mode.

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf64, Gf128, registry};
use hushwire_machine::drive::{Lockstep, Place};
use hushwire_prg::Seed;

use super::grown::{Base0, Growing};
use super::packed::Packing;
use super::plan::VolePlan;
use super::{Base, Field, Full128, GROWN, Pair64, Receiver, Sender, core, cost, growth};
use crate::base::ChouOrlandi16;
use crate::ferret::end::buffer;
use crate::ferret::rig::stream;
use crate::ferret::rig::{DELTA, SHORT, TINY, WIDE, context, deal, ends};
use crate::ferret::{B9, Set};
use crate::protocol::Core;
use crate::rows::RowKind;
use crate::{Check, Extension, Level, Machine, Malicious, Opening, OtError, Role, Security, SemiHonest};

/// Products bit by bit, from the definitions.
trait Slow: Field {
    fn slow(u: Self::Base, f: Block) -> Block;
}

impl Slow for Pair64 {
    fn slow(u: Gf64, f: Block) -> Block {
        let f = f.to_u128();
        let half = |mut f: u64| {
            (0..64).fold(0, |sum, i| {
                let term = f * (u.0 >> i & 1);
                f = (f << 1) ^ (0x1b * (f >> 63));
                sum ^ term
            })
        };
        Block::from_u128(u128::from(half(f as u64)) | u128::from(half((f >> 64) as u64)) << 64)
    }
}

impl Slow for Full128 {
    fn slow(u: Gf128, f: Block) -> Block {
        let (mut f, mut sum) = (Gf128::from(f), Gf128::ZERO);
        for i in 0..128 {
            sum += if u.0 >> i & 1 == 1 { f } else { Gf128::ZERO };
            f = f.mul_x();
        }
        sum.into()
    }
}

/// Checks that t = q + uΔ for every entry, and that all entries differ.
fn holds<F: Slow>(delta: Block, q: &[Block], t: &[Block], u: &[F::Base]) {
    assert!(q.len() == t.len() && t.len() == u.len());
    for (i, ((q, t), u)) in q.iter().zip(t).zip(u).enumerate() {
        assert_eq!(*t, *q ^ F::slow(*u, delta), "entry {i}");
    }
    let mut bytes: Vec<_> =
        u.iter().map(|u| (0..16).fold([0; 16], |mut all, _| (u.to_bytes(&mut all), all).1)).collect();
    bytes.sort_unstable();
    bytes.dedup();
    assert_eq!(bytes.len(), u.len(), "no u comes twice");
}

/// Ferret's smallest trees.
const SMALL: Core = Core::Ferret(TINY, RowKind::SoftSpoken4);

/// Packs entries at both endpoints over these trees; `edit` gets a message's number and its bytes.
fn pack<S: Security, F: Field>(
    count: usize,
    mut edit: impl FnMut(usize, &mut Vec<u8>),
) -> Result<[Packing<S, F>; 2], OtError> {
    let (s, r) = ends::<S>(Backend::best(), TINY);
    let (s, r): (Box<dyn Extension<S>>, Box<dyn Extension<S>>) = (Box::new(s), Box::new(r));
    let (mut s, mut r) =
        (Packing::<S, F>::new(s, &SMALL, count, 0), Packing::<S, F>::new(r, &SMALL, count, 0));
    let (mut number, places) = (0, [s.places(), r.places()]);
    while let Some(step) = s.step() {
        assert_eq!(r.step(), Some(step));
        let mut said = vec![0; step.bytes];
        let sender = step.from == Role::Sender;
        let (from, to) = if sender { (&mut s, &mut r) } else { (&mut r, &mut s) };
        from.act(&[], &mut said)?;
        edit(number, &mut said);
        to.act(&said, &mut [])?;
        assert_eq!([s.places(), r.places()], places, "no buffer moves");
        number += 1;
    }
    assert!(r.step().is_none());
    Ok([s, r])
}

fn entries_hold<S: Security, F: Slow>() {
    // The last counts end within a last round, which has no refill, and at its end.
    for count in [1, 2, 7, 40, 300, 10 * (256 - 128) / F::COTS, 10 * 256 / F::COTS] {
        let [s, r] = pack::<S, F>(count, |_, _| {}).expect("an honest run");
        assert_eq!(s.delta(), Some(DELTA));
        holds::<F>(DELTA, s.wide.blocks(), r.wide.blocks(), &r.narrow);
    }
}

#[test]
fn packed_entries_hold_in_every_field_at_every_level() {
    entries_hold::<SemiHonest, Pair64>();
    entries_hold::<SemiHonest, Full128>();
    entries_hold::<Malicious, Pair64>();
    entries_hold::<Malicious, Full128>();
}

/// The rounds, and both parties' bytes, of machines in lockstep.
fn moved<'a>(
    a: &'a mut (dyn Machine<Error = OtError> + 'a),
    b: &'a mut (dyn Machine<Error = OtError> + 'a),
) -> [u64; 3] {
    let mut moved = [0; 3];
    Lockstep::new()
        .run_edited(&mut [a, b], |place: Place, message: &mut Vec<u8>| {
            moved[0] = place.round as u64 + 1;
            moved[1 + place.party] += message.len() as u64;
        })
        .expect("an honest run");
    moved
}

/// Runs both machines from the base OTs on. Entries satisfy their relation, and the messages are
/// the set-up and the declared bytes.
fn machines_hold<S: Security, F: Slow>(count: usize) {
    let context = context(Backend::best());
    let seeds = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
    let mut s = Sender::<S, F>::new(&context, count, &seeds[0]).expect("the level exists");
    let mut r = Receiver::<S, F>::new(&context, count, &seeds[1]).expect("the level exists");
    let watch = registry::watch();
    let all = moved(&mut s, &mut r);
    drop(watch);
    let (s, r) = (s.finish(), r.finish());
    assert_eq!(s.q.len(), count);
    holds::<F>(*s.delta, &s.q, &r.t, &r.u);
    if count == 0 {
        return assert_eq!(all, [0; 3]);
    }
    let core = core::<F>(S::LEVEL, count);
    let mut set_up =
        Opening::<S>::sender_of::<S::FastBase>(&context, core, &seeds[0]).expect("the level exists");
    let mut peer =
        Opening::<S>::receiver_of::<S::FastBase>(&context, core, &seeds[1]).expect("the level exists");
    let set_up = moved(&mut set_up, &mut peer);
    let [sender, receiver] = cost::<F>(S::LEVEL, count);
    let declared = [sender.rounds, sender.bytes_sent, receiver.bytes_sent];
    assert_eq!(all, core::array::from_fn(|i| set_up[i] + declared[i]));
}

#[test]
fn machines_make_entries_from_base_ots_on() {
    machines_hold::<SemiHonest, Pair64>(0);
    machines_hold::<SemiHonest, Pair64>(200);
    machines_hold::<Malicious, Full128>(100);
    machines_hold::<Malicious, Full128>(B9.rows() / 128 + 1);
    machines_hold::<SemiHonest, Pair64>(GROWN + 5);
    machines_hold::<Malicious, Full128>(GROWN);
    machines_hold::<Malicious, Full128>(17_000);
    machines_hold::<SemiHonest, Pair64>(70_000);
}

/// Packed entries from a dealer: both endpoints' parts for Δ, for `entries` entries and `cots`
/// COTs.
fn dealt<F: Slow>(entries: usize, cots: usize) -> [(Base0<F>, hushwire_block::Buffer); 2] {
    let mut stream = stream(8);
    let u: Vec<F::Base> = (0..entries).map(|_| F::Base::from_bytes(&stream.next_block().0)).collect();
    let [mut q, mut t] = [(); 2].map(|()| buffer(entries));
    stream.fill_blocks(q.blocks_mut());
    for ((q, t), u) in q.blocks().iter().zip(t.blocks_mut()).zip(&u) {
        *t = *q ^ F::slow(*u, DELTA);
    }
    let cots = [Role::Sender, Role::Receiver].map(|role| {
        let (mut stream, mut blocks) = (self::stream(9), buffer(cots));
        deal(&mut stream, role, blocks.blocks_mut());
        blocks
    });
    let [of_sender, of_receiver] = cots;
    let seed = Seed::from_bytes([6; 16]);
    [(Base0::Sender { delta: DELTA, q, seed }, of_sender), (Base0::Receiver { t, u }, of_receiver)]
}

/// Grows entries at both endpoints over a small set; `edit` gets a message's number and its bytes.
fn grow<S: Security, F: Slow>(
    backend: Backend,
    sets: &[Set],
    count: usize,
    mut edit: impl FnMut(usize, &mut Vec<u8>),
) -> Result<[Growing<S, F>; 2], OtError> {
    let plan = VolePlan::new(sets, S::LEVEL, count);
    let mut ends = dealt::<F>(plan.entries, plan.cots)
        .map(|(base, cots)| Growing::<S, F>::new(&context(backend), sets, count, base, cots));
    let mut messages = plan.messages(S::LEVEL).into_iter();
    let _watch = registry::watch();
    let tables = ends.each_ref().map(Growing::tables);
    let mut number = 0;
    while let Some(step) = ends[0].step() {
        assert_eq!(ends[1].step(), Some(step));
        assert_eq!(messages.next(), Some((step.from, step.bytes)), "as planned");
        let mut said = vec![0; step.bytes];
        let [from, to] = [step.from as usize, 1 - step.from as usize];
        registry::as_end(from, || ends[from].act(&[], &mut said))?;
        edit(number, &mut said);
        registry::as_end(to, || ends[to].act(&said, &mut []))?;
        number += 1;
    }
    assert!(ends[1].step().is_none() && messages.next().is_none());
    assert_eq!(ends.each_ref().map(Growing::tables), tables, "no table moves");
    Ok(ends)
}

/// One round, several rounds, and a last tree that is cut short; with one set, and with two in
/// either order.
fn grown_entries_hold<S: Security, F: Slow>() {
    for sets in [&[TINY, TINY][..], &[TINY, WIDE], &[WIDE, TINY], &[SHORT, TINY, WIDE]] {
        let [whole, then] = [sets[0], sets[1]].map(|set| set.trees() * set.leaves());
        for count in [1, TINY.leaves(), whole - 3, whole, whole + 1, then, then + 1, 2 * then + 77] {
            let [mut s, mut r] =
                grow::<S, F>(Backend::best(), sets, count, |_, _| {}).expect("an honest run");
            let ((q, _), (t, u)) = (s.take(), r.take());
            assert_eq!(q.blocks().len(), count);
            holds::<F>(DELTA, q.blocks(), t.blocks(), &u);
        }
    }
}

/// Rounds stay within their sets: with more trees, the LPN instance would not be the one that was
/// estimated.
#[test]
fn no_round_has_more_trees_than_its_set() {
    for count in [
        1,
        2561,
        4640,
        4641,
        16_928,
        16_929,
        66_560,
        66_561,
        1 << 17,
        1 << 19,
        (1 << 19) + 1,
        1_309_672,
        1 << 21,
        (1 << 21) + 1,
        1 << 24,
        350 << 20,
    ] {
        for level in [Level::SemiHonest, Level::Malicious] {
            let sets = growth(level);
            let (turns, made) = VolePlan::new(sets, level, count).turns();
            assert!(
                made >= count && made < count + sets.last().expect("sets").leaves(),
                "{made} for {count}"
            );
            for (set, trees, base) in turns {
                assert!(
                    trees <= set.trees() && base >= set.secrets() + trees,
                    "{trees} of {set:?} for {count}"
                );
            }
        }
    }
}

#[test]
fn grown_entries_hold_in_every_field_at_every_level() {
    grown_entries_hold::<SemiHonest, Pair64>();
    grown_entries_hold::<SemiHonest, Full128>();
    grown_entries_hold::<Malicious, Full128>();
}

#[test]
fn every_tier_grows_the_same_entries() {
    let all = |backend| {
        let [mut s, mut r] =
            grow::<SemiHonest, Pair64>(backend, &[TINY, WIDE], 4000, |_, _| {}).expect("an honest run");
        let ((q, _), (t, u)) = (s.take(), r.take());
        (q.blocks().to_vec(), t.blocks().to_vec(), u)
    };
    let best = all(Backend::best());
    for backend in Backend::all() {
        assert!(all(backend) == best, "{backend:?}");
    }
}

/// Flips a bit at every place in every kind of message of a malicious run, and swaps messages.
#[test]
fn changed_trees_and_checks_are_caught() {
    for sets in [&[TINY, WIDE][..], &[WIDE, TINY], &[SHORT, TINY, WIDE]] {
        let (set, count) = (sets[1], 12_000);
        let mut lengths = vec![];
        let honest = grow::<Malicious, Full128>(Backend::best(), sets, count, |_, message| {
            lengths.push(message.len());
        });
        assert!(honest.is_ok() && lengths.len() >= 3);
        let caught = |what: &str, edit: &mut dyn FnMut(usize, &mut Vec<u8>)| {
            let result = grow::<Malicious, Full128>(Backend::best(), sets, count, edit);
            let result = result.map(|_| ());
            assert!(matches!(result, Err(OtError::Abort { check: Check::Leaves, .. })), "{what}: {result:?}");
        };
        for (number, len) in lengths.iter().enumerate() {
            // Trees of a few rounds, each with every level and d; every byte of the check.
            let step = if *len > 64 { 16 * (set.depth() + 1) * 3 / 2 + 1 } else { 1 };
            for byte in (0..*len).step_by(step) {
                caught(&format!("byte {byte} of message {number}"), &mut |n, message| {
                    if n == number {
                        message[byte] ^= 0x40;
                    }
                });
            }
            caught(&format!("message {number} zeroed"), &mut |n, message| {
                if n == number {
                    message.fill(0);
                }
            });
        }
        let tree = 16 * (set.depth() + 1);
        caught("a tree's message twice", &mut |n, message| {
            if n == 1 {
                message.copy_within(..tree, tree);
            }
        });
        for level in 0..=set.depth() {
            caught(&format!("block {level} of a tree"), &mut |n, message| {
                if n == 1 {
                    message[tree + 16 * level + 5] ^= 1;
                }
            });
        }
    }
}

/// Flips bits at several places in every field of every message of a malicious run, and swaps
/// messages.
fn changes_are_caught<F: Field>(count: usize) {
    let mut lengths = vec![];
    pack::<Malicious, F>(count, |_, message| lengths.push(message.len())).expect("an honest run");
    assert!(lengths.len() > 3);
    let caught = |what: &str, result: Result<[Packing<Malicious, F>; 2], OtError>| {
        assert!(matches!(result, Err(OtError::Abort { check: Check::Leaves, .. })), "{what}");
    };
    for (number, len) in lengths.iter().enumerate() {
        for byte in [0, len / 2, len - 1] {
            let flip = |n, message: &mut Vec<u8>| {
                if n == number {
                    message[byte] ^= 0x40;
                }
            };
            caught(&format!("byte {byte} of message {number}"), pack(count, flip));
        }
        let mut before = vec![];
        let replay = |n, message: &mut Vec<u8>| {
            if n == number {
                before.resize(message.len(), 0);
                message.clone_from(&before);
            } else {
                before.clone_from(message);
            }
        };
        caught(&format!("the message before {number} again"), pack(count, replay));
    }
}

#[test]
fn changed_messages_are_caught_in_every_field() {
    changes_are_caught::<Pair64>(200);
    changes_are_caught::<Full128>(100);
}

#[test]
fn entries_share_nothing_with_ots_of_the_same_session() {
    // The first messages show it, since they depend only on the session's name and the seed.
    fn first(mut machine: impl Machine<Error = OtError>) -> Vec<u8> {
        let mut message = vec![0; machine.round(0).expect("a set-up").out];
        machine.write(0, &mut message).expect("an honest start");
        message
    }
    let (context, seed) = (context(Backend::best()), Seed::from_bytes([5; 16]));
    let (count, ot) = (100, core::<Pair64>(Level::SemiHonest, 100));
    let pairs = [
        [
            first(Sender::<SemiHonest, Pair64>::new(&context, count, &seed).expect("it exists")),
            first(Opening::<SemiHonest>::sender_of::<ChouOrlandi16>(&context, ot, &seed).expect("it exists")),
        ],
        [
            first(Receiver::<SemiHonest, Pair64>::new(&context, count, &seed).expect("it exists")),
            first(
                Opening::<SemiHonest>::receiver_of::<ChouOrlandi16>(&context, ot, &seed).expect("it exists"),
            ),
        ],
    ];
    // One of the two parties speaks.
    assert!(pairs.iter().flatten().any(|message| !message.is_empty()));
    for [entries, ots] in &pairs {
        assert!(entries.len() == ots.len() && (entries.is_empty() || entries != ots));
    }
}
