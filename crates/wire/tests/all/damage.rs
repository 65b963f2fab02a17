//! Bytes are cut off, replaced or inserted between two parties, on each connection and at every
//! message. No party hangs or panics, and an error always names the other party.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::common::{World, ok, pattern};
use hushwire_machine::{Net, NetError, PartyId, Reason};
use hushwire_wire::{TransportKind, connect};

/// Party 0 dials its control link first, then its lane.
const CONTROL: usize = 0;
const LANE: usize = 1;
const MESSAGES: u8 = 5;
const MESSAGE_BYTES: usize = 200;
/// A limit that is far longer than a run takes, even on a busy host.
const LIMIT: Duration = Duration::from_secs(16);

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// The connection ends here, as when a host disappears.
    Cut,
    /// 64 bytes are replaced.
    Garble,
    /// 64 bytes are inserted.
    Insert,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    /// The number of party 0's connection, in the order in which it dials.
    connection: usize,
    /// The number of bytes that party 0 sends before the fault.
    at: usize,
    kind: Kind,
}

/// Runs a proxy between party 0 and party 1's port, until `over`. Counts how often party 0 dials.
fn proxy(
    listener: &TcpListener,
    to: &str,
    fault: Fault,
    hit: &AtomicBool,
    dialled: &AtomicUsize,
    over: &AtomicBool,
) {
    thread::scope(|scope| {
        loop {
            let (from, _) = ok(listener.accept());
            if over.load(Ordering::SeqCst) {
                return;
            }
            let mine = dialled.fetch_add(1, Ordering::SeqCst) == fault.connection;
            let Ok(onward) = TcpStream::connect(to) else { continue };
            let (back, ahead) = (ok(onward.try_clone()), ok(from.try_clone()));
            scope.spawn(move || carry(back, ahead, |_, _| true));
            scope.spawn(move || {
                carry(from, onward, |seen, bytes| {
                    let Some(at) = fault.at.checked_sub(seen).filter(|&at| mine && at < bytes.len()) else {
                        return true;
                    };
                    hit.store(true, Ordering::SeqCst);
                    match fault.kind {
                        Kind::Cut => bytes.truncate(at),
                        Kind::Garble => bytes[at..].iter_mut().take(64).for_each(|byte| *byte ^= 0xa5),
                        Kind::Insert => drop(bytes.splice(at..at, [0xa5; 64])),
                    }
                    fault.kind != Kind::Cut
                });
            });
        }
    });
}

/// Copies until one end closes or `edit` returns false; `edit` gets the number of bytes before.
fn carry(mut from: TcpStream, mut to: TcpStream, mut edit: impl FnMut(usize, &mut Vec<u8>) -> bool) {
    let (mut seen, mut buffer) = (0, [0; 4096]);
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let mut bytes = buffer[..n].to_vec();
        let go_on = edit(seen, &mut bytes);
        seen += n;
        if to.write_all(&bytes).is_err() || !go_on {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

/// Sends messages both ways; then each party waits for a message that does not come before the
/// other has ended.
fn party(net: &mut Net, wait: bool) -> Result<(), NetError> {
    let me = net.me().0;
    let peer = Some(PartyId(1 - me));
    let mut channel = net.channel(0, peer, peer)?;
    let mut into = vec![0; MESSAGE_BYTES];
    for _ in 0..MESSAGES {
        channel.exchange("message", &pattern(me, 0, MESSAGE_BYTES), &mut into)?;
    }
    if wait { channel.recv("wait", &mut into) } else { Ok(()) }
}

/// Returns both parties' results, and whether the fault met a byte of links that party 0 did not
/// dial again.
fn run(transport: TransportKind, fault: Fault, wait: bool) -> (Vec<Result<(), NetError>>, bool) {
    let mut world = World::new(2, false, transport, 1, "127.0.0.1");
    let listener = ok(TcpListener::bind("127.0.0.1:0"));
    let ours = ok(listener.local_addr()).to_string();
    let behind = world.configs[0].peers[0].address.replace(ours.clone()).unwrap_or_default();
    for cfg in &mut world.configs {
        (cfg.stall, cfg.connect_timeout) = (LIMIT / 2, LIMIT / 2);
    }
    let (hit, over, dialled) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| proxy(&listener, &behind, fault, &hit, &dialled, &over));
        let begun = Instant::now();
        let parties: Vec<_> = (0..2)
            .map(|me| {
                let world = &world;
                scope.spawn(move || {
                    let listener = world.listeners[me].as_ref();
                    let mut net = connect(&world.configs[me], &world.identities[me], listener)?;
                    party(&mut net, wait)
                })
            })
            .collect();
        let results = parties.into_iter().map(|p| p.join().unwrap_or_else(|_| panic!("{fault:?}: a panic")));
        let results: Vec<_> = results.collect();
        assert!(begun.elapsed() < LIMIT, "{fault:?} over {transport}: {:?}", begun.elapsed());
        let dialled = dialled.load(Ordering::SeqCst);
        over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&ours));
        for (me, result) in results.iter().enumerate() {
            let other = PartyId(1 - me as u8);
            // A party is told by the other party what it is accused of.
            let accused = |e: &NetError| {
                matches!(e, NetError::Aborted { by, .. } if *by == other)
                    || matches!(e, NetError::Duplicate { .. })
            };
            let fair = result.as_ref().err().is_none_or(|e| e.peer() == Some(other) || accused(e));
            assert!(fair, "{fault:?} over {transport}, party {me}: {result:?}");
        }
        // A handshake that was cut off is repeated on a link without the fault.
        (results, hit.load(Ordering::SeqCst) && (!wait || dialled <= 2))
    })
}

