//! Every functionality over an ideal extension, as if from a dealer, with either role as the
//! speaker.

use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_prg::{Prg, Seed};

use super::*;
use crate::{
    Check, Driver, Duplex, Exchanged, Machine, Malicious, OtError, Receiver, Receiving, Role, Security,
    SemiHonest, Sender, Sending, Triples, bits,
    ideal::{DELTA, ends},
    lockstep,
};

fn noise(len: usize, label: &str) -> Vec<u8> {
    let mut out = vec![0; len];
    Prg::new(Backend::best(), &Seed::from_bytes([4; 16]), label).fill(&mut out);
    out
}

fn run<S: Security>(
    (sender, receiver): &mut (Sender<S>, Receiver<S>),
    send: Sending<'_>,
    receive: Receiving<'_>,
) -> Result<(), OtError> {
    let (mut s, mut r) = (sender.extend(send), receiver.extend(receive));
    lockstep(&mut s, &mut r)?;
    let (s, r) = (s.finish(), r.finish());
    let (mut check_s, mut check_r) = (sender.verify(), receiver.verify());
    lockstep(&mut check_s, &mut check_r)?;
    s.open(&check_s.finish())?;
    r.open(&check_r.finish())?;
    Ok(())
}

fn every_functionality<S: Security>(speaker: Role, size: usize, count: usize) {
    let _watch = registry::watch();
    let ends = &mut ends::<S>(speaker, size);
    let choices = noise(count.div_ceil(8), "choices");
    let chosen = |i: usize| bits::bit(&choices, i) == 1;
    let (mut q, mut t) = (vec![Block::ZERO; count], vec![Block::ZERO; count]);
    let mut pairs = vec![[Block::ZERO; 2]; count];

    run(ends, Sending::Rcot(&mut q), Receiving::Rcot(&mut t)).expect("an honest run");
    for (q, t) in q.iter().zip(&t) {
        assert_eq!(*t, *q ^ DELTA.and_bit(t.lsb()));
        assert!(!q.lsb());
    }
    run(ends, Sending::Cot(&mut q), Receiving::Cot { choices: &choices, t: &mut t }).expect("an honest run");
    for (i, (q, t)) in q.iter().zip(&t).enumerate() {
        assert_eq!(*t, *q ^ DELTA.and_bit(chosen(i)), "OT {i}");
        assert!(!q.lsb() && t.lsb() == chosen(i));
    }
    let mut random = vec![0; choices.len()];
    let send = Sending::Rot { pairs: &mut pairs, chosen: false };
    run(ends, send, Receiving::Rot { choices: &mut random, messages: &mut t }).expect("an honest run");
    for (i, (pair, t)) in pairs.iter().zip(&t).enumerate() {
        assert_eq!(*t, pair[usize::from(bits::bit(&random, i))]);
        assert_ne!(pair[0], pair[1]);
    }
    let send = Sending::Rot { pairs: &mut pairs, chosen: true };
    run(ends, send, Receiving::RotChosen { choices: &choices, messages: &mut t }).expect("an honest run");
    for (i, (pair, t)) in pairs.iter().zip(&t).enumerate() {
        assert_eq!(*t, pair[usize::from(chosen(i))]);
    }
    let messages: Vec<[Block; 2]> = pairs.iter().map(|[a, b]| [*b ^ Block::ONES, *a]).collect();
    run(ends, Sending::Ot(&messages), Receiving::Ot { choices: &choices, messages: &mut t })
        .expect("an honest run");
    for (i, (pair, t)) in messages.iter().zip(&t).enumerate() {
        assert_eq!(*t, pair[usize::from(chosen(i))], "OT {i}");
    }
    let (zero, one) = (noise(choices.len(), "zero"), noise(choices.len(), "one"));
    let mut got = vec![0; choices.len()];
    let send = Sending::BitOt { messages: [&zero, &one], count };
    run(ends, send, Receiving::BitOt { choices: &choices, messages: &mut got, count })
        .expect("an honest run");
    for i in 0..count {
        assert_eq!(bits::bit(&got, i), bits::bit([&zero, &one][usize::from(chosen(i))], i), "bit {i}");
    }
}

