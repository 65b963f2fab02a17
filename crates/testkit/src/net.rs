//! Three parties as threads, over any transport.

use hushwire_rep3::Role;
use hushwire_wire::{
    Identity, Listener, Net, PartyId, PeerConfig, SessionConfig, SessionId, TransportKind, connect, inproc,
};
use std::time::Duration;

/// The transport between the parties of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Queues in memory.
    Inproc,
    /// TCP on loopback with TLS 1.3 and throw-away certificates.
    TcpTls,
    /// Plain TCP on loopback.
    TcpInsecure,
}

impl Transport {
    /// The three transports.
    pub const ALL: [Transport; 3] = [Transport::Inproc, Transport::TcpTls, Transport::TcpInsecure];
}

const STALL: Duration = Duration::from_secs(20);

/// Connects three parties, runs `party` for each on a thread of its own, and gives their results in order.
///
/// `socket_buffer` asks the system for small buffers (TCP only).
///
/// # Panics
/// If connecting fails or a party panics: it is for tests.
pub fn run_three<T: Send>(
    transport: Transport,
    lanes: u16,
    socket_buffer: Option<usize>,
    party: impl Fn(Role, Net) -> T + Sync,
) -> [T; 3] {
    let nets = match transport {
        Transport::Inproc => inproc::mesh(&[PartyId(0), PartyId(1), PartyId(2)], lanes, STALL),
        Transport::TcpTls => tcp(TransportKind::TcpTls, lanes, socket_buffer),
        Transport::TcpInsecure => tcp(TransportKind::TcpInsecure, lanes, socket_buffer),
    };
    let party = &party;
    let results = std::thread::scope(|s| {
        let threads: Vec<_> =
            Role::ALL.into_iter().zip(nets).map(|(role, net)| s.spawn(move || party(role, net))).collect();
        threads.into_iter().map(|t| t.join().expect("the party ends")).collect::<Vec<T>>()
    });
    results.try_into().ok().expect("three parties")
}

fn tcp(transport: TransportKind, lanes: u16, socket_buffer: Option<usize>) -> Vec<Net> {
    let parties: Vec<(Role, Identity, Listener)> = Role::ALL
        .into_iter()
        .map(|role| {
            let identity = Identity::generate(&role.to_string()).expect("a certificate");
            (role, identity, Listener::bind("127.0.0.1:0").expect("a port"))
        })
        .collect();
    let peers: Vec<PeerConfig> = parties
        .iter()
        .map(|(role, identity, listener)| PeerConfig {
            id: role.id(),
            address: Some(listener.local_addr().expect("an address").to_string()),
            pin: identity.pin(),
        })
        .collect();
    let config = |me: PartyId| SessionConfig {
        me,
        session: SessionId([1; 16]),
        job_digest: [2; 32],
        params: [3; 32],
        lanes,
        client_lanes: 1,
        peers: peers.iter().filter(|p| p.id != me).cloned().collect(),
        transport,
        connect_timeout: STALL,
        stall: STALL,
        liveness: SessionConfig::LIVENESS,
        socket_buffer,
    };
    std::thread::scope(|s| {
        let threads: Vec<_> = parties
            .iter()
            .map(|(role, identity, listener)| {
                let config = config(role.id());
                s.spawn(move || connect(&config, identity, Some(listener)).expect("a session"))
            })
            .collect();
        threads.into_iter().map(|t| t.join().expect("the party connects")).collect()
    })
}
