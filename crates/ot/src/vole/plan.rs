//! The rounds in which a number of entries grows, and their costs.

use super::seal::SEAL;
use crate::ferret::Set;
use crate::{Level, Role};

/// AGREEMENT: the largest number of trees in a message. It is large enough that a message costs
/// little, and small enough that both parties work at the same time.
const BURST: usize = 256;
const BURST_LEAVES: usize = 1 << 15;

/// The set and the trees of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) set: Set,
    /// The number of trees for the next round's base, which come first; `out` is the number of
    /// trees that are output.
    pub(super) refill: usize,
    out: usize,
}

impl Turn {
    /// A round of `set` that makes the base of a round of `next` with `trees` trees, and outputs
    /// `out` further trees.
    fn before(set: &Set, next: &Set, trees: usize, out: usize) -> Self {
        Self { set: *set, refill: (next.secrets() + trees).div_ceil(set.leaves()), out }
    }

    /// A round of `set` that only outputs `entries` entries.
    fn last(set: &Set, entries: usize) -> Self {
        Self { set: *set, refill: 0, out: entries.div_ceil(set.leaves()) }
    }

    /// The number of trees of both kinds.
    pub(super) fn trees(&self) -> usize {
        self.refill + self.out
    }

    /// The number of trees in the message that begins after `made` trees.
    pub(super) fn burst(&self, made: usize) -> usize {
        (BURST_LEAVES / self.set.leaves()).clamp(1, BURST).min(self.trees() - made)
    }
}

/// The plan for a number of entries. AGREEMENT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VolePlan {
    pub(super) rounds: Vec<Turn>,
    /// The numbers of packed entries and COTs from which it starts.
    pub(super) entries: usize,
    pub(super) cots: usize,
}

impl VolePlan {
    /// For `count` entries: uses the first of these sets of which one round is enough, or rounds of
    /// the last set. One round of each smaller set makes the base of the next set's first round,
    /// and nothing else.
    pub(super) fn new(sets: &[Set], level: Level, count: usize) -> Self {
        let most = |set: &Set| set.trees() * set.leaves();
        let at = sets.iter().position(|set| count <= most(set)).unwrap_or(sets.len() - 1);
        let (set, mut left, mut rounds) = (&sets[at], count, vec![]);
        while left > most(set) {
            let refill = Turn::before(set, set, set.trees(), 0).refill;
            rounds.push(Turn::before(set, set, set.trees(), set.trees() - refill));
            left -= (set.trees() - refill) * set.leaves();
        }
        rounds.push(Turn::last(set, left));
        for set in sets[..at].iter().rev() {
            rounds.insert(0, Turn::before(set, &rounds[0].set, rounds[0].trees(), 0));
        }
        let spare = usize::from(level == Level::Malicious);
        let entries = rounds[0].set.secrets() + rounds[0].trees() + spare;
        let cots = rounds.iter().map(|turn| turn.trees() * turn.set.depth()).sum();
        Self { rounds, entries, cots }
    }

    /// Whether entries come from the last of these sets.
    pub(super) fn reaches(&self, set: Set) -> bool {
        self.rounds.last().is_some_and(|turn| turn.set == set)
    }

    /// The messages, each with its sender and bytes.
    pub(super) fn messages(&self, level: Level) -> Vec<(Role, usize)> {
        let mut messages = vec![];
        for turn in &self.rounds {
            let mut made = 0;
            while made < turn.trees() {
                messages.push((Role::Sender, turn.burst(made) * tree_bytes(&turn.set)));
                made += turn.burst(made);
            }
        }
        let check = SEAL.iter().map(|step| (step.from, step.bytes));
        messages.extend(check.filter(|_| level == Level::Malicious));
        messages
    }

    /// Each round's set, its trees and the entries with which it begins; and the number of output
    /// entries.
    #[cfg(test)]
    pub(super) fn turns(&self) -> (Vec<(Set, usize, usize)>, usize) {
        let made = self.rounds.iter().map(|turn| turn.refill * turn.set.leaves());
        let bases = core::iter::once(self.entries).chain(made);
        let turns = self.rounds.iter().zip(bases).map(|(turn, base)| (turn.set, turn.trees(), base));
        (turns.collect(), self.rounds.iter().map(|turn| turn.out * turn.set.leaves()).sum())
    }

    /// The largest base of rounds 0, 2, .. and of rounds 1, 3, .., in entries: bases alternate
    /// between two buffers.
    pub(super) fn rooms(&self) -> [usize; 2] {
        let mut rooms = [self.entries, 0];
        for (i, turn) in self.rounds.iter().enumerate() {
            let room = &mut rooms[(i + 1) % 2];
            *room = (turn.refill * turn.set.leaves()).max(*room);
        }
        rooms
    }

    /// The number of leaves of the largest tree.
    pub(super) fn widest(&self) -> usize {
        self.rounds.iter().map(|turn| turn.set.leaves()).max().expect("there is a round")
    }
}

/// The bytes of a tree's message: c of each level, then d.
pub(super) fn tree_bytes(set: &Set) -> usize {
    set.tree_bytes() + 16
}
