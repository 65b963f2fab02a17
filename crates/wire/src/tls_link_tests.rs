use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::{Duration, Instant},
};

use rustls::{ClientConnection, ServerConnection, Stream, crypto::CryptoProvider, pki_types::ServerName};

use super::*;
use hushwire_machine::{Channel, NetError, PartyId};

use crate::{
    Identity,
    tcp::Guard,
    tls::{TlsSide, provider},
};

const STALL: Duration = Duration::from_secs(20);
static GOES_ON: AtomicBool = AtomicBool::new(false);

fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

fn guard() -> Guard<'static> {
    Guard { deadline: Instant::now() + STALL, given_up: &GOES_ON, out: None, stop: None }
}

fn identities() -> [Identity; 2] {
    ["a", "b"].map(|name| ok(Identity::generate(name)))
}

/// Two ends of a connection on this host.
fn sockets() -> (TcpStream, TcpStream) {
    let listener = ok(TcpListener::bind("127.0.0.1:0"));
    let dialled = ok(TcpStream::connect(ok(listener.local_addr())));
    (dialled, ok(listener.accept()).0)
}

fn ours(socket: TcpStream) -> TcpStream {
    ok(socket.set_nonblocking(true));
    socket
}

/// Two links of this crate, with the ciphers and limits of `provider`.
fn pair(provider: &CryptoProvider) -> (TlsLink, TlsLink) {
    let [a, b] = identities();
    let (dialled, heard) = sockets();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| {
            let side = TlsSide::with_provider(&b, provider.clone());
            ok(side.accept(ours(heard), vec![a.pin()], &guard(), &[])).0
        });
        let side = TlsSide::with_provider(&a, provider.clone());
        let (link, _) = ok(side.dial(ours(dialled), b.pin(), &guard()));
        (link, accepted.join().unwrap_or_else(|_| panic!("the listener panicked")))
    })
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}

/// The error of rustls about `wire`, which `tx` sends in place of its own records.
fn refused(tx: &mut TlsLink, rx: TlsLink, wire: &[u8], wanted: usize) -> Error {
    ok(tx.socket.write_all(wire));
    let mut channel = Channel::new(0, None, Some((PartyId(1), Box::new(rx))), STALL);
    let refused = channel.recv("layer 3", &mut vec![0; wanted]);
    let again = channel.recv("layer 4", &mut [0]);
    assert!(matches!(again, Err(NetError::Dropped { .. })), "{again:?}");
    match refused {
        Err(NetError::Tls { peer: Some(PartyId(1)), step, source }) if step == "layer 3" => {
            source.get::<Error>().unwrap_or_else(|| panic!("{source} is not of rustls")).clone()
        }
        other => panic!("{other:?}"),
    }
}

/// The records that `tx` would send for `plain`, one by one.
fn records(tx: &mut TlsLink, plain: &[u8]) -> Vec<Vec<u8>> {
    assert_eq!(ok(tx.fill(plain)), plain.len());
    let mut rest = &tx.out[..tx.waiting.end];
    let mut records = Vec::new();
    while let Some(bytes) = ok(record_bytes(rest)) {
        let (record, others) = rest.split_at(bytes);
        records.push(record.to_vec());
        rest = others;
    }
    tx.waiting.end = 0;
    records
}

#[test]
fn lengths_on_the_wire() {
    let (mut tx, _rx) = pair(&provider());
    for (bytes, wire) in [
        (1, vec![23]),
        (RECORD_BYTES, vec![16_406]),
        (RECORD_BYTES + 1, vec![16_406, 23]),
        (4 * RECORD_BYTES, vec![16_406; 4]),
    ] {
        let lengths: Vec<_> = records(&mut tx, &pattern(bytes)).iter().map(Vec::len).collect();
        assert_eq!(lengths, wire);
    }
}

#[test]
fn tampered_records_end_the_link() {
    for at in [5, 1000, 16_405] {
        for wanted in [1, 16_384, 20_000] {
            let (mut tx, rx) = pair(&provider());
            let mut wire = records(&mut tx, &pattern(20_000)).concat();
            wire[at] ^= 0x40;
            assert_eq!(refused(&mut tx, rx, &wire, wanted), Error::DecryptError);
        }
    }
}

