//! The values of a store: vectors over the field of the dense coefficients.

use hushwire_block::{Gf64, Gf128};
use hushwire_ot::vole::Base;
use hushwire_prg::Prg;
use hushwire_simd::clmul::Words;

/// A value; `B` is the field of coefficients.
pub(crate) trait Module<B: Base>: Copy + Default + PartialEq {
    /// The sum, which is the difference too.
    fn plus(self, other: Self) -> Self;
    /// The product with a coefficient.
    fn scaled<W: Words>(self, b: B, words: W) -> Self;
    /// A random one.
    fn random(prg: &mut Prg) -> Self;
}

impl Module<Gf64> for Gf64 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn scaled<W: Words>(self, b: Gf64, words: W) -> Self {
        self.mul(b, words)
    }
    fn random(prg: &mut Prg) -> Self {
        Gf64(prg.next_u64())
    }
}

impl Module<Gf128> for Gf128 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn scaled<W: Words>(self, b: Gf128, words: W) -> Self {
        self.times(b, words)
    }
    fn random(prg: &mut Prg) -> Self {
        prg.next_block().into()
    }
}
