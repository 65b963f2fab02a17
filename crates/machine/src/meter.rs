//! Counts messages and bytes, to compare them with what a protocol declares.
//!
//! A [`Meter`] is a tap that counts payload bytes for each peer, and exchanges and bytes for each
//! lane. Its reading has the form of a declared [`Cost`].

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{PartyId, Tap};

/// The cost of a protocol for one party, declared or measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Cost {
    /// Sequential exchanges.
    pub rounds: u64,
    /// The payload bytes that the party sends to all peers.
    pub bytes_sent: u64,
}

impl Cost {
    /// The cost of both in sequence.
    #[must_use]
    pub fn then(self, other: Cost) -> Cost {
        Cost { rounds: self.rounds + other.rounds, bytes_sent: self.bytes_sent + other.bytes_sent }
    }

    /// The difference between this cost and an earlier one, `before`.
    #[must_use]
    pub fn since(self, before: Cost) -> Cost {
        Cost { rounds: self.rounds - before.rounds, bytes_sent: self.bytes_sent - before.bytes_sent }
    }
}

/// Payload bytes to and from one peer.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Bytes to the peer.
    pub bytes_sent: u64,
    /// Bytes from the peer.
    pub bytes_received: u64,
}

/// The reading of a [`Meter`]: payload bytes, without the overhead of TLS and TCP.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MeterReading {
    /// Bytes by peer.
    pub peers: BTreeMap<PartyId, Traffic>,
    /// The finished exchanges of each lane, and the bytes sent to all peers on it, over all
    /// channels of that lane.
    pub lanes: BTreeMap<u16, Cost>,
}

impl MeterReading {
    /// The rounds: the exchanges of the busiest lane, since lanes run concurrently.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.lanes.values().map(|cost| cost.rounds).max().unwrap_or(0)
    }

    /// Bytes sent to all peers.
    #[must_use]
    pub fn bytes_sent(&self) -> u64 {
        self.peers.values().map(|t| t.bytes_sent).sum()
    }

    /// Bytes received from all peers.
    #[must_use]
    pub fn bytes_received(&self) -> u64 {
        self.peers.values().map(|t| t.bytes_received).sum()
    }

    /// The reading in the form in which a protocol declares its cost.
    #[must_use]
    pub fn cost(&self) -> Cost {
        Cost { rounds: self.rounds(), bytes_sent: self.bytes_sent() }
    }
}

/// A shared counter for any number of channels of one party.
#[derive(Clone, Default)]
pub struct Meter(Arc<Mutex<MeterReading>>);

impl Meter {
    /// A meter at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tap that counts on this meter.
    #[must_use]
    pub fn tap(&self) -> Box<dyn Tap> {
        Box::new(self.clone())
    }

    /// The counts of one lane so far.
    #[must_use]
    pub fn lane(&self, lane: u16) -> Cost {
        self.lock().lanes.get(&lane).copied().unwrap_or_default()
    }

    /// The counts so far.
    #[must_use]
    pub fn reading(&self) -> MeterReading {
        self.lock().clone()
    }

    /// Resets the meter to zero and returns its last reading.
    #[must_use]
    pub fn take(&self) -> MeterReading {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, MeterReading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Meter {
    fn outgoing(&mut self, to: PartyId, lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        let (mut counts, bytes) = (self.lock(), msg.len() as u64);
        counts.peers.entry(to).or_default().bytes_sent += bytes;
        counts.lanes.entry(lane).or_default().bytes_sent += bytes;
        None
    }

    fn incoming(&mut self, from: PartyId, _lane: u16, msg: &mut [u8]) {
        self.lock().peers.entry(from).or_default().bytes_received += msg.len() as u64;
    }

    fn finished(&mut self, lane: u16) {
        self.lock().lanes.entry(lane).or_default().rounds += 1;
    }
}
