//! Strangers that find a port do not keep a session's members out, even if they come from the
//! members' own address.
#![cfg(unix)]

use std::{
    io::{ErrorKind, Read, Write},
    net::SocketAddr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::common::{World, ok};
use hushwire_wire::TransportKind;
use socket2::{Domain, SockAddr, Socket, Type};

/// Without strangers a session takes a fraction of a second.
const LIMIT: Duration = Duration::from_secs(20);
/// The number of connections of each kind at a time.
const STRANGERS: usize = 300;

/// The behaviour of strangers after they are connected.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// They do nothing.
    Idle,
    /// They reset the connection at once.
    Resets,
    /// They send a greeting, one byte at a time.
    Drips,
    /// They send a whole first record, and nothing after it.
    Record,
}

fn dial(address: SocketAddr) -> Option<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).ok()?;
    socket.set_nonblocking(true).ok()?;
    // The connection is established later, or not at all.
    let _ = socket.connect(&SockAddr::from(address));
    Some(socket)
}

/// The beginning of a TLS handshake record of 512 bytes.
fn record() -> Vec<u8> {
    let mut record = vec![1; 5 + 512];
    record[..9].copy_from_slice(&[22, 3, 1, 2, 0, 1, 0, 1, 252]);
    record
}

/// Keeps strangers connecting until `over`.
fn flood(address: SocketAddr, kind: Kind, came: &AtomicUsize, over: &AtomicBool) {
    let mut strangers: Vec<(Socket, usize)> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        while strangers.len() < STRANGERS {
            let Some(socket) = dial(address) else { break };
            came.fetch_add(1, Ordering::Relaxed);
            strangers.push((socket, 0));
        }
        thread::sleep(Duration::from_millis(20));
        strangers.retain_mut(|(socket, said)| {
            match kind {
                Kind::Resets => {
                    let _ = socket.set_linger(Some(Duration::ZERO));
                    return false;
                }
                Kind::Drips => {
                    let next = record().get(*said..=*said).map_or(Ok(0), |byte| socket.write(byte));
                    *said += next.unwrap_or(0);
                }
                Kind::Record if *said == 0 => *said += socket.write(&record()).unwrap_or(0),
                Kind::Idle | Kind::Record => {}
            }
            // The connection goes on until it is evicted.
            matches!(socket.read(&mut [0; 64]), Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected))
        });
    }
}

#[test]
fn a_session_comes_about_among_strangers() {
    for kind in [Kind::Idle, Kind::Resets, Kind::Drips, Kind::Record] {
        let world = World::new(3, true, TransportKind::TcpTls, 4, "127.0.0.1");
        let address = ok(world.configs[1].peers[0].address.clone().unwrap_or_default().parse());
        let (came, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| flood(address, kind, &came, &over));
            // They are in the queue before party 0 looks at it.
            while came.load(Ordering::Relaxed) < STRANGERS {
                thread::sleep(Duration::from_millis(10));
            }
            let begun = Instant::now();
            let nets = world.connect();
            let took = begun.elapsed();
            over.store(true, Ordering::Relaxed);
            println!("{kind:?}: {took:?} with {} strangers", came.load(Ordering::Relaxed));
            for net in nets {
                assert_eq!(ok(net).peers().len(), 3, "{kind:?}");
            }
            assert!(took < LIMIT, "{kind:?}: {took:?}");
        });
    }
}
