//! Peers that die or fall silent: each party ends soon, with an error that names the peer and the
//! step.

use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use crate::common::{Over, each, err, ok, pattern};
use hushwire_machine::{Net, NetError, PartyId};

/// "At once": shorter than the longest stall limit here, with slack for a busy host.
const SOON: Duration = Duration::from_secs(15);
const LONG: Duration = Duration::from_secs(30);
const BYTES: usize = 8 << 20;

fn two(over: Over, stall: Duration) -> (Net, Net) {
    let mut nets = over.nets(2, 1, stall, Some(4096));
    let b = nets.pop().unwrap_or_else(|| panic!("two nets"));
    (nets.remove(0), b)
}

/// Runs `live` as party 0 while party 1 starts a message and dies.
fn dies_mid_message(over: Over, live: impl Fn(Net) -> NetError + Send) {
    let (a, mut b) = two(over, LONG);
    let (report, reported) = mpsc::channel();
    let (e, took) = thread::scope(|scope| {
        // The sender dies before any byte is read; otherwise the whole message might go through.
        let mut channel = ok(b.channel(0, Some(PartyId(0)), Some(PartyId(0))));
        ok(channel.start("half", &pattern(1, 0, BYTES)));
        scope.spawn(move || ok(report.send(live(a))));
        thread::sleep(Duration::from_millis(100));
        drop((channel, b));
        let died = Instant::now();
        let e = reported.recv_timeout(LONG).unwrap_or_else(|e| panic!("{over:?}: {e}"));
        (e, died.elapsed())
    });
    assert!(
        matches!(&e, NetError::Closed { peer: Some(PartyId(1)), step } if step == "layer 3"),
        "{over:?}: {e}"
    );
    assert!(e.to_string().starts_with("party 1: closed the link during layer 3"), "{e}");
    assert!(took < SOON, "{over:?}: {took:?}");
}

#[test]
fn a_receiver_learns_that_the_sender_died() {
    for over in Over::ALL {
        dies_mid_message(over, |mut net| {
            let mut channel = ok(net.channel(0, Some(PartyId(1)), Some(PartyId(1))));
            let e = err(channel.recv("layer 3", &mut vec![0; BYTES]));
            let again = err(channel.recv("layer 4", &mut [0]));
            assert!(matches!(&again, NetError::Dropped { step, .. } if step == "layer 4"), "{again}");
            assert!(matches!(err(channel.start("layer 4", &[1])), NetError::Dropped { .. }));
            e
        });
    }
}

#[test]
fn a_sender_learns_that_the_receiver_died() {
    for over in Over::ALL {
        dies_mid_message(over, |mut net| {
            let mut channel = ok(net.channel(0, Some(PartyId(1)), None));
            err(channel.send("layer 3", &pattern(0, 0, BYTES)))
        });
    }
}

#[test]
fn an_exchange_learns_that_the_peer_died() {
    for over in Over::ALL {
        dies_mid_message(over, |mut net| {
            let mut channel = ok(net.channel(0, Some(PartyId(1)), Some(PartyId(1))));
            err(channel.exchange("layer 3", &pattern(0, 0, BYTES), &mut vec![0; BYTES]))
        });
    }
}

#[test]
fn what_was_sent_before_a_clean_end_still_arrives() {
    for over in Over::ALL {
        each(over.nets(2, 1, LONG, None), |mut net| {
            let mut into = vec![0; 100_000];
            if net.me().0 == 0 {
                ok(ok(net.channel(0, Some(PartyId(1)), None)).send("last", &pattern(0, 0, into.len())));
            } else {
                thread::sleep(Duration::from_millis(50));
                let mut channel = ok(net.channel(0, None, Some(PartyId(0))));
                ok(channel.recv("last", &mut into));
                assert_eq!(into, pattern(0, 0, into.len()));
                let e = err(channel.recv("more", &mut [0]));
                assert!(matches!(e, NetError::Closed { peer: Some(PartyId(0)), .. }), "{e}");
            }
        });
    }
}

