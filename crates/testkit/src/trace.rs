//! The messages that each party of a run sends: their number, their bytes and one hash.

use crate::Dirty;
use blake3::Hasher;
use hushwire_block::registry;
use hushwire_machine::drive::{Lockstep, Machine, Place, Wiring};
use hushwire_machine::{PartyId, Tap};
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The messages that a sender sends in a fixed order.
#[derive(Clone, Default)]
struct SentStream {
    messages: u64,
    bytes: u64,
    hash: Hasher,
}

/// Streams by sender and stream number. Threads may drive streams in any order, so each stream has
/// a hash of its own.
type Streams = BTreeMap<(String, u64), SentStream>;

/// The trace of a run. Clones share it, so that parties on several threads can write to it.
///
/// Empty messages do not count: they are rounds of a machine but no bytes on the wire.
#[derive(Clone, Default)]
pub struct Trace(Arc<Mutex<Streams>>);

/// Two runs are equal if their parties sent the same messages.
impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        self.sent() == other.sent()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.sent()).finish()
    }
}

/// The traffic of one party in a run: the number of messages, their bytes, and the hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SentTraffic {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) digest: String,
}

impl Display for SentTraffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.messages, self.bytes, self.digest)
    }
}

impl Trace {
    /// An empty trace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that `sender` sends `message` on this stream. A stream is a lane, a slot or a
    /// receiver, if the sender has several.
    pub fn hear(&self, sender: impl Display, stream: u64, message: &[u8]) {
        if message.is_empty() {
            return;
        }
        let mut streams = self.lock();
        let stream = streams.entry((sender.to_string(), stream)).or_default();
        stream.messages += 1;
        stream.bytes += message.len() as u64;
        stream.hash.update(&(message.len() as u64).to_le_bytes()).update(message);
    }

    /// The function for [`Lockstep::run_edited`]. Parties are named by their numbers.
    pub fn listen(&self) -> impl FnMut(Place, &mut Vec<u8>) + use<> {
        let all = self.clone();
        move |place, message| all.hear(place.party, place.slot as u64, message)
    }

    /// Runs machines in lockstep and records all their messages. Their buffers hold old bytes, and
    /// the uses of keys are recorded.
    ///
    /// # Panics
    /// If a machine fails or its cost differs from its declared cost.
    pub fn run<M: Machine<Error: Display>>(&self, wiring: Wiring, machines: &mut [M]) {
        let _watch = registry::watch();
        let mut machines: Vec<_> = machines.iter_mut().map(Dirty::new).collect();
        let ran = Lockstep::wired(wiring).run_edited(&mut machines, self.listen());
        ran.unwrap_or_else(|e| panic!("{e}"));
    }

    /// A tap that records the messages of `sender` on a channel.
    pub fn tap(&self, sender: impl Display) -> Box<dyn Tap> {
        Box::new(Ear { trace: self.clone(), sender: sender.to_string() })
    }

    /// The traffic of each sender. A sender's streams are in the order of their numbers.
    pub(crate) fn sent(&self) -> BTreeMap<String, SentTraffic> {
        let mut all: BTreeMap<String, (u64, u64, Hasher)> = BTreeMap::new();
        for ((sender, number), stream) in &*self.lock() {
            let (messages, bytes, hash) = all.entry(sender.clone()).or_default();
            *messages += stream.messages;
            *bytes += stream.bytes;
            hash.update(&number.to_le_bytes()).update(stream.hash.finalize().as_bytes());
        }
        let sent = |(messages, bytes, hash): (u64, u64, Hasher)| {
            let digest = hex::encode(&hash.finalize().as_bytes()[..16]);
            SentTraffic { messages, bytes, digest }
        };
        all.into_iter().map(|(sender, sums)| (sender, sent(sums))).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tap of one party's channel.
struct Ear {
    trace: Trace,
    sender: String,
}

impl Tap for Ear {
    fn outgoing(&mut self, to: PartyId, lane: u16, message: &[u8]) -> Option<Vec<u8>> {
        self.trace.hear(&self.sender, u64::from(to.0) << 16 | u64::from(lane), message);
        None
    }

    fn incoming(&mut self, _: PartyId, _: u16, _: &mut [u8]) {}
}
