//! `ot send` and `ot recv`: each side is a process with its own files, as on two machines.

use crate::common::{Place, Ran, noise};
use hushwire_testkit::Port;
use std::{
    fmt::Write,
    process::Child,
    thread,
    time::{Duration, Instant},
};

/// The longest time of a run in any case, because a test that waits for ever reports nothing.
const LONG: Duration = Duration::from_secs(60);

/// The keys of both sides, a port, and files of `count` lines.
struct World {
    place: Place,
    port: Port,
    pins: [String; 2],
    pairs: Vec<[u128; 2]>,
    choices: Vec<bool>,
}

impl World {
    fn new(count: usize) -> Self {
        let place = Place::new();
        let pins = ["sender", "receiver"].map(|name| place.put_key(&format!("{name}.pem"), name));
        let noise = noise(7, 33 * count);
        let pairs: Vec<[u128; 2]> = noise
            .chunks_exact(33)
            .map(|b| [0, 16].map(|at| u128::from_le_bytes(*b[at..].first_chunk().unwrap_or(&[0; 16]))))
            .collect();
        let choices: Vec<bool> = noise.chunks_exact(33).map(|b| b[32] & 1 == 1).collect();
        let world = Self { place, port: Port::new(), pins, pairs, choices };
        world.write(count);
        world
    }

    /// Writes both files; the file of choices has this many lines.
    fn write(&self, choices: usize) {
        let mut text = String::new();
        for [zero, one] in &self.pairs {
            writeln!(text, "{zero:x} {one:032X}").unwrap_or_default();
        }
        self.place.put("pairs.txt", text.as_bytes());
        let bits: String = self.choices[..choices].iter().map(|b| if *b { "1\n" } else { "0\n" }).collect();
        self.place.put("bits.txt", bits.as_bytes());
    }

    /// Returns the messages that the receiver must get.
    fn wanted(&self) -> String {
        let chosen = self.pairs.iter().zip(&self.choices);
        chosen.map(|(pair, choice)| format!("{:032x}\n", pair[usize::from(*choice)])).collect()
    }

    fn keys(&self, me: usize) -> String {
        format!("--key {}.pem --pin {}", ["sender", "receiver"][me], self.pins[1 - me])
    }

    fn send(&self, options: &str) -> Child {
        self.place.start(&format!("ot send --messages pairs.txt --listen {} {options}", self.port))
    }

    fn recv(&self, options: &str) -> Child {
        self.place
            .start(&format!("ot recv --choices bits.txt --out out.txt --connect {} {options}", self.port))
    }

    /// Runs both sides to their ends.
    fn run(&self, send: &str, recv: &str) -> [Ran; 2] {
        [self.send(send), self.recv(recv)].map(ended)
    }

    fn has_output(&self) -> bool {
        self.place.names().iter().any(|name| name.contains("out.txt"))
    }
}

