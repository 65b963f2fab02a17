//! Each tap, over queues: its counts, hashes, records and changes.

use std::time::Duration;

use crate::common::{STALL, each, err, ok, pattern};
use hushwire_machine::{
    Cost, Edit, Meter, Net, NetError, PartyId, Record, Recording, Replay, Tamper, TamperHits, Tap,
    Transcript, inproc,
};

const A: PartyId = PartyId(0);
const B: PartyId = PartyId(1);

fn pair(lanes: u16) -> Vec<Net> {
    inproc::mesh(&[A, B], lanes, STALL)
}

/// Exchanges 5, 0 and 9 bytes on each lane; then A sends 7 bytes to B. Returns the bytes that the
/// exchanges received.
fn talk(net: &mut Net, lanes: u16, taps: &dyn Fn() -> Vec<Box<dyn Tap>>) -> Vec<Vec<u8>> {
    let me = net.me();
    let peer = net.peers()[0];
    let mut came = Vec::new();
    for lane in 0..lanes {
        let mut channel = ok(net.channel(lane, Some(peer), Some(peer)));
        taps().into_iter().for_each(|tap| channel.tap(tap));
        for bytes in [5, 0, 9] {
            let mut into = vec![0; bytes];
            ok(channel.exchange("talk", &pattern(me.0, lane, bytes), &mut into));
            came.push(into);
        }
        let mut into = [0; 7];
        if me == A {
            ok(channel.send("seven", &pattern(A.0, lane, 7)));
        } else {
            ok(channel.recv("seven", &mut into));
        }
    }
    came
}

#[test]
fn the_meter_counts_bytes_and_rounds() {
    let readings = each(pair(2), |mut net| {
        let meter = Meter::new();
        talk(&mut net, 2, &|| vec![meter.tap()]);
        (meter.take(), meter.reading())
    });
    let [(a, zero), (b, _)] = &readings[..] else { panic!("two parties") };
    assert_eq!(a.cost(), Cost { rounds: 3, bytes_sent: 42 });
    assert_eq!((b.bytes_sent(), b.bytes_received(), b.rounds()), (28, 42, 3));
    assert_eq!(a.peers[&B].bytes_sent, 42);
    assert_eq!(zero.cost(), Cost::default());
}

#[test]
fn transcripts_agree_at_both_ends_and_differ_elsewhere() {
    let transcripts = each(pair(2), |mut net| {
        let transcript = Transcript::new(net.me());
        talk(&mut net, 2, &|| vec![transcript.tap()]);
        transcript
    });
    let [a, b] = &transcripts[..] else { panic!("two parties") };
    for lane in 0..2 {
        assert!(a.link(A, B, lane).is_some());
        assert_eq!(a.link(A, B, lane), b.link(A, B, lane));
        assert_eq!(a.link(B, A, lane), b.link(B, A, lane));
    }
    assert_eq!(a.digest().sent, b.digest().received);
    assert_eq!(a.digest().received, b.digest().sent);
    assert_ne!(a.digest().sent, a.digest().received);
    assert_ne!(a.link(A, B, 0), a.link(A, B, 1));
    assert_eq!(a.link(A, B, 2), None);
}

#[test]
fn a_transcript_tells_message_boundaries_lanes_and_peers() {
    let of = |peer: u8, lane: u16, messages: &[&[u8]]| {
        let transcript = Transcript::new(A);
        let mut tap = transcript.tap();
        for msg in messages {
            assert_eq!(tap.outgoing(PartyId(peer), lane, msg), None);
        }
        transcript.digest().sent
    };
    let honest = of(1, 0, &[b"ab", b"c"]);
    assert_eq!(honest, of(1, 0, &[b"ab", b"c"]));
    for other in
        [of(1, 0, &[b"a", b"bc"]), of(1, 1, &[b"ab", b"c"]), of(2, 0, &[b"ab", b"c"]), of(1, 0, &[b"abc"])]
    {
        assert_ne!(honest, other);
    }
}