#[test]
fn functionalities_at_every_level_and_count() {
    for count in [0, 1, 7, 127, 128, 129, 1000] {
        for speaker in [Role::Sender, Role::Receiver] {
            for size in [5, 24, 512] {
                every_functionality::<SemiHonest>(speaker, size, count);
                every_functionality::<Malicious>(speaker, size, count);
            }
        }
    }
}

/// Counts bytes, and fails if payload or choices are sent before the check.
#[test]
fn a_failed_check_comes_before_any_payload() {
    struct Spoil<T> {
        inner: T,
        payload: usize,
    }
    impl<T: Machine<Error = OtError>> Machine for Spoil<T> {
        type Error = OtError;
        fn round(&self, _slot: usize) -> Option<Round> {
            self.inner.round(0)
        }
        fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), OtError> {
            self.inner.write(0, out)?;
            // This is more than a chunk's byte and a check's 3.
            if out.len() > 4 {
                self.payload += out.len();
            }
            Ok(())
        }
        fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), OtError> {
            let mut message = messages[0].heard.to_vec();
            if self.inner.round(0).is_some_and(|tick| tick.name == "first") {
                message.iter_mut().for_each(|byte| *byte ^= 1);
            }
            self.inner.read(&[Exchanged::heard(&message)])
        }
    }
    for speaker in [Role::Sender, Role::Receiver] {
        let (mut sender, mut receiver) = ends::<Malicious>(speaker, 8);
        let messages = vec![[Block::ONES; 2]; 8 * 40];
        let (choices, mut got) = (vec![0; 40], vec![Block::ZERO; 8 * 40]);
        let mut s = Spoil { inner: sender.extend(Sending::Ot(&messages)), payload: 0 };
        let mut r = receiver.extend(Receiving::Ot { choices: &choices, messages: &mut got });
        let ended = lockstep(&mut s, &mut r);
        assert!(
            matches!(ended, Err(OtError::Abort { check: Check::Rows, .. } | OtError::Malformed { .. })),
            "{ended:?}"
        );
        assert_eq!(s.payload, 0, "{speaker} speaks");
    }
}

/// Both endpoints of a malicious session with an open segment.
fn open_ends() -> (Sender<Malicious>, Receiver<Malicious>) {
    let (mut sender, mut receiver) = ends::<Malicious>(Role::Receiver, 8);
    let (mut q, mut t) = (vec![Block::ZERO; 40], vec![Block::ZERO; 40]);
    let (mut s, mut r) = (sender.extend(Sending::Rcot(&mut q)), receiver.extend(Receiving::Rcot(&mut t)));
    lockstep(&mut s, &mut r).expect("an honest run");
    let _ = (s.finish(), r.finish());
    (sender, receiver)
}

fn assert_lost(sender: &mut Sender<Malicious>) {
    for _ in 0..2 {
        let mut check = sender.verify();
        assert!(check.round(0).is_some(), "no proof without a step");
        assert!(matches!(check.write(0, &mut []), Err(OtError::Lost { .. })));
        assert!(matches!(check.read(&[Exchanged::heard(&[])]), Err(OtError::Lost { .. })));
        assert!(check.round(0).is_some(), "still none");
        let messages = [[Block::ZERO; 2]; 3];
        let mut next = sender.extend(Sending::Ot(&messages));
        assert!(matches!(next.write(0, &mut []), Err(OtError::Lost { .. })));
    }
}

#[test]
fn an_end_whose_check_failed_gives_no_proof_later() {
    let (mut sender, _receiver) = open_ends();
    let mut check = sender.verify();
    check.write(0, &mut []).expect("nothing to say");
    assert!(matches!(check.read(&[Exchanged::heard(&[99; 5])]), Err(OtError::Abort { .. })));
    assert!(matches!(check.read(&[Exchanged::heard(&[5; 5])]), Err(OtError::Lost { .. })), "no second try");
    assert_lost(&mut sender);
}

#[test]
fn an_end_whose_call_was_dropped_unfinished_is_lost() {
    let (mut sender, _receiver) = open_ends();
    drop(sender.verify());
    assert_lost(&mut sender);
    let (mut sender, _receiver) = open_ends();
    core::mem::forget(sender.extend(Sending::Rcot(&mut [Block::ZERO; 9])));
    assert_lost(&mut sender);
}

