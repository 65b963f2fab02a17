//! The prime field of p = 2^61 − 1, constant time.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};
use zeroize::Zeroize;

/// The modulus, 2^61 − 1.
pub const P: u64 = (1 << 61) - 1;

/// An element, kept canonical: below [`P`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct M61(u64);

/// Subtracts p once if `x >= p`, without a branch; `x < 2p`.
#[inline]
const fn once(x: u64) -> u64 {
    let y = x.wrapping_sub(P);
    y.wrapping_add(P & 0u64.wrapping_sub(y >> 63))
}

/// Any 122-bit number modulo p.
#[inline]
const fn reduce(x: u128) -> u64 {
    // Two 61-bit digits: their sum is at most 2p, which takes subtracting p twice.
    let s = (x as u64 & P) + (x >> 61) as u64;
    once(once(s))
}

impl M61 {
    /// 0.
    pub const ZERO: M61 = M61(0);
    /// 1.
    pub const ONE: M61 = M61(1);

    /// `x` modulo p.
    #[inline]
    #[must_use]
    pub const fn new(x: u64) -> Self {
        M61(once((x & P) + (x >> 61)))
    }

    /// `x` modulo p; 128 uniform bits give an element within 2^−67 of uniform.
    #[inline]
    #[must_use]
    pub const fn from_u128(x: u128) -> Self {
        // 2^122 is 1.
        M61(reduce(x & ((1 << 122) - 1))).plus(M61((x >> 122) as u64))
    }

    /// The canonical number, below p.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    #[inline]
    const fn plus(self, other: M61) -> M61 {
        M61(once(self.0 + other.0))
    }

    /// `self^2`.
    #[inline]
    #[must_use]
    pub fn square(self) -> Self {
        self * self
    }

    /// `self^exponent`; constant time in `self`, the exponent is public.
    #[must_use]
    pub fn pow(self, exponent: u64) -> Self {
        (0..64 - exponent.leading_zeros()).rev().fold(M61::ONE, |acc, i| {
            let acc = acc.square();
            if exponent >> i & 1 == 1 { acc * self } else { acc }
        })
    }

    /// `1 / self`, and 0 for 0.
    #[must_use]
    pub fn inverse(self) -> Self {
        self.pow(P - 2)
    }

    /// Σ a\[i\]·b\[i\], reduced once in 32 terms.
    ///
    /// # Panics
    /// If the lengths differ.
    #[must_use]
    pub fn inner(a: &[M61], b: &[M61]) -> M61 {
        assert_eq!(a.len(), b.len(), "an inner product needs equal lengths");
        let mut sum = 0u128;
        for (a, b) in a.chunks(32).zip(b.chunks(32)) {
            // 32 products below 2^122 and a carried element stay below 2^128.
            for (a, b) in a.iter().zip(b) {
                sum += u128::from(a.0) * u128::from(b.0);
            }
            sum = u128::from(M61::from_u128(sum).0);
        }
        M61(sum as u64)
    }
}

impl Add for M61 {
    type Output = M61;
    #[inline]
    fn add(self, other: M61) -> M61 {
        self.plus(other)
    }
}

impl Neg for M61 {
    type Output = M61;
    #[inline]
    fn neg(self) -> M61 {
        M61(once(P - self.0))
    }
}

impl Sub for M61 {
    type Output = M61;
    #[inline]
    fn sub(self, other: M61) -> M61 {
        M61(once(self.0 + (P - other.0)))
    }
}

impl Mul for M61 {
    type Output = M61;
    #[inline]
    fn mul(self, other: M61) -> M61 {
        M61(reduce(u128::from(self.0) * u128::from(other.0)))
    }
}

impl AddAssign for M61 {
    #[inline]
    fn add_assign(&mut self, other: M61) {
        *self = *self + other;
    }
}

impl SubAssign for M61 {
    #[inline]
    fn sub_assign(&mut self, other: M61) {
        *self = *self - other;
    }
}

impl MulAssign for M61 {
    #[inline]
    fn mul_assign(&mut self, other: M61) {
        *self = *self * other;
    }
}

impl Sum for M61 {
    fn sum<I: Iterator<Item = M61>>(items: I) -> M61 {
        items.fold(M61::ZERO, Add::add)
    }
}

impl Zeroize for M61 {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}