#[test]
fn reordered_replayed_and_dropped_records_end_the_link() {
    for order in [vec![1, 0, 2], vec![0, 0, 1], vec![0, 2], vec![1, 2]] {
        let (mut tx, rx) = pair(&provider());
        let records = records(&mut tx, &pattern(3 * RECORD_BYTES));
        let wire: Vec<u8> = order.iter().flat_map(|&i| records[i].clone()).collect();
        assert_eq!(refused(&mut tx, rx, &wire, 3 * RECORD_BYTES), Error::DecryptError, "{order:?}");
    }
}

#[test]
fn a_cut_is_a_closed_link() {
    for cut in [0, 3, 16_405, 16_406, 20_000] {
        let (mut tx, rx) = pair(&provider());
        let wire = records(&mut tx, &pattern(2 * RECORD_BYTES)).concat();
        ok(tx.socket.write_all(&wire[..cut]));
        drop(tx);
        let mut channel = Channel::new(0, None, Some((PartyId(1), Box::new(rx))), STALL);
        let e = channel.recv("cut", &mut vec![0; 2 * RECORD_BYTES]);
        assert!(matches!(e, Err(NetError::Closed { peer: Some(PartyId(1)), .. })), "{cut}: {e:?}");
    }
}

#[test]
fn what_is_no_data_of_ours_ends_the_link() {
    let sealed: [(ContentType, &[u8]); 7] = [
        (ContentType::Alert, &[2, 20]),
        (ContentType::Alert, &[1]),
        (ContentType::Handshake, &[24, 0, 0, 1, 2]),
        (ContentType::Handshake, &[24, 0, 0, 1, 0, 24, 0, 0, 1, 0]),
        (ContentType::Handshake, &[4, 0, 0, 0]),
        (ContentType::Handshake, &[]),
        (ContentType::ChangeCipherSpec, &[1]),
    ];
    for (content, message) in sealed {
        for wanted in [1, 100] {
            let (mut tx, rx) = pair(&provider());
            ok(tx.put(content, message));
            let wire = tx.out[..tx.waiting.end].to_vec();
            let e = refused(&mut tx, rx, &wire, wanted);
            assert_ne!(e, Error::DecryptError, "{content:?} {message:?}");
        }
    }
    for plain in
        [&[21, 3, 3, 0, 2, 1, 0][..], &[22, 3, 3, 0, 1, 0], &[23, 3, 3, 0xff, 0xff], b"GET / HTTP/1.1"]
    {
        let (mut tx, rx) = pair(&provider());
        assert_ne!(refused(&mut tx, rx, plain, 1), Error::DecryptError);
    }
}

