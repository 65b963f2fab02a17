//! Strangers at the ports: connections that send nothing, greetings that stop half-way, and bodies
//! that trickle. Honest jobs go on.

use crate::{
    rig::Rig,
    support::{LONG, Line, configured, host},
};
use hushwire_wire::{Https, Identity};
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};
use tokio::net::TcpSocket;

/// Opens connections from many addresses of this host. Each sends `first`.
async fn crowd(port: SocketAddr, n: usize, first: &[u8]) -> Vec<tokio::net::TcpStream> {
    let mut all = vec![];
    for i in 0..n {
        let [high, low] = ((i / 40) as u16).to_be_bytes();
        let Ok(socket) = TcpSocket::new_v4() else { break };
        if socket.bind((Ipv4Addr::new(127, 3, high, low.max(1)), 0).into()).is_err() {
            break;
        }
        // The port may be full at the moment.
        let Ok(Ok(stream)) = tokio::time::timeout(Duration::from_secs(2), socket.connect(port)).await else {
            continue;
        };
        // Connections that were already closed do not matter.
        let _ = stream.try_write(first);
        all.push(stream);
    }
    all
}

/// Opens `n` connections at each port, half of them with half a greeting. Honest jobs go on.
fn idle(n: usize) {
    let mut rig = Rig::up().apart();
    rig.all_up();
    let ports = [configured(&rig, 0, "listen-api"), configured(&rig, 0, "listen-party")];
    let ports: Vec<SocketAddr> = ports.iter().map(|port| port.parse().expect("an address")).collect();
    // The head of a TLS record that never becomes complete, and nothing at all.
    let (half, nothing) = (&[0x16, 3, 1, 2, 0, 1][..], &[][..]);
    rig.runtime.block_on(async {
        for (port, first) in [(ports[0], half), (ports[1], half), (ports[0], nothing), (ports[1], nothing)] {
            let crowd = crowd(port, n / 2, first).await;
            eprintln!("{} connections at {port}", crowd.len());
            assert!(crowd.len() >= n / 4, "{} of {}", crowd.len(), n / 2);
            let begun = Instant::now();
            // Honest clients come from other addresses, and are served.
            let mut line = Line::to(&rig, 0, Ipv4Addr::new(127, 0, 4, 1)).await.expect("a connection");
            let answer = line.ask("GET", "/healthz", &[], vec![]).await.expect("an answer");
            assert_eq!(answer.status.as_u16(), 200);
            tokio::task::block_in_place(|| {
                let job = rig.submit(&Rig::fresh_key());
                let seen = rig.wait(&job, LONG);
                assert_eq!(rig.one_end(&job, &seen), "committed");
            });
            eprintln!("a job beside them: {:.1} s", begun.elapsed().as_secs_f64());
            drop(crowd);
        }
    });
    // The connections leave nothing behind.
    let pid = rig.parties[0].as_ref().expect("it runs").0.id();
    crate::support::until(&rig, "descriptors are closed", Duration::from_secs(30), || {
        crate::support::held(pid).1 < 100
    });
}

#[test]
fn silent_and_half_open_connections_keep_nobody_out() {
    idle(600);
}

#[test]
#[ignore = "it takes all descriptors: run by --full"]
fn ten_thousand_idle_connections_keep_nobody_out() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // This process gets no more descriptors than the system allows.
    let most = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
    let room = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20).saturating_sub(300);
    idle(room.min(10_000) as usize);
}

/// A client's TLS greeting with a name.
fn greeting(name: &str) -> Vec<u8> {
    let tls = Https::new(&Identity::generate("stranger").expect("a key")).client(vec![]).expect("TLS");
    let name = rustls::pki_types::ServerName::try_from(name.to_owned()).expect("a name");
    let mut session = rustls::ClientConnection::new(tls, name).expect("TLS");
    let mut bytes = vec![];
    while session.wants_write() {
        session.write_tls(&mut bytes).expect("room");
    }
    bytes
}

/// The names of groups pass in the clear, so anybody may greet a party as a daemon would, and then
/// send nothing.
#[test]
fn greetings_of_daemons_that_stop_half_way_keep_nobody_out() {
    let mut rig = Rig::up().apart();
    rig.all_up();
    let port: SocketAddr = configured(&rig, 0, "listen-party").parse().expect("an address");
    let hello = greeting(&format!("peer.g{}", configured(&rig, 0, "group")));
    let pid = rig.parties[0].as_ref().expect("it runs").0.id();
    let before = crate::support::held(pid).1;
    rig.runtime.block_on(async {
        let crowd = crowd(port, 600, &hello).await;
        assert!(crowd.len() >= 500, "{}", crowd.len());
        tokio::task::block_in_place(|| {
            // The greetings are read before their time is over.
            std::thread::sleep(Duration::from_secs(3));
            let held = crate::support::held(pid).1;
            assert!(held < before + 350, "{held} descriptors, {before} before");
            let job = rig.submit(&Rig::fresh_key());
            let seen = rig.wait(&job, LONG);
            assert_eq!(rig.one_end(&job, &seen), "committed");
        });
    });
    crate::support::until(&rig, "descriptors are closed", Duration::from_secs(30), || {
        crate::support::held(pid).1 < before + 50
    });
}

