//! Operations on a tree's levels other than AES: sums, and changes at a secret place.

use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};
use subtle::ConstantTimeEq;

/// The number of vectors in a step.
const WIDE: usize = 4;
/// The number of vectors in a row; the nodes of a row share a comparison with the secret place.
const ROW: usize = 16;

/// ⊕ of the left children, `nodes[0] ⊕ nodes[2] ⊕ ..`.
pub(crate) struct LeftSum<'a>(pub(crate) &'a [Block]);

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

/// A mask of all ones if `a = b`, otherwise 0, without a branch.
#[inline(always)]
fn equal(a: usize, b: usize) -> u128 {
    0u128.wrapping_sub(u128::from((a as u64).ct_eq(&(b as u64)).unwrap_u8()))
}

/// Masks every node with `keep`, then adds `add[0]` and `add[1]` to the nodes of pair `pair`, which
/// is secret: every node is read and written. The number of nodes is a power of two.
pub(crate) struct Patch<'a> {
    pub(crate) nodes: &'a mut [Block],
    pub(crate) pair: usize,
    pub(crate) add: [Block; 2],
    pub(crate) keep: Block,
}

impl Kernel for Patch<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Patch { nodes, pair, add, keep } = self;
        let row = nodes.len().min(ROW * L::N);
        // The values for the pair's row, and the number of that row. It uses shifts and masks,
        // because the time of a division may depend on its operands.
        let shift = (row / 2).ilog2();
        let mut pattern = [0; ROW * 64];
        for (i, bytes) in pattern.chunks_exact_mut(32).take(row / 2).enumerate() {
            let here = equal(i, pair & (row / 2 - 1));
            bytes[..16].copy_from_slice(&(add[0].to_u128() & here).to_le_bytes());
            bytes[16..].copy_from_slice(&(add[1].to_u128() & here).to_le_bytes());
        }
        let keep_all = l.splat(&keep.0);
        for (r, row) in as_bytes_mut(nodes).chunks_exact_mut(16 * row).enumerate() {
            let here = equal(r, pair >> shift);
            let here_all = l.splat(&here.to_le_bytes());
            let whole = row.len() / L::BYTES * L::BYTES;
            let mut at = 0;
            while at < whole {
                let node = &mut row[at..at + L::BYTES];
                let add = l.and(l.load(&pattern[at..]), here_all);
                l.store(l.xor(l.and(l.load(node), keep_all), add), node);
                at += L::BYTES;
            }
            for (node, add) in row[whole..].chunks_exact_mut(16).zip(pattern[whole..].chunks_exact(16)) {
                let patched = word(node) & keep.to_u128() ^ word(add) & here;
                node.copy_from_slice(&patched.to_le_bytes());
            }
        }
    }
}

/// Copies blocks. If requested, it writes past the caches, provided that the CPU can and `to` is
/// aligned to 64 bytes.
pub(crate) struct Copy<'a> {
    pub(crate) from: &'a [Block],
    pub(crate) to: &'a mut [Block],
    pub(crate) streamed: bool,
}

impl Kernel for Copy<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Copy { from, to, streamed } = self;
        assert_eq!(from.len(), to.len(), "as many blocks");
        if !streamed {
            return to.copy_from_slice(from);
        }
        let (from, mut to) =
            (as_bytes(from).chunks_exact(L::BYTES), as_bytes_mut(to).chunks_exact_mut(L::BYTES));
        let rest = from.remainder();
        for (from, to) in from.zip(&mut to) {
            l.stream(l.load(from), to);
        }
        l.fence();
        to.into_remainder().copy_from_slice(rest);
    }
}