#[test]
#[should_panic(expected = "finish comes after the last step")]
fn a_failed_call_is_never_finished() {
    let (mut sender, _receiver) = open_ends();
    drop(sender.verify());
    let _ = sender.verify().finish();
}

#[test]
#[should_panic(expected = "40 OTs need 5 bytes of packed bits, not 4")]
fn choices_that_are_too_few_are_refused() {
    let (_, mut receiver) = ends::<Malicious>(Role::Receiver, 8);
    let _ = receiver.extend(Receiving::Cot { choices: &[0; 4], t: &mut [Block::ZERO; 40] });
}

/// The record of a call over a silent extension: the receiver's turns, the bytes of choices in
/// them, the ticks, and the largest number of chunks whose blocks each endpoint held.
#[derive(Debug, PartialEq)]
struct Turns {
    receivers: usize,
    choices: usize,
    ticks: usize,
    held: [usize; 2],
}

/// Runs 41 chunks of 8 OTs. While chunks are left, the receiver sends its messages before it makes
/// the chunk that it received last, and the sender has made the next chunk before it waits.
fn turns<S: Security, A: Work, B: Work>((mut s, mut r): (Pipeline<'_, A, S>, Pipeline<'_, B, S>)) -> Turns {
    let mut turns = Turns { receivers: 0, choices: 0, ticks: 0, held: [0; 2] };
    while let (Some(a), Some(b)) = (s.round(0), r.round(0)) {
        let receivers = a.into > 0;
        assert!(a.out == 0 || a.into == 0, "a tick has one speaker: {a:?}");
        if receivers && s.left() > 0 {
            assert!(s.ahead.is_some() && r.behind.is_some(), "nobody waits for a chunk that is made");
        }
        let (mut from_s, mut from_r) = (vec![0; a.out], vec![0; b.out]);
        s.write(0, &mut from_s).expect("an honest run");
        r.write(0, &mut from_r).expect("an honest run");
        s.read(&[Exchanged::heard(&from_r)]).expect("an honest run");
        r.read(&[Exchanged::heard(&from_s)]).expect("an honest run");
        turns.receivers += usize::from(receivers);
        turns.choices += a.into - if a.name == "first" { 5 } else { 0 };
        turns.ticks += 1;
        let held = |made: &VecDeque<ChunkOts>| made.iter().filter(|made| !made.blocks.is_empty()).count();
        turns.held[0] = turns.held[0].max(held(&s.made));
        turns.held[1] = turns.held[1].max(held(&r.made));
    }
    assert!(s.round(0).is_none() && r.round(0).is_none());
    turns
}

#[test]
fn choices_travel_in_groups_and_nobody_waits_for_a_chunk() {
    const COUNT: usize = 8 * 40 + 3;
    fn run<S: Security>() -> [Turns; 3] {
        let choices = &noise(41, "choices")[..];
        let (mut q, mut t) = (vec![Block::ZERO; COUNT], vec![Block::ZERO; COUNT]);
        let (mut s, mut r) = ends::<S>(Role::Sender, 8);
        let random = turns((s.extend(Sending::Rcot(&mut q)), r.extend(Receiving::Rcot(&mut t))));
        let (mut s, mut r) = ends::<S>(Role::Sender, 8);
        let given = turns((s.extend(Sending::Cot(&mut q)), r.extend(Receiving::Cot { choices, t: &mut t })));
        for (i, (q, t)) in q.iter().zip(&t).enumerate() {
            assert_eq!(*t, *q ^ DELTA.and_bit(bits::bit(choices, i) == 1), "OT {i}");
        }
        let messages: Vec<_> = q.iter().map(|q| [*q, *q ^ Block::ONES]).collect();
        let (mut s, mut r) = ends::<S>(Role::Sender, 8);
        let receive = Receiving::Ot { choices, messages: &mut t };
        let paid = turns((s.extend(Sending::Ot(&messages)), r.extend(receive)));
        for (i, (pair, t)) in messages.iter().zip(&t).enumerate() {
            assert_eq!(*t, pair[usize::from(bits::bit(choices, i))], "OT {i}");
        }
        [random, given, paid]
    }
    // A byte of choices for each chunk: after 5 chunks, after 9 and so on, and after all 41.
    let [random, given, paid] = run::<SemiHonest>();
    assert_eq!(random, Turns { receivers: 0, choices: 0, ticks: 41, held: [0, 0] });
    assert_eq!(given, Turns { receivers: 10, choices: 41, ticks: 51, held: [GROUP + 2, 0] });
    // One chunk's payload follows in each tick: 36 while chunks are made, 5 after them.
    assert_eq!(paid, Turns { receivers: 10, choices: 41, ticks: 56, held: [GROUP + 2, GROUP + 1] });
    // While chunks are left, the checks of two segments take one turn each, and their choices
    // another. The check and choices of the last segment, with 9 chunks, come after all chunks.
    let [random, given, paid] = run::<Malicious>();
    assert_eq!((random.receivers, random.choices, random.held), (2, 0, [0, 0]));
    assert_eq!((given.receivers, given.choices), (6, 41));
    assert_eq!((paid.receivers, paid.choices), (6, 41));
    assert!(given.held[0] <= SEGMENT + 4 && given.held[1] == 0, "{given:?}");
}

