//! What a tree's levels need beside AES: sums, and changes at a secret place.

use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};
use subtle::ConstantTimeEq;

/// Vectors of a step.
const WIDE: usize = 4;

/// ⊕ of the left children, `nodes[0] ⊕ nodes[2] ⊕ ..`.
pub(super) struct LeftSum<'a>(pub(super) &'a [Block]);

impl Kernel for LeftSum<'_> {
    type Out = Block;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Block {
        let steps = as_bytes(self.0).chunks_exact(WIDE * L::BYTES);
        let mut sum = 0;
        for left in steps.remainder().chunks(32) {
            sum ^= word(left);
        }
        let mut sums = [l.zero(); WIDE];
        for step in steps {
            for j in 0..WIDE {
                sums[j] = l.xor(sums[j], l.load(&step[j * L::BYTES..]));
            }
        }
        let mut bytes = [0; WIDE * 64];
        for j in 0..WIDE {
            l.store(sums[j], &mut bytes[j * L::BYTES..]);
        }
        for left in bytes.chunks_exact(32) {
            sum ^= word(left);
        }
        Block::from_u128(sum)
    }
}

#[inline(always)]
fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    word.copy_from_slice(&bytes[..16]);
    u128::from_le_bytes(word)
}

/// All bits where `a = b`, none elsewhere, without a branch.
#[inline(always)]
fn equal(a: usize, b: usize) -> u128 {
    0u128.wrapping_sub(u128::from((a as u64).ct_eq(&(b as u64)).unwrap_u8()))
}

/// Masks every node with `keep`, then adds `add[0]` and `add[1]` to the nodes of pair `pair`, a secret: every node is read
/// and written. A power of two of nodes.
pub(super) struct Patch<'a> {
    pub(super) nodes: &'a mut [Block],
    pub(super) pair: usize,
    pub(super) add: [Block; 2],
    pub(super) keep: Block,
}

impl Kernel for Patch<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Patch { nodes, pair, add, keep } = self;
        let row = WIDE * L::N;
        if nodes.len() < row {
            for (i, node) in nodes.iter_mut().enumerate() {
                let add = add[i % 2].to_u128() & equal(i / 2, pair);
                *node = Block::from_u128(node.to_u128() & keep.to_u128() ^ add);
            }
            return;
        }
        // What the pair's row gets.
        let mut bytes = [0; WIDE * 64];
        for i in 0..row {
            let add = add[i % 2].to_u128() & equal(i / 2, pair % (row / 2));
            bytes[16 * i..16 * i + 16].copy_from_slice(&add.to_le_bytes());
        }
        let mut pattern = [l.zero(); WIDE];
        for j in 0..WIDE {
            pattern[j] = l.load(&bytes[j * L::BYTES..]);
        }
        let keep = l.splat(&keep.0);
        for (r, row_bytes) in as_bytes_mut(nodes).chunks_exact_mut(WIDE * L::BYTES).enumerate() {
            let here = l.splat(&equal(r, pair / (row / 2)).to_le_bytes());
            for j in 0..WIDE {
                let node = &mut row_bytes[j * L::BYTES..(j + 1) * L::BYTES];
                l.store(l.xor(l.and(l.load(node), keep), l.and(pattern[j], here)), node);
            }
        }
    }
}
