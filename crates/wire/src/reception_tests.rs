use super::*;
use crate::{HandOver, Identity, PartyId, PeerConfig, SessionConfig, SessionId, connect, tls::TlsSide};
use proptest::prelude::*;
use rustls::{ClientConnection, pki_types::ServerName};
use std::{
    io::{ErrorKind, Read},
    net::SocketAddr,
    sync::mpsc,
    time::Instant,
};

fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

/// The first record of a dialler whose greeting has this name.
fn greeting(name: Option<&str>) -> Vec<u8> {
    let side = TlsSide::new(&ok(Identity::generate("dialler")));
    let mut config = ok(side.client(side.pinned(vec![])));
    config.enable_sni = name.is_some();
    let name = ok(ServerName::try_from(name.unwrap_or("none.invalid").to_owned()));
    let mut record = vec![];
    ok(ok(ClientConnection::new(config.into(), name)).write_tls(&mut record));
    record
}

#[test]
fn a_greeting_has_one_name_or_none() {
    assert_eq!(name_in(&greeting(Some("A-7f3a.demo.hushwire"))), Ok(Some("a-7f3a.demo.hushwire".to_owned())));
    assert_eq!(name_in(&greeting(None)), Ok(None));
    let whole = greeting(Some("a.demo"));
    for bytes in 0..whole.len() {
        assert!(!matches!(name_in(&whole[..bytes]), Ok(Some(_))), "{bytes} bytes of a greeting");
    }
    for wrong in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[22, 3, 1, 0, 0], &[22, 3, 1, 0, 4, 2, 0, 0, 0], &[]] {
        assert_eq!(name_in(wrong), Err(()), "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_are_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        at in 0usize..1500,
        byte: u8,
    ) {
        let _ = name_in(&bytes);
        let mut greeting = greeting(Some("a.demo"));
        let at = at % greeting.len();
        greeting[at] = byte;
        let _ = name_in(&greeting);
    }
}

