//! The fields of subfield VOLE: B, which has the receiver's u, and F over it, which has the other
//! values.

use core::fmt::Debug;

use hushwire_block::{Block, Gf64, Gf128};
use hushwire_simd::clmul::{ClmulSum, ClmulWords};
use zeroize::Zeroize;

mod sealed {
    pub trait Sealed {}
}

/// An element of B.
pub trait Base: Copy + Default + PartialEq + Eq + Debug + Zeroize + Send + Sync + 'static {
    /// Bytes of an element.
    const BYTES: usize;

    /// An element from 64 bits; different bits give different elements.
    fn from_word(word: u64) -> Self;

    /// An element from its bytes; every string of [`Base::BYTES`] bytes is an element.
    ///
    /// # Panics
    /// If there are fewer bytes (the caller's bug).
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Writes the element's bytes.
    ///
    /// # Panics
    /// If there is less room (the caller's bug).
    fn to_bytes(self, out: &mut [u8]);

    /// The sum, which is also the difference.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The product.
    #[must_use]
    fn times<W: ClmulWords>(self, other: Self, words: W) -> Self;

    /// `1 / self`, and 0 for 0.
    #[must_use]
    fn inverse<W: ClmulWords>(self, words: W) -> Self;

    /// The unreduced product; sums of such products need only one [`Base::reduced`].
    #[doc(hidden)]
    fn product<W: ClmulWords>(self, other: Self, words: W) -> [u128; 2];

    /// Reduces a product, or a sum of products, modulo the polynomial of B.
    #[doc(hidden)]
    fn reduced(product: [u128; 2]) -> Self;

    /// The element if `mask` has all bits set, and 0 if it has none.
    #[doc(hidden)]
    #[must_use]
    fn masked(self, mask: u64) -> Self;
}

