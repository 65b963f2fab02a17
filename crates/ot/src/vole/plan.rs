//! The rounds in which a number of entries grows, and their price.

use super::seal::SEAL;
use crate::ferret::Set;
use crate::{Level, Role};

/// AGREEMENT: trees of a message, and their leaves, at most: as many as make a message cost little
/// beside them, few enough that both parties work at once.
const BURST: usize = 256;
const BURST_LEAVES: usize = 1 << 15;

/// The set and the trees of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) set: Set,
    /// Trees that become the next round's base, which come first, and trees that come out.
    pub(super) refill: usize,
    out: usize,
}

impl Turn {
    /// A round of `set` that makes the base of a round of `next` with `trees` trees, and `out`
    /// trees besides.
    fn before(set: &Set, next: &Set, trees: usize, out: usize) -> Self {
        Self { set: *set, refill: (next.secrets() + trees).div_ceil(set.leaves()), out }
    }

    /// A round of `set` that makes nothing but `entries` entries.
    fn last(set: &Set, entries: usize) -> Self {
        Self { set: *set, refill: 0, out: entries.div_ceil(set.leaves()) }
    }

    /// Trees of both kinds.
    pub(super) fn trees(&self) -> usize {
        self.refill + self.out
    }

    /// Trees of the message that begins when `made` are made.
    pub(super) fn burst(&self, made: usize) -> usize {
        (BURST_LEAVES / self.set.leaves()).clamp(1, BURST).min(self.trees() - made)
    }
}

/// The price of a number of entries. AGREEMENT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VolePlan {
    pub(super) rounds: Vec<Turn>,
    /// Packed entries and COTs that it starts from.
    pub(super) entries: usize,
    pub(super) cots: usize,
}

impl VolePlan {
    /// For `count` entries: by the first of these sets of which a round is enough, or by rounds of
    /// the last one. One round of each set before it makes the base of the next set's first, and
    /// nothing else.
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

    /// Messages, each with its sender and bytes.
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

    /// Each round's set, its trees and the entries that it begins with; entries that come out.
    #[cfg(test)]
    pub(super) fn turns(&self) -> (Vec<(Set, usize, usize)>, usize) {
        let made = self.rounds.iter().map(|turn| turn.refill * turn.set.leaves());
        let bases = core::iter::once(self.entries).chain(made);
        let turns = self.rounds.iter().zip(bases).map(|(turn, base)| (turn.set, turn.trees(), base));
        (turns.collect(), self.rounds.iter().map(|turn| turn.out * turn.set.leaves()).sum())
    }

    /// Entries of the largest base of rounds 0, 2, .. and of rounds 1, 3, ..: bases change places.
    pub(super) fn rooms(&self) -> [usize; 2] {
        let mut rooms = [self.entries, 0];
        for (i, turn) in self.rounds.iter().enumerate() {
            let room = &mut rooms[(i + 1) % 2];
            *room = (turn.refill * turn.set.leaves()).max(*room);
        }
        rooms
    }

    /// Leaves of the largest tree.
    pub(super) fn widest(&self) -> usize {
        self.rounds.iter().map(|turn| turn.set.leaves()).max().expect("there is a round")
    }
}

/// c of each level, then d.
pub(super) fn tree_bytes(set: &Set) -> usize {
    set.tree_bytes() + 16
}