/// The name of an attempt passes in the clear, too. Whoever repeats it, during the attempt or
/// later, does not disturb the attempt.
#[test]
fn greetings_of_an_attempt_by_strangers_disturb_nobody() {
    let mut rig = Rig::up().apart();
    rig.start(0, "");
    rig.start(1, "");
    // The workers meet a second after party 1's worker is ready.
    rig.start(2, "worker.pins=sleep");
    (0..3).for_each(|party| rig.answers(party));
    let port: SocketAddr = configured(&rig, 1, "listen-party").parse().expect("an address");
    let job = rig.submit(&Rig::fresh_key());
    let hello = greeting(&format!("a-{job}-1.g{}", configured(&rig, 0, "group")));
    let crowd = rig.runtime.block_on(async {
        crate::support::until(&rig, "party 1 has reserved", LONG, || {
            let sql = "SELECT count(*) FROM attempts WHERE job = ?1";
            rig.store(1).query_row(sql, [&job], |row| row.get::<_, i64>(0)).expect("a number") == 1
        });
        crowd(port, 200, &hello).await
    });
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
    assert_eq!(seen[0]["attempt"], 1, "{seen:#?}");
    drop(crowd);
    // Once the attempt has ended, nobody answers to its name.
    let mut socket = TcpStream::connect(port).expect("a connection");
    socket.set_read_timeout(Some(Duration::from_secs(15))).expect("a socket");
    let mut rest = vec![];
    let _ = socket.write_all(&hello);
    let ended = socket.read_to_end(&mut rest);
    assert!(rest.is_empty() && ended.is_ok_and(|n| n == 0), "{rest:?}");
}

/// A party's answer over TLS to bytes that are sent piece by piece, and the time until then.
fn trickle(rig: &Rig, head: &str, pieces: usize, pause: Duration) -> (String, Duration) {
    let address = host(rig, 0);
    let begun = Instant::now();
    let text = rig.runtime.block_on(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let socket = tokio::net::TcpStream::connect(&address).await.expect("a connection");
        let name = rustls::pki_types::ServerName::try_from("localhost").expect("a name");
        let mut stream = rig.tls[0].connect(name, socket).await.expect("TLS");
        stream.write_all(head.as_bytes()).await.expect("it is open");
        let mut answer = vec![0; 4096];
        for _ in 0..pieces {
            match tokio::time::timeout(pause, stream.read(&mut answer)).await {
                Ok(Ok(n)) => return String::from_utf8_lossy(&answer[..n]).into_owned(),
                Ok(Err(_)) => return String::new(),
                Err(_) => drop(stream.write_all(b" ").await),
            }
        }
        "still open".to_owned()
    });
    (text, begun.elapsed())
}

#[test]
#[ignore = "slow by its nature: run by --full"]
fn slow_heads_and_bodies_are_ended_while_jobs_run() {
    let rig = Rig::up();
    let head = format!(
        "POST /v1/proposals HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 100000\r\n\r\n",
        rig.token("analyst")
    );
    let second = Duration::from_secs(1);
    std::thread::scope(|scope| {
        let body = scope.spawn(|| trickle(&rig, &head, 60, second));
        let header = scope.spawn(|| trickle(&rig, "GET /healthz HTTP/1.1\r\nhost: ", 60, second));
        for _ in 0..3 {
            let job = rig.submit(&Rig::fresh_key());
            let seen = rig.wait(&job, LONG);
            assert_eq!(rig.one_end(&job, &seen), "committed");
        }
        let (text, took) = body.join().expect("no panic");
        assert!(text.starts_with("HTTP/1.1 413") && text.contains("10 KiB"), "{text}");
        assert!(took < Duration::from_secs(20), "{took:?}");
        let (text, took) = header.join().expect("no panic");
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 408"), "{text}");
        assert!(took < Duration::from_secs(20), "{took:?}");
    });
}

/// Bytes that are neither TLS, HTTP nor JSON get an error or the end of the connection, at both
/// ports.
#[test]
fn noise_at_the_ports_is_closed() {
    let rig = Rig::up();
    for key in ["listen-api", "listen-party"] {
        for noise in
            [&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..], &[0x16, 3, 1, 0, 4, 1, 0, 0, 0], &[0xff; 2000]]
        {
            let mut socket = TcpStream::connect(configured(&rig, 0, key)).expect("a connection");
            socket.set_read_timeout(Some(Duration::from_secs(15))).expect("a socket");
            // The connection may be closed before all bytes are written.
            let _ = socket.write_all(noise);
            let mut rest = vec![];
            match socket.read_to_end(&mut rest) {
                Ok(_) => assert!(rest.len() < 100, "{key}: {rest:?}"),
                Err(e) => assert_eq!(e.kind(), std::io::ErrorKind::ConnectionReset, "{key}"),
            }
        }
    }
    let job = rig.submit(&Rig::fresh_key());
    let seen = rig.wait(&job, LONG);
    assert_eq!(rig.one_end(&job, &seen), "committed");
}
