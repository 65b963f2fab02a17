//! Vectors of GF(2^8) elements, written once for two forms: GFNI on natural bytes, and bit slices
//! without GFNI.
//!
//! ```text
//! Gfni<L>    B = L::V        one instruction a product or a linear map
//! Sliced<L>  B = [L::V; 8]   plane b holds bit b of every byte; load and store slice and unslice
//! ```
//! Both read and write natural byte order, so that what a kernel writes does not depend on the
//! form.

use crate::{Kernel, Lanes, Tier, cpu, dispatch};

/// Bytewise operations in GF(2^8) modulo x^8+x^4+x^3+x+1 on [`ByteField::BYTES`] bytes at a time.
pub trait ByteField: Copy {
    /// The vector.
    type B: Copy;
    /// Bytes in a vector, a multiple of 16.
    const BYTES: usize;
    /// Whether bytes are kept in bit planes. Each operation then takes so much code that a second
    /// form of a loop gains nothing; a kernel should have one.
    const SLICED: bool;
    /// Loads the first [`ByteField::BYTES`] bytes of `src`; panics if `src` is shorter.
    fn load(self, src: &[u8]) -> Self::B;
    /// Stores to the first [`ByteField::BYTES`] bytes of `dst`; panics if `dst` is shorter.
    fn store(self, v: Self::B, dst: &mut [u8]);
    /// A vector that repeats `block`.
    fn splat(self, block: &[u8; 16]) -> Self::B;
    /// Sum in the field.
    fn xor(self, a: Self::B, b: Self::B) -> Self::B;
    /// Product in the field.
    fn mul(self, a: Self::B, b: Self::B) -> Self::B;
    /// A GF(2)-linear map of every byte, in GFNI's matrix layout.
    fn linear(self, a: Self::B, matrix: u64) -> Self::B;
    /// Moves bytes inside each 16: byte `i` becomes byte `idx[i]`, `idx[i] < 16`.
    fn permute(self, a: Self::B, idx: &[u8; 16]) -> Self::B;
}

/// A computation written once for every [`ByteField`]. Closures and `array::map` over vectors do
/// not inherit the tier's instructions, so that kernels must use loops.
pub trait ByteKernel {
    /// The kernel's result.
    type Out;
    /// Runs with the given operations. It and everything that it calls must be marked
    /// `#[inline(always)]`.
    fn run<F: ByteField>(self, field: F) -> Self::Out;
}

/// Runs `kernel` with GFNI if `gfni` is set and the CPU has it, and on bit slices otherwise.
///
/// # Panics
/// The same as for [`dispatch`].
pub fn dispatch_bytes<K: ByteKernel>(tier: Tier, gfni: bool, kernel: K) -> K::Out {
    struct Adapter<K>(K);
    impl<K: ByteKernel> Kernel for Adapter<K> {
        const GFNI: bool = true;
        type Out = K::Out;
        #[inline(always)]
        fn run<L: Lanes>(self, lanes: L) -> K::Out {
            if L::GFNI { self.0.run(Gfni(lanes)) } else { self.0.run(Sliced(lanes)) }
        }
    }
    dispatch(tier, gfni && cpu().features().gfni, Adapter(kernel))
}

/// Natural bytes, with one instruction for each operation. It is correct but slow if `L` lacks
/// GFNI.
#[derive(Clone, Copy)]
pub struct Gfni<L>(pub L);

impl<L: Lanes> ByteField for Gfni<L> {
    type B = L::V;
    const BYTES: usize = L::BYTES;
    const SLICED: bool = false;
    #[inline(always)]
    fn load(self, src: &[u8]) -> L::V {
        self.0.load(src)
    }
    #[inline(always)]
    fn store(self, v: L::V, dst: &mut [u8]) {
        self.0.store(v, dst);
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> L::V {
        self.0.splat(block)
    }
    #[inline(always)]
    fn xor(self, a: L::V, b: L::V) -> L::V {
        self.0.xor(a, b)
    }
    #[inline(always)]
    fn mul(self, a: L::V, b: L::V) -> L::V {
        self.0.gf8_mul(a, b)
    }
    #[inline(always)]
    fn linear(self, a: L::V, matrix: u64) -> L::V {
        self.0.gf8_affine(a, matrix)
    }
    #[inline(always)]
    fn permute(self, a: L::V, idx: &[u8; 16]) -> L::V {
        self.0.shuffle(a, self.0.splat(idx))
    }
}

/// Bit planes of eight vectors at a time.
#[derive(Clone, Copy)]
pub struct Sliced<L>(pub L);

impl<L: Lanes> ByteField for Sliced<L> {
    type B = [L::V; 8];
    const BYTES: usize = 8 * L::BYTES;
    const SLICED: bool = true;
    #[inline(always)]
    fn load(self, src: &[u8]) -> [L::V; 8] {
        let src = &src[..8 * L::BYTES];
        let mut v = [self.0.zero(); 8];
        for j in 0..8 {
            v[j] = self.0.load(&src[j * L::BYTES..]);
        }
        self.0.slice(&mut v);
        v
    }
    #[inline(always)]
    fn store(self, v: [L::V; 8], dst: &mut [u8]) {
        let dst = &mut dst[..8 * L::BYTES];
        let mut v = v;
        self.0.slice(&mut v);
        for j in 0..8 {
            self.0.store(v[j], &mut dst[j * L::BYTES..]);
        }
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> [L::V; 8] {
        let mut v = [self.0.splat(block); 8];
        self.0.slice(&mut v);
        v
    }
    #[inline(always)]
    fn xor(self, a: [L::V; 8], b: [L::V; 8]) -> [L::V; 8] {
        let mut out = a;
        for i in 0..8 {
            out[i] = self.0.xor(a[i], b[i]);
        }
        out
    }
    #[inline(always)]
    fn mul(self, a: [L::V; 8], b: [L::V; 8]) -> [L::V; 8] {
        self.0.planes_mul(&a, &b)
    }
    #[inline(always)]
    fn linear(self, a: [L::V; 8], matrix: u64) -> [L::V; 8] {
        self.0.planes_linear(&a, matrix)
    }
    #[inline(always)]
    fn permute(self, a: [L::V; 8], idx: &[u8; 16]) -> [L::V; 8] {
        let idx = self.0.splat(idx);
        let mut v = a;
        self.0.slice(&mut v);
        for v in &mut v {
            *v = self.0.shuffle(*v, idx);
        }
        self.0.slice(&mut v);
        v
    }
}
