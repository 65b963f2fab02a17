//! Strangers at the ports: connections that say nothing, greetings that stop half-way, bodies that
//! trickle. Honest jobs go on.

use crate::{
    rig::Rig,
    support::{LONG, Line, configured, host},
};
use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};
use tokio::net::TcpSocket;

/// Opens connections from many addresses of this host, of which each begins with `first`.
async fn crowd(port: SocketAddr, n: usize, first: &[u8]) -> Vec<tokio::net::TcpStream> {
    let mut all = vec![];
    for i in 0..n {
        let [high, low] = ((i / 40) as u16).to_be_bytes();
        let Ok(socket) = TcpSocket::new_v4() else { break };
        if socket.bind((Ipv4Addr::new(127, 3, high, low.max(1)), 0).into()).is_err() {
            break;
        }
        // The port may be full for the moment.
        let Ok(Ok(stream)) = tokio::time::timeout(Duration::from_secs(2), socket.connect(port)).await else {
            continue;
        };
        // Whoever was let out already does not mind.
        let _ = stream.try_write(first);
        all.push(stream);
    }
    all
}

/// `HUSHWIRE_IDLE` connections at each port, or as many as this process may have.
fn idle(n: usize) {
    let mut rig = Rig::up().apart();
    rig.all_up();
    let ports = [configured(&rig, 0, "listen-api"), configured(&rig, 0, "listen-party")];
    let ports: Vec<SocketAddr> = ports.iter().map(|port| port.parse().expect("an address")).collect();
    // The head of a TLS record that never comes whole, and nothing at all.
    let (half, nothing) = (&[0x16, 3, 1, 2, 0, 1][..], &[][..]);
    rig.runtime.block_on(async {
        for (port, first) in [(ports[0], half), (ports[1], half), (ports[0], nothing), (ports[1], nothing)] {
            let crowd = crowd(port, n / 2, first).await;
            eprintln!("{} connections at {port}", crowd.len());
            assert!(crowd.len() >= n / 4, "{} of {}", crowd.len(), n / 2);
            let begun = Instant::now();
            // Honest people come from elsewhere, and are let in.
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
    // They have left nothing behind.
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
    // The system lets this process have no more.
    let most = getrlimit(Resource::Nofile).maximum;
    let _ = setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most });
    let room = getrlimit(Resource::Nofile).current.unwrap_or(1 << 20).saturating_sub(300);
    idle(room.min(10_000) as usize);
}

/// The answer of a party on a connection of TLS to bytes that are sent piece by piece.
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

/// Bytes that are no TLS, no HTTP and no JSON get an error or an end, at both ports.
#[test]
fn noise_at_the_ports_is_closed() {
    let rig = Rig::up();
    for key in ["listen-api", "listen-party"] {
        for noise in
            [&b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..], &[0x16, 3, 1, 0, 4, 1, 0, 0, 0], &[0xff; 2000]]
        {
            let mut socket = TcpStream::connect(configured(&rig, 0, key)).expect("a connection");
            socket.set_read_timeout(Some(Duration::from_secs(15))).expect("a socket");
            // It may be closed before all is written.
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
