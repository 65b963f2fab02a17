//! The gates that a kernel runs: a part of a layer, or whole layers with their sums.

use super::forms::SOFT_VECTORS;
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_circuit::{Slot, Woven};
use hushwire_simd::Lanes;
use std::ops::Range;

/// The gates that a call of a kernel runs.
pub enum KernelWork<'a> {
    /// Independent gates; with `alone`, they run one after the other.
    Gates { wires: &'a [Block], pairs: &'a [[Slot; 2]], out: &'a mut [Block], alone: bool, done: bool },
    /// Layers of a single copy.
    Layers { wires: &'a mut [Block], woven: &'a Woven, layers: Range<usize> },
}

/// Independent gates: the first `n` of `pairs`. `pairs` may have more, with room in `out`; the
/// results of these extra gates are meaningless and harmless.
pub(super) struct Next<'w> {
    pub(super) wires: &'w [[u8; 16]],
    pub(super) pairs: &'w [[Slot; 2]],
    pub(super) n: usize,
    pub(super) out: &'w mut [u8],
}

impl<'a> KernelWork<'a> {
    /// Independent gates.
    pub(super) fn gates(
        wires: &'a [Block],
        pairs: &'a [[Slot; 2]],
        out: &'a mut [Block],
        alone: bool,
    ) -> Self {
        KernelWork::Gates { wires, pairs, out, alone, done: false }
    }

    /// Whether gates run one after the other.
    #[inline(always)]
    pub(super) fn alone(&self) -> bool {
        matches!(self, KernelWork::Gates { alone: true, .. })
    }

    /// The next gates, which do not depend on other unfinished gates.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Option<Next<'_>> {
        match self {
            KernelWork::Gates { done: true, .. } => None,
            KernelWork::Gates { wires, pairs, out, done, .. } => {
                *done = true;
                let (wires, out) = (as_bytes(wires).as_chunks().0, as_bytes_mut(out));
                Some(Next { wires, pairs, n: pairs.len(), out })
            }
            KernelWork::Layers { wires, woven, layers } => {
                let layer = &woven.layers()[layers.next()?];
                woven.sums().run_here(layer.sums.clone(), wires);
                let (cells, products) = wires.split_at_mut(woven.cells());
                let (wires, out) = (as_bytes(cells).as_chunks().0, as_bytes_mut(products));
                Some(Next { wires, pairs: &woven.ands()[layer.ands.start..], n: layer.ands.len(), out })
            }
        }
    }
}

/// Splits gates into groups.
pub(super) struct GateGroups {
    /// The first gate of the group.
    pub(super) at: usize,
    from: usize,
    n: usize,
    room: usize,
    alone: bool,
}

impl GateGroups {
    /// Splits `n` gates into groups, with room for `room` gates.
    #[inline(always)]
    pub(super) fn new(n: usize, room: usize, alone: bool) -> Self {
        assert!(n <= room, "room for every gate");
        GateGroups { at: 0, from: 0, n, room, alone }
    }

    /// The number of vectors of the next group: the smallest that holds the rest, or the largest
    /// size. It is 1 if there is no room even for the smallest group.
    ///
    /// A group that is not filled includes the gates behind. If there is no room behind, it
    /// includes earlier gates again, with the same result. Padding would be slower: copies of
    /// single blocks from vectors that were just stored cannot be forwarded, and the next layer
    /// would wait for them.
    #[inline(always)]
    pub(super) fn next<L: Lanes, const M: usize>(&mut self) -> Option<usize> {
        let (n, rest) = (self.n, self.n - self.from.min(self.n));
        if rest == 0 {
            return None;
        }
        let mut vectors = if L::SOFT {
            SOFT_VECTORS
        } else if self.alone {
            2
        } else {
            M
        };
        while !L::SOFT
            && vectors > 2
            && (rest <= vectors / 4 * L::N || n.max(self.room - self.from) < vectors / 2 * L::N)
        {
            vectors /= 2;
        }
        let gates = vectors / 2 * L::N;
        self.at = self.from;
        if self.from + gates > self.room {
            if n < gates {
                self.from = n;
                return Some(1);
            }
            self.at = n - gates;
        }
        self.from = self.at + gates;
        Some(vectors)
    }

    /// Moves on to another whole group of `gates` gates, if there is one.
    #[inline(always)]
    pub(super) fn again(&mut self, gates: usize) -> bool {
        let whole = self.n - self.at >= 2 * gates;
        if whole {
            self.at += gates;
            self.from = self.at + gates;
        }
        whole
    }
}
