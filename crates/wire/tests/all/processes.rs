//! One process of each member, one id for each session.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use crate::common::{World, err, hello, ok};
use hushwire_machine::{Net, NetError, PartyId};
use hushwire_wire::{Event, TransportKind, connect, connect_observed};

const TLS: TransportKind = TransportKind::TcpTls;
const OWNER: usize = 3;
/// The time that a test waits for something that takes seconds.
const LONG: Duration = Duration::from_secs(30);

fn world() -> World {
    World::new(3, true, TLS, 1, "127.0.0.1")
}

#[test]
fn sessions_of_one_name_have_ids_of_their_own_that_all_members_share() {
    for transport in [TLS, TransportKind::TcpInsecure, TransportKind::Unix, TransportKind::Shm] {
        let world = World::new(3, true, transport, 2, "127.0.0.1");
        let [first, second] = [(); 2].map(|()| {
            let ids: Vec<_> = world.nets().iter().map(Net::session).collect();
            assert!(ids.iter().all(|id| id.is_some() && *id == ids[0]), "{transport}: {ids:?}");
            ids[0]
        });
        assert_ne!(first, second, "{transport}");
        assert_ne!(first, Some(world.configs[0].session), "{transport}");
    }
}

#[test]
fn a_second_process_is_refused_and_the_first_goes_on() {
    let world = &world();
    thread::scope(|scope| {
        // Party 2 does not come yet, so the owner waits with connections to the others.
        let (hears, heard) = mpsc::channel();
        let observer = Arc::new(move |event: &Event| {
            if let Event::Joining { missing, .. } = event {
                let _ = hears.send(missing.clone());
            }
        });
        let mut waiting: Vec<_> = [0, 1].map(|me| scope.spawn(move || world.join(me))).into();
        waiting.push(scope.spawn(move || {
            connect_observed(&world.configs[OWNER], &world.identities[OWNER], None, observer)
        }));
        while ok(heard.recv_timeout(LONG)) != [PartyId(2)] {}
        for _ in 0..2 {
            let e = err(world.join(OWNER));
            assert!(matches!(e, NetError::Duplicate { peer: Some(PartyId::OWNER), .. }), "{e}");
            let said = |by| {
                format!(
                    "owner: refused during handshake: party {by} says that another process with its key joined \
                     before; end all of its processes but one and start again"
                )
            };
            assert!([said(0), said(1)].contains(&e.to_string()), "{e}");
        }
        assert!(
            waiting.iter().all(|party| !party.is_finished()),
            "the second process ended the first one's session"
        );
        let mut ids = vec![ok(world.join(2)).session()];
        ids.extend(
            waiting
                .into_iter()
                .map(|p| ok(p.join().unwrap_or_else(|_| panic!("a party panicked"))).session()),
        );
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    });
}

#[test]
fn who_is_refused_is_not_answered_as_if_it_were_in() {
    let mut world = World::new(2, false, TransportKind::TcpInsecure, 2, "127.0.0.1");
    let _held = world.absent(1);
    world.configs[0].connect_timeout = Duration::from_secs(6);
    let address = world.configs[1].peers[0].address.clone().unwrap_or_default();
    thread::scope(|scope| {
        let party = scope.spawn(|| err(world.join(0)));
        let say = |lane, nonce| {
            let mut stream = ok(TcpStream::connect(&address));
            ok(stream.write_all(&hello(lane, 2, nonce)));
            let mut answer = [0; 128];
            let answer = stream.read_exact(&mut answer).map(|()| answer).map_err(|e| e.kind());
            (stream, answer)
        };
        let (_stays, let_in) = say(0, 1);
        let let_in = let_in.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((let_in[97], let_in[99]), (1, 0));
        assert_ne!(let_in[112..], [0; 16]);
        // Another process is told that one has joined, and nothing more is sent to it.
        let (mut stream, refused) = say(1, 2);
        let refused = refused.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((refused[97], refused[99]), (1, 1));
        assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0);
        // The same process dials again for the same lane.
        assert_eq!(say(0, 1).1, Err(ErrorKind::UnexpectedEof));
        let e = party.join().unwrap_or_else(|_| panic!("the party panicked"));
        assert_eq!(e.peer(), Some(PartyId(1)), "{e}");
    });
}

/// The process that answers at party 1's address is not the one that dialled from there.
#[test]
fn the_side_that_dials_sees_a_second_process_too() {
    let mut world = World::new(2, false, TransportKind::TcpInsecure, 2, "127.0.0.1");
    let second = ok(TcpListener::bind("127.0.0.1:0"));
    let at = ok(second.local_addr()).to_string();
    world.configs[0].peers[0].address = Some(at.clone());
    let address = world.configs[1].peers[0].address.clone().unwrap_or_default();
    thread::scope(|scope| {
        let party = scope.spawn(|| err(world.join(0)));
        let mut first = ok(TcpStream::connect(&address));
        ok(first.write_all(&hello(u16::MAX, 2, 1)));
        let mut answer = [0; 128];
        ok(first.read_exact(&mut answer));
        // The first process is admitted before the second answers as a listener.
        let (mut stream, _) = ok(second.accept());
        ok(stream.read_exact(&mut answer));
        let mut hello = hello(u16::MAX, 2, 2);
        hello[97] = 1;
        ok(stream.write_all(&hello));
        let e = party.join().unwrap_or_else(|_| panic!("the party panicked"));
        assert!(matches!(e, NetError::Duplicate { peer: Some(PartyId(1)), .. }), "{e}");
        assert_eq!(
            e.to_string(),
            format!(
                "party 1: refused during handshake: the process that answers at {at} is not the one that joined \
                 before; end all of its processes but one and start again"
            )
        );
    });
}

/// A client has connections only with the parties, but is told of the client that is missing.
#[test]
fn nobody_has_joined_before_all_have() {
    let mut world = world();
    let bob = ok(hushwire_wire::Identity::generate("bob"));
    let mut cfg = world.configs[OWNER].clone();
    cfg.me = PartyId(129);
    for party in &mut world.configs[..3] {
        party.peers.push(hushwire_wire::PeerConfig { id: PartyId(129), address: None, pin: bob.pin() });
    }
    let world = &world;
    let (hears, heard) = mpsc::channel();
    let observer = Arc::new(move |event: &Event| {
        let _ = hears.send(event.clone());
    });
    thread::scope(|scope| {
        let running: Vec<_> = (0..4)
            .map(|me| {
                let (cfg, identity) = (&world.configs[me], &world.identities[me]);
                let (listener, observer) = (world.listeners[me].as_ref(), observer.clone());
                scope.spawn(move || match me {
                    OWNER => connect_observed(cfg, identity, listener, observer),
                    _ => connect(cfg, identity, listener),
                })
            })
            .collect();
        loop {
            match heard.recv_timeout(LONG) {
                Ok(Event::Joining { missing, .. }) if missing == [PartyId(129)] => break,
                // On a busy host other members may be late, too.
                Ok(Event::Joining { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(running.iter().all(|member| !member.is_finished()), "somebody has joined without client 129");
        let last = ok(connect(&cfg, &bob, None));
        for member in running {
            let net = ok(member.join().unwrap_or_else(|_| panic!("a member panicked")));
            assert_eq!(net.session(), last.session());
        }
    });
}
