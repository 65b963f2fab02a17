//! Records what a party received, so that the party can run again alone: to measure it, or to find
//! a fault.

use std::{
    collections::BTreeMap,
    io::{self, ErrorKind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Net, PartyId, Rx, Tap, Tx, Wait};

/// Everything that one party received, by sender and lane.
///
/// It holds the party's view of the protocol: keep it as secret as the party's shares.
#[derive(Clone, Default)]
pub struct Recording {
    /// Concatenated messages. Lengths are agreed, so a party that runs again asks for the same
    /// ones.
    links: BTreeMap<(PartyId, u16), Vec<u8>>,
}

/// A shared recorder for any number of channels of one party.
#[derive(Clone, Default)]
pub struct Record(Arc<Mutex<Recording>>);

impl Record {
    /// An empty recorder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tap that records here.
    #[must_use]
    pub fn tap(&self) -> Box<dyn Tap> {
        Box::new(self.clone())
    }

    /// A copy of the recording so far.
    #[must_use]
    pub fn recording(&self) -> Recording {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Record {
    fn outgoing(&mut self, _to: PartyId, _lane: u16, _msg: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn incoming(&mut self, from: PartyId, lane: u16, msg: &mut [u8]) {
        self.lock().links.entry((from, lane)).or_default().extend_from_slice(msg);
    }
}

impl Recording {
    /// The bytes received from `from` on `lane`, message after message.
    #[must_use]
    pub fn received(&self, from: PartyId, lane: u16) -> &[u8] {
        self.links.get(&(from, lane)).map_or(&[], Vec::as_slice)
    }

    /// Removes what came from `from` on `lane` after the first `len` bytes.
    pub fn truncate(&mut self, from: PartyId, lane: u16, len: usize) {
        if let Some(bytes) = self.links.get_mut(&(from, lane)) {
            bytes.truncate(len);
        }
    }
}

/// Plays a [`Recording`] to the party that made it.
pub struct Replay {
    recording: Recording,
}

impl Replay {
    /// Prepares to play `recording` any number of times.
    #[must_use]
    pub fn new(recording: Recording) -> Self {
        Self { recording }
    }

    /// A link that delivers the recorded bytes from `from` on `lane`, and then closes.
    #[must_use]
    pub fn rx(&self, from: PartyId, lane: u16) -> Box<dyn Rx> {
        Box::new(Played { bytes: self.recording.received(from, lane).to_vec(), at: 0 })
    }

    /// A link that takes and discards what the party sends.
    #[must_use]
    pub fn tx(&self) -> Box<dyn Tx> {
        Box::new(Discard)
    }

    /// All links of party `me` with `peers` on `lanes` lanes, as in a session of several processes.
    #[must_use]
    pub fn net(&self, me: PartyId, peers: &[PartyId], lanes: u16) -> Net {
        // A replay never waits.
        let mut net = Net::new(me, lanes, Duration::ZERO);
        for &peer in peers {
            for lane in 0..lanes {
                net.add_tx(peer, lane, self.tx());
                net.add_rx(peer, lane, self.rx(peer, lane));
            }
        }
        net
    }
}

struct Played {
    bytes: Vec<u8>,
    at: usize,
}

impl Rx for Played {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let rest = &self.bytes[self.at..];
        let n = into.len().min(rest.len());
        if n == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        into[..n].copy_from_slice(&rest[..n]);
        self.at += n;
        Ok(n)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Ready
    }
}

struct Discard;

impl Tx for Discard {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        Ok(out.len())
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Ready
    }
}
