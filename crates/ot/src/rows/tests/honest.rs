//! Tests of parties that follow the protocol.

use super::*;
use crate::{Exchanged, Malicious, OtError, Role, Round, SemiHonest};

fn every_count<S: Security>()
where
    Full: crate::AtLeast<S::Base>,
{
    for kind in kinds::<S>() {
        let _watch = registry::watch();
        let (s, r) = roots::<S>(kind, Backend::best(), 0);
        let mut pump = Pump::new(&s, 3, r.fork(3));
        assert_eq!(pump.s.delta(), Some(s.delta()));
        let mut sum = Block::ZERO;
        for count in [1, 127, 128, 129, 512, 8191, 8192, 8193, 20_000] {
            let (q, t) = pump.extend(count, &mut |_| ()).expect("an honest run");
            pump.assert_related(&q, &t);
            let ones = t.iter().filter(|t| t.lsb()).count();
            assert!(count < 1000 || ones.abs_diff(count / 2) < 5 * count.isqrt() / 2, "{kind}: {ones} ones");
            sum = q.iter().fold(sum, |sum, q| sum ^ *q);
            // The check of a segment runs while chunks of the next one are made.
            pump.close();
            let (q, t) = pump.extend(600, &mut |_| ()).expect("an honest run");
            pump.assert_related(&q, &t);
            pump.check(&mut |_, _| ()).unwrap_or_else(|e| panic!("{kind}, {count}: {e}"));
        }
        assert_ne!(sum, Block::ZERO);
    }
}

#[test]
fn every_kind_at_every_count_semi_honest() {
    every_count::<SemiHonest>();
}

#[test]
fn every_kind_at_every_count_malicious() {
    every_count::<Malicious>();
}

/// A hash of the messages and outputs of a session.
fn trace<S: Security>(kind: RowKind, backend: Backend) -> String
where
    Full: crate::AtLeast<S::Base>,
{
    let (mut s, mut r) = setups::<S>(kind, backend, 1).expect("the kind exists");
    let mut hash = blake3::Hasher::new();
    while let Some(tick) = r.round(0) {
        let mut message = vec![0; tick.out];
        r.write(0, &mut message).expect("an honest set-up");
        s.write(0, &mut []).expect("an honest set-up");
        hash.update(&message);
        s.read(&[Exchanged::heard(&message)]).expect("an honest set-up");
        r.read(&[Exchanged::heard(&[])]).expect("an honest set-up");
    }
    let (s, r) = (s.finish(), r.finish());
    let mut pump = Pump::new(&s, 1, r.fork(1));
    for count in [700, 8192, 300] {
        let (q, t) = pump.extend(count, &mut |_| ()).expect("an honest run");
        hash.update(hushwire_block::as_bytes(&q));
        hash.update(hushwire_block::as_bytes(&t));
    }
    pump.close();
    pump.check(&mut |_, _| ()).expect("an honest run");
    hash.update(pump.hash.finalize().as_bytes());
    hash.finalize().to_hex()[..16].to_owned()
}

#[test]
fn no_byte_depends_on_the_backend() {
    for backend in Backend::all() {
        for kind in kinds::<SemiHonest>() {
            let best = trace::<SemiHonest>(kind, Backend::best());
            assert_eq!(trace::<SemiHonest>(kind, backend), best, "{kind} {backend:?}");
        }
        for kind in kinds::<Malicious>() {
            let best = trace::<Malicious>(kind, Backend::best());
            assert_eq!(trace::<Malicious>(kind, backend), best, "{kind} {backend:?}");
        }
    }
}

#[test]
fn costs_are_as_declared() {
    fn at<S: Security>()
    where
        Full: crate::AtLeast<S::Base>,
    {
        for kind in kinds::<S>() {
            let cost = kind.cost(S::LEVEL);
            let (mut s, mut r) = setups::<S>(kind, Backend::best(), 2).expect("the kind exists");
            let (mut ticks, mut bytes) = (0, 0);
            while let Some(tick) = r.round(0) {
                (ticks, bytes) = (ticks + 1, bytes + tick.out);
                assert_eq!(s.round(0), Some(Round { name: tick.name, out: 0, into: tick.out }));
                let mut message = vec![0; tick.out];
                r.write(0, &mut message).expect("an honest set-up");
                s.write(0, &mut []).expect("an honest set-up");
                s.read(&[Exchanged::heard(&message)]).expect("an honest set-up");
                r.read(&[Exchanged::heard(&[])]).expect("an honest set-up");
            }
            assert_eq!((ticks, bytes), (cost.setup_ticks, cost.setup_bytes), "{kind}");
            let (s, r) = (s.finish(), r.finish());
            let mut pump = Pump::new(&s, 0, r.fork(0));
            pump.extend(3 * 8192, &mut |_| ()).expect("an honest run");
            assert_eq!(8 * pump.moved, cost.bits_per_ot * 3 * 8192, "{kind}");
            let by = |role| {
                let steps = pump.s.check_steps().iter().filter(|step| step.from == role);
                steps.map(|step| step.bytes).sum::<usize>()
            };
            assert_eq!([by(Role::Sender), by(Role::Receiver)], cost.check_bytes, "{kind}");
            assert_eq!(pump.s.check_steps().is_empty(), !malicious::<S>());
        }
    }
    at::<SemiHonest>();
    at::<Malicious>();
    let bits: Vec<usize> = RowKind::ALL.iter().map(|kind| kind.cost(Level::SemiHonest).bits_per_ot).collect();
    assert_eq!(bits, [127, 191, 127, 63, 31, 15]);
}

