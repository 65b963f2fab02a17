//! Three parties on threads, over any transport.

use hushwire_block::registry;
use hushwire_machine::{Net, NetError, PartyId, SessionId, inproc};
use hushwire_rep3::{MemoryMover, Mover, Role, gone, in_memory};
use hushwire_wire::{LocalParties, SessionConfig, TransportKind};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU64, Ordering},
};

/// The transport between the parties of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// In-memory queues.
    Inproc,
    /// TCP on loopback with TLS 1.3 and throw-away certificates.
    TcpTls,
    /// Plain TCP on loopback.
    TcpInsecure,
}

impl Transport {
    /// All transports.
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
    let _watch = registry::watch();
    parties(transport, lanes, socket_buffer, party)
}

/// As [`run_three`], in the record of this thread, if it has one.
fn parties<T: Send>(
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

/// The movers of a shard's three parties. The thread of each party takes its own.
type OfRoles = [Mutex<Option<Box<dyn Mover>>>; 3];

/// Runs all shards of three parties, each on a thread of its own. Shards with the same number share
/// a network. The shards of one party share an in-memory mover, which `mover` may wrap, by party
/// and shard. Returns results by shard, then by party. The uses of keys are recorded: no two shards
/// of a party may use the same part of a key.
///
/// # Panics
/// As [`run_three`].
pub fn run_shards<T: Send>(
    lanes: u16,
    shards: usize,
    mover: impl Fn(Role, MemoryMover) -> Box<dyn Mover>,
    party: impl Fn(Role, Net, Box<dyn Mover>) -> T + Sync,
) -> Vec<[T; 3]> {
    let _watch = registry::watch();
    run_shards_again(lanes, shards, mover, party)
}

/// As [`run_shards`], in the record of this thread, since all attempts of one run share a record.
///
/// # Panics
/// As [`run_three`].
pub fn run_shards_again<T: Send>(
    lanes: u16,
    shards: usize,
    mover: impl Fn(Role, MemoryMover) -> Box<dyn Mover>,
    party: impl Fn(Role, Net, Box<dyn Mover>) -> T + Sync,
) -> Vec<[T; 3]> {
    let party = &party;
    let of_role = |role: Role| in_memory(shards).into_iter().map(|m| mover(role, m)).collect::<Vec<_>>();
    let mut movers = Role::ALL.map(of_role).map(Vec::into_iter);
    let by_shard = (0..shards).map(|_| movers.each_mut().map(|movers| Mutex::new(movers.next())));
    let by_shard: Vec<OfRoles> = by_shard.collect();
    std::thread::scope(|scope| {
        let start = |movers: OfRoles| {
            let here = registry::here();
            scope.spawn(move || {
                let _here = here.enter();
                parties(Transport::Inproc, lanes, None, |role, net| {
                    let mover = movers[role.index()].lock().expect("taken once").take();
                    party(role, net, mover.expect("a mover for each party"))
                })
            })
        };
        let threads: Vec<_> = by_shard.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("the shard ends")).collect()
    })
}

/// A mover whose shard is gone after a number of exchanges. From then on it fails, like the mover
/// of a killed process.
pub struct LostMover {
    mover: MemoryMover,
    /// The number of exchanges that remain, and the number so far.
    left: u64,
    count: Arc<AtomicU64>,
}

impl LostMover {
    /// A shard that is lost after this many exchanges; `count` counts the exchanges so far.
    #[must_use]
    pub fn after(exchanges: u64, mover: MemoryMover, count: Arc<AtomicU64>) -> Self {
        Self { mover, left: exchanges, count }
    }
}

impl Mover for LostMover {
    fn shard(&self) -> usize {
        self.mover.shard()
    }

    fn shards(&self) -> usize {
        self.mover.shards()
    }

    fn exchange(&mut self, to: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, NetError> {
        let shard = self.mover.shard();
        self.left = self.left.checked_sub(1).ok_or_else(|| gone(shard))?;
        self.count.fetch_add(1, Ordering::Relaxed);
        self.mover.exchange(to)
    }
}