fn ended(mut child: Child) -> Ran {
    let begun = Instant::now();
    while child.try_wait().unwrap_or_else(|e| panic!("{e}")).is_none() {
        if begun.elapsed() > LONG {
            let killed = child.kill().and_then(|()| child.wait());
            panic!("a side did not end within {LONG:?} and was killed: {killed:?}");
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ran::new(child.wait_with_output().unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn the_receiver_gets_what_it_chose() {
    let world = World::new(5000);
    let [send, recv] = world.run(&(world.keys(0) + " --json -"), &(world.keys(1) + " --json recv.json"));
    assert_eq!((send.code, recv.code), (Some(0), Some(0)), "{}\n{}", send.err, recv.err);
    assert_eq!(String::from_utf8_lossy(&world.place.get("out.txt")), world.wanted());
    assert_eq!(world.place.mode("out.txt"), 0o600);
    let send: serde_json::Value = serde_json::from_str(&send.out).unwrap_or_default();
    let recv: serde_json::Value = serde_json::from_slice(&world.place.get("recv.json")).unwrap_or_default();
    assert_eq!((&send["command"], &recv["command"]), (&"ot send".into(), &"ot recv".into()));
    for report in [&send, &recv] {
        assert_eq!((&report["ots"], &report["protocol"]), (&5000.into(), &"softspoken4".into()));
        assert_eq!((&report["security"], &report["transport"]), (&"malicious".into(), &"tcp-tls".into()));
    }
    assert_eq!(send["bytes_sent"], recv["bytes_received"]);
    assert!(send["bytes_sent"].as_u64().is_some_and(|bytes| bytes >= 32 * 5000));
    // An existing result is kept, and the command does not dial.
    let again = ended(world.recv(&world.keys(1)));
    assert_eq!(again.code, Some(5), "{}", again.err);
    assert!(again.err.contains("cannot write out.txt: it is there already"), "{}", again.err);
}

#[test]
fn any_protocol_over_any_transport_and_either_side_may_listen() {
    let world = World::new(333);
    for (protocol, security, transport) in [
        ("iknp", "semi-honest", "unix"),
        ("kos", "malicious", "shm"),
        ("alsz", "malicious", "tcp-insecure"),
        ("softspoken2", "semi-honest", "unix"),
        ("softspoken8", "malicious", "unix"),
    ] {
        let address = match transport {
            "tcp-insecure" => world.port.to_string(),
            _ => format!("unix:{}", world.place.at("socket").display()),
        };
        let options = format!("--protocol {protocol} --security {security} --transport {transport}");
        let recv = world
            .place
            .start(&format!("ot recv --choices bits.txt --out {protocol}.out --listen {address} {options}"));
        let send = world.place.start(&format!("ot send --messages pairs.txt --connect {address} {options}"));
        let [send, recv] = [send, recv].map(ended);
        assert_eq!((send.code, recv.code), (Some(0), Some(0)), "{}\n{}", send.err, recv.err);
        assert_eq!(String::from_utf8_lossy(&world.place.get(&format!("{protocol}.out"))), world.wanted());
    }
}

#[test]
fn what_differs_is_named_on_both_sides() {
    let world = World::new(10);
    world.write(9);
    let terms = |options: &str, ours: &str, theirs: &str| {
        let [send, recv] = world.run(&world.keys(0), &(world.keys(1) + options));
        for (ran, words) in [(send, [ours, theirs]), (recv, [theirs, ours])] {
            assert_eq!(ran.code, Some(3), "{}", ran.err);
            let wanted = format!("({} here, {} there)", words[0], words[1]);
            assert!(ran.err.contains(&wanted), "no {wanted:?} in {}", ran.err);
        }
        assert!(!world.has_output());
    };
    terms("", "10", "9");
    world.write(10);
    terms(" --protocol kos", "softspoken4", "kos");
    terms(" --security semi-honest", "malicious", "semi-honest");
    let both = [
        world.send(&world.keys(0)),
        world.place.start(&format!(
            "ot send --messages pairs.txt --connect {} {}",
            world.port,
            world.keys(1)
        )),
    ];
    for ran in both.map(ended) {
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains("both sides run `hushwire ot send`"), "{}", ran.err);
    }
}

#[test]
fn what_cannot_work_is_said_before_anybody_is_dialled() {
    let world = World::new(3);
    world.place.put("odd.txt", b"1 2\n3\n");
    world.place.put("empty.txt", b"");
    let link = format!("--connect {} {}", world.port, world.keys(0));
    let cases = [
        (format!("ot send --messages gone.txt {link}"), 4, &["gone.txt"][..]),
        (format!("ot send --messages odd.txt {link}"), 4, &["odd.txt", "line 2", "32 hexadecimal digits"]),
        (format!("ot send --messages empty.txt {link}"), 4, &["empty.txt", "empty"]),
        (format!("ot recv --choices odd.txt --out o {link}"), 4, &["odd.txt", "line 1", "0 or 1"]),
        (format!("ot recv --choices bits.txt --out no/such {link}"), 4, &["no/such"]),
        (
            format!("ot send --messages pairs.txt --protocol iknp {link}"),
            2,
            &["iknp", "malicious", "softspoken4"],
        ),
        (format!("ot send --messages pairs.txt --protocol ikmp {link}"), 2, &["ikmp", "softspoken4"]),
        (format!("ot send --messages pairs.txt --connect {}", world.port), 2, &["--key", "--pin"]),
        (format!("ot send --messages pairs.txt {}", world.keys(0)), 2, &["--listen", "--connect"]),
        (format!("ot send --messages pairs.txt --listen x:1 {link}"), 2, &["--listen"]),
        (format!("ot send --messages pairs.txt --listen 127.0.0.1 {}", world.keys(0)), 2, &["not host:port"]),
        (format!("ot send --messages pairs.txt --connect fe80::1 {}", world.keys(0)), 2, &["not host:port"]),
        (format!("ot send --messages pairs.txt --connect x:99999 {}", world.keys(0)), 2, &["not host:port"]),
        (
            format!(
                "ot send --messages pairs.txt --connect {} --key bits.txt --pin {}",
                world.port, world.pins[0]
            ),
            4,
            &["bits.txt", "hushwire keys init"],
        ),
        (
            format!("ot send --messages pairs.txt --connect {} --key sender.pem --pin 12", world.port),
            2,
            &["--pin"],
        ),
    ];
    // A side whose certificate was read tells the other side for a few seconds why it ends. The
    // test runs all of these at once.
    thread::scope(|scope| {
        for (args, code, words) in &cases {
            let world = &world;
            scope.spawn(move || {
                let ran = world.place.ran(args);
                assert_eq!(ran.code, Some(*code), "{args}: {}", ran.err);
                words
                    .iter()
                    .for_each(|word| assert!(ran.err.contains(word), "{args}: no {word:?} in: {}", ran.err));
            });
        }
    });
}
