//! Parameter sets, and their costs.

use crate::{Level, Security};

/// The number of COTs that a check uses: one for each bit of a field element. SECURITY.
pub(super) const SPARE: usize = 128;

/// AGREEMENT: the number of OTs in a chunk of whole trees. A chunk takes longer than a message and
/// the wake-up of the party that waits for it. SECURITY: it must not be larger, for the bound of a
/// check's coefficients ([`super::weights`]).
pub(super) const CHUNK: usize = 8192;

/// A regular LPN instance: n = t · 2^h outputs, of which t are noisy, one in each tree of 2^h
/// leaves; k = 2^`log_k` secrets. SECURITY: sets are named and never tuned. All have k = 128 · 2^h,
/// and the five sets for OTs have t = 1024; see [`crate::ferret`] for their estimates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Set {
    name: &'static str,
    log_k: u32,
    trees: usize,
    depth: u32,
    /// The number of OTs in a chunk of whole trees.
    chunk: usize,
}

/// n = 2^23, k = 2^20, h = 13: the fewest bytes, and a table of 16 MiB.
pub const B13: Set = Set::new("b13", 20, 1024, 13);
/// n = 2^22, k = 2^19, h = 12.
pub const B12: Set = Set::new("b12", 19, 1024, 12);
/// n = 2^21, k = 2^18, h = 11: the set for circuits and intersections.
pub const B11: Set = Set::new("b11", 18, 1024, 11);
/// n = 2^20, k = 2^17, h = 10: the set by which VOLE entries grow if they are more than a round of
/// b9.
pub const B10: Set = Set::new("b10", 17, 1024, 10);
/// n = 2^19, k = 2^16, h = 9: the shortest set-up, and the first set by which VOLE entries grow.
pub const B9: Set = Set::new("b9", 16, 1024, 9);

/// n = 66 560, k = 2^14, h = 7: makes the table of b9 for VOLE entries, and nothing else. It has
/// only as many trees as that takes: with the same k, fewer trees are harder to attack.
pub(crate) const B7: Set = Set::new("b7", 14, 520, 7);
/// n = 16 928, k = 2^12, h = 5: makes the table of b7 in the same way.
pub(crate) const B5: Set = Set::new("b5", 12, 529, 5);
/// n = 4640, k = 2^11, h = 4: makes the table of b5 in the same way.
pub(crate) const B4: Set = Set::new("b4", 11, 290, 4);

impl Set {
    /// All sets for OTs, the smallest first.
    pub const ALL: [Set; 5] = [B9, B10, B11, B12, B13];

    pub(super) const fn new(name: &'static str, log_k: u32, trees: usize, depth: u32) -> Set {
        Set { name, log_k, trees, depth, chunk: CHUNK }
    }

    /// The same set with chunks of fewer OTs, for tests whose rounds are shorter than a chunk.
    #[cfg(test)]
    pub(super) const fn in_chunks_of(self, chunk: usize) -> Set {
        Set { chunk, ..self }
    }

    /// The set of this name: `b9` to `b13`.
    #[must_use]
    pub fn named(name: &str) -> Option<Set> {
        Set::ALL.into_iter().find(|set| set.name == name)
    }

    /// The name that users write.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// k: the number of entries of the table.
    #[must_use]
    pub const fn secrets(&self) -> usize {
        1 << self.log_k
    }

    /// t: the number of trees of a round, and of noisy outputs.
    #[must_use]
    pub const fn trees(&self) -> usize {
        self.trees
    }

    /// h: the number of COTs, and of blocks of message, for a tree.
    #[must_use]
    pub const fn depth(&self) -> usize {
        self.depth as usize
    }

    /// 2^h: the number of OTs of a tree.
    #[must_use]
    pub const fn leaves(&self) -> usize {
        1 << self.depth
    }

    /// M = k + t·h: the number of COTs from which a round starts.
    #[must_use]
    pub const fn base(&self) -> usize {
        self.secrets() + self.trees * self.depth()
    }

