//! A long program runs in the memory of a short one.
#![cfg(target_os = "linux")]

#[path = "all/common/mod.rs"]
mod common;

use common::{IDS, Repeat, open, parties, run, terms, values};
use hushwire_circuit::TwoParty;
use hushwire_garble::Scheme;
use hushwire_machine::inproc;
use hushwire_testkit::peak;
use std::time::Duration;

/// One run; tables wait in queues of 1 MiB, like a socket's buffers.
fn stream(times: usize) -> u64 {
    let program = Repeat::wide(512, 8, times);
    let roles = TwoParty::new(&program, vec![1], vec![[false, true]]);
    let nets = inproc::mesh_capped(&IDS, 1, Duration::from_secs(20), 1 << 20);
    let bytes = parties(nets.try_into().ok().expect("two parties"), |role, channel| {
        let mut party = open(role, channel, terms(Scheme::Mi)).expect("set up");
        run(&mut party, channel, &program, &roles, 1, &values(&program, 1, 1)).expect("a run");
        party.stats().table_bytes
    });
    bytes[0]
}

#[test]
fn memory_does_not_grow_with_the_program() {
    assert_eq!(stream(4), 4 * 512 * 8 * 32);
    let before = peak();
    let bytes = stream(1000);
    let grown = (peak() - before) >> 10;
    assert!(bytes > 120_000_000 && grown < 8 << 10, "{bytes} bytes of tables took {grown} KiB more");
}
