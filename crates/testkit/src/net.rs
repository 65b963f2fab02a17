//! Three parties on threads, over any transport.

use hushwire_block::registry;
use hushwire_machine::{Net, PartyId, SessionId, inproc};
use hushwire_rep3::Role;
use hushwire_wire::{LocalParties, SessionConfig, TransportKind};

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

/// Connects three parties, runs `party` for each on a thread of its own, and returns their results
/// in order. The uses of keys are recorded.
///
/// `socket_buffer` asks the system for small buffers (TCP only).
///
/// # Panics
/// If connecting fails or a party panics.
pub fn run_three<T: Send>(
    transport: Transport,
    lanes: u16,
    socket_buffer: Option<usize>,
    party: impl Fn(Role, Net) -> T + Sync,
) -> [T; 3] {
    let nets = match transport {
        Transport::Inproc => {
            inproc::mesh(&[PartyId(0), PartyId(1), PartyId(2)], lanes, SessionConfig::PATIENCE)
        }
        Transport::TcpTls => tcp(TransportKind::TcpTls, lanes, socket_buffer),
        Transport::TcpInsecure => tcp(TransportKind::TcpInsecure, lanes, socket_buffer),
    };
    let party = &party;
    let _watch = registry::watch();
    let results = std::thread::scope(|s| {
        let start = |(role, net): (Role, Net)| {
            let end = registry::here().end(role.index());
            s.spawn(move || {
                let _end = end.enter();
                party(role, net)
            })
        };
        let threads: Vec<_> = Role::ALL.into_iter().zip(nets).map(start).collect();
        threads.into_iter().map(|t| t.join().expect("the party ends")).collect::<Vec<T>>()
    });
    results.try_into().ok().expect("three parties")
}

fn tcp(transport: TransportKind, lanes: u16, socket_buffer: Option<usize>) -> Vec<Net> {
    let ids = Role::ALL.map(Role::id);
    let mut parties =
        LocalParties::bind(&ids, transport, SessionId([1; 16])).expect("certificates and ports");
    for config in &mut parties.configs {
        (config.lanes, config.socket_buffer) = (lanes, socket_buffer);
    }
    parties.connect().into_iter().map(|net| net.expect("a session")).collect()
}
