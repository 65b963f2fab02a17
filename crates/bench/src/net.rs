//! Parties of one process, connected over any transport.

use std::{
    fmt, thread,
    time::{Duration, Instant},
};

use hushwire_machine::{Channel, Net, PartyId, SessionId, inproc};
use hushwire_wire::{LocalParties, SessionConfig, Shape, TransportKind};

use crate::{BoxError, axes::axis};

axis! {
    /// The transport between the parties.
    pub enum Transport {
        /// No transport: memory.
        Inproc = "inproc",
        /// Rings in shared memory.
        Shm = "shm",
        /// Unix sockets.
        Unix = "unix",
        /// TCP on loopback with TLS 1.3 and throw-away certificates.
        TcpTls = "tcp-tls",
        /// Plain TCP on loopback.
        TcpInsecure = "tcp-insecure",
    }
}

impl Transport {
    /// Whether it joins processes of one host only, and is no in-process queue.
    #[must_use]
    pub const fn is_local(self) -> bool {
        matches!(self, Self::Unix | Self::Shm)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The networks that are modelled, by the names that reports give them.
pub const NETS: [Shape; 3] = [Shape::NONE, Shape::lan(), Shape::wan()];

/// LOCAL: bytes that wait between two parties in memory: a party that only sends must not run ahead
/// for ever.
const QUEUE: usize = 2 << 20;

/// The nets of `N` parties with `lanes` lanes between any two; [`Transport::Inproc`] gives queues
/// in memory. Every party's links are shaped alike.
///
/// # Errors
/// If a certificate, a port or a connection cannot be had.
pub(crate) fn nets<const N: usize>(
    transport: Transport,
    shape: Shape,
    session: SessionId,
    lanes: u16,
) -> Result<[Net; N], BoxError> {
    mesh(N, transport, shape, session, lanes)?.try_into().map_err(|_| "a party is not connected".into())
}

/// [`nets`] of a number of parties that is known when it runs.
pub(crate) fn mesh(
    parties: usize,
    transport: Transport,
    shape: Shape,
    session: SessionId,
    lanes: u16,
) -> Result<Vec<Net>, BoxError> {
    let ids: Vec<PartyId> = (0..parties as u8).map(PartyId).collect();
    let kind = match transport {
        Transport::Inproc => None,
        Transport::TcpTls => Some(TransportKind::TcpTls),
        Transport::TcpInsecure => Some(TransportKind::TcpInsecure),
        Transport::Unix => Some(TransportKind::Unix),
        Transport::Shm => Some(TransportKind::Shm),
    };
    let mut nets = match kind {
        None => inproc::mesh_capped(&ids, lanes, SessionConfig::PATIENCE, QUEUE),
        Some(kind) => {
            let mut parties = LocalParties::bind(&ids, kind, session)?;
            parties.configs.iter_mut().for_each(|config| config.lanes = lanes);
            parties.connect().into_iter().collect::<Result<_, _>>()?
        }
    };
    nets.iter_mut().for_each(|net| shape.apply(net));
    Ok(nets)
}

/// A channel between parties 0 and 1, both its ends.
pub(crate) fn channels(transport: Transport, shape: Shape) -> Result<[Channel; 2], BoxError> {
    let [mut a, mut b] = nets(transport, shape, SessionId::fresh()?, 1)?;
    let channel = |net: &mut Net, peer| net.channel(0, Some(PartyId(peer)), Some(PartyId(peer)));
    Ok([channel(&mut a, 1)?, channel(&mut b, 0)?])
}

/// Results of all parties, each with its end, all at once, in their order.
pub(crate) fn each<E: Send, T: Send>(
    ends: impl IntoIterator<Item = E>,
    party: impl Fn(usize, E) -> Result<T, BoxError> + Sync,
) -> Result<Vec<T>, BoxError> {
    let party = &party;
    thread::scope(|scope| {
        let ends = ends.into_iter().enumerate();
        let running: Vec<_> = ends.map(|(i, end)| scope.spawn(move || party(i, end))).collect();
        running.into_iter().map(|thread| joined(thread.join())?).collect()
    })
}

/// The time from the first start to the last end.
pub(crate) fn span(spans: impl Iterator<Item = (Instant, Instant)> + Clone) -> Duration {
    let (begin, end) = (spans.clone().map(|span| span.0).min(), spans.map(|span| span.1).max());
    begin.zip(end).map_or(Duration::ZERO, |(begin, end)| end - begin)
}

/// A thread's result; a panic in it is an error here.
pub(crate) fn joined<T>(result: thread::Result<T>) -> Result<T, BoxError> {
    result.map_err(|_| "a thread of the benchmark panicked".into())
}