/// Runs each of `faults`, several at once. `judge` gets the results of those that met a byte; there
/// must be at least one.
fn all(
    transport: TransportKind,
    faults: impl IntoIterator<Item = Fault>,
    wait: bool,
    judge: impl Fn(Fault, &[Result<(), NetError>]) + Sync,
) {
    let mut faults = faults.into_iter().peekable();
    let (mut hits, mut runs) = (0, 0);
    while faults.peek().is_some() {
        let few: Vec<_> = faults.by_ref().take(18).collect();
        thread::scope(|scope| {
            let running: Vec<_> =
                few.iter().map(|&fault| (fault, scope.spawn(move || run(transport, fault, wait)))).collect();
            for (fault, run) in running {
                runs += 1;
                let (results, hit) = run.join().unwrap_or_else(|_| panic!("{fault:?} over {transport}"));
                if hit {
                    hits += 1;
                    judge(fault, &results);
                }
            }
        });
    }
    // After the handshake nothing is dialled again, so most faults must count.
    assert!(if wait { 2 * hits >= runs } else { hits > 0 }, "{hits} of {runs} faults met a byte");
}

fn faults(connection: usize, at: impl IntoIterator<Item = usize>) -> impl Iterator<Item = Fault> {
    let kinds = [Kind::Cut, Kind::Garble, Kind::Insert];
    at.into_iter().flat_map(move |at| kinds.map(|kind| Fault { connection, at, kind }))
}

/// Whether the party ended before its time-out.
fn in_time(result: &Result<(), NetError>) -> bool {
    !matches!(result, Ok(()) | Err(NetError::Stalled { .. } | NetError::Aborted { why: Reason::Stalled, .. }))
}

/// The offset at which party 0's data begins on its lane over TLS, up to the few bytes by which
/// signatures differ.
fn tls_data() -> usize {
    let far = |at| Fault { connection: LANE, at, kind: Kind::Garble };
    let (mut low, mut high) = (0, 20_000);
    while high - low > 1 {
        let middle = (low + high) / 2;
        // A party that ends first may leave the end's record unsent, and a fault in it then meets
        // nothing.
        let met = (0..3).any(|_| run(TransportKind::TcpTls, far(middle), false).1);
        if met { low = middle } else { high = middle }
    }
    high - usize::from(MESSAGES) * TLS_RECORD_BYTES - TLS_END_BYTES
}