#[test]
fn a_silent_peer_stalls() {
    let stall = Duration::from_millis(300);
    for over in Over::ALL {
        let (mut a, b) = two(over, stall);
        let mut channel = ok(a.channel(0, Some(PartyId(1)), Some(PartyId(1))));
        let begun = Instant::now();
        let e = err(channel.exchange("layer 3", &pattern(0, 0, BYTES), &mut [0]));
        assert!(matches!(e, NetError::Stalled { peer: Some(PartyId(1)), .. }), "{over:?}: {e}");
        assert!(begun.elapsed() >= stall, "{over:?}");
        assert!(begun.elapsed() < stall + SOON, "{over:?}: {:?}", begun.elapsed());
        drop(b);
    }
}

#[test]
fn a_slow_peer_does_not_stall() {
    // A thread of a busy host may be late by nearly as much.
    let stall = Duration::from_secs(4);
    let drip = |over| {
        let (mut a, mut b) = two(over, stall);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut channel = ok(b.channel(0, Some(PartyId(0)), None));
                for byte in 0..10 {
                    thread::sleep(stall / 8);
                    ok(channel.send("drip", &[byte]));
                }
            });
            let mut into = [0; 10];
            ok(ok(a.channel(0, None, Some(PartyId(1)))).recv("drip", &mut into));
            assert_eq!(into, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        });
    };
    thread::scope(|scope| {
        for over in Over::ALL {
            scope.spawn(move || drip(over));
        }
    });
}

/// Tests a message that is sent slowly, and a message that is read slowly.
#[test]
fn a_peer_that_drips_does_not_hold_a_message_for_ever() {
    let stall = Duration::from_secs(4);
    let drip = |over: Over, receives| {
        let mut nets = over.nets(2, 1, stall, Some(1));
        let (mut b, mut a) = (nets.pop().unwrap_or_else(|| panic!("two nets")), nets.remove(0));
        let (ended, end) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut channel = ok(b.channel(0, Some(PartyId(0)), Some(PartyId(0))));
                // The loop is far longer than the limit, so that a hang would show.
                for _ in 0..60 {
                    if end.recv_timeout(stall / 8) != Err(mpsc::RecvTimeoutError::Timeout) {
                        break;
                    }
                    let moved =
                        if receives { channel.send("drip", &[7]) } else { channel.recv("drip", &mut [7]) };
                    if moved.is_err() {
                        break;
                    }
                }
            });
            let mut channel = ok(a.channel(0, Some(PartyId(1)), Some(PartyId(1))));
            let begun = Instant::now();
            let e = match receives {
                true => err(channel.recv("layer 3", &mut [0; 500])),
                false => err(channel.send("layer 3", &[0; 500])),
            };
            drop(ended);
            assert!(
                matches!(&e, NetError::Slow { peer: Some(PartyId(1)), step, bytes: 500, .. } if step == "layer 3"),
                "{over:?}: {e}"
            );
            assert!(begun.elapsed() >= 4 * stall, "{over:?}: {:?}", begun.elapsed());
        });
    };
    thread::scope(|scope| {
        for (over, receives) in [(Over::Queues, true), (Over::Tls, true), (Over::Queues, false)] {
            scope.spawn(move || drip(over, receives));
        }
    });
}

#[test]
fn a_lane_is_taken_once() {
    let (mut a, _b) = two(Over::Queues, LONG);
    let (me, peer) = (PartyId(0), PartyId(1));
    let tx = ok(a.channel(0, Some(peer), None));
    let e = err(a.channel(0, Some(peer), Some(peer)));
    assert!(matches!(e, NetError::LaneTaken { peer: Some(PartyId(1)), lane: 0, .. }), "{e}");
    // The failed call took no link.
    let rx = ok(a.channel(0, None, Some(peer)));
    assert_eq!((tx.to(), tx.from(), rx.to(), rx.from(), rx.lane()), (Some(peer), None, None, Some(peer), 0));
    for (lane, to) in [(1, peer), (0, me), (0, PartyId(9))] {
        assert!(matches!(err(a.channel(lane, Some(to), None)), NetError::LaneTaken { .. }));
    }
}
