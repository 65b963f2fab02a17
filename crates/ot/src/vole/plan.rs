//! The rounds in which a number of entries grows, and their price.

use super::seal::SEAL;
use crate::ferret::Set;
use crate::{Level, Role};

/// AGREEMENT: trees of a message, and their leaves, at most: as many as make a message cost little beside them, few enough that both parties
/// work at once.
const BURST: usize = 64;
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
    /// A round of `set` that makes the base of a round of `next`, and `out` trees.
    fn before(set: &Set, next: &Set, out: usize) -> Self {
        Self { set: *set, refill: (next.secrets() + next.trees()).div_ceil(set.leaves()), out }
    }

    /// A round of `set` that makes nothing but so many entries.
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
pub(super) struct Plan {
    pub(super) rounds: Vec<Turn>,
    /// Packed entries and COTs that it starts from.
    pub(super) entries: usize,
    pub(super) cots: usize,
}

impl Plan {
    /// For `count` entries, by the first set if one round of it is enough, else by the second from a table that the first one makes.
    pub(super) fn new([first, then]: &[Set; 2], level: Level, count: usize) -> Self {
        let (mut rounds, mut set, mut left) = (vec![], first, count);
        while left > set.trees() * set.leaves() {
            let refill = Turn::before(set, then, 0).refill;
            // Entries of the first set cost more where the second one is another.
            let out = if set == then { set.trees() - refill } else { 0 };
            rounds.push(Turn::before(set, then, out));
            (set, left) = (then, left - out * set.leaves());
        }
        rounds.push(Turn::last(set, left));
        let spare = usize::from(level == Level::Malicious);
        let entries = first.secrets() + rounds[0].trees() + spare;
        let cots = rounds.iter().map(|turn| turn.trees() * turn.set.depth()).sum();
        Self { rounds, entries, cots }
    }

    /// Whether entries grow by both sets.
    pub(super) fn has_both_sets(&self) -> bool {
        self.rounds.first().map(|turn| turn.set) != self.rounds.last().map(|turn| turn.set)
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
