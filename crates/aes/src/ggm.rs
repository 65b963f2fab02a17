//! GGM trees, one level at a time.

use crate::batch::sigma;
use crate::{Aes128, Backend};
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};

/// The two public keys of a tree's PRG.
#[derive(Clone)]
pub struct GgmKeys {
    /// The key for left children.
    pub left: Aes128,
    /// The key for right children.
    pub right: Aes128,
}

/// One level of a GGM tree, or of a half tree if `HALF`, which uses only the left key.
struct Level<'a, const HALF: bool> {
    left: &'a Aes128,
    right: &'a Aes128,
    parents: &'a [u8],
    children: &'a mut [u8],
}

impl<const HALF: bool> Level<'_, HALF> {
    /// Makes 16 vectors of children from 8 vectors of parents, left and right children interleaved.
    #[inline(always)]
    fn step<L: Lanes>(l: L, k0: &[L::V; 11], k1: &[L::V; 11], src: &[u8], dst: &mut [u8]) {
        let mut parents = [l.zero(); 8];
        for (v, src) in parents.iter_mut().zip(src.chunks_exact(L::BYTES)) {
            *v = l.load(src);
        }
        let (mut left, mut right) = (parents, parents);
        if HALF {
            for v in &mut left {
                *v = sigma(l, *v);
            }
            let masks = left;
            l.encrypt_xor(k0, &masks, &mut left);
            for (parent, hash) in right.iter_mut().zip(left) {
                *parent = l.xor(*parent, hash);
            }
        } else {
            l.encrypt_xor(k0, &parents, &mut left);
            l.encrypt_xor(k1, &parents, &mut right);
        }
        for ((left, right), dst) in left.into_iter().zip(right).zip(dst.chunks_exact_mut(2 * L::BYTES)) {
            let (low, high) = l.zip(left, right);
            l.store(low, dst);
            l.store(high, &mut dst[L::BYTES..]);
        }
    }
}

impl<const HALF: bool> Kernel for Level<'_, HALF> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (k0, k1) = (self.left.vectors(l), self.right.vectors(l));
        let mut from = self.parents.chunks_exact(8 * L::BYTES);
        let mut to = self.children.chunks_exact_mut(16 * L::BYTES);
        for (src, dst) in (&mut from).zip(&mut to) {
            Self::step(l, &k0, &k1, src, dst);
        }
        let (src, dst) = (from.remainder(), to.into_remainder());
        if !src.is_empty() {
            let (mut parents, mut children) = ([0; 512], [0; 1024]);
            parents[..src.len()].copy_from_slice(src);
            Self::step(l, &k0, &k1, &parents, &mut children);
            dst.copy_from_slice(&children[..dst.len()]);
        }
    }
}

impl Backend {
    /// Makes a level of a GGM tree. The children of the parent p = `parents[n]` are `children[2 n]`
    /// = π0(p) ⊕ p and `children[2 n + 1]` = π1(p) ⊕ p.
    ///
    /// These are two Davies–Meyer calls under public random keys: a length-doubling PRG in the
    /// ideal-cipher model (GKWY, ePrint 2019/074, section 4). Nodes are uniform and independent,
    /// and no offset relates two of them, so that no σ is needed. The half tree below relates its
    /// nodes and needs σ.
    ///
    /// # Panics
    /// If there are not two children for every parent.
    pub fn ggm_level(&self, keys: &GgmKeys, parents: &[Block], children: &mut [Block]) {
        assert_eq!(2 * parents.len(), children.len(), "two children for every parent");
        let (parents, children) = (as_bytes(parents), as_bytes_mut(children));
        self.run_batch(Level::<false> { left: &keys.left, right: &keys.right, parents, children });
    }

    /// Makes a level of a half tree. The children of the parent p = `parents[n]` are
    /// `children[2 n]` = H(p) and `children[2 n + 1]` = p ⊕ H(p), where H(p) = π(σ(p)) ⊕ σ(p).
    ///
    /// Source: Guo et al., ePrint 2022/1431, Fig. 3. H is circular correlation robust; a level
    /// takes half the AES calls of [`Backend::ggm_level`].
    ///
    /// # Panics
    /// If there are not two children for every parent.
    pub fn half_tree_level(&self, key: &Aes128, parents: &[Block], children: &mut [Block]) {
        assert_eq!(2 * parents.len(), children.len(), "two children for every parent");
        let (parents, children) = (as_bytes(parents), as_bytes_mut(children));
        self.run_batch(Level::<true> { left: key, right: key, parents, children });
    }
}
