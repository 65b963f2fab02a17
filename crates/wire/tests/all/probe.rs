//! Probes of peers without a session.

use crate::common::{World, err, ok};
use hushwire_machine::NetError;
use hushwire_wire::{DialledPeer, Prober, TransportKind, Visit, presented};
use std::{
    thread::{scope, sleep},
    time::Duration,
};

fn prober(world: &World, i: usize) -> Prober {
    let cfg = &world.configs[i];
    Prober::new(cfg.me, cfg.peers.clone(), cfg.transport, &world.identities[i])
}

#[test]
fn two_that_look_measure_each_other_over_every_connection() {
    for transport in
        [TransportKind::TcpTls, TransportKind::TcpInsecure, TransportKind::Unix, TransportKind::Shm]
    {
        let world = World::new(2, false, transport, 1, "127.0.0.1");
        let Some(listener) = &world.listeners[1] else { panic!("a party listens") };
        scope(|s| {
            let answer = s.spawn(|| {
                let prober = prober(&world, 1);
                let incoming = ok(prober.accept(listener, Duration::from_secs(10)));
                prober.answer(incoming.unwrap_or_else(|| panic!("nobody came")))
            });
            let DialledPeer::Probe(mut probe) = ok(prober(&world, 0).dial(&world.configs[0].peers[0])) else {
                panic!("{transport}: no session is waited for here")
            };
            assert_eq!(probe.validity().is_some(), transport == TransportKind::TcpTls);
            let clock = ok(probe.ping());
            assert!(clock.ahead_seconds.abs() < 1.0 && clock.round_trip > Duration::ZERO, "{clock:?}");
            assert!(ok(probe.send_rate(Duration::from_millis(300))) > 0.0);
            assert!(ok(probe.receive_rate(Duration::from_millis(300))) > 0.0);
            ok(probe.bye());
            let visit = answer.join().unwrap_or_else(|_| panic!("the other side panicked"));
            assert!(matches!(visit, Visit::Measured(peer) if peer == world.configs[0].me), "{visit:?}");
        });
    }
}

#[test]
fn a_session_that_waits_answers_and_waits_on() {
    let world = &World::new(3, false, TransportKind::TcpTls, 2, "127.0.0.1");
    scope(|s| {
        let waiting = [0, 1].map(|i| s.spawn(move || world.join(i)));
        sleep(Duration::from_millis(100));
        let last = prober(world, 2);
        let Some(listener) = &world.listeners[2] else { panic!("a party listens") };
        for peer in &world.configs[2].peers {
            assert!(matches!(ok(last.dial(peer)), DialledPeer::InSession(Some(_))));
            let address = peer.address.as_deref().unwrap_or("");
            assert_eq!(ok(presented(address, Duration::from_secs(5))), peer.pin);
        }
        // They dial this party too, and are told that it only probes.
        for _ in 0..4 {
            let incoming = ok(last.accept(listener, Duration::from_secs(5)));
            let visit = last.answer(incoming.unwrap_or_else(|| panic!("nobody dials")));
            assert!(matches!(visit, Visit::InSession(_)), "{visit:?}");
        }
        let joined = world.join(2);
        for party in waiting {
            ok(party.join().unwrap_or_else(|_| panic!("a party panicked")));
        }
        ok(joined);
    });
}

#[test]
fn strangers_and_other_numbers_are_named() {
    let mut world = World::new(3, false, TransportKind::TcpTls, 1, "127.0.0.1");
    let Some(listener) = world.listeners[1].take() else { panic!("a party listens") };
    let answered = |prober: &Prober| {
        let incoming = ok(prober.accept(&listener, Duration::from_secs(10)));
        prober.answer(incoming.unwrap_or_else(|| panic!("nobody came")))
    };
    let (zero, one) = (prober(&world, 0), prober(&world, 1));
    let mut other = world.configs[0].peers[0].clone();
    other.pin = world.identities[2].pin();
    scope(|s| {
        let answer = s.spawn(|| answered(&one));
        let e = err(zero.dial(&other).map(drop));
        assert!(matches!(e, NetError::UnknownPeer { .. }), "{e}");
        assert!(matches!(answer.join(), Ok(Visit::Failed(_))));
    });
    // The holder of key 0 claims to be party 2.
    world.configs[0].me = world.configs[2].me;
    world.configs[0].peers.truncate(1);
    let zero = prober(&world, 0);
    scope(|s| {
        let answer = s.spawn(|| answered(&one));
        let e = err(zero.dial(&world.configs[0].peers[0]).map(drop));
        assert!(matches!(e, NetError::HandshakeMismatch { field: "party ids", .. }), "{e}");
        assert!(matches!(answer.join(), Ok(Visit::Failed(_))));
    });
}
