//! Parties on one host over Unix sockets and shared memory: which party dials, and the errors of
//! wrong addresses.
#![cfg(unix)]

use crate::common::{World, err, ok, unix_listener};
use hushwire_machine::{NetError, PartyId};
use hushwire_wire::{Listener, TransportKind};

const LOCAL: [TransportKind; 2] = [TransportKind::Unix, TransportKind::Shm];

#[test]
fn owners_dial_both_ways() {
    for transport in LOCAL {
        let mut nets = World::new(3, true, transport, 2, "").nets();
        let mut owner = nets.pop().unwrap_or_else(|| panic!("no owner"));
        for (id, net) in (0..3).map(PartyId).zip(&mut nets) {
            let mut to_owner = ok(net.channel(0, Some(PartyId::OWNER), Some(PartyId::OWNER)));
            let mut to_party = ok(owner.channel(0, Some(id), Some(id)));
            let mut came = [0; 5];
            ok(to_party.send("ask", b"input"));
            ok(to_owner.recv("ask", &mut came));
            assert_eq!(&came, b"input");
            ok(to_owner.send("answer", b"share"));
            ok(to_party.recv("answer", &mut came));
            assert_eq!(&came, b"share");
        }
    }
}

#[test]
fn memory_and_sockets_do_not_meet() {
    let mut world = World::new(2, false, TransportKind::Shm, 1, "");
    world.configs[1].transport = TransportKind::Unix;
    for outcome in world.connect() {
        let e = err(outcome);
        assert!(matches!(e, NetError::HandshakeMismatch { field: "transport", .. }), "{e}");
    }
}

#[test]
fn a_listener_says_what_peers_dial() {
    let listener = unix_listener();
    assert!(listener.address().starts_with("unix:/"), "{}", listener.address());
    assert!(listener.local_addr().is_err());
    let tcp = ok(Listener::bind("127.0.0.1:0"));
    assert_eq!(tcp.address(), ok(tcp.local_addr()).to_string());
}

#[test]
fn addresses_of_another_transport_are_refused_before_dialling() {
    for transport in LOCAL {
        let mut world = World::new(2, false, transport, 1, "");
        world.configs[0].peers[0].address = Some("127.0.0.1:1".to_owned());
        let e = err(world.join(0));
        assert!(matches!(e, NetError::Config { peer: Some(PartyId(1)), .. }), "{e}");
        world.configs[1].transport = TransportKind::TcpTls;
        world.configs[1].peers[0].address = Some("127.0.0.1:1".to_owned());
        let e = err(world.join(1));
        assert!(matches!(e, NetError::Config { .. }) && e.to_string().contains("listens on"), "{e}");
    }
}
