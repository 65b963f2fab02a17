//! AES block by block, as in libraries that encrypt each block where it is needed. It is the
//! baseline with which batching is compared.
//!
//! A kernel runs unchanged over [`Alone`], a token whose vectors hold one block and whose ciphers
//! finish each block before the next begins.

use crate::{Backend, Tier};
use hushwire_simd::{Kernel, Lanes, dispatch};
use std::hint::black_box;

/// Hides `n`, a public count, from the compiler: every iteration of a loop up to it ends in a
/// branch, and no rounds are interleaved across iterations. The processor may still overlap them.
#[inline(always)]
pub(crate) fn unknown(n: usize) -> usize {
    black_box(n)
}

/// Lane 0 of another token. Tokens of tiers with AES instructions have only this lane here.
#[derive(Clone, Copy)]
struct Alone<L>(L);

/// Operations on vectors that stay inside a lane.
macro_rules! within_lanes {
    ($($name:ident($($arg:ident),+);)+) => {$(
        #[inline(always)]
        fn $name(self, $($arg: L::V),+) -> L::V {
            self.0.$name($($arg),+)
        }
    )+};
}

impl<L: Lanes> Lanes for Alone<L> {
    const N: usize = 1;
    const GFNI: bool = L::GFNI;
    const SOFT: bool = L::SOFT;
    type V = L::V;

    within_lanes! {
        xor(a, b);
        and(a, b);
        or(a, b);
        andnot(a, b);
        add64(a, b);
        shuffle(a, idx);
        enc(state, key);
        enc_last(state, key);
        gf8_mul(a, b);
    }

    #[inline(always)]
    fn zero(self) -> L::V {
        self.0.zero()
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> L::V {
        self.0.splat(block)
    }
    #[inline(always)]
    fn load(self, src: &[u8]) -> L::V {
        if L::N == 1 {
            return self.0.load(src);
        }
        let mut bytes = [0; 64];
        bytes[..16].copy_from_slice(&src[..16]);
        self.0.load(&bytes)
    }
    #[inline(always)]
    fn store(self, v: L::V, dst: &mut [u8]) {
        if L::N == 1 {
            return self.0.store(v, dst);
        }
        let mut bytes = [0; 64];
        self.0.store(v, &mut bytes);
        dst[..16].copy_from_slice(&bytes[..16]);
    }
    #[inline(always)]
    fn shr64<const S: i32>(self, a: L::V) -> L::V {
        self.0.shr64::<S>(a)
    }
    #[inline(always)]
    fn shl64<const S: i32>(self, a: L::V) -> L::V {
        self.0.shl64::<S>(a)
    }
    #[inline(always)]
    fn shr64_by(self, a: L::V, bits: u32) -> L::V {
        self.0.shr64_by(a, bits)
    }
    #[inline(always)]
    fn shl64_by(self, a: L::V, bits: u32) -> L::V {
        self.0.shl64_by(a, bits)
    }
    #[inline(always)]
    fn gf8_affine(self, a: L::V, matrix: u64) -> L::V {
        self.0.gf8_affine(a, matrix)
    }
    #[inline(always)]
    fn unpack<const W: usize>(self, a: L::V, b: L::V) -> (L::V, L::V) {
        self.0.unpack::<W>(a, b)
    }
    #[inline(always)]
    fn zip(self, a: L::V, b: L::V) -> (L::V, L::V) {
        (a, b)
    }
    #[inline(always)]
    fn unzip(self, a: L::V, b: L::V) -> (L::V, L::V) {
        (a, b)
    }
    fn slice(self, v: &mut [L::V; 8]) {
        self.0.slice(v);
    }
    fn planes_mul(self, a: &[L::V; 8], b: &[L::V; 8]) -> [L::V; 8] {
        self.0.planes_mul(a, b)
    }

    #[inline(always)]
    fn encrypt<const M: usize, const R: usize>(self, keys: &[L::V; R], blocks: &mut [L::V; M]) {
        for i in 0..unknown(M) {
            let mut block = [blocks[i]];
            self.0.encrypt(keys, &mut block);
            [blocks[i]] = block;
        }
    }
    #[inline(always)]
    fn encrypt_xor<const M: usize, const R: usize>(
        self,
        keys: &[L::V; R],
        masks: &[L::V; M],
        blocks: &mut [L::V; M],
    ) {
        for i in 0..unknown(M) {
            let mut block = [blocks[i]];
            self.0.encrypt_xor(keys, &[masks[i]], &mut block);
            [blocks[i]] = block;
        }
    }
}

/// A kernel over [`Alone`]. It is compiled only for tokens of one lane, all of which have AES
/// instructions.
struct Narrow<K>(K);

impl<K: Kernel> Kernel for Narrow<K> {
    const GFNI: bool = K::GFNI;
    const NARROW: bool = true;
    const PORTABLE: bool = false;
    type Out = K::Out;
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> K::Out {
        self.0.run(Alone(l))
    }
}

impl Backend {
    /// Runs a kernel on the tier's vectors, or block by block if the backend is unbatched.
    #[inline]
    pub(crate) fn run_batch<K: Kernel>(self, kernel: K) -> K::Out {
        if self.is_batched() { self.run(kernel) } else { self.run_alone(kernel) }
    }

    /// Runs a kernel block by block, with the tier's instructions for a single block.
    ///
    /// # Panics
    /// If the tier is the portable one, which has no such instructions.
    pub(crate) fn run_alone<K: Kernel>(self, kernel: K) -> K::Out {
        let tier = if self.tier() == Tier::Neon { Tier::Neon } else { Tier::AesNi };
        dispatch(tier, self.gfni(), Narrow(kernel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of lanes of the vectors that a kernel gets.
    struct Width;

    impl Kernel for Width {
        type Out = usize;
        fn run<L: Lanes>(self, _: L) -> usize {
            L::N
        }
    }

    #[test]
    fn unbatched_kernels_get_single_blocks_and_others_the_tier() {
        for b in Backend::all() {
            let width = if b.tier() == Tier::Portable { b.run(Width) } else { 1 };
            assert_eq!(b.unbatched().run_batch(Width), width, "{b:?}");
            assert_eq!(b.run_batch(Width), b.run(Width), "{b:?}");
            assert_eq!(b.unbatched().run(Width), b.run(Width), "{b:?}: other kernels keep the tier");
        }
    }
}