    /// R = ⌈M / 2^h⌉: the number of trees of a round that become the next round's base.
    #[must_use]
    pub const fn refill_trees(&self) -> usize {
        self.base().div_ceil(self.leaves())
    }

    /// The number of trees of the refill that are made with the next `trees` trees, after `out`
    /// trees were output, in a round that has a refill. At any time the finished part of the refill
    /// is as large as that of the round, so that neither endpoint waits while the other makes the
    /// refill.
    #[must_use]
    pub(crate) const fn refill_share(&self, out: usize, trees: usize) -> usize {
        let (refill, all) = (self.refill_trees(), self.trees - self.refill_trees());
        (refill * (out + trees)).div_ceil(all) - (refill * out).div_ceil(all)
    }

    /// The number of trees in a whole chunk.
    #[must_use]
    pub const fn chunk_trees(&self) -> usize {
        if self.leaves() < self.chunk { self.chunk / self.leaves() } else { 1 }
    }

    /// The number of trees in a chunk for `wanted` more OTs, without its share of the refill.
    /// `taken` trees of the round were output or belong to its refill, and `spare` OTs are kept for
    /// the check.
    pub(crate) fn trees_for(&self, wanted: usize, spare: usize, taken: usize) -> usize {
        wanted.saturating_add(spare).div_ceil(self.leaves()).min(self.chunk_trees()).min(self.trees - taken)
    }

    /// Whether a round without a refill gives `count` OTs, whatever its checks use.
    pub(crate) fn is_enough(&self, level: Level, count: usize) -> bool {
        let spare = if level == Level::Malicious { SPARE } else { 0 };
        count <= self.trees() * (self.leaves() - spare)
    }

    /// The number of bytes of a tree's message.
    #[must_use]
    pub const fn tree_bytes(&self) -> usize {
        16 * self.depth()
    }

    /// The number of bits on the wire for each output OT in steady state: t·h blocks for t − R
    /// trees. Checks of segments of 16 chunks add 1.4 % for `b13` and 0.2 % for `b9`: 48 bytes and
    /// 128 OTs each.
    #[must_use]
    pub fn bits_per_ot<S: Security>(&self) -> f64 {
        let trees = self.trees - self.refill_trees();
        let message = (8 * self.trees * self.tree_bytes()) as f64;
        let (spent, check) = match S::LEVEL {
            Level::SemiHonest => (0.0, 0.0),
            Level::Malicious => {
                let trees = 16.0 * self.chunk_trees() as f64;
                (SPARE as f64 / trees, 8.0 * 48.0 / trees)
            }
        };
        let trees = trees as f64;
        (message + trees * check) / (trees * (self.leaves() as f64 - spent))
    }

    /// The set that makes this one's base: the smallest of which a round is enough. `None` if
    /// row-based COTs are the base themselves. AGREEMENT.
    pub(super) fn bootstrap(&self) -> Option<Set> {
        let makes = |first: &Set| first.trees() * first.leaves() >= self.base() + SPARE;
        if self.base() > B9.base() { Set::ALL.into_iter().find(makes) } else { None }
    }

    /// The number of COTs from a row-based extension that a set-up uses.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.bootstrap().map_or(self.base(), |first| first.base())
    }

    /// The number of bytes that a set-up sends beyond those of the rows, without checks.
    #[must_use]
    pub fn bootstrap_bytes<S: Security>(&self) -> usize {
        self.bootstrap().map_or(0, |first| self.bootstrap_trees::<S>(&first) * first.tree_bytes())
    }

    /// The number of trees of `first` that make this set's base and the COTs of their check.
    pub(super) fn bootstrap_trees<S: Security>(&self, first: &Set) -> usize {
        let spare = if S::LEVEL == Level::Malicious { SPARE } else { 0 };
        (self.base() + spare).div_ceil(first.leaves())
    }
}
