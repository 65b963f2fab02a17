//! One tree: a half tree at the sender, the same tree but for one leaf at the receiver.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, from_bytes, from_bytes_mut};
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroize;

use super::nodes::{LeftSum, Patch};
use crate::{Context, Role};

/// All bits but the first.
const CLEAR: Block = Block::from_u128(u128::MAX - 1);

/// Memory for the levels above the leaves, and the public key of the half tree's hash.
pub(crate) struct Grower {
    backend: Backend,
    key: Aes128,
    levels: [Vec<Block>; 2],
}

impl Grower {
    /// For trees of up to `leaves` leaves.
    pub(crate) fn new(backend: Backend, leaves: usize, key: Aes128) -> Self {
        let level = vec![Block::ZERO; leaves / 2];
        Self { backend, key, levels: [level.clone(), level] }
    }

    #[cfg(test)]
    pub(crate) fn key(&self) -> &Aes128 {
        &self.key
    }

    /// A key for another round: one key serves one round's trees.
    pub(crate) fn set_key(&mut self, key: Aes128) {
        self.key = key;
    }

    /// Makes levels 2 to h below `top`. `at_level(backend, i, nodes)` sees every one, level 1
    /// included; the last is `leaves`.
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

/// The part of an end that differs: what it does with a tree's h COTs and its message of h blocks.
pub trait SpcotEnd: Send {
    /// The role of this end.
    const ROLE: Role;

    /// Makes the tree's leaves. The sender writes `said`, the receiver reads `heard`. Returns the
    /// place of the leaf that the receiver does not know (secret), 0 at the sender.
    #[doc(hidden)]
    fn tree(&mut self, tree: Tree<'_>) -> usize;

    /// Δ at the sender.
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

/// The sender's: Δ, and what the trees' roots come from.
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

/// The receiver's: nothing but the COTs.
pub struct SpcotReceiver;

impl SpcotEnd for SpcotReceiver {
    const ROLE: Role = Role::Receiver;

    fn tree(&mut self, tree: Tree<'_>) -> usize {
        let Tree { grower, cots, heard, leaves, .. } = tree;
        let (heard, depth) = (from_bytes(heard), cots.len());
        // The node above the unknown leaf has some value on every level, and so do its children;
        // they are corrected by what is missing, so that nobody needs to know what was there.
        let (mut place, mut all) = (0, Block::ZERO);
        grower.grow([Block::ZERO; 2], leaves, |backend, level, nodes| {
            let bit = cots[level - 1].to_u128() & 1;
            let mask = Block::from_u128(0u128.wrapping_sub(bit));
            // Right children sum to what left ones leave of their parents: right = parent ⊕ left.
            let side = backend.run(LeftSum(nodes)) ^ all & mask;
            let missing = cots[level - 1] ^ heard[level - 1] ^ side;
            all ^= missing;
            let (mut on, mut off, mut keep) = (missing, Block::ZERO, Block::ONES);
            if level == depth {
                // Leaves lose bit 0; the unknown one becomes the sum of the others, with bit 0 set.
                (on, off, keep) = (missing & CLEAR, all & CLEAR ^ Block::from_u128(1), CLEAR);
            }
            // Bit 0: the left sum is known, the left child gets what is missing.
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
            // All under one key and the same COTs: only roots can differ.
            for block in leaves.iter().chain(from_bytes(&said)) {
                assert!(seen.insert(*block), "tree {tree}");
            }
        }
    }
}
