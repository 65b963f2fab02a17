//! Pins the bytes of a toss on the wire in the file of digests.

use hushwire_machine::{Channel, PartyId, Toss, inproc};
use hushwire_testkit::{Digests, Trace};
use std::{thread, time::Duration};

/// Runs a toss among `n`.
fn toss(n: u8) -> Trace {
    let (ids, trace) = ((0..n).map(PartyId).collect::<Vec<_>>(), Trace::new());
    let nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
    thread::scope(|scope| {
        for (me, mut net) in (0..n).zip(nets) {
            let (ids, trace) = (&ids, &trace);
            scope.spawn(move || {
                let open = |id: &PartyId| {
                    let mut channel = net.channel(0, Some(*id), Some(*id)).unwrap_or_else(|e| panic!("{e}"));
                    channel.tap(trace.tap(me));
                    channel
                };
                let mut channels: Vec<Channel> = ids.iter().filter(|id| id.0 != me).map(open).collect();
                let toss = Toss::with("hushwire 2026 wire toss test v1", b"context", me, [me + 1; 32]);
                toss.among("naming the run", &mut channels).unwrap_or_else(|e| panic!("{e}"));
            });
        }
    });
    trace
}

#[test]
fn bytes_on_the_wire_are_those_of_the_file() {
    let mut all = Digests::section("toss");
    all.ran("toss/2", &toss(2));
    all.ran("toss/3", &toss(3));
    all.compare();
}
