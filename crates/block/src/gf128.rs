//! GF(2^128) modulo GHASH's polynomial x^128 + x^7 + x^2 + x + 1, constant time.
//!
//! Bit `i` of the number (and of the block) is the coefficient of x^i. GHASH itself reflects the
//! bits; this module does not, so that a block is an element without a conversion. Products need a
//! [`Clmul`] token, chosen once outside loops.

use crate::Block;
use crate::block::coefficients;
use hushwire_simd::clmul::{self, Clmul};
use std::iter::Sum;
use std::ops::{Add, AddAssign, BitXor};
use zeroize::Zeroize;

/// An element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf128(pub u128);

/// x^128 modulo the polynomial.
pub(crate) const TAIL: u64 = 0x87;

/// Reduces 255 bits, low half first, modulo the polynomial: replaces x^128 by x^7 + x^2 + x + 1,
/// twice.
#[inline(always)]
pub(crate) const fn reduce([lo, hi]: [u128; 2]) -> u128 {
    // The fold of `hi` exceeds x^127 by at most x^6.
    let over = hi >> 127 ^ hi >> 126 ^ hi >> 121;
    let hi = hi ^ over;
    lo ^ hi ^ hi << 1 ^ hi << 2 ^ hi << 7
}

impl Gf128 {
    /// The element 0.
    pub const ZERO: Gf128 = Gf128(0);
    /// The element 1.
    pub const ONE: Gf128 = Gf128(1);
    /// The element x.
    pub const X: Gf128 = Gf128(2);

    /// Reduces 255 bits, low half first, modulo the polynomial.
    #[inline(always)]
    #[must_use]
    pub const fn reduce(wide: [u128; 2]) -> u128 {
        reduce(wide)
    }

    /// The product.
    #[inline]
    #[must_use]
    pub fn mul(self, other: Gf128, clmul: Clmul) -> Gf128 {
        Gf128(reduce(clmul.dot(&[self.0], &[other.0])))
    }

    /// The product with x; it needs no [`Clmul`].
    #[inline]
    #[must_use]
    pub const fn mul_x(self) -> Gf128 {
        Gf128(self.0 << 1 ^ TAIL as u128 & 0u128.wrapping_sub(self.0 >> 127))
    }

    /// `self^2`, which is linear over GF(2).
    #[inline]
    #[must_use]
    pub fn square(self, clmul: Clmul) -> Gf128 {
        let (lo, hi) = (self.0 as u64, (self.0 >> 64) as u64);
        Gf128(reduce([clmul.mul(lo, lo), clmul.mul(hi, hi)]))
    }

    /// `self^exponent`, constant time in `self`; the exponent is public.
    #[must_use]
    pub fn pow(self, exponent: u128, clmul: Clmul) -> Gf128 {
        (0..128 - exponent.leading_zeros()).rev().fold(Gf128::ONE, |acc, i| {
            let acc = acc.square(clmul);
            if exponent >> i & 1 == 1 { acc.mul(self, clmul) } else { acc }
        })
    }

    /// `1 / self`, and 0 for 0: `self^(2^128 − 2)` by Itoh and Tsujii's addition chain.
    #[must_use]
    pub fn inverse(self, clmul: Clmul) -> Gf128 {
        // ones = self^(2^k − 1); k takes the values 1, 3, 7, 15, 31, 63, 127.
        let (mut ones, mut k) = (self, 1);
        while k < 127 {
            let turned = (0..k).fold(ones, |a, _| a.square(clmul));
            ones = turned.mul(ones, clmul).square(clmul).mul(self, clmul);
            k = 2 * k + 1;
        }
        ones.square(clmul)
    }

    /// Σ a\[i\]·b\[i\], reduced once.
    ///
    /// # Panics
    /// If the lengths differ.
    #[must_use]
    pub fn inner(a: &[Gf128], b: &[Gf128], clmul: Clmul) -> Gf128 {
        assert_eq!(a.len(), b.len(), "an inner product needs equal lengths");
        let (mut sum, mut y) = (clmul::ClmulSum::ZERO, [0; 16 * 64]);
        for (a, b) in a.chunks(64).zip(b.chunks(64)) {
            let y = &mut y[..16 * b.len()];
            y.chunks_exact_mut(16).zip(b).for_each(|(y, b)| y.copy_from_slice(&b.0.to_le_bytes()));
            clmul.fold(coefficients(a), y, std::slice::from_mut(&mut sum));
        }
        Gf128(reduce(sum.total()))
    }
}

impl Add for Gf128 {
    type Output = Gf128;
    #[inline]
    fn add(self, other: Gf128) -> Gf128 {
        Gf128(self.0.bitxor(other.0))
    }
}

impl AddAssign for Gf128 {
    #[inline]
    fn add_assign(&mut self, other: Gf128) {
        *self = *self + other;
    }
}

impl Sum for Gf128 {
    fn sum<I: Iterator<Item = Gf128>>(items: I) -> Gf128 {
        items.fold(Gf128::ZERO, Add::add)
    }
}

impl From<Block> for Gf128 {
    #[inline]
    fn from(b: Block) -> Self {
        Gf128(b.to_u128())
    }
}

impl From<Gf128> for Block {
    #[inline]
    fn from(g: Gf128) -> Block {
        Block::from_u128(g.0)
    }
}

impl Zeroize for Gf128 {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
