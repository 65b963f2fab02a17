//! The values of a store: vectors over the field of the dense coefficients.

use hushwire_block::{Gf64, Gf128};
use hushwire_ot::vole::Base;
use hushwire_prg::Prg;
use hushwire_simd::clmul::ClmulWords;

/// A value; `B` is the field of coefficients.
pub(crate) trait Module<B: Base>: Copy + Default + PartialEq {
    /// The sum, which is also the difference.
    fn plus(self, other: Self) -> Self;
    /// The product with a coefficient.
    fn scaled<W: ClmulWords>(self, b: B, words: W) -> Self;
    /// A random value.
    fn random(prg: &mut Prg) -> Self;
    /// The number of words of a value: one or two.
    const WORDS: usize;
    /// The words, zero beyond the last one.
    fn words(self) -> [u64; 2];
    /// A value from its words.
    fn of_words(words: [u64; 2]) -> Self;
}

impl Module<Gf64> for Gf64 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn scaled<W: ClmulWords>(self, b: Gf64, words: W) -> Self {
        self.mul(b, words)
    }
    fn random(prg: &mut Prg) -> Self {
        Gf64(prg.next_u64())
    }
    const WORDS: usize = 1;
    #[inline(always)]
    fn words(self) -> [u64; 2] {
        [self.0, 0]
    }
    #[inline(always)]
    fn of_words([word, _]: [u64; 2]) -> Self {
        Gf64(word)
    }
}

impl Module<Gf128> for Gf128 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn scaled<W: ClmulWords>(self, b: Gf128, words: W) -> Self {
        self.times(b, words)
    }
    fn random(prg: &mut Prg) -> Self {
        prg.next_block().into()
    }
    const WORDS: usize = 2;
    #[inline(always)]
    fn words(self) -> [u64; 2] {
        [self.0 as u64, (self.0 >> 64) as u64]
    }
    #[inline(always)]
    fn of_words([low, high]: [u64; 2]) -> Self {
        Gf128(u128::from(high) << 64 | u128::from(low))
    }
}
