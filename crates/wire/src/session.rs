//! The configuration with which a party joins a session.
//!
//! The handshake compares the fields that are marked as agreed. The other fields are this party's
//! own: its peers, time limits and buffers.

use core::{fmt, str::FromStr};
use std::time::Duration;

use hushwire_machine::{NetError, PartyId, SessionId};

use crate::{Pin, slot::CONTROL_LANE};

/// The scheme of a Unix socket's address; a path follows.
pub(crate) const UNIX_PREFIX: &str = "unix:";

/// The transport of bytes between parties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransportKind {
    /// TCP with TLS 1.3; pins authenticate both ends.
    TcpTls,
    /// Plain TCP: no secrecy, no authentication. For measurements and tests only.
    #[cfg(feature = "tcp-insecure")]
    TcpInsecure,
    /// Unix sockets between processes of one user on one host. Addresses are `unix:/path`.
    Unix,
    /// Shared memory between processes of one user on one Linux host. Unix sockets set it up, and
    /// give its addresses.
    Shm,
}

impl TransportKind {
    /// Whether the parties are processes of one user on one host, and addresses are `unix:/path`.
    #[must_use]
    pub fn is_local(self) -> bool {
        matches!(self, Self::Unix | Self::Shm)
    }

    /// Refuses transports that this system does not have.
    fn check_host(self) -> Result<(), NetError> {
        let missing = match self {
            Self::Unix if !cfg!(unix) => "transport unix needs a system with Unix sockets",
            Self::Shm if !cfg!(target_os = "linux") => "transport shm needs Linux",
            _ => return Ok(()),
        };
        Err(NetError::Config { peer: None, what: missing.to_owned() })
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TcpTls => "tcp-tls",
            #[cfg(feature = "tcp-insecure")]
            Self::TcpInsecure => "tcp-insecure",
            Self::Unix => "unix",
            Self::Shm => "shm",
        })
    }
}

impl FromStr for TransportKind {
    type Err = NetError;

    fn from_str(s: &str) -> Result<Self, NetError> {
        let what = match s {
            "tcp-tls" => return Ok(Self::TcpTls),
            "unix" => return Ok(Self::Unix),
            "shm" => return Ok(Self::Shm),
            #[cfg(feature = "tcp-insecure")]
            "tcp-insecure" => return Ok(Self::TcpInsecure),
            #[cfg(not(feature = "tcp-insecure"))]
            "tcp-insecure" => {
                "transport tcp-insecure is not part of this build (cargo feature `tcp-insecure`)".into()
            }
            other => {
                format!("no transport is called {other:?}, only tcp-tls, tcp-insecure, unix and shm are")
            }
        };
        Err(NetError::Config { peer: None, what })
    }
}

/// A peer, as the party file lists it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PeerConfig {
    /// The peer's number.
    pub id: PartyId,
    /// The address on which it listens, `host:port` or `unix:/path`; `None` if it only dials this
    /// party, as clients do.
    pub address: Option<String>,
    /// The fingerprint of its certificate.
    pub pin: Pin,
}

/// One party's view of a session. The handshake compares the fields on which the parties must
/// agree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionConfig {
    /// The number of this party.
    pub me: PartyId,
    /// Agreed: the name of this session. It may be reused, since
    /// [`Net::session`](crate::Net::session) is unique to each session.
    pub session: SessionId,
    /// Agreed: the digest of the job's plan.
    pub job_digest: [u8; 32],
    /// Agreed: the digest of all other agreement-class parameters.
    pub params: [u8; 32],
    /// Agreed: the number of lanes between two computing parties, at least 1.
    pub lanes: u16,
    /// Agreed: the number of lanes between a client and a party, at least 1 if there are clients.
    pub client_lanes: u16,
    /// The members with whom this party has links; a client lists only the parties.
    pub peers: Vec<PeerConfig>,
    /// Agreed: the transport.
    pub transport: TransportKind,
    /// The longest time that [`crate::connect`] waits for all peers together.
    pub connect_timeout: Duration,
    /// The longest time that a step may wait for a live peer while no byte moves.
    pub stall: Duration,
    /// The longest time that a peer may be silent before it counts as dead, whether a step waits or
    /// not. Heartbeats come each second. The default is [`SessionConfig::LIVENESS`].
    pub liveness: Duration,
    /// The time without a moving byte on any link and without a finished step, after which the
    /// observer is told which peer a step waits for. The default is [`SessionConfig::STILL`].
    pub still: Duration,
    /// The bytes requested from the system for each socket's send and receive buffer; `None` lets
    /// the system choose.
    pub socket_buffer: Option<usize>,
    /// The server name in the TLS greetings that this party sends. A port of many sessions tells
    /// them apart by it before hellos are read. `None` sends no name. Only TLS has it, and it is
    /// sent in the clear.
    pub server_name: Option<String>,
    /// Whether all members of the session are processes of one member. They share one key, so the
    /// hello says which of them each is.
    pub kin: bool,
}

