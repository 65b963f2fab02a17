//! One tree: a half tree at the sender, and the same tree without one leaf at the receiver.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, from_bytes, from_bytes_mut};
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroize;

use super::nodes::{LeftSum, Patch};
use crate::{Context, Role};

/// The mask of all bits but bit 0.
const CLEAR: Block = Block::from_u128(u128::MAX - 1);

/// Memory for the levels above the leaves, and the public key of the half tree's hash.
pub(crate) struct Grower {
    backend: Backend,
    key: Aes128,
    levels: [Vec<Block>; 2],
}

impl Grower {
    /// A grower for trees of up to `leaves` leaves.
    pub(crate) fn new(backend: Backend, leaves: usize, key: Aes128) -> Self {
        let level = vec![Block::ZERO; leaves / 2];
        Self { backend, key, levels: [level.clone(), level] }
    }

    #[cfg(test)]
    pub(crate) fn key(&self) -> &Aes128 {
        &self.key
    }

    /// Sets the key of another round; one key serves the trees of one round.
    pub(crate) fn set_key(&mut self, key: Aes128) {
        self.key = key;
    }

    /// Makes levels 2 to h below `top`. `at_level(backend, i, nodes)` sees every level, including
    /// level 1; the last level is `leaves`.
    fn grow(
        &mut self,
        top: [Block; 2],
        leaves: &mut [Block],
        mut at_level: impl FnMut(Backend, usize, &mut [Block]),
    ) {
        let depth = leaves.len().ilog2() as usize;
        let [mut parents, mut children] = {
            let [a, b] = &mut self.levels;
            [&mut a[..], &mut b[..]]
        };
        parents[..2].copy_from_slice(&top);
        at_level(self.backend, 1, &mut parents[..2]);
        for level in 2..=depth {
            let above = &parents[..1 << (level - 1)];
            let below = if level == depth { &mut *leaves } else { &mut children[..1 << level] };
            self.backend.half_tree_level(&self.key, above, below);
            at_level(self.backend, level, below);
            core::mem::swap(&mut parents, &mut children);
        }
    }
}

impl Drop for Grower {
    fn drop(&mut self) {
        self.levels.iter_mut().for_each(Zeroize::zeroize);
    }
}

/// The parts in which the endpoints differ: the processing of a tree's h COTs and its message of h
/// blocks.
pub trait SpcotEnd: Send {
    /// The role of this endpoint.
    const ROLE: Role;

    /// Makes the tree's leaves. The sender writes `said`, the receiver reads `heard`. Returns the
    /// place of the leaf that the receiver does not know (secret); 0 at the sender.
    #[doc(hidden)]
    fn tree(&mut self, tree: Tree<'_>) -> usize;

    /// Δ at the sender; `None` at the receiver.
    #[doc(hidden)]
    fn delta(&self) -> Option<Block>;
}

/// The arguments of [`SpcotEnd::tree`].
#[doc(hidden)]
pub struct Tree<'a> {
    pub(crate) grower: &'a mut Grower,
    pub(crate) cots: &'a [Block],
    pub(crate) heard: &'a [u8],
    pub(crate) said: &'a mut [u8],
    pub(crate) leaves: &'a mut [Block],
}

/// The sender's state: Δ, and the source of the trees' roots.
pub struct SpcotSender {
    delta: Block,
    roots: Prg,
}

impl SpcotSender {
    pub(crate) fn new(context: &Context, delta: Block, seed: &Seed) -> Self {
        Self { delta, roots: Prg::new(context.backend, seed, "ferret roots") }
    }
}

impl Drop for SpcotSender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl SpcotEnd for SpcotSender {
    const ROLE: Role = Role::Sender;

    fn tree(&mut self, tree: Tree<'_>) -> usize {
        let Tree { grower, cots, said, leaves, .. } = tree;
        let root = self.roots.next_block();
        let (said, depth) = (from_bytes_mut(said), cots.len());
        grower.grow([root, root ^ self.delta], leaves, |backend, level, nodes| {
            said[level - 1] = cots[level - 1] ^ backend.run(LeftSum(nodes));
            if level == depth {
                backend.run(Patch { nodes, pair: 0, add: [Block::ZERO; 2], keep: CLEAR });
            }
        });
        0
    }

    fn delta(&self) -> Option<Block> {
        Some(self.delta)
    }
}

/// The receiver's state is empty: it needs only the COTs.
pub struct SpcotReceiver;

impl SpcotEnd for SpcotReceiver {
    const ROLE: Role = Role::Receiver;

    fn tree(&mut self, tree: Tree<'_>) -> usize {
        let Tree { grower, cots, heard, leaves, .. } = tree;
        let (heard, depth) = (from_bytes(heard), cots.len());
        // The node above the unknown leaf has some value on every level, and so do its children.
        // They are corrected by the missing sum, so that the old values need not be known.
        let (mut place, mut all) = (0, Block::ZERO);
        grower.grow([Block::ZERO; 2], leaves, |backend, level, nodes| {
            let bit = cots[level - 1].to_u128() & 1;
            let mask = Block::from_u128(0u128.wrapping_sub(bit));
            // Right children sum to the sum of their parents plus the sum of left children: right =
            // parent ⊕ left.
            let side = backend.run(LeftSum(nodes)) ^ all & mask;
            let missing = cots[level - 1] ^ heard[level - 1] ^ side;
            all ^= missing;
            let (mut on, mut off, mut keep) = (missing, Block::ZERO, Block::ONES);
            if level == depth {
                // Bit 0 of every leaf is cleared. The unknown leaf becomes the sum of the others,
                // with bit 0 set.
                (on, off, keep) = (missing & CLEAR, all & CLEAR ^ Block::from_u128(1), CLEAR);
            }
            // For bit 0 the left sum is known, and the left child gets the missing sum.
            let swap = (on ^ off) & mask;
            let add = [on ^ swap, off ^ swap];
            backend.run(Patch { nodes, pair: place, add, keep });
            place = 2 * place + (bit as usize ^ 1);
        });
        place
    }

    fn delta(&self) -> Option<Block> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::end::public_key;
    use super::super::rig::{DELTA, TINY, context, deal, stream};
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_tree_has_a_root_of_its_own() {
        let context = context(Backend::best());
        let key = public_key(&context, &TINY, "half tree", 0);
        let mut grower = Grower::new(context.backend, TINY.leaves(), key);
        let mut end = SpcotSender::new(&context, DELTA, &Seed::from_bytes([5; 16]));
        let (mut cots, mut seen) = (vec![Block::ZERO; TINY.depth()], HashSet::new());
        deal(&mut stream(2), Role::Sender, &mut cots);
        for tree in 0..8 {
            let (mut leaves, mut said) = (vec![Block::ZERO; TINY.leaves()], vec![0; TINY.tree_bytes()]);
            let grower = &mut grower;
            end.tree(Tree { grower, cots: &cots, heard: &[], said: &mut said, leaves: &mut leaves });
            // All trees have one key and the same COTs: only their roots can differ.
            for block in leaves.iter().chain(from_bytes(&said)) {
                assert!(seen.insert(*block), "tree {tree}");
            }
        }
    }
}