#[test]
fn a_recorded_party_runs_again_alone() {
    let results = each(pair(2), |mut net| {
        let (record, transcript) = (Record::new(), Transcript::new(net.me()));
        let came = talk(&mut net, 2, &|| vec![record.tap(), transcript.tap()]);
        (came, record.recording(), transcript.digest())
    });
    for (me, (came, recording, digest)) in [A, B].into_iter().zip(results) {
        let replay = Replay::new(recording);
        for _ in 0..2 {
            let transcript = Transcript::new(me);
            let mut net = replay.net(me, &[PartyId(1 - me.0)], 2);
            assert_eq!(talk(&mut net, 2, &|| vec![transcript.tap()]), came);
            assert_eq!(transcript.digest(), digest);
        }
    }
}

#[test]
fn a_replay_ends_where_the_recording_ends() {
    let mut net = Replay::new(Recording::default()).net(A, &[B], 1);
    let mut channel = ok(net.channel(0, Some(B), Some(B)));
    ok(channel.send("out", &[1, 2, 3]));
    let e = err(channel.recv("in", &mut [0]));
    assert!(matches!(e, NetError::Closed { peer: Some(B), .. }), "{e}");
}

/// A sends 1 2 3 and then 4 5 6 through `out`; B receives both through `into`.
fn cheat(out: Tamper, into: Tamper) -> [[u8; 3]; 2] {
    let mut nets = pair(1);
    let mut b = ok(nets.remove(1).channel(0, None, Some(A)));
    let mut a = ok(nets.remove(0).channel(0, Some(B), None));
    a.tap(Box::new(out));
    b.tap(Box::new(into));
    ok(a.send("first", &[1, 2, 3]));
    ok(a.send("second", &[4, 5, 6]));
    let mut came = [[0; 3]; 2];
    for msg in &mut came {
        ok(b.recv("either", msg));
    }
    came
}

#[test]
fn tamper_edits_the_chosen_message_either_way() {
    let cases: [(Edit, [u8; 3], usize); 6] = [
        (Edit::Xor { offset: 1, mask: vec![0x80] }, [4, 0x85, 6], 1),
        (Edit::Xor { offset: 2, mask: vec![1, 1] }, [4, 5, 7], 1),
        (Edit::Zero, [0, 0, 0], 1),
        (Edit::Replace(vec![9, 9, 9]), [9, 9, 9], 1),
        (Edit::Replace(vec![9, 9]), [4, 5, 6], 0),
        (Edit::Earlier(0), [1, 2, 3], 1),
    ];
    for (edit, second, count) in cases {
        let out = Tamper::new().outgoing(1, edit.clone());
        let into = Tamper::new().incoming(1, edit);
        let hits: [TamperHits; 2] = [out.hits(), into.hits()];
        assert_eq!(cheat(out, Tamper::new()), [[1, 2, 3], second]);
        assert_eq!(cheat(Tamper::new(), into), [[1, 2, 3], second]);
        assert_eq!(hits.map(|h| h.count()), [count; 2]);
    }
}

#[test]
fn the_last_tap_is_nearest_the_wire() {
    let mut nets = inproc::mesh(&[A, B], 1, Duration::from_secs(5));
    let mut b = ok(nets.remove(1).channel(0, Some(A), Some(A)));
    let mut a = ok(nets.remove(0).channel(0, Some(B), Some(B)));
    let (wire, inner) = (Transcript::new(A), Transcript::new(A));
    let flip = || Edit::Xor { offset: 0, mask: vec![1] };
    a.tap(inner.tap());
    a.tap(Box::new(Tamper::new().outgoing(0, flip()).incoming(0, flip())));
    a.tap(wire.tap());
    let far = Transcript::new(B);
    b.tap(far.tap());
    ok(a.send("out", &[1]));
    ok(b.recv("out", &mut [0]));
    ok(b.send("back", &[1]));
    ok(a.recv("back", &mut [0]));
    assert_eq!(wire.digest().sent, far.digest().received);
    assert_eq!(wire.digest().received, far.digest().sent);
    assert_ne!(inner.digest().sent, far.digest().received);
    assert_ne!(inner.digest().received, far.digest().sent);
}
