//! Parties of one process, connected over any transport, or by queues in memory. Links may be
//! shaped to the rate and delay of a modelled network.

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
        /// No transport, only memory.
        Inproc = "inproc",
        /// Rings in shared memory.
        Shm = "shm",
        /// Unix sockets.
        Unix = "unix",
        /// TCP on loopback with TLS 1.3 and temporary certificates.
        TcpTls = "tcp-tls",
        /// Plain TCP on loopback.
        TcpInsecure = "tcp-insecure",
    }
}

impl Transport {
    /// Whether it joins only processes of one host, and is not an in-process queue.
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

/// The modelled networks. Reports use their names.
pub const NETS: [Shape; 3] = [Shape::NONE, Shape::lan(), Shape::wan()];

/// LOCAL: the bytes that may wait between two parties in memory. A party that only sends must not
/// run ahead without bound.
const QUEUE: usize = 2 << 20;

/// The nets of `N` parties with `lanes` lanes between any two. [`Transport::Inproc`] gives queues
/// in memory. The links of all parties are shaped in the same way.
///
/// # Errors
/// A certificate, a port or a connection is not available.
pub(crate) fn nets<const N: usize>(
    transport: Transport,
    shape: Shape,
    session: SessionId,
    lanes: u16,
) -> Result<[Net; N], BoxError> {
    mesh(N, transport, shape, session, lanes)?.try_into().map_err(|_| "a party is not connected".into())
}

/// [`nets`] for a number of parties that is known at run time.
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

/// Both endpoints of a channel between parties 0 and 1.
pub(crate) fn channels(transport: Transport, shape: Shape) -> Result<[Channel; 2], BoxError> {
    let [mut a, mut b] = nets(transport, shape, SessionId::fresh()?, 1)?;
    let channel = |net: &mut Net, peer| net.channel(0, Some(PartyId(peer)), Some(PartyId(peer)));
    Ok([channel(&mut a, 1)?, channel(&mut b, 0)?])
}

/// Runs all parties at once, each with its endpoint. Returns their results in order.
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

/// A thread's result. A panic in the thread becomes an error.
pub(crate) fn joined<T>(result: thread::Result<T>) -> Result<T, BoxError> {
    result.map_err(|_| "a thread of the benchmark panicked".into())
}
