//! Tests of what challenges bind. If a check's challenge did not depend on the set-up, the session
//! or a message, a cheating party could try it again.

use std::collections::HashSet;

use hushwire_aes::Aes128;
use hushwire_block::Gf128;
use hushwire_simd::clmul::Clmul;

use super::super::{kind::Proof, receiver, segment::Segment};
use super::*;
use crate::{Exchanged, Malicious, SemiHonest, base::ChouOrlandi};

/// The coefficients of a receiver's first two chunks, whose messages are the same in every session
/// and set-up.
fn coefficients(sid: u8, setup: u8, lane: u16) -> [Gf128; 2] {
    let context = Context { sid: Sid([sid; 32]), backend: Backend::best() };
    let kind = RowKind::Kos;
    let key = |i: usize| Aes128::new(&[i as u8; 16]);
    let (leaves, process) =
        ((0..2 * (kind.trees() - 1)).map(key).collect(), hushwire_machine::Process::here());
    let keys = receiver::Keys { kind, process, leaves, own: key(255) };
    let root = RootReceiver::<Malicious>::new(context, Seed::from_bytes([setup; 16]), keys);
    let mut receiver = root.receiver(lane);
    [(); 2].map(|()| {
        let extension: &mut dyn Extension<Malicious> = &mut receiver;
        let mut said = vec![0; extension.chunk_bytes(512)];
        extension.chunk(&[], &mut said, &mut [Block::ZERO; 512]).expect("an honest receiver");
        receiver.segment.chi[0]
    })
}

#[test]
fn coefficients_bind_session_set_up_lane_and_all_chunks_before() {
    let mut seen = HashSet::new();
    for (sid, setup, lane) in [(1, 1, 0), (2, 1, 0), (1, 2, 0), (1, 1, 1)] {
        for (chunk, chi) in coefficients(sid, setup, lane).into_iter().enumerate() {
            assert!(seen.insert(chi.0), "chunk {chunk} of session {sid}, set-up {setup}, lane {lane}");
        }
    }
    assert_eq!(coefficients(1, 1, 0), coefficients(1, 1, 0), "both ends find the same");
}

/// A party's random values differ in every session, even if one seed is used in two sessions by
/// mistake.
#[test]
fn sessions_share_no_delta_and_no_challenge() {
    let (mut deltas, mut challenges) = (HashSet::new(), HashSet::new());
    for session in [25, 26] {
        let context = context(Backend::best(), session);
        let new = SetupSender::<Malicious>::new::<Dealer>(&context, RowKind::Alsz, &seed(1, 1));
        let mut s = new.expect("the kind exists");
        let new = SetupReceiver::<Malicious>::new::<Dealer>(&context, RowKind::Alsz, &seed(1, 2));
        lockstep(&mut s, &mut new.expect("the kind exists")).expect("an honest set-up");
        let s = s.finish();
        assert!(deltas.insert(s.delta()), "session {session}");
        let mut lane = s.fork(0);
        let mut said = vec![0; lane.check_steps()[0].bytes];
        lane.check(0, &[], &mut said).expect("a challenge");
        assert!(challenges.insert(said), "session {session}");
    }
}

/// The messages of lanes differ by their counters; the lane's number itself must matter as well.
#[test]
fn lanes_draw_their_own_coefficients_names_and_challenges() {
    let (s, r) = roots::<Malicious>(RowKind::Alsz, Backend::best(), 24);
    let (mut coefficients, mut names, mut challenges) = (HashSet::new(), HashSet::new(), HashSet::new());
    for lane in [0, 1, 256] {
        let mut receiver = r.receiver(lane);
        let message = vec![Block::from_u128(1); RowKind::Alsz.trees() - 1];
        receiver.segment.add(&message, &vec![Block::ZERO; RowKind::Alsz.rows()]);
        assert!(coefficients.insert(receiver.segment.chi[0].0), "lane {lane}");
        assert!(names.insert(receiver.segment.close(vec![], vec![]).name()), "lane {lane}");
        let mut sender = s.fork(lane);
        let mut said = vec![0; sender.check_steps()[0].bytes];
        sender.check(0, &[], &mut said).expect("a challenge");
        assert!(challenges.insert(said), "lane {lane}");
    }
}