/// The bytes of a message's record.
const TLS_RECORD_BYTES: usize = MESSAGE_BYTES + 22;
/// The bytes of a record of a hello or a notice.
const TLS_HELLO_BYTES: usize = 128 + 22;
const TLS_NOTICE_BYTES: usize = 64 + 22;
/// The bytes of the close_notify record, which ends a lane in good order.
const TLS_END_BYTES: usize = 2 + 22;
/// The difference between the handshakes of two sessions in bytes. It includes the record of the
/// end, which the search may not meet: on a busy machine, parties may end without it.
const MARGIN: usize = 16 + TLS_END_BYTES;

#[test]
fn greetings_over_tls() {
    let at = |connection| faults(connection, [0, 4, 100, 700, 1300, 1900]);
    all(TransportKind::TcpTls, at(CONTROL).chain(at(LANE)), false, |_, _| {});
}

#[test]
fn greetings_over_tcp() {
    for connection in [CONTROL, LANE] {
        all(
            TransportKind::TcpInsecure,
            faults(connection, [0, 7, 9, 11, 30, 95, 105, 127]),
            false,
            |fault, results| {
                // Bytes that are not a hello count as a stranger's, and the peer dials again. Both
                // ends refuse a hello that differs.
                assert_eq!(results[0].is_ok(), results[1].is_ok(), "{fault:?}: {results:?}");
                // The last byte belongs to the nonce, so its change looks like another process.
                let differs = fault.kind == Kind::Garble && [11, 127].contains(&fault.at);
                assert_eq!(results[0].is_err(), differs, "{fault:?}: {results:?}");
            },
        );
    }
}

#[test]
fn every_message_over_tls() {
    let data = tls_data();
    let hello = [data - TLS_HELLO_BYTES, data - TLS_HELLO_BYTES / 2];
    all(TransportKind::TcpTls, faults(LANE, hello), false, |_, _| {});
    let within = [0, 5, TLS_RECORD_BYTES / 2, TLS_RECORD_BYTES - 2 * MARGIN];
    let at =
        (0..usize::from(MESSAGES)).flat_map(|i| within.map(|k| data + MARGIN + i * TLS_RECORD_BYTES + k));
    all(TransportKind::TcpTls, faults(LANE, at), false, |fault, results| {
        // Party 0 may have all it needs before the other party finds the last message damaged.
        assert!(in_time(&results[1]), "{fault:?}: {results:?}");
    });
}

#[test]
fn every_message_over_tcp() {
    // Nothing authenticates plain bytes: changed bytes arrive changed, and missing bytes are
    // missed.
    let at =
        (0..usize::from(MESSAGES)).flat_map(|i| [0, 100, 199].map(|k| HELLO_BYTES + i * MESSAGE_BYTES + k));
    all(TransportKind::TcpInsecure, faults(LANE, at), false, |fault, results| {
        let expected = if fault.kind == Kind::Cut { in_time(&results[1]) } else { results[1].is_ok() };
        assert!(expected, "{fault:?}: {results:?}");
    });
}

const HELLO_BYTES: usize = 128;

#[test]
fn the_control_link_over_tcp() {
    let at = [0, 1, 32, 63, 64, 122].map(|k| HELLO_BYTES + k);
    all(TransportKind::TcpInsecure, faults(CONTROL, at), true, |fault, results| {
        let why = format!("{fault:?}: {results:?}");
        let [zero, one] = results else { panic!("{why}") };
        // Party 1 detects the damage itself and reports it; party 0 is told what it is accused of.
        let seen = match fault.kind {
            // Party 1 waits for party 0 to come again, until it is told that party 0 has joined.
            Kind::Cut => {
                matches!(one, Err(NetError::Dead { silent_for: None, .. } | NetError::Absent { .. }))
            }
            _ => matches!(one, Err(NetError::Malformed { msg: "notice", .. })),
        };
        assert!(seen, "{why}");
        assert!(in_time(zero), "{why}");
    });
}

#[test]
fn the_control_link_over_tls() {
    let data = tls_data();
    let at = [0, 40, TLS_NOTICE_BYTES].map(|k| data + MARGIN + k);
    all(TransportKind::TcpTls, faults(CONTROL, at), true, |fault, results| {
        assert!(results.iter().all(in_time), "{fault:?}: {results:?}");
    });
}