/// Records without data, each with the error for too many of them.
fn idle_talk() -> [(ContentType, &'static [u8], PeerMisbehaved); 3] {
    [
        (ContentType::Handshake, &KEY_UPDATE, PeerMisbehaved::TooManyKeyUpdateRequests),
        (ContentType::ApplicationData, &[], PeerMisbehaved::TooManyEmptyFragments),
        // user_canceled.
        (ContentType::Alert, &[1, 90], PeerMisbehaved::TooManyWarningAlertsReceived),
    ]
}

/// Sends records without data.
fn talk(tx: &mut TlsLink, content: ContentType, message: &[u8], times: u8) {
    for _ in 0..times {
        match content {
            ContentType::Handshake => ok(tx.update()),
            _ => ok(tx.put(content, message)),
        }
    }
}

#[test]
fn records_without_data_end_the_link() {
    for (content, message, too_many) in idle_talk() {
        for wanted in [1, 20_000] {
            let (mut tx, rx) = pair(&provider());
            talk(&mut tx, content, message, IDLE_RECORDS + 1);
            let wire = tx.out[..tx.waiting.end].to_vec();
            assert_eq!(refused(&mut tx, rx, &wire, wanted), too_many.clone().into(), "{content:?}");
        }
    }
    // All kinds are counted together.
    let (mut tx, rx) = pair(&provider());
    for (content, message, _) in idle_talk() {
        talk(&mut tx, content, message, IDLE_RECORDS / 3 + 1);
    }
    let wire = tx.out[..tx.waiting.end].to_vec();
    assert!(matches!(refused(&mut tx, rx, &wire, 1), Error::PeerMisbehaved(_)));
}

#[test]
fn a_few_records_without_data_do_no_harm_and_give_the_caller_a_look_at_its_limits() {
    for (content, message, _) in idle_talk() {
        let (mut tx, mut rx) = pair(&provider());
        for round in 0..5_u8 {
            talk(&mut tx, content, message, IDLE_RECORDS);
            ok(tx.put(ContentType::ApplicationData, &[round]));
            assert!(ok(tx.flush()));
            let mut byte = [9];
            let mut looks = 0;
            while ok(rx.try_recv(&mut byte)) == 0 {
                looks += 1;
                let Wait::Fd(_) = Rx::wait_on(&rx) else { continue };
                ok(guard().wait(rx.as_fd(), rustix::event::PollFlags::IN));
            }
            assert_eq!(byte, [round], "{content:?}");
            assert!(looks >= usize::from(IDLE_RECORDS / IDLE_AT_ONCE), "{content:?}: {looks}");
        }
    }
}

#[test]
fn a_sender_in_good_order_says_that_it_ends() {
    let ends = |end: fn(Channel)| {
        let (tx, mut rx) = pair(&provider());
        end(Channel::new(0, Some((PartyId(1), Box::new(tx))), None, STALL));
        let mut into = vec![0; 1 << 20];
        let e = loop {
            match guard().recv(&mut rx, &mut into[..1]) {
                Ok(()) => {}
                Err(e) => break e,
            }
        };
        assert_eq!(e.kind(), ErrorKind::UnexpectedEof);
        rx.closed
    };
    assert!(ends(drop));
    assert!(ends(|mut channel| ok(channel.send("last", &pattern(70_000)))));
    // A message that is not complete.
    assert!(!ends(|mut channel| ok(channel.start("half", &pattern(100)))));
    assert!(!ends(|mut channel| drop(channel.unfit("a toss"))));
}

#[test]
fn an_error_stays() {
    let (mut tx, mut rx) = pair(&provider());
    let good = records(&mut tx, b"good").concat();
    ok(tx.socket.write_all(&[0; 5]));
    ok(tx.socket.write_all(&good));
    while rx.try_recv(&mut [0; 4]).is_ok() {}
    assert!(rx.try_recv(&mut [0; 4]).is_err() && rx.try_send(&[0]).is_err());
}

#[test]
fn every_cipher_carries() {
    for suite in provider().cipher_suites {
        let (tx, rx) = pair(&CryptoProvider { cipher_suites: vec![suite], ..provider() });
        let mut tx = Channel::new(0, Some((PartyId(1), Box::new(tx))), None, STALL);
        let mut rx = Channel::new(0, None, Some((PartyId(0), Box::new(rx))), STALL);
        thread::scope(|scope| {
            let out = pattern(300_000);
            scope.spawn(|| ok(tx.send("long", &pattern(300_000))));
            // The pieces have odd lengths, so that all ways of opening are used.
            for piece in out.chunks(70_001) {
                let mut into = vec![0; piece.len()];
                ok(rx.recv("long", &mut into));
                assert!(into == piece, "{suite:?}");
            }
        });
    }
}

/// Tests this crate's link against the record layer of rustls: 1 MiB each way, and again after each
/// key update that either end requests.
fn interoperates<C, S>(mut link: TlsLink, mut peer: C, mut socket: TcpStream, refresh: impl Fn(&mut C) + Send)
where
    C: std::ops::DerefMut<Target = rustls::ConnectionCommon<S>> + Send,
    S: rustls::SideData,
{
    let rounds = 4;
    let bytes = 1 << 20;
    thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..rounds {
                let mut into = vec![0; bytes];
                ok(Stream::new(&mut peer, &mut socket).read_exact(&mut into));
                assert!(into == pattern(bytes));
                // The peer also requests an update of this link's key.
                refresh(&mut peer);
                ok(Stream::new(&mut peer, &mut socket).write_all(&into));
            }
            peer.send_close_notify();
            ok(peer.complete_io(&mut socket));
            assert_eq!(ok(Stream::new(&mut peer, &mut socket).read(&mut [0])), 0);
        });
        for round in 0..rounds {
            ok(guard().send(&mut link, &pattern(bytes)));
            let mut into = vec![0; bytes];
            ok(guard().recv(&mut link, &mut into));
            assert!(into == pattern(bytes));
            assert!(link.owes_update, "round {round}: the peer asked");
        }
        let end = guard().recv(&mut link, &mut [0]);
        assert!(end.is_err_and(|e| e.kind() == ErrorKind::UnexpectedEof) && link.closed);
        // rustls accepts that this link ends in good order.
        Tx::close(&mut link);
    });
}

