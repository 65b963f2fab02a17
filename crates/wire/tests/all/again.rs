//! Members that are lost before all have joined and come again, and strangers that answer in their
//! place.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use crate::common::{World, err, hello, ok};
use hushwire_machine::{NetError, PartyId};
use hushwire_wire::{Event, Identity, Listener, Observer, TransportKind, connect, connect_observed};

const LONG: Duration = Duration::from_secs(30);
const INSECURE: TransportKind = TransportKind::TcpInsecure;

/// A process of party 1 that has joined at `address`, and dies when this is dropped.
fn first_process(address: &str) -> Vec<TcpStream> {
    let say = |lane| {
        let mut stream = ok(TcpStream::connect(address));
        ok(stream.write_all(&hello(lane, 1, 1)));
        let mut answer = [0; 128];
        ok(stream.read_exact(&mut answer));
        assert_eq!(answer[99], 0, "it is not let in");
        stream
    };
    [u16::MAX, 0].map(say).into()
}

/// The first process dies before the second one comes, at the same time, or a moment later.
#[test]
fn a_party_that_is_started_again_joins() {
    for after in [None, Some(Duration::ZERO), Some(Duration::from_millis(700))] {
        let world = World::new(3, true, INSECURE, 1, "127.0.0.1");
        let address = world.configs[1].peers[0].address.clone().unwrap_or_default();
        thread::scope(|scope| {
            let world = &world;
            let mut joining: Vec<_> = [0, 3].map(|me| scope.spawn(move || world.join(me))).into();
            let first = first_process(&address);
            match after {
                None => {
                    drop(first);
                    thread::sleep(Duration::from_millis(300));
                    joining.push(scope.spawn(move || world.join(1)));
                }
                Some(after) => {
                    joining.push(scope.spawn(move || world.join(1)));
                    thread::sleep(after);
                    drop(first);
                }
            }
            thread::sleep(Duration::from_millis(300));
            joining.push(scope.spawn(move || world.join(2)));
            let nets = joining.into_iter().map(|net| net.join().unwrap_or_else(|_| panic!("it panicked")));
            let ids: Vec<_> = nets.map(|net| ok(net).session()).collect();
            assert!(ids.iter().all(|id| id.is_some() && *id == ids[0]), "{after:?}: {ids:?}");
        });
    }
}

/// A stranger at the address of party 1 ends nothing. It is reported, and the right party joins
/// when it comes.
#[test]
fn whoever_answers_in_place_of_a_party_is_seen_and_waited_out() {
    #[derive(Clone, Copy, Debug)]
    enum Holder {
        Nobody,
        Mute,
        OtherKey,
        OtherProgram,
        /// An alert in the clear, like that of a party that does not list this certificate or
        /// considers it expired.
        Alert(u8),
    }
    for (holder, words) in [
        (Holder::Nobody, "onnection refused"),
        (Holder::Mute, "it takes the connection and does not greet"),
        (Holder::OtherKey, "presents another key than the pinned one"),
        (Holder::OtherProgram, "TLS failed during handshake"),
        (Holder::Alert(45), "TLS failed during handshake"),
        (Holder::Alert(46), "TLS failed during handshake"),
    ] {
        let mut world = World::new(2, false, TransportKind::TcpTls, 1, "127.0.0.1");
        let (address, held) = world.absent(1);
        let (hears, heard) = mpsc::channel();
        let observer: Observer = Arc::new(move |event: &Event| {
            let _ = hears.send(event.to_string());
        });
        thread::scope(|scope| {
            let world = &world;
            let waits = scope.spawn(move || {
                let listener = world.listeners[0].as_ref();
                connect_observed(&world.configs[0], &world.identities[0], listener, observer)
            });
            let until_said = || while !ok(heard.recv_timeout(LONG)).contains(words) {};
            match holder {
                Holder::Nobody => until_said(),
                Holder::Mute => {
                    let _listens = ok(TcpListener::bind(&address));
                    until_said();
                }
                Holder::OtherKey => {
                    let (listener, other) = (ok(Listener::bind(&address)), ok(Identity::generate("other")));
                    let mut cfg = world.configs[1].clone();
                    cfg.connect_timeout = Duration::from_secs(5);
                    // The stranger is refused and ends; its own error says so.
                    let e = err(connect(&cfg, &other, Some(&listener)));
                    assert!(matches!(e, NetError::Unlisted { .. }), "{e}");
                    drop(listener);
                    let listener = ok(Listener::bind(&address));
                    cfg.peers[0].pin = world.identities[1].pin();
                    let _ = connect(&cfg, &other, Some(&listener));
                    until_said();
                }
                Holder::OtherProgram | Holder::Alert(_) => {
                    let alert = |what| [21, 3, 3, 0, 2, 2, what];
                    let says = match holder {
                        Holder::Alert(what) => alert(what).to_vec(),
                        _ => b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(),
                    };
                    let listens = ok(TcpListener::bind(&address));
                    for _ in 0..3 {
                        let (mut stream, _) = ok(listens.accept());
                        ok(stream.write_all(&says));
                        let _ = stream.read(&mut [0; 1024]);
                    }
                    until_said();
                }
            }
            assert!(!waits.is_finished(), "{holder:?} ended it");
            let listener = ok(Listener::bind(&address));
            let last = ok(connect(&world.configs[1], &world.identities[1], Some(&listener)));
            let net = ok(waits.join().unwrap_or_else(|_| panic!("it panicked")));
            assert_eq!(net.session(), last.session(), "{holder:?}");
        });
        drop(held);
    }
}

/// The final error reports the observation and does not suspect the network.
#[test]
fn the_error_in_the_end_says_what_was_seen() {
    let mut world = World::new(2, false, TransportKind::TcpTls, 1, "127.0.0.1");
    let (address, _held) = world.absent(1);
    world.configs[0].connect_timeout = Duration::from_secs(3);
    let said = err(world.join(0)).to_string();
    assert!(said.contains("refused") && said.contains("start it, or see its own output"), "{said}");
    assert!(!said.contains("firewall"), "{said}");
    let listens = ok(TcpListener::bind(&address));
    let said = err(world.join(0)).to_string();
    assert!(said.contains("takes the connection and does not greet") && !said.contains("firewall"), "{said}");
    drop(listens);
    assert!(said.contains(&PartyId(1).to_string()), "{said}");
}