#[test]
fn messages_of_other_lengths_are_malformed() {
    for len in [0, 4, 6, 100] {
        let (mut sender, _receiver) = open_ends();
        let result = sender.verify().read(&[Exchanged::heard(&vec![5; len])]);
        assert!(matches!(result, Err(OtError::Malformed { .. })), "{len} bytes: {result:?}");
        let (mut a, mut b) = (open_ends().0, open_ends().0);
        let mut both = Duplex::new(a.verify(), b.verify());
        let result = both.read(&[Exchanged::heard(&vec![5; len])]);
        assert!(matches!(result, Err(OtError::Malformed { .. })), "{len} bytes for two: {result:?}");
    }
}

#[test]
fn triples_multiply() {
    for speaker in [Role::Sender, Role::Receiver] {
        let (mut s0, mut r1) = ends::<Malicious>(speaker, 64);
        let (mut s1, mut r0) = ends::<Malicious>(speaker, 64);
        let (mut zero, mut one) =
            (Triples::new(&mut s0, &mut r0, 3000, true), Triples::new(&mut s1, &mut r1, 3000, false));
        lockstep(&mut zero, &mut one).expect("an honest run");
        let (zero, one) = (zero.finish(), one.finish());
        assert_eq!(zero.a.len(), 375);
        for i in 0..zero.a.len() {
            let [a, b, c] = [zero.a[i] ^ one.a[i], zero.b[i] ^ one.b[i], zero.c[i] ^ one.c[i]];
            assert_eq!(c, a & b);
        }
        assert!(zero.a.iter().any(|a| *a != zero.a[0]), "random");
    }
}

#[test]
fn both_directions_over_one_channel() {
    let ids = [0, 1].map(hushwire_machine::PartyId);
    let nets = hushwire_machine::inproc::mesh(&ids, 1, std::time::Duration::from_secs(20));
    let got: Vec<(Vec<Block>, Vec<Block>)> = std::thread::scope(|scope| {
        let parties: Vec<_> = nets
            .into_iter()
            .enumerate()
            .map(|(me, mut net)| {
                scope.spawn(move || {
                    let mut channel =
                        net.channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("the lane is there");
                    let (mut sender, mut receiver) =
                        (ends::<SemiHonest>(Role::Sender, 100).0, ends::<SemiHonest>(Role::Sender, 100).1);
                    let (mut q, mut t) = (vec![Block::ZERO; 1000], vec![Block::ZERO; 500]);
                    if me == 1 {
                        (q, t) = (t, q);
                    }
                    let send = sender.extend(Sending::Rcot(&mut q));
                    let receive = receiver.extend(Receiving::Rcot(&mut t));
                    if me == 0 {
                        Driver::new().run(&mut channel, &mut Duplex::new(send, receive))
                    } else {
                        Driver::new().run(&mut channel, &mut Duplex::new(receive, send))
                    }
                    .expect("an honest run");
                    (q, t)
                })
            })
            .collect();
        parties.into_iter().map(|party| party.join().expect("the party ends")).collect()
    });
    for (q, t) in [(&got[0].0, &got[1].1), (&got[1].0, &got[0].1)] {
        assert!(!q.is_empty() && q.len() == t.len());
        assert!(q.iter().zip(t).all(|(q, t)| *t == *q ^ DELTA.and_bit(t.lsb())));
    }
}
