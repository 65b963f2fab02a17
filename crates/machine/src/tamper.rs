//! Changes chosen messages in transit, so that every check has a test that cheats.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use crate::{PartyId, Tap};

/// A change of a message. Its length stays the same, since both ends agreed on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// XORs `mask` into the bytes from `offset` on.
    Xor {
        /// The offset of the first changed byte.
        offset: usize,
        /// The bytes to XOR in. Bytes beyond the message's end are ignored.
        mask: Vec<u8>,
    },
    /// All bytes become zero.
    Zero,
    /// Replaces the message by these bytes. The edit does not apply to a message of another length.
    Replace(Vec<u8>),
    /// Replaces the message by the earlier message with this index, counted in the same direction.
    /// The edit does not apply if the lengths differ or the earlier message has not passed.
    Earlier(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TapDirection {
    Out,
    In,
}

/// A tap that edits the messages of one channel, counted from 0 in each direction.
pub struct Tamper {
    edits: Vec<(TapDirection, usize, Edit)>,
    seen: [Vec<Vec<u8>>; 2],
    counts: [usize; 2],
    hits: TamperHits,
}

/// The number of messages that edits changed. A cheating test asserts that its cheat took place.
#[derive(Clone, Default)]
pub struct TamperHits(Arc<AtomicUsize>);

impl TamperHits {
    /// The number of edits so far that changed at least one byte.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Tamper {
    /// A tap without edits.
    #[must_use]
    pub fn new() -> Self {
        Self { edits: Vec::new(), seen: Default::default(), counts: [0; 2], hits: TamperHits::default() }
    }

    /// Adds an edit of the outgoing message `index`.
    #[must_use]
    pub fn outgoing(mut self, index: usize, edit: Edit) -> Self {
        self.edits.push((TapDirection::Out, index, edit));
        self
    }

    /// Adds an edit of the incoming message `index`.
    #[must_use]
    pub fn incoming(mut self, index: usize, edit: Edit) -> Self {
        self.edits.push((TapDirection::In, index, edit));
        self
    }

    /// The counter of edits that took place, which stays valid after the tap is given away.
    #[must_use]
    pub fn hits(&self) -> TamperHits {
        self.hits.clone()
    }

    fn apply(&mut self, way: TapDirection, msg: &[u8]) -> Option<Vec<u8>> {
        let index = self.counts[way as usize];
        self.counts[way as usize] += 1;
        let seen = &mut self.seen[way as usize];
        // Messages are kept only if an edit may need them.
        if self.edits.iter().any(|(w, _, edit)| *w == way && matches!(edit, Edit::Earlier(_))) {
            seen.push(msg.to_vec());
        }
        let mut edited = msg.to_vec();
        for (_, _, edit) in self.edits.iter().filter(|(w, i, _)| (*w, *i) == (way, index)) {
            match edit {
                Edit::Xor { offset, mask } => {
                    edited.iter_mut().skip(*offset).zip(mask).for_each(|(byte, mask)| *byte ^= mask);
                }
                Edit::Zero => edited.fill(0),
                Edit::Replace(other) if other.len() == edited.len() => edited.copy_from_slice(other),
                Edit::Earlier(earlier) => match seen.get(*earlier) {
                    Some(other) if other.len() == edited.len() => edited.copy_from_slice(other),
                    _ => {}
                },
                Edit::Replace(_) => {}
            }
        }
        if edited == msg {
            return None;
        }
        self.hits.0.fetch_add(1, Ordering::SeqCst);
        Some(edited)
    }
}

impl Default for Tamper {
    fn default() -> Self {
        Self::new()
    }
}

impl Tap for Tamper {
    fn outgoing(&mut self, _to: PartyId, _lane: u16, msg: &[u8]) -> Option<Vec<u8>> {
        self.apply(TapDirection::Out, msg)
    }

    fn incoming(&mut self, _from: PartyId, _lane: u16, msg: &mut [u8]) {
        if let Some(edited) = self.apply(TapDirection::In, msg) {
            msg.copy_from_slice(&edited);
        }
    }
}
