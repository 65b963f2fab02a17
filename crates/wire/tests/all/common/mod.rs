//! The parties of a test, all on this host.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::{
    net::{Ipv4Addr, SocketAddr},
    ops::{Deref, DerefMut},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use socket2::{Domain, Socket, Type};

use hushwire_machine::{Net, NetError, PartyId, SessionId, inproc};
use hushwire_wire::{Listener, LocalParties, TransportKind, connect};

pub const STALL: Duration = Duration::from_secs(20);

/// The parties of a test, which may change them before they connect.
pub struct World(LocalParties);

impl Deref for World {
    type Target = LocalParties;
    fn deref(&self) -> &LocalParties {
        &self.0
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut LocalParties {
        &mut self.0
    }
}

pub fn ok<T, E: std::fmt::Display>(result: Result<T, E>) -> T {
    result.unwrap_or_else(|e| panic!("{e}"))
}

pub fn err<T>(result: Result<T, NetError>) -> NetError {
    match result {
        Ok(_) => panic!("this had to fail"),
        Err(e) => e,
    }
}

impl World {
    /// Parties 0, 1, … and, if `owner`, the owner last, on `host`.
    pub fn new(parties: u8, owner: bool, transport: TransportKind, lanes: u16, host: &str) -> Self {
        let ids = (0..parties).map(PartyId).chain(owner.then_some(PartyId::OWNER));
        let ids: Vec<_> = ids.collect();
        let mut world = ok(LocalParties::bind_at(host, &ids, transport, SessionId([7; 16])));
        for config in &mut world.configs {
            (config.job_digest, config.params) = ([8; 32], [9; 32]);
            (config.lanes, config.connect_timeout) = (lanes, Duration::from_secs(30));
        }
        Self(world)
    }

    /// Makes party `of` absent. A connection to it is refused as long as the returned socket is
    /// kept, and no other process can listen at that port.
    pub fn absent(&mut self, of: u8) -> (String, Socket) {
        let held = ok(Socket::new(Domain::IPV4, Type::STREAM, None));
        ok(held.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()));
        // The party may still come and listen there.
        ok(held.set_reuse_address(true));
        let address = ok(held.local_addr()).as_socket().map(|at| at.to_string()).unwrap_or_default();
        self.listeners[usize::from(of)] = None;
        for peer in
            self.configs.iter_mut().flat_map(|cfg| &mut cfg.peers).filter(|peer| peer.id == PartyId(of))
        {
            peer.address = Some(address.clone());
        }
        (address, held)
    }

    pub fn join(&self, me: usize) -> Result<Net, NetError> {
        connect(&self.configs[me], &self.identities[me], self.listeners[me].as_ref())
    }

    pub fn nets(&self) -> Vec<Net> {
        self.connect().into_iter().map(ok).collect()
    }
}

/// The first message of party 1 in a session of [`World::new`] with `lanes` lanes, on a lane or the
/// control connection (`u16::MAX`), from a process with this nonce.
pub fn hello(lane: u16, lanes: u8, nonce: u8) -> [u8; 128] {
    let mut hello = [0; 128];
    hello[..12].copy_from_slice(b"hushwire\x09\x00\x01\x00");
    hello[12..28].fill(7);
    hello[28..60].fill(8);
    hello[60..92].fill(9);
    hello[92..94].copy_from_slice(&lane.to_le_bytes());
    hello[94] = lanes;
    hello[112..].fill(nonce);
    hello
}

/// A listener on a socket file of its own.
pub fn unix_listener() -> Listener {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name =
        format!("hushwire-test-{}-{}.socket", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    ok(Listener::bind(&format!("unix:{}", std::env::temp_dir().join(name).display())))
}

/// The transports that every suite runs over.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Over {
    Queues,
    Tcp,
    Tls,
    Unix,
    Shm,
}

impl Over {
    pub const ALL: [Self; 5] = [Self::Queues, Self::Tcp, Self::Tls, Self::Unix, Self::Shm];

    /// Makes `parties` nets with buffers of `buffer` bytes, as far as the system allows.
    pub fn nets(self, parties: u8, lanes: u16, stall: Duration, buffer: Option<usize>) -> Vec<Net> {
        let transport = match self {
            Self::Queues => {
                let ids: Vec<_> = (0..parties).map(PartyId).collect();
                return inproc::mesh_capped(&ids, lanes, stall, buffer.unwrap_or(usize::MAX));
            }
            Self::Tcp => TransportKind::TcpInsecure,
            Self::Tls => TransportKind::TcpTls,
            Self::Unix => TransportKind::Unix,
            Self::Shm => TransportKind::Shm,
        };
        let mut world = World::new(parties, false, transport, lanes, "127.0.0.1");
        for cfg in &mut world.configs {
            cfg.stall = stall;
            cfg.socket_buffer = buffer;
        }
        world.nets()
    }
}

/// Runs `party` for each net on a thread of its own.
pub fn each<T: Send>(nets: Vec<Net>, party: impl Fn(Net) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = nets.into_iter().map(|net| scope.spawn(|| party(net))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("a party panicked"))).collect()
    })
}

/// `bytes` bytes that identify party, lane and position.
pub fn pattern(party: u8, lane: u16, bytes: usize) -> Vec<u8> {
    let start = usize::from(party) * 31 + usize::from(lane) * 101;
    (start..start + bytes).map(|i| (i % 251) as u8).collect()
}

/// A ring of three: the party to send to, and the party to receive from.
pub fn ring(me: PartyId) -> (PartyId, PartyId) {
    (PartyId((me.0 + 1) % 3), PartyId((me.0 + 2) % 3))
}
