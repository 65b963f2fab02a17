//! GF(2^64) modulo x^64 + x^4 + x^3 + x + 1, constant time.
//!
//! Bit `i` of the number is the coefficient of x^i.

use hushwire_simd::clmul::ClmulWords;
use std::ops::{Add, AddAssign};
use zeroize::Zeroize;

/// An element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Gf64(pub u64);

impl Gf64 {
    /// The element 0.
    pub const ZERO: Gf64 = Gf64(0);
    /// The element 1.
    pub const ONE: Gf64 = Gf64(1);

    /// Reduces 127 bits modulo the polynomial: replaces x^64 by x^4 + x^3 + x + 1, twice.
    #[inline(always)]
    #[must_use]
    pub const fn reduce(x: u128) -> Gf64 {
        let high = (x >> 64) as u64;
        // The fold of the high half exceeds x^63 by at most x^3.
        let high = high ^ high >> 63 ^ high >> 61 ^ high >> 60;
        Gf64(x as u64 ^ high ^ high << 1 ^ high << 3 ^ high << 4)
    }

    /// The product.
    #[inline(always)]
    #[must_use]
    pub fn mul<W: ClmulWords>(self, other: Gf64, words: W) -> Gf64 {
        Gf64::reduce(words.mul(self.0, other.0))
    }

    /// `1 / self`, and 0 for 0: `self^(2^64 − 2)`.
    #[must_use]
    pub fn inverse<W: ClmulWords>(self, words: W) -> Gf64 {
        // ones = self^(2^k − 1); k takes the values 1, 3, 7, 15, 31, 63.
        let square = |a: Gf64| a.mul(a, words);
        let (mut ones, mut k) = (self, 1);
        while k < 63 {
            let turned = (0..k).fold(ones, |a, _| square(a));
            ones = square(turned.mul(ones, words)).mul(self, words);
            k = 2 * k + 1;
        }
        square(ones)
    }
}

impl Add for Gf64 {
    type Output = Gf64;
    #[inline]
    #[allow(clippy::suspicious_arithmetic_impl, reason = "addition in characteristic 2")]
    fn add(self, other: Gf64) -> Gf64 {
        Gf64(self.0 ^ other.0)
    }
}

impl AddAssign for Gf64 {
    #[inline]
    fn add_assign(&mut self, other: Gf64) {
        *self = *self + other;
    }
}

impl Zeroize for Gf64 {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_simd::clmul::{Clmul, WordKernel};
    use proptest::prelude::*;

    /// The definition, bit by bit.
    fn slow(a: u64, b: u64) -> u64 {
        let (mut product, mut a) = (0, a);
        for i in 0..64 {
            product ^= a * (b >> i & 1);
            a = (a << 1) ^ (0x1b * (a >> 63));
        }
        product
    }

    struct Mul(Gf64, Gf64);
    impl WordKernel for Mul {
        type Out = [Gf64; 2];
        #[inline(always)]
        fn run<W: ClmulWords>(self, words: W) -> [Gf64; 2] {
            [self.0.mul(self.1, words), self.0.inverse(words)]
        }
    }

    #[test]
    fn the_polynomial_is_irreducible() {
        // Rabin's test: x^(2^64) = x, and x^(2^32) + x has no common factor with the polynomial,
        // that is, it has an inverse.
        let x = Gf64(2);
        let power = |n: u32| (0..n).fold(x.0, |a, _| slow(a, a));
        assert_eq!(power(64), x.0);
        let [_, inverse] = Clmul::portable().run(Mul(x, Gf64(power(32) ^ x.0)));
        assert_ne!(inverse, Gf64::ZERO);
        let root = power(32) ^ x.0;
        let [_, inverse] = Clmul::portable().run(Mul(Gf64(root), Gf64::ONE));
        assert_eq!(slow(root, inverse.0), 1);
    }

    proptest! {
        #[test]
        fn every_form_multiplies_as_the_definition_does(a in any::<u64>(), b in any::<u64>()) {
            for clmul in Clmul::all() {
                let [product, inverse] = clmul.run(Mul(Gf64(a), Gf64(b)));
                prop_assert_eq!(product.0, slow(a, b));
                prop_assert_eq!(slow(a, inverse.0), u64::from(a != 0));
            }
        }
    }
}
