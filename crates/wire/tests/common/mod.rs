//! A world of parties on this host.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::Duration,
};

use hushwire_wire::{
    Identity, Listener, Net, NetError, PartyId, PeerConfig, SessionConfig, SessionId, TransportKind, connect,
    inproc,
};

pub const STALL: Duration = Duration::from_secs(20);

/// The parts of a world that a test may change before it connects.
pub struct World {
    pub identities: Vec<Identity>,
    pub listeners: Vec<Option<Listener>>,
    pub configs: Vec<SessionConfig>,
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
    /// Parties 0, 1, … and, last, the owner where `owner`, on `host` with ports of the system's choice, or on Unix
    /// sockets in the directory for temporary files.
    pub fn new(parties: u8, owner: bool, transport: TransportKind, lanes: u16, host: &str) -> Self {
        let mut ids: Vec<_> = (0..parties).map(PartyId).collect();
        let bind = |_| {
            if transport.is_local() { unix_listener() } else { ok(Listener::bind(&format!("{host}:0"))) }
        };
        let mut listeners: Vec<_> = ids.iter().map(bind).map(Some).collect();
        // A TCP peer is dialled by the name that the test gave.
        let address = |l: &Listener| l.local_addr().map_or(l.address(), |a| format!("{host}:{}", a.port()));
        let mut addresses: Vec<_> = listeners.iter().flatten().map(|l| Some(address(l))).collect();
        if owner {
            ids.push(PartyId::OWNER);
            listeners.push(None);
            addresses.push(None);
        }
        let identities: Vec<_> = ids.iter().map(|id| ok(Identity::generate(&id.to_string()))).collect();
        let peer =
            |i: usize| PeerConfig { id: ids[i], address: addresses[i].clone(), pin: identities[i].pin() };
        let configs = (0..ids.len())
            .map(|me| SessionConfig {
                me: ids[me],
                session: SessionId([7; 16]),
                job_digest: [8; 32],
                params: [9; 32],
                lanes,
                client_lanes: 1,
                peers: (0..ids.len()).filter(|&i| i != me).map(peer).collect(),
                transport,
                connect_timeout: Duration::from_secs(10),
                stall: STALL,
                liveness: SessionConfig::LIVENESS,
                socket_buffer: None,
            })
            .collect();
        Self { identities, listeners, configs }
    }

    /// Connects all parties at once.
    pub fn connect(&self) -> Vec<Result<Net, NetError>> {
        thread::scope(|scope| {
            let threads: Vec<_> = (0..self.configs.len())
                .map(|i| {
                    scope.spawn(move || {
                        connect(&self.configs[i], &self.identities[i], self.listeners[i].as_ref())
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("a party panicked"))).collect()
        })
    }

    pub fn nets(&self) -> Vec<Net> {
        self.connect().into_iter().map(ok).collect()
    }
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

    /// `parties` nets with buffers of `buffer` bytes, as far as the system follows.
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

/// Runs `party` for each net on its own thread.
pub fn each<T: Send>(nets: Vec<Net>, party: impl Fn(Net) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = nets.into_iter().map(|net| scope.spawn(|| party(net))).collect();
        threads.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("a party panicked"))).collect()
    })
}

/// `bytes` bytes that tell party, lane and position.
pub fn pattern(party: u8, lane: u16, bytes: usize) -> Vec<u8> {
    let start = usize::from(party) * 31 + usize::from(lane) * 101;
    (start..start + bytes).map(|i| (i % 251) as u8).collect()
}

/// The ring of three: to the next party, from the one before.
pub fn ring(me: PartyId) -> (PartyId, PartyId) {
    (PartyId((me.0 + 1) % 3), PartyId((me.0 + 2) % 3))
}
