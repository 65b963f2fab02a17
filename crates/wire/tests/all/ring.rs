//! Messages far longer than every buffer move round a ring, on one lane and on several in flight on
//! one thread.

use std::time::Duration;

use crate::common::{Over, STALL, each, ok, pattern, ring};
use hushwire_machine::{Channel, Net};
use hushwire_wire::Shape;

const SMALL: Option<usize> = Some(4096);

fn ring_over(over: Over, lanes: u16, bytes: usize, buffer: Option<usize>, rounds: usize) {
    ring_of(&format!("{over:?}"), over.nets(3, lanes, STALL, buffer), bytes, rounds);
}

fn ring_of(over: &str, nets: Vec<Net>, bytes: usize, rounds: usize) {
    each(nets, |mut net| {
        let lanes = net.lanes();
        let me = net.me();
        let (next, previous) = ring(me);
        let mut channels: Vec<Channel> =
            (0..lanes).map(|lane| ok(net.channel(lane, Some(next), Some(previous)))).collect();
        let out: Vec<_> = (0..lanes).map(|lane| pattern(me.0, lane, bytes)).collect();
        let mut into = vec![vec![0; bytes]; usize::from(lanes)];
        for _ in 0..rounds {
            for (channel, out) in channels.iter_mut().zip(&out) {
                ok(channel.start("ring", out));
            }
            for ((channel, out), into) in channels.iter_mut().zip(&out).zip(&mut into) {
                into.fill(0);
                ok(channel.finish("ring", out, into));
            }
            for (lane, into) in (0..lanes).zip(&into) {
                assert!(*into == pattern(previous.0, lane, bytes), "{over}: lane {lane} of {me}");
            }
        }
    });
}

#[test]
fn long_messages_over_short_buffers_one_lane() {
    for over in Over::ALL {
        ring_over(over, 1, 16 << 20, SMALL, 1);
    }
}

#[test]
fn long_messages_over_short_buffers_two_lanes_on_one_thread() {
    for over in Over::ALL {
        ring_over(over, 2, 16 << 20, SMALL, 1);
    }
}

#[test]
fn many_messages_of_odd_lengths() {
    for over in Over::ALL {
        for bytes in [1, 17, 16_384, 16_385, 300_001] {
            ring_over(over, 2, bytes, None, 20);
        }
    }
}

#[test]
fn one_way_and_empty_messages() {
    for over in Over::ALL {
        let nets = over.nets(2, 1, Duration::from_secs(5), None);
        each(nets, |mut net| {
            let peer = net.peers()[0];
            let mut channel = ok(net.channel(0, Some(peer), Some(peer)));
            ok(channel.exchange("nothing", &[], &mut []));
            let mut byte = [0];
            if net.me().0 == 0 {
                ok(channel.send("one", &[5]));
                ok(channel.recv("two", &mut byte));
            } else {
                ok(channel.recv("one", &mut byte));
                ok(channel.send("two", &[6]));
            }
            assert_eq!(byte[0], 6 - net.me().0);
        });
    }
}

#[test]
fn shaped_links_carry_the_same_on_every_transport() {
    for over in Over::ALL {
        for bytes in [17, 2_000_001] {
            let mut nets = over.nets(3, 2, STALL, None);
            nets.iter_mut().for_each(|net| Shape::lan().apply(net));
            ring_of(&format!("shaped {over:?}"), nets, bytes, 3);
        }
    }
}
