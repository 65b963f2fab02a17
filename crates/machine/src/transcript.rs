//! Hashes of all messages, for each link.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use blake3::Hasher;

use crate::{PartyId, Tap};

/// AGREEMENT: the domain of a link's hash.
const LINK_DOMAIN: &str = "hushwire wire 1 transcript of one link";
/// AGREEMENT: the domain of the hash over links.
const DIRECTION_DOMAIN: &str = "hushwire wire 1 transcript of one direction";

/// One directed link: sender, receiver, lane.
type Link = (PartyId, PartyId, u16);

/// A BLAKE3 hash of all messages of each link, shared by any number of channels of one party.
///
/// A link's hash covers sender, receiver and lane, then each message's length (8 bytes, little
/// endian) and bytes. Both ends of a link compute the same hash. Threads may drive lanes in any
/// order, since each link has its own hash.
#[derive(Clone)]
pub struct Transcript {
    me: PartyId,
    links: Arc<Mutex<BTreeMap<Link, Hasher>>>,
}

/// The hashes of one party's two directions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TranscriptDigest {
    /// The hash over all outgoing links, in the order of receiver and lane.
    pub sent: [u8; 32],
    /// The hash over all incoming links, in the order of sender and lane.
    pub received: [u8; 32],
}

impl Transcript {
    /// An empty transcript of party `me`.
    #[must_use]
    pub fn new(me: PartyId) -> Self {
        Self { me, links: Arc::default() }
    }

    /// A tap that writes to this transcript.
    #[must_use]
    pub fn tap(&self) -> Box<dyn Tap> {
        Box::new(self.clone())
    }

    /// The hashes so far.
    #[must_use]
    pub fn digest(&self) -> TranscriptDigest {
        let mut sent = Hasher::new_derive_key(DIRECTION_DOMAIN);
        let mut received = sent.clone();
        for (link, hasher) in &*self.lock() {
            let direction = if link.0 == self.me { &mut sent } else { &mut received };
            direction.update(hasher.finalize().as_bytes());
        }
        TranscriptDigest { sent: sent.finalize().into(), received: received.finalize().into() }
    }

    /// The hash of one link so far; `None` if no message passed on it. The other end has the same
    /// hash.
    #[must_use]
    pub fn link(&self, from: PartyId, to: PartyId, lane: u16) -> Option<[u8; 32]> {
        self.lock().get(&(from, to, lane)).map(|hasher| hasher.finalize().into())
    }

    fn absorb(&self, from: PartyId, to: PartyId, lane: u16, msg: &[u8]) {
        let mut links = self.lock();
        let hasher = links.entry((from, to, lane)).or_insert_with(|| {
            let mut hasher = Hasher::new_derive_key(LINK_DOMAIN);
            hasher.update(&[from.0, to.0]).update(&lane.to_le_bytes());
            hasher
        });
        hasher.update(&(msg.len() as u64).to_le_bytes()).update(msg);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Link, Hasher>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Transcript {
    fn outgoing(&mut self, to: PartyId, lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.absorb(self.me, to, lane, msg);
        None
    }

    fn incoming(&mut self, from: PartyId, lane: u16, msg: &mut [u8]) {
        self.absorb(from, self.me, lane, msg);
    }
}
