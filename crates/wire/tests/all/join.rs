//! Joining a session: which members are admitted, and what both ends report if they disagree.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use crate::common::{World, each, err, ok, pattern};
use hushwire_machine::{NetError, PartyId, Presented, Reason, SessionId};
use hushwire_wire::{Identity, Listener, Pin, SessionConfig, TransportKind, connect};

const BOTH: [TransportKind; 2] = [TransportKind::TcpTls, TransportKind::TcpInsecure];
/// "At once": shorter than every time-out, with slack for a busy host.
const SOON: Duration = Duration::from_secs(20);
const LOOPBACK: &str = "127.0.0.1";

fn two(transport: TransportKind) -> World {
    World::new(2, false, transport, 2, LOOPBACK)
}

/// Joins two parties after `change` of party 1's configuration. Both must report `field`.
fn both_hear(field: &str, transport: TransportKind, change: impl Fn(&mut SessionConfig)) {
    let mut world = two(transport);
    change(&mut world.configs[1]);
    let begun = Instant::now();
    for (me, result) in world.connect().into_iter().enumerate() {
        match err(result) {
            NetError::HandshakeMismatch { peer, field: named, ours, theirs } => {
                assert_eq!(
                    (peer, named),
                    (Some(PartyId(1 - me as u8)), field),
                    "party {me} over {transport}"
                );
                assert_ne!(ours, theirs);
            }
            e => panic!("party {me} over {transport}, {field}: {e}"),
        }
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn every_agreed_field_is_named_on_both_sides() {
    for transport in BOTH {
        both_hear("session id", transport, |cfg| cfg.session = SessionId([1; 16]));
        both_hear("job digest", transport, |cfg| cfg.job_digest[31] ^= 1);
        both_hear("parameters digest", transport, |cfg| cfg.params[0] ^= 1);
        both_hear("number of lanes", transport, |cfg| cfg.lanes = 1);
    }
}

#[test]
fn a_peer_that_claims_another_id_is_named_on_both_sides() {
    both_hear("party ids", TransportKind::TcpTls, |cfg| cfg.me = PartyId(2));
}

#[test]
fn another_wire_version_is_named_on_both_sides() {
    let mut world = two(TransportKind::TcpInsecure);
    let _held = world.absent(1);
    let address = world.configs[1].peers[0].address.clone().unwrap_or_default();
    let stray = thread::spawn(move || {
        let mut hello = [0; 128];
        hello[..12].copy_from_slice(b"hushwire\x01\x00\x01\x00");
        let mut stream = ok(TcpStream::connect(address));
        ok(stream.write_all(&hello));
        ok(stream.read_exact(&mut hello));
        hello
    });
    let e = err(world.join(0));
    assert!(
        matches!(&e, NetError::HandshakeMismatch { peer: Some(PartyId(1)), field: "wire version", theirs, .. } if theirs.written() == "1"),
        "{e}"
    );
    let answer = stray.join().unwrap_or_else(|_| panic!("the other side panicked"));
    assert_eq!(&answer[..12], b"hushwire\x09\x00\x00\x01");
}

#[test]
fn a_wrong_pin_is_an_unknown_peer() {
    let mut world = two(TransportKind::TcpTls);
    world.configs[0].peers[0].pin = Pin([1; 32]);
    // A stranger with another key proves nothing, so the party waits for the right one.
    world.configs[0].connect_timeout = Duration::from_secs(4);
    let results: Vec<_> = world.connect().into_iter().map(err).collect();
    let presented = world.identities[1].pin().to_string();
    assert!(
        matches!(&results[0], NetError::UnknownPeer { peer: Some(PartyId(1)), presented: Presented::Pin(p), .. } if *p == presented),
        "{}",
        results[0]
    );
    assert!(
        matches!(&results[1], NetError::Unlisted { peer: Some(PartyId(0)), own } if *own == presented),
        "{}",
        results[1]
    );
}

/// Party 0 lists another pin for party 1. All are told that party 1 was refused, and none is told
/// that party 0 is to blame.
#[test]
fn a_wrong_pin_is_no_accusation_of_who_lists_it() {
    let mut world = World::new(3, true, TransportKind::TcpTls, 1, LOOPBACK);
    let at = world.configs[0].peers.iter().position(|peer| peer.id == PartyId(1)).unwrap_or_default();
    world.configs[0].peers[at].pin = Pin([1; 32]);
    let pin = world.identities[1].pin();
    let heard: Vec<_> = world.connect().into_iter().map(err).collect();
    assert!(
        matches!(&heard[0], NetError::UnknownPeer { peer: Some(PartyId(1)), presented, .. } if *presented == Presented::Pin(pin.to_string())),
        "{}",
        heard[0]
    );
    assert!(
        matches!(&heard[1], NetError::Unlisted { peer: Some(PartyId(0)), own } if *own == pin.to_string()),
        "{}",
        heard[1]
    );
    for e in &heard[2..] {
        assert!(
            matches!(e, NetError::Aborted { peer: Some(PartyId(1)), why: Reason::Refused, step, .. } if step == "connect"),
            "{e}"
        );
    }
}

#[test]
fn all_who_did_not_come_are_named() {
    let mut world = World::new(3, true, TransportKind::TcpTls, 1, LOOPBACK);
    world.configs[0].connect_timeout = Duration::from_secs(4);
    let here = world.listeners[0].as_ref().map(Listener::address).unwrap_or_default();
    let [(one, _one), (two, _two)] = [1, 2].map(|of| world.absent(of));
    let e = err(world.join(0));
    let refused = "Connection refused (os error 111)";
    if cfg!(target_os = "linux") {
        assert_eq!(
            e.to_string(),
            format!(
                "party 1, party 2 and owner: did not come within 4s during connect: party 1 at {one}: {refused}, \
                 party 2 at {two}: {refused}, no greeting of owner came to our own {here}; start the members that do not run, and see that \
                 addresses are right and no firewall is between"
            )
        );
    }
    assert!(matches!(e, NetError::Absent { .. }) && e.peer() == Some(PartyId(1)), "{e}");
}

#[test]
fn strangers_do_not_end_or_delay_a_session() {
    let world = World::new(3, true, TransportKind::TcpTls, 2, LOOPBACK);
    let address = world.configs[1].peers[0].address.clone().unwrap_or_default();
    // Silent connections, one that sends nonsense, and one with an unlisted certificate.
    let silent: Vec<_> = (0..8).map(|_| ok(TcpStream::connect(&address))).collect();
    let mut noisy = ok(TcpStream::connect(&address));
    ok(noisy.write_all(&[b'x'; 500]));
    let mut foreign = world.configs[1].clone();
    foreign.peers.truncate(1);
    let begun = Instant::now();
    let (nets, refused) = thread::scope(|scope| {
        let stranger = scope.spawn(|| {
            let listener = ok(Listener::bind("127.0.0.1:0"));
            let identity = ok(Identity::generate("nobody"));
            err(connect(&foreign, &identity, Some(&listener)))
        });
        thread::sleep(Duration::from_millis(100));
        (world.nets(), stranger.join().unwrap_or_else(|_| panic!("the stranger panicked")))
    });
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert!(matches!(refused, NetError::Unlisted { peer: Some(PartyId(0)), .. }), "{refused}");
    drop((silent, noisy));
    assert_eq!(nets.len(), 4);
}

#[test]
fn an_owner_without_a_port_talks_to_all_parties() {
    for transport in BOTH {
        let world = World::new(3, true, transport, 2, LOOPBACK);
        each(world.nets(), |mut net| {
            let me = net.me();
            if me == PartyId::OWNER {
                assert_eq!((net.lanes(), net.peers().len()), (1, 3));
                for party in net.peers() {
                    let mut channel = ok(net.channel(0, Some(party), Some(party)));
                    let mut into = vec![0; 70_000];
                    ok(channel.exchange("input", &pattern(128, 0, 40_000), &mut into));
                    assert_eq!(into, pattern(party.0, 0, 70_000));
                }
            } else {
                assert_eq!(net.lanes(), 2);
                let mut channel = ok(net.channel(0, Some(PartyId::OWNER), Some(PartyId::OWNER)));
                let mut into = vec![0; 40_000];
                ok(channel.exchange("input", &pattern(me.0, 0, 70_000), &mut into));
                assert_eq!(into, pattern(128, 0, 40_000));
            }
        });
    }
}

#[test]
fn an_absent_peer_is_named_with_its_address() {
    let mut world = two(TransportKind::TcpTls);
    let (address, _held) = world.absent(1);
    world.configs[0].connect_timeout = Duration::from_secs(4);
    let e = err(world.join(0));
    assert!(
        matches!(&e, NetError::Connect { peer: Some(PartyId(1)), address: a, .. } if *a == address),
        "{e}"
    );
    assert!(e.to_string().contains(&address) && e.to_string().contains("refused"), "{e}");
}

#[test]
fn a_client_that_never_comes_is_named() {
    let mut world = World::new(1, true, TransportKind::TcpTls, 1, LOOPBACK);
    world.configs[0].connect_timeout = Duration::from_millis(300);
    let e = err(world.join(0));
    assert!(matches!(&e, NetError::Absent { peers, .. } if *peers == [PartyId::OWNER]), "{e}");
    let here = world.listeners[0].as_ref().map(Listener::address).unwrap_or_default();
    assert_eq!(
        e.to_string(),
        format!(
            "owner: did not come within 300ms during connect: no greeting of owner came to our own {here}; start the members that do not \
             run, and see that addresses are right and no firewall is between"
        )
    );
}

#[test]
fn configurations_that_cannot_work_are_refused() {
    let refuse = |peer: u8, change: fn(&mut SessionConfig), listens: bool| {
        let mut world = World::new(3, false, TransportKind::TcpTls, 1, LOOPBACK);
        change(&mut world.configs[0]);
        let listener = world.listeners[0].as_ref().filter(|_| listens);
        let e = err(connect(&world.configs[0], &world.identities[0], listener));
        assert!(matches!(e, NetError::Config { peer: Some(PartyId(p)), .. } if p == peer), "{e}");
    };
    refuse(0, |cfg| cfg.peers[0].id = PartyId(0), true);
    refuse(1, |cfg| cfg.peers[1].id = PartyId(1), true);
    refuse(2, |cfg| cfg.peers[1].pin = cfg.peers[0].pin, true);
    refuse(2, |cfg| cfg.peers[1].address = None, false);
    refuse(1, |cfg| cfg.lanes = 0, true);
    assert!("tcp".parse::<TransportKind>().is_err());
    for transport in BOTH.into_iter().chain([TransportKind::Unix, TransportKind::Shm]) {
        assert_eq!(ok(transport.to_string().parse::<TransportKind>()), transport);
    }
}

#[test]
fn host_names_and_ipv6_work() {
    for host in ["localhost", "[::1]"] {
        if let Err(e) = Listener::bind(&format!("{host}:0")) {
            println!("skipped {host}: {e}");
            continue;
        }
        assert_eq!(World::new(2, false, TransportKind::TcpTls, 1, host).nets().len(), 2);
    }
}

#[test]
fn a_port_in_use_is_named_with_a_remedy() {
    let first = ok(Listener::bind("127.0.0.1:0"));
    let address = ok(first.local_addr()).to_string();
    let e = err(Listener::bind(&address));
    assert!(matches!(&e, NetError::Listen { address: a, .. } if *a == address), "{e}");
    assert_eq!(e.peer(), None);
    assert!(e.to_string().starts_with(&format!("cannot listen on {address}: ")), "{e}");
    assert!(e.to_string().contains("another program or session holds it"), "{e}");
    // The port is free again at once.
    drop(first);
    drop(ok(Listener::bind(&address)));
    let nowhere = err(Listener::bind("203.0.113.1:1"));
    assert!(nowhere.to_string().contains("no interface of this host has that address"), "{nowhere}");
}

#[test]
fn a_greeting_left_over_from_an_earlier_session_does_not_end_this_one() {
    let world = two(TransportKind::TcpInsecure);
    let address = world.configs[1].peers[0].address.clone().unwrap_or_default();
    let mut hello = [0; 128];
    hello[..12].copy_from_slice(b"hushwire\x09\x00\x01\x00");
    hello[94] = 2;
    // The connection waits in the queue of party 0's port; its sender gave up long ago.
    ok(ok(TcpStream::connect(address)).write_all(&hello));
    assert_eq!(world.nets().len(), 2);
}