impl SessionConfig {
    /// LOCAL: the default liveness limit. The others end within 10 s after a host has vanished.
    pub const LIVENESS: Duration = Duration::from_secs(8);
    /// LOCAL: the default of both time-outs, `connect_timeout` and `stall`.
    pub const PATIENCE: Duration = Duration::from_secs(20);
    /// LOCAL: the time without movement before a person is told.
    pub const STILL: Duration = Duration::from_secs(10);
    /// LOCAL: the smallest liveness limit, two heartbeats.
    const LEAST_LIVENESS: Duration = Duration::from_secs(2);

    /// A session with one lane between any two members, digests of zeros, the system's socket
    /// buffers, and time-outs of [`PATIENCE`](Self::PATIENCE).
    #[must_use]
    pub fn new(me: PartyId, session: SessionId, peers: Vec<PeerConfig>, transport: TransportKind) -> Self {
        Self {
            me,
            session,
            job_digest: [0; 32],
            params: [0; 32],
            lanes: 1,
            client_lanes: 1,
            peers,
            transport,
            connect_timeout: Self::PATIENCE,
            stall: Self::PATIENCE,
            liveness: Self::LIVENESS,
            still: Self::STILL,
            socket_buffer: None,
            server_name: None,
            kin: false,
        }
    }

    /// The number of lanes between this party and `peer`, each way.
    #[must_use]
    pub fn lanes_with(&self, peer: PartyId) -> u16 {
        if self.me.is_client() || peer.is_client() { self.client_lanes } else { self.lanes }
    }

    /// Finds configurations that cannot work, before any peer is dialled.
    pub(crate) fn check(&self, listens: bool) -> Result<(), NetError> {
        let bad = |peer, what: &str| Err(NetError::Config { peer, what: what.to_owned() });
        self.transport.check_host()?;
        if self.liveness < Self::LEAST_LIVENESS {
            return bad(None, "the liveness limit is shorter than two heartbeats");
        }
        if let Some(name) = &self.server_name
            && !crate::tls::is_server_name(name)
        {
            return bad(None, &format!("{name:?} cannot be the name in a greeting"));
        }
        if self.lanes.max(self.client_lanes) == CONTROL_LANE {
            return bad(None, "there are too many lanes");
        }
        for (i, peer) in self.peers.iter().enumerate() {
            let id = Some(peer.id);
            if [peer.id, self.me].contains(&PartyId(0xff)) {
                return bad(id, "the id 255 means nobody");
            }
            if peer.id == self.me {
                return bad(id, "a party is listed as its own peer");
            }
            if self.peers[..i].iter().any(|p| p.id == peer.id) {
                return bad(id, "a peer is listed twice");
            }
            let repeats = !self.kin && self.peers[..i].iter().any(|p| p.pin == peer.pin);
            if self.transport == TransportKind::TcpTls && repeats {
                return bad(id, "two peers have the same pin, so that one could speak for the other");
            }
            if peer.address.is_none() && !listens {
                return bad(id, "it has no address and this party has no listener, so neither can dial");
            }
            if let Some(address) = &peer.address
                && address.starts_with(UNIX_PREFIX) != self.transport.is_local()
            {
                let wanted = if self.transport.is_local() { "unix:/path" } else { "host:port" };
                return bad(id, &format!("transport {} dials {wanted}, not {address}", self.transport));
            }
            if self.lanes_with(peer.id) == 0 {
                return bad(id, "there are no lanes to it");
            }
        }
        Ok(())
    }
}