/// A reception on a thread of its own until the test ends.
struct Received {
    reception: Arc<Reception>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Received {
    fn new() -> Self {
        let reception = Arc::new(ok(Reception::new(ok(Listener::bind("127.0.0.1:0")))));
        let runs = reception.clone();
        let thread = thread::spawn(move || runs.run(|e| panic!("{e}")));
        Self { reception, thread: Some(thread) }
    }

    fn address(&self) -> SocketAddr {
        ok(self.reception.listener().local_addr())
    }

    fn dial(&self, first: &[u8]) -> TcpStream {
        let mut stream = ok(TcpStream::connect(self.address()));
        ok(stream.write_all(first));
        ok(stream.set_read_timeout(Some(Duration::from_secs(10))));
        stream
    }

    fn until(&self, reached: impl Fn(&ReceptionCounts) -> bool) -> ReceptionCounts {
        let begun = Instant::now();
        loop {
            let counts = self.reception.counts();
            if reached(&counts) || begun.elapsed() > Duration::from_secs(10) {
                return counts;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        self.reception.end();
        if let Some(thread) = self.thread.take() {
            assert!(thread.join().is_ok() || thread::panicking());
        }
    }
}

fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(0) => true,
        Err(e) => e.kind() == ErrorKind::ConnectionReset,
        Ok(_) => false,
    }
}

#[test]
fn names_route_and_others_are_closed_and_counted() {
    let received = Received::new();
    let (tell, told) = mpsc::channel();
    received
        .reception
        .route("a-1.demo", move |stream, first| tell.send((stream, first)).map_err(io::Error::other));
    received.reception.route("full.demo", |_, _| Err(ErrorKind::WouldBlock.into()));
    let first = greeting(Some("A-1.demo"));
    let mut honest = received.dial(&first);
    let (mut theirs, bytes) = ok(told.recv_timeout(Duration::from_secs(10)));
    assert_eq!(bytes, first, "the bytes that were read go with the socket");
    ok(theirs.write_all(&[7]));
    let mut heard = [0];
    ok(honest.read_exact(&mut heard));
    assert_eq!(heard, [7]);
    assert_eq!(received.until(|counts| counts.handed == 1).handed, 1);
    for (first, count) in [
        (greeting(Some("a-2.demo")), "unknown"),
        (greeting(None), "unknown"),
        (greeting(Some("full.demo")), "refused"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "refused"),
        // A record that is longer than any valid one.
        ([&[22, 3, 1, 0xff, 0xff][..], &[1; 64]].concat(), "refused"),
        ([&[22, 3, 1, 0, 8][..], &[1; 8]].concat(), "refused"),
    ] {
        let before = received.reception.counts();
        assert!(is_closed(&mut received.dial(&first)), "{count}");
        let after = received.until(|counts| counts != &before);
        let mut wanted = before;
        *(if count == "unknown" { &mut wanted.unknown } else { &mut wanted.refused }) += 1;
        assert_eq!(after, wanted);
    }
    assert!(received.reception.unroute("a-1.DEMO") && !received.reception.unroute("a-1.demo"));
    assert!(is_closed(&mut received.dial(&first)), "its route ended");
}

#[test]
fn honest_connections_come_in_among_half_open_and_slow_ones() {
    let received = Received::new();
    let (tell, told) = mpsc::channel();
    received.reception.route("a.demo", move |_, first| tell.send(first).map_err(io::Error::other));
    let first = greeting(Some("a.demo"));
    // More connections than may wait: some send nothing, some send a part of a greeting, some
    // leave.
    let mut strangers: Vec<_> = (0..300).map(|i| received.dial(&first[..(i % 3) * 7])).collect();
    for _ in 0..20 {
        let honest = received.dial(&first);
        assert_eq!(ok(told.recv_timeout(Duration::from_secs(10))), first);
        drop(honest);
    }
    strangers.truncate(200);
    // Slow connections are closed after the time limit, whether they send more or not.
    for stranger in &mut strangers {
        let _ = stranger.write(&[1]);
    }
    let begun = Instant::now();
    assert!(strangers.iter_mut().all(is_closed));
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    let counts = received.until(|counts| counts.lost + counts.refused >= 300);
    assert_eq!((counts.handed, counts.unknown, counts.lost + counts.refused), (20, 0, 300));
}

#[test]
fn a_session_meets_behind_a_reception() {
    let identities = [0, 1].map(|i| ok(Identity::generate(&format!("party {i}"))));
    let received = Received::new();
    let (hand, other) = ok(HandOver::pair());
    received.reception.route("a-9.demo", move |stream, first| hand.give(&stream, &first));
    let address = received.address().to_string();
    // Party 1 is behind the reception; party 0 has a port of its own, and both dial.
    let listeners = [ok(Listener::bind("127.0.0.1:0")), ok(Listener::handed(other, &address))];
    let config = |me: usize| {
        let peer = 1 - me;
        let peers = vec![PeerConfig {
            id: PartyId(peer as u8),
            address: Some(listeners[peer].address()),
            pin: identities[peer].pin(),
        }];
        let mut cfg = SessionConfig::new(PartyId(me as u8), SessionId([3; 16]), peers, TransportKind::TcpTls);
        cfg.server_name = (me == 0).then(|| "a-9.demo".to_owned());
        cfg
    };
    thread::scope(|scope| {
        let parties = [0, 1].map(|me| {
            let (config, listeners, identities) = (config(me), &listeners, &identities);
            scope.spawn(move || {
                let mut net = ok(connect(&config, &identities[me], Some(&listeners[me])));
                let peer = PartyId(1 - me as u8);
                let mut channel = ok(net.channel(0, Some(peer), Some(peer)));
                let mut heard = [0; 4];
                ok(channel.exchange("who", &[me as u8; 4], &mut heard));
                assert_eq!(heard, [1 - me as u8; 4]);
            })
        });
        for party in parties {
            ok(party.join().map_err(|_| "a party failed"));
        }
    });
    assert!(received.reception.counts().handed >= 1);
}

#[test]
fn a_worker_that_ended_takes_nothing() {
    let (hand, other) = ok(HandOver::pair());
    let listener = ok(std::net::TcpListener::bind("127.0.0.1:0"));
    let stream = ok(TcpStream::connect(ok(listener.local_addr())));
    assert_eq!(hand.give(&stream, &[0; 20_000]).err().map(|e| e.kind()), Some(ErrorKind::InvalidInput));
    let handed = ok(crate::handed::Handed::new(other));
    assert!(ok(handed.take(None)).is_none());
    ok(hand.give(&stream, &[]));
    ok(hand.give(&stream, &[5; 7]));
    assert_eq!(ok(handed.take(None)).map(|(_, first)| first), Some(vec![]));
    assert_eq!(ok(handed.take(None)).map(|(_, first)| first), Some(vec![5; 7]));
    // The receiver is busy: its queue is limited, and the sender does not wait.
    let full = (0..100_000).find_map(|_| hand.give(&stream, &[1; 16_000]).err());
    assert_eq!(full.map(|e| e.kind()), Some(ErrorKind::WouldBlock));
    drop(handed);
    // The receiver left messages unread, which the first message after that reports.
    assert_eq!(hand.give(&stream, &[]).err().map(|e| e.kind()), Some(ErrorKind::ConnectionReset));
    assert_eq!(hand.give(&stream, &[]).err().map(|e| e.kind()), Some(ErrorKind::BrokenPipe));
    let (hand, other) = ok(HandOver::pair());
    drop(hand);
    let ended = ok(crate::handed::Handed::new(other)).take(None).err().map(|e| e.kind());
    assert_eq!(ended, Some(ErrorKind::UnexpectedEof));
    let (stream, _) = ok(std::os::unix::net::UnixStream::pair());
    assert!(Listener::handed(stream.into(), "x:1").is_err(), "a socket of another type");
}

#[test]
fn a_name_that_no_greeting_can_have_is_refused_before_anybody_is_dialled() {
    let identity = ok(Identity::generate("party 0"));
    let mut cfg = SessionConfig::new(PartyId(0), SessionId([3; 16]), vec![], TransportKind::TcpTls);
    for wrong in ["", "a b", "-", "127.0.0.1", &"a".repeat(300)] {
        cfg.server_name = Some(wrong.to_owned());
        let error = connect(&cfg, &identity, None).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("the name in a greeting"), "{wrong}: {error}");
    }
}