impl Base for Gf64 {
    const BYTES: usize = 8;

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Gf64(word)
    }
    #[inline(always)]
    fn from_bytes(bytes: &[u8]) -> Self {
        Gf64(u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes")))
    }
    #[inline(always)]
    fn to_bytes(self, out: &mut [u8]) {
        out[..8].copy_from_slice(&self.0.to_le_bytes());
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn times<W: ClmulWords>(self, other: Self, words: W) -> Self {
        self.mul(other, words)
    }
    fn inverse<W: ClmulWords>(self, words: W) -> Self {
        Gf64::inverse(self, words)
    }
    #[inline(always)]
    fn product<W: ClmulWords>(self, other: Self, words: W) -> [u128; 2] {
        [words.mul(self.0, other.0), 0]
    }
    #[inline(always)]
    fn reduced(product: [u128; 2]) -> Self {
        Gf64::reduce(product[0])
    }
    #[inline(always)]
    fn masked(self, mask: u64) -> Self {
        Gf64(self.0 & mask)
    }
}

/// The unreduced product of polynomials of 128 bits, the low half first.
#[inline(always)]
fn wide<W: ClmulWords>(a: u128, b: u128, words: W) -> [u128; 2] {
    let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
    let mid = words.mul(a0, b1) ^ words.mul(a1, b0);
    [words.mul(a0, b0) ^ mid << 64, words.mul(a1, b1) ^ mid >> 64]
}

#[inline(always)]
fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

impl Base for Gf128 {
    const BYTES: usize = 16;

    #[inline(always)]
    fn from_word(word: u64) -> Self {
        Gf128(u128::from(word))
    }
    #[inline(always)]
    fn from_bytes(bytes: &[u8]) -> Self {
        Gf128(u128::from_le_bytes(*bytes.first_chunk().expect("16 bytes")))
    }
    #[inline(always)]
    fn to_bytes(self, out: &mut [u8]) {
        out[..16].copy_from_slice(&self.0.to_le_bytes());
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn times<W: ClmulWords>(self, other: Self, words: W) -> Self {
        Gf128(Gf128::reduce(wide(self.0, other.0, words)))
    }
    fn inverse<W: ClmulWords>(self, words: W) -> Self {
        // This is self^(2^128 − 2). `ones` is self^(2^k − 1), where k doubles and then grows by
        // one.
        let square = |a: Gf128| a.times(a, words);
        let (mut ones, mut k) = (self, 1);
        while k < 127 {
            let turned = (0..k).fold(ones, |a, _| square(a));
            ones = square(turned.times(ones, words)).times(self, words);
            k = 2 * k + 1;
        }
        square(ones)
    }
    #[inline(always)]
    fn product<W: ClmulWords>(self, other: Self, words: W) -> [u128; 2] {
        wide(self.0, other.0, words)
    }
    #[inline(always)]
    fn reduced(product: [u128; 2]) -> Self {
        Gf128(Gf128::reduce(product))
    }
    #[inline(always)]
    fn masked(self, mask: u64) -> Self {
        Gf128(self.0 & (u128::from(mask) << 64 | u128::from(mask)))
    }
}

/// A pair of fields B and F; an element of F is a block.
pub trait Field: sealed::Sealed + Copy + Debug + Send + Sync + 'static {
    /// B.
    type Base: Base;
    /// The number of bits of an element of B, and thus of correlated OTs for an entry; the choice
    /// of OT i is the coefficient of x^i.
    const COTS: usize;
    /// Whether any two elements of F have a product, which the check of grown entries needs. If
    /// not, malicious entries are packed.
    const IS_FIELD: bool;

    /// An element of B as one of GF(2^128), which is F if [`Field::IS_FIELD`].
    #[doc(hidden)]
    fn whole(b: Self::Base) -> Gf128;

    /// Σ x^i f_i of a sum that was folded with 1, x, x², … as coefficients.
    #[doc(hidden)]
    fn folded(sum: &ClmulSum) -> Block;

    /// The unreduced product b · f; sums of such products need only one reduction.
    fn scale<W: ClmulWords>(b: Self::Base, f: Block, words: W) -> [u128; 2];

    /// Reduces a product, or a sum of products, modulo the polynomial of F.
    fn reduce(wide: [u128; 2]) -> Block;

    /// b · f.
    #[inline(always)]
    #[must_use]
    fn times<W: ClmulWords>(b: Self::Base, f: Block, words: W) -> Block {
        Self::reduce(Self::scale(b, f, words))
    }
}

/// B = GF(2^64) and F = B²; only products of elements of B with elements of F are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair64 {}

/// B = F = GF(2^128).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full128 {}

impl sealed::Sealed for Pair64 {}
impl sealed::Sealed for Full128 {}

impl Field for Pair64 {
    type Base = Gf64;
    const COTS: usize = 64;
    const IS_FIELD: bool = false;

    fn whole(b: Gf64) -> Gf128 {
        Gf128(u128::from(b.0))
    }

    fn folded(sum: &ClmulSum) -> Block {
        // No coefficient exceeds its low word, so that the products with the two halves of f stay
        // separate.
        let [low, high, _] = sum.0.map(|lanes| lanes.iter().fold(0, |sum, lane| sum ^ lane));
        Self::reduce([low, high])
    }
    #[inline(always)]
    fn scale<W: ClmulWords>(b: Gf64, f: Block, words: W) -> [u128; 2] {
        halves(f.to_u128()).map(|half| words.mul(b.0, half))
    }
    #[inline(always)]
    fn reduce([low, high]: [u128; 2]) -> Block {
        Block::from_u128(u128::from(Gf64::reduce(low).0) | u128::from(Gf64::reduce(high).0) << 64)
    }
}

impl Field for Full128 {
    type Base = Gf128;
    const COTS: usize = 128;
    const IS_FIELD: bool = true;

    fn whole(b: Gf128) -> Gf128 {
        b
    }

    fn folded(sum: &ClmulSum) -> Block {
        Self::reduce(sum.total())
    }
    #[inline(always)]
    fn scale<W: ClmulWords>(b: Gf128, f: Block, words: W) -> [u128; 2] {
        wide(b.0, f.to_u128(), words)
    }
    #[inline(always)]
    fn reduce(wide: [u128; 2]) -> Block {
        Block::from_u128(Gf128::reduce(wide))
    }
}
