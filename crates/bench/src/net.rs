//! Parties of one process, connected over any transport.

use std::{fmt, thread};

use hushwire_rep3::Role;
use hushwire_wire::{LocalParties, Net, PartyId, SessionConfig, SessionId, Shape, TransportKind, inproc};

use crate::BoxError;

/// The transport between the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// No transport: memory.
    Inproc,
    /// TCP on loopback with TLS 1.3 and throw-away certificates.
    TcpTls,
    /// Plain TCP on loopback.
    TcpInsecure,
    /// Unix sockets.
    Unix,
    /// Rings in shared memory.
    Shm,
}

impl Transport {
    /// The five transports.
    pub const ALL: [Self; 5] = [Self::Inproc, Self::Shm, Self::Unix, Self::TcpTls, Self::TcpInsecure];

    /// Whether it joins processes of one host only, and is no in-process queue.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Unix | Self::Shm)
    }

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inproc => "inproc",
            Self::TcpTls => "tcp-tls",
            Self::TcpInsecure => "tcp-insecure",
            Self::Unix => "unix",
            Self::Shm => "shm",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The networks that are modelled, by the names that reports give them.
pub const NETS: [Shape; 3] = [Shape::NONE, Shape::lan(), Shape::wan()];

/// The nets of three parties with `lanes` lanes between any two; [`Transport::Inproc`] gives queues in memory.
///
/// Every party's links are shaped alike. `socket_buffer` asks the system for buffers of that size (TCP only).
///
/// # Errors
/// If a certificate, a port or a connection cannot be had.
pub fn three(
    transport: Transport,
    shape: Shape,
    session: SessionId,
    lanes: u16,
    socket_buffer: Option<usize>,
) -> Result<[Net; 3], BoxError> {
    let queue = usize::MAX;
    let nets = several(&Role::ALL.map(Role::id), transport, shape, session, lanes, socket_buffer, queue)?;
    nets.try_into().map_err(|_| "not three parties connected".into())
}

/// LOCAL: bytes that wait between two parties in memory: a party that only sends must not run ahead for ever.
const QUEUE: usize = 2 << 20;

/// The nets of parties 0 and 1, as [`three`] makes those of three.
///
/// # Errors
/// As there.
pub fn two(transport: Transport, shape: Shape, session: SessionId, lanes: u16) -> Result<[Net; 2], BoxError> {
    let nets = several(&[PartyId(0), PartyId(1)], transport, shape, session, lanes, None, QUEUE)?;
    nets.try_into().map_err(|_| "not two parties connected".into())
}

fn several(
    ids: &[PartyId],
    transport: Transport,
    shape: Shape,
    session: SessionId,
    lanes: u16,
    socket_buffer: Option<usize>,
    queue: usize,
) -> Result<Vec<Net>, BoxError> {
    let kind = match transport {
        Transport::Inproc => {
            let mut nets = inproc::mesh_capped(ids, lanes, SessionConfig::PATIENCE, queue);
            nets.iter_mut().for_each(|net| net.shape(shape));
            return Ok(nets);
        }
        Transport::TcpTls => TransportKind::TcpTls,
        Transport::TcpInsecure => TransportKind::TcpInsecure,
        Transport::Unix => TransportKind::Unix,
        Transport::Shm => TransportKind::Shm,
    };
    let mut parties = LocalParties::bind(ids, kind, session)?;
    for config in &mut parties.configs {
        (config.lanes, config.socket_buffer) = (lanes, socket_buffer);
    }
    let nets: Result<Vec<_>, _> = parties.connect().into_iter().collect();
    let mut nets = nets?;
    nets.iter_mut().for_each(|net| net.shape(shape));
    Ok(nets)
}

/// A thread's result; a panic in it is an error here.
pub(crate) fn joined<T>(result: thread::Result<T>) -> Result<T, BoxError> {
    result.map_err(|_| "a thread of the benchmark panicked".into())
}
