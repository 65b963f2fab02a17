//! Counts rounds in protocols that stream messages one way: a thousand messages in a row are one
//! round.

use crate::{PartyId, Tap};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The number of times that each lane waited for the peer after it had sent something, or at the
/// start. These are the rounds of protocols of two parties, in which a message may be part of a
/// long stream. Clones share the count.
#[derive(Clone, Default)]
pub struct Turns(Arc<Mutex<BTreeMap<u16, Turn>>>);

#[derive(Default)]
struct Turn {
    count: u64,
    /// Whether the last message was incoming, and so began the turn.
    hears: bool,
}

impl Turns {
    /// A tap for every channel whose rounds count.
    #[must_use]
    pub fn tap(&self) -> Box<dyn Tap> {
        Box::new(self.clone())
    }

    /// The rounds of the busiest lane, since lanes run concurrently.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.lock().values().map(|turn| turn.count).max().unwrap_or(0)
    }

    /// Resets the count.
    pub fn reset(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u16, Turn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for Turns {
    fn outgoing(&mut self, _to: PartyId, lane: u16, _msg: &[u8]) -> Option<Vec<u8>> {
        self.lock().entry(lane).or_default().hears = false;
        None
    }

    fn incoming(&mut self, _from: PartyId, lane: u16, _msg: &mut [u8]) {
        let mut all = self.lock();
        let turn = all.entry(lane).or_default();
        turn.count += u64::from(!turn.hears);
        turn.hears = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_one_round() {
        let turns = Turns::default();
        let (mut tap, peer) = (turns.tap(), PartyId(1));
        let mut talk = |lane: u16, words: &str| {
            for word in words.chars() {
                match word {
                    '>' => assert!(tap.outgoing(peer, lane, &[1]).is_none()),
                    _ => tap.incoming(peer, lane, &mut [1]),
                }
            }
        };
        assert_eq!(turns.rounds(), 0);
        talk(0, ">>>");
        assert_eq!(turns.rounds(), 0);
        talk(0, "<<<");
        assert_eq!(turns.rounds(), 1);
        talk(0, "<>>><<");
        assert_eq!(turns.rounds(), 2);
        talk(1, "<><><");
        assert_eq!(turns.rounds(), 3, "the busiest lane");
        turns.reset();
        assert_eq!(turns.rounds(), 0);
    }
}