#[test]
fn short_calls_move_little_and_use_what_is_in_stock() {
    let (s, r) = roots::<SemiHonest>(RowKind::SoftSpoken4, Backend::best(), 3);
    let mut pump = Pump::new(&s, 0, r.fork(0));
    let mut all = Vec::new();
    for _ in 0..512 {
        let (q, t) = pump.extend(1, &mut |_| ()).expect("an honest run");
        pump.assert_related(&q, &t);
        all.extend(q);
    }
    assert_eq!(pump.moved, 31 * 512 / 8);
    all.sort_unstable_by_key(|q| q.to_u128());
    all.dedup();
    assert_eq!(all.len(), 512, "no OT comes twice");
}

/// Runs a set-up with real base OTs, then a functionality with its check.
fn whole<S: Security, B: BaseProtocol>(kind: RowKind)
where
    B::Level: crate::AtLeast<S::Base>,
{
    let context = context(Backend::best(), 6);
    let mut s = SetupSender::<S>::new::<B>(&context, kind, &seed(6, 1)).expect("the kind exists");
    let mut r = SetupReceiver::<S>::new::<B>(&context, kind, &seed(6, 2)).expect("the kind exists");
    lockstep(&mut s, &mut r).expect("an honest set-up");
    let below = context.child("whole", 0);
    let mut s = crate::Sender::new(&below, s.finish().fork(0));
    let mut r = crate::Receiver::new(&below, r.finish().fork(0));
    let (mut pairs, mut choices, mut got) =
        (vec![[Block::ZERO; 2]; 9000], vec![0; 1125], vec![Block::ZERO; 9000]);
    let mut send = s.extend(crate::Sending::Rot { pairs: &mut pairs, chosen: false });
    let mut receive = r.extend(crate::Receiving::Rot { choices: &mut choices, messages: &mut got });
    lockstep(&mut send, &mut receive).expect("an honest run");
    let (send, receive) = (send.finish(), receive.finish());
    let (mut check_s, mut check_r) = (s.verify(), r.verify());
    lockstep(&mut check_s, &mut check_r).expect("an honest check");
    send.open(&check_s.finish()).expect("verified");
    receive.open(&check_r.finish()).expect("verified");
    for (i, (pair, got)) in pairs.iter().zip(&got).enumerate() {
        assert_eq!(*got, pair[usize::from(choices[i / 8] >> (i % 8) & 1)], "{kind}, OT {i}");
    }
}

#[test]
fn whole_protocols_over_real_base_ots() {
    whole::<SemiHonest, crate::base::NaorPinkas>(RowKind::Iknp);
    whole::<SemiHonest, crate::base::Csw>(RowKind::SoftSpoken8);
    whole::<Malicious, crate::base::Csw>(RowKind::Alsz);
    whole::<Malicious, crate::base::Csw>(RowKind::SoftSpoken4);
}

#[test]
fn lanes_share_delta_and_nothing_else() {
    for kind in [RowKind::Iknp, RowKind::SoftSpoken2] {
        let (s, r) = roots::<SemiHonest>(kind, Backend::best(), 4);
        let lanes: Vec<_> = [0, 1, u16::MAX]
            .map(|lane| {
                let mut pump = Pump::new(&s, lane, r.fork(lane));
                let (q, t) = pump.extend(512, &mut |_| ()).expect("an honest run");
                pump.assert_related(&q, &t);
                (q, t.iter().map(|t| t.lsb()).collect::<Vec<_>>())
            })
            .into();
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            assert!(lanes[a].0.iter().all(|q| !lanes[b].0.contains(q)), "{kind}");
            assert_ne!(lanes[a].1, lanes[b].1, "{kind}: choices of lanes {a} and {b}");
        }
    }
}

/// A seed that is used twice must not give the receiver the same choices, or the sender the same Δ.
#[test]
fn one_seed_in_two_sessions_gives_other_choices_and_another_delta() {
    let made = [1, 2].map(|session| {
        let context = context(Backend::best(), session);
        let new = SetupSender::<SemiHonest>::new::<Dealer>(&context, RowKind::Iknp, &seed(0, 1));
        let mut s = new.expect("the kind exists");
        let new = SetupReceiver::<SemiHonest>::new::<Dealer>(&context, RowKind::Iknp, &seed(0, 2));
        let mut r = new.expect("the kind exists");
        lockstep(&mut s, &mut r).expect("an honest set-up");
        let (s, r) = (s.finish(), r.finish());
        let (_, t) = Pump::new(&s, 0, r.fork(0)).extend(128, &mut |_| ()).expect("an honest run");
        (s.delta(), t.iter().map(|t| t.lsb()).collect::<Vec<_>>())
    });
    assert_ne!(made[0].0, made[1].0);
    assert_ne!(made[0].1, made[1].1);
}

#[test]
#[should_panic(expected = "lane 7 is forked once")]
fn a_lane_is_forked_once() {
    let (s, _) = roots::<SemiHonest>(RowKind::Iknp, Backend::best(), 5);
    let _first = s.fork(7);
    let _second = s.fork(7);
}

#[test]
fn kinds_that_a_level_lacks_are_named() {
    let error = |e: Result<(), OtError>| e.expect_err("unsupported").to_string();
    let iknp = error(setups::<Malicious>(RowKind::Iknp, Backend::best(), 0).map(|_| ()));
    assert_eq!(
        iknp,
        "iknp is not a malicious protocol; take one of kos, alsz, softspoken2, softspoken4, softspoken8"
    );
    for kind in [RowKind::Kos, RowKind::Alsz] {
        let said = error(setups::<SemiHonest>(kind, Backend::best(), 0).map(|_| ()));
        assert!(said.starts_with(&format!("{kind} is not a semi-honest protocol")), "{said}");
    }
}
