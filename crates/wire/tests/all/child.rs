//! A party in a process of its own, to be killed or stopped: party 1 of three. The process runs
//! this test program again, with only the test `child`.
#![allow(unreachable_pub)]

use std::{
    env,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use hushwire_machine::{PartyId, SessionId};
use hushwire_wire::{Identity, Listener, PeerConfig, Pin, SessionConfig, TransportKind, connect};

use crate::common::{STALL, ok, pattern, ring};

const CHILD: &str = "HUSHWIRE_TEST_CHILD";
/// More bytes than all buffers between two parties hold.
pub const LONG_BYTES: usize = 16 << 20;
const MESSAGE_BYTES: usize = 100_000;

/// The phase in which party 1 is killed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Phase {
    /// It is joining; party 2 does not come.
    Join,
    /// It has joined and sends nothing.
    Idle,
    /// It exchanges messages.
    Stream,
    /// It has sent part of a message.
    Half,
}

impl Phase {
    pub const ALL: [Self; 4] = [Self::Join, Self::Idle, Self::Stream, Self::Half];
}

/// Kills the process when dropped.
pub struct Party1 {
    pub process: Child,
    pub peer: PeerConfig,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Drop for Party1 {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Party1 {
    pub fn start() -> Self {
        let mut command = Command::new(ok(env::current_exe()));
        command.args(["dead::child", "--exact", "--nocapture"]).env(CHILD, "1");
        let mut process = ok(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn());
        let out = process.stdout.take().unwrap_or_else(|| panic!("no pipe"));
        let peer = PeerConfig { id: PartyId(1), address: None, pin: Pin([0; 32]) };
        let mut party = Self { process, peer, lines: BufReader::new(out).lines() };
        let ready = party.heard("ready");
        let (address, pin) = ready.split_once(' ').unwrap_or_else(|| panic!("{ready}"));
        (party.peer.address, party.peer.pin) = (Some(address.to_owned()), ok(pin.parse()));
        party
    }

    /// Reads the rest of the line that begins with `@word`.
    fn heard(&mut self, word: &str) -> String {
        for line in &mut self.lines {
            let line = ok(line);
            if let Some((_, rest)) = line.split_once(&format!("@{word} ")) {
                return rest.to_owned();
            }
        }
        panic!("the child ended before it said {word}")
    }

    /// Lets it join a session with `peers`, and waits until it is in `phase`.
    pub fn reach(&mut self, phase: Phase, transport: TransportKind, peers: &[PeerConfig]) {
        let mut order = format!("{phase:?} {transport}");
        for peer in peers {
            let address = peer.address.clone().unwrap_or_default();
            order += &format!(" {} {address} {}", peer.id.0, peer.pin);
        }
        let stdin = self.process.stdin.as_mut().unwrap_or_else(|| panic!("no pipe"));
        ok(writeln!(stdin, "{order}"));
        self.heard("at");
    }
}

/// The body of the test `child`. It does nothing in a program that a person started.
pub fn run() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let (identity, listener) = (ok(Identity::generate("party 1")), ok(Listener::bind("127.0.0.1:0")));
    println!("\n@ready {} {}", ok(listener.local_addr()), identity.pin());
    let mut order = String::new();
    ok(std::io::stdin().read_line(&mut order));
    let words: Vec<_> = order.split_whitespace().collect();
    let [phase, transport, peers @ ..] = &words[..] else { panic!("no order") };
    let phase = Phase::ALL.into_iter().find(|p| format!("{p:?}") == *phase);
    let phase = phase.unwrap_or_else(|| panic!("no such phase"));
    let peer = |words: &[&str]| PeerConfig {
        id: PartyId(ok(words[0].parse())),
        address: Some(words[1].to_owned()),
        pin: ok(words[2].parse()),
    };
    let peers = peers.chunks(3).map(peer).collect();
    let cfg = config(PartyId(1), peers, ok(transport.parse()));
    let at = || println!("\n@at {phase:?}");
    if phase == Phase::Join {
        at();
    }
    let mut net = ok(connect(&cfg, &identity, Some(&listener)));
    let (to, from) = ring(PartyId(1));
    let mut channel = ok(net.channel(0, Some(to), Some(from)));
    let mut into = vec![0; MESSAGE_BYTES];
    match phase {
        Phase::Half => ok(channel.start("half", &pattern(1, 0, LONG_BYTES))),
        Phase::Stream => {
            for i in 0u64.. {
                ok(channel.exchange("stream", &pattern(1, 0, MESSAGE_BYTES), &mut into));
                if i == 3 {
                    at();
                }
            }
        }
        Phase::Idle | Phase::Join => {}
    }
    at();
    thread::sleep(Duration::from_secs(60));
}

/// The configuration on which all three parties agree.
pub fn config(me: PartyId, peers: Vec<PeerConfig>, transport: TransportKind) -> SessionConfig {
    SessionConfig {
        connect_timeout: Duration::from_secs(30),
        stall: STALL * 2,
        still: Duration::from_secs(3),
        ..SessionConfig::new(me, SessionId([7; 16]), peers, transport)
    }
}

/// The work of parties 0 and 2 until party 1 is gone.
pub fn stream(net: &mut hushwire_machine::Net) -> hushwire_machine::NetError {
    let (to, from) = ring(net.me());
    let mut channel = ok(net.channel(0, Some(to), Some(from)));
    let (out, mut into) = (pattern(net.me().0, 0, MESSAGE_BYTES), vec![0; MESSAGE_BYTES]);
    loop {
        if let Err(e) = channel.exchange("stream", &out, &mut into) {
            return e;
        }
    }
}
