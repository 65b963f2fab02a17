//! Many sessions on the same ports leave nothing behind. This test has a program of its own, since
//! it counts descriptors and threads.
#![cfg(target_os = "linux")]

#[path = "all/common/mod.rs"]
mod common;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use common::{World, ok};
use hushwire_machine::{PartyId, SessionId};
use hushwire_wire::{TransportKind, connect};

const SESSIONS: u32 = 1000;

/// The numbers of open descriptors and threads of this process.
fn held() -> (usize, usize) {
    (ok(fs::read_dir("/proc/self/fd")).count(), ok(fs::read_dir("/proc/self/task")).count())
}

/// The same numbers once they no longer change: a finished thread may still be ending.
fn settled() -> (usize, usize) {
    let (mut since, mut last) = (Instant::now(), held());
    while since.elapsed() < Duration::from_secs(2) {
        thread::sleep(Duration::from_millis(10));
        let now = held();
        if now != last {
            (since, last) = (Instant::now(), now);
        }
    }
    last
}

#[test]
fn a_thousand_sessions_on_one_pair_of_ports_leave_nothing_behind() {
    let world = World::new(2, false, TransportKind::TcpInsecure, 1, "127.0.0.1");
    let run = |me: usize, number: u32| {
        let mut cfg = world.configs[me].clone();
        cfg.session.0[..4].copy_from_slice(&number.to_le_bytes());
        assert_ne!(cfg.session, SessionId([7; 16]));
        let mut net = ok(connect(&cfg, &world.identities[me], world.listeners[me].as_ref()));
        let peer = Some(PartyId(1 - me as u8));
        let mut channel = ok(net.channel(0, peer, peer));
        let mut into = [0; 4];
        ok(channel.exchange("count", &number.to_le_bytes(), &mut into));
        assert_eq!(into, number.to_le_bytes());
    };
    let sessions = |numbers: std::ops::Range<u32>| {
        thread::scope(|scope| {
            for me in 0..2 {
                let (numbers, run) = (numbers.clone(), &run);
                scope.spawn(move || numbers.for_each(|number| run(me, number)));
            }
        });
    };
    sessions(0..1);
    let before = settled();
    sessions(1..SESSIONS);
    assert_eq!(settled(), before, "descriptors and threads");
}