#[test]
fn we_dial_rustls() {
    let [a, b] = identities();
    let (dialled, mut heard) = sockets();
    let (link, peer, heard) = thread::scope(|scope| {
        let peer = scope.spawn(|| {
            let side = TlsSide::new(&b);
            let config = ok(side.server(side.pinned(vec![a.pin()])));
            let mut peer = ok(ServerConnection::new(Arc::new(config)));
            ok(peer.complete_io(&mut heard));
            (peer, heard)
        });
        let (link, _) = ok(TlsSide::new(&a).dial(ours(dialled), b.pin(), &guard()));
        let (peer, heard) = peer.join().unwrap_or_else(|_| panic!("rustls panicked"));
        (link, peer, heard)
    });
    interoperates(link, peer, heard, |peer| ok(peer.refresh_traffic_keys()));
}

#[test]
fn rustls_dials_us() {
    let [a, b] = identities();
    let (mut dialled, heard) = sockets();
    let (link, peer, dialled) = thread::scope(|scope| {
        let peer = scope.spawn(|| {
            let side = TlsSide::new(&a);
            let config = ok(side.client(side.pinned(vec![b.pin()])));
            let mut peer =
                ok(ClientConnection::new(Arc::new(config), ok(ServerName::try_from("hushwire.invalid"))));
            // The first data may come together with the end of the handshake.
            ok(peer.complete_io(&mut dialled));
            (peer, dialled)
        });
        let (link, shown) = ok(TlsSide::new(&b).accept(ours(heard), vec![a.pin()], &guard(), &[]));
        assert_eq!(shown.pin, a.pin());
        let (peer, dialled) = peer.join().unwrap_or_else(|_| panic!("rustls panicked"));
        (link, peer, dialled)
    });
    interoperates(link, peer, dialled, |peer| ok(peer.refresh_traffic_keys()));
}

/// Data that comes together with the end of the handshake, whole records or part of one, is not
/// lost at the hand-over.
#[test]
fn early_data_is_carried_over() {
    for kept in [0, 1, 30, 20_000] {
        let [a, b] = identities();
        let (mut dialled, heard) = sockets();
        thread::scope(|scope| {
            scope.spawn(|| {
                let side = TlsSide::new(&a);
                let config = ok(side.client(side.pinned(vec![b.pin()])));
                let mut peer =
                    ok(ClientConnection::new(Arc::new(config), ok(ServerName::try_from("hushwire.invalid"))));
                ok(peer.write_tls(&mut dialled));
                while peer.is_handshaking() {
                    ok(peer.read_tls(&mut dialled));
                    ok(peer.process_new_packets());
                }
                ok(peer.writer().write_all(&pattern(40_000)));
                let mut wire = Vec::new();
                while peer.wants_write() {
                    ok(peer.write_tls(&mut wire));
                }
                let first = wire.len() - kept;
                ok(dialled.write_all(&wire[..first]));
                thread::sleep(Duration::from_millis(20));
                ok(dialled.write_all(&wire[first..]));
            });
            let (mut link, _) = ok(TlsSide::new(&b).accept(ours(heard), vec![a.pin()], &guard(), &[]));
            let mut into = vec![0; 40_000];
            for piece in into.chunks_mut(999) {
                ok(guard().recv(&mut link, piece));
            }
            assert!(into == pattern(40_000), "{kept}");
        });
    }
}

#[test]
fn short_lived_keys_both_ways() {
    let (mut a, mut b) = pair(&provider());
    (a.key_records, b.key_records) = (3, 2);
    let lengths =
        |tx: &mut TlsLink| records(tx, &pattern(5 * RECORD_BYTES)).iter().map(Vec::len).collect::<Vec<_>>();
    let (mut c, _d) = pair(&provider());
    c.key_records = 3;
    // Every third record under a key is the update that ends it.
    assert_eq!(lengths(&mut c), [16_406, 16_406, 27, 16_406, 16_406, 27, 16_406]);
    thread::scope(|scope| {
        let go = |mut link: TlsLink| {
            for bytes in [1, 100_000, 16_384, 0, 65_536] {
                ok(guard().send(&mut link, &pattern(bytes)));
                let mut into = vec![0; bytes];
                ok(guard().recv(&mut link, &mut into));
                assert!(into == pattern(bytes), "{bytes}");
            }
        };
        scope.spawn(move || go(a));
        go(b);
    });
}