#[test]
fn coefficients_bind_kind_and_message_and_the_last_column_its_own() {
    let context = context(Backend::best(), 20);
    let message = |fill: u128, len: usize| vec![Block::from_u128(fill); len];
    // If the rows of chunks are zero, the fold of a last column of ones is its coefficient.
    let of = |kind: RowKind, setup: u8, chunk: u128, last: u128| {
        let mut segment = Segment::new(context, Clmul::best(), kind, Proof::Rows, &[setup; 16]);
        segment.add(&message(chunk, 4), &message(0, 4 * kind.rows()));
        let chi = segment.chi.clone();
        let mut closed = segment.close(message(1, kind.rows()), Vec::new());
        closed.fold_last(&message(last, 4));
        [chi[0], closed.rows[0]]
    };
    let runs = [
        of(RowKind::Kos, 1, 2, 3),
        of(RowKind::SoftSpoken2, 1, 2, 3),
        of(RowKind::Kos, 4, 2, 3),
        of(RowKind::Kos, 1, 4, 3),
        of(RowKind::Kos, 1, 2, 4),
    ];
    for (i, [chunk, last]) in runs.iter().enumerate() {
        assert!(runs[..i].iter().all(|other| other[1] != *last), "the last column of run {i}");
        // A chunk's coefficients are drawn before the last column is sent.
        let new = runs[..i].iter().all(|other| other[0] != *chunk);
        assert_eq!(new, i < 4, "the chunk of run {i}");
    }
    assert_ne!(runs[0][0], runs[0][1]);
}

/// If two segments had the same name, their hashes would show which of their sums are equal.
#[test]
fn every_segment_has_a_name_of_its_own() {
    let context = context(Backend::best(), 31);
    let mut segment = Segment::new(context, Clmul::best(), RowKind::Alsz, Proof::Pairs, &[]);
    let names: HashSet<_> = (0..3).map(|_| segment.close(vec![], vec![]).name()).collect();
    assert_eq!(names.len(), 3);
}

/// The set-up's name, which enters challenges, differs if either party sent another message.
#[test]
fn the_set_up_s_name_binds_what_both_parties_said() {
    let run = |kind: RowKind, sender: u64, receiver: u64| {
        let context = context(Backend::best(), 21);
        let new = SetupSender::<SemiHonest>::new::<ChouOrlandi>(&context, kind, &seed(sender, 1));
        let mut s = new.expect("the kind exists");
        let new = SetupReceiver::<SemiHonest>::new::<ChouOrlandi>(&context, kind, &seed(receiver, 2));
        let mut r = new.expect("the kind exists");
        lockstep(&mut s, &mut r).expect("an honest set-up");
        let (s, r) = (s.finish(), r.finish());
        assert_eq!(s.setup(), r.setup(), "both ends agree");
        *s.setup()
    };
    let mut seen = HashSet::new();
    for kind in [RowKind::Iknp, RowKind::SoftSpoken2] {
        for (sender, receiver) in [(1, 1), (2, 1), (1, 2)] {
            assert!(seen.insert(run(kind, sender, receiver)), "{kind}, {sender}, {receiver}");
        }
    }
}

/// Only the receiver's messages differ here; the messages that it receives would also distinguish
/// the two.
#[test]
fn the_set_up_s_name_binds_the_receiver_s_messages_themselves() {
    let context = context(Backend::best(), 23);
    let kind = RowKind::SoftSpoken2;
    let new = |number| {
        let new = SetupReceiver::<SemiHonest>::new::<ChouOrlandi>(&context, kind, &seed(number, 2));
        new.expect("the kind exists")
    };
    let new_sender = SetupSender::<SemiHonest>::new::<ChouOrlandi>(&context, kind, &seed(1, 1));
    let (mut s, mut first) = (new_sender.expect("the kind exists"), new(1));
    let mut heard = Vec::new();
    while let (Some(a), Some(b)) = (s.round(0), first.round(0)) {
        let (mut from_s, mut from_r) = (vec![0; a.out], vec![0; b.out]);
        s.write(0, &mut from_s).expect("an honest set-up");
        first.write(0, &mut from_r).expect("an honest set-up");
        s.read(&[Exchanged::heard(&from_r)]).expect("an honest set-up");
        first.read(&[Exchanged::heard(&from_s)]).expect("an honest set-up");
        heard.push(from_s);
    }
    let mut second = new(2);
    for message in &heard {
        let out = second.round(0).expect("as many ticks").out;
        second.write(0, &mut vec![0; out]).expect("an honest set-up");
        second.read(&[Exchanged::heard(message)]).expect("points are points");
    }
    assert_ne!(first.finish().setup(), second.finish().setup());
}

/// Columns are counted through chunks, segments and their last columns, and every lane has its own
/// counter.
#[test]
fn no_ot_comes_twice() {
    for kind in [RowKind::Kos, RowKind::Alsz, RowKind::SoftSpoken4] {
        let (s, r) = roots::<Malicious>(kind, Backend::best(), 22);
        let mut seen = HashSet::new();
        for lane in [0, 1, 256] {
            let mut pump = Pump::new(&s, lane, r.fork(lane));
            for count in [512, 512, 1000] {
                let (q, _) = pump.extend(count, &mut |_| ()).expect("an honest run");
                assert!(q.into_iter().all(|q| seen.insert(q)), "{kind}, lane {lane}");
                pump.close();
                pump.check(&mut |_, _| ()).expect("an honest run");
            }
        }
    }
}
