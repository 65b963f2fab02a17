//! Carry-less multiplication of 64-bit polynomials, by instruction where the CPU has it.
//!
//! A capability of its own: AES tiers neither imply it nor need it.

use crate::cpu;

/// How carry-less products are made on this CPU; a token, so that the choice is made once, outside loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clmul {
    hardware: bool,
}

impl Clmul {
    /// The fastest form that this CPU has.
    #[must_use]
    pub fn best() -> Self {
        Clmul { hardware: cpu().features().clmul }
    }

    /// The portable form, constant time on any CPU.
    #[must_use]
    pub fn portable() -> Self {
        Clmul { hardware: false }
    }

    /// Whether products use an instruction.
    #[must_use]
    pub fn is_hardware(self) -> bool {
        self.hardware
    }

    /// The 127-bit carry-less product of `a` and `b`.
    #[inline]
    #[must_use]
    pub fn mul(self, a: u64, b: u64) -> u128 {
        #[cfg(target_arch = "x86_64")]
        if self.hardware {
            // SAFETY: `hardware` is true only after PCLMULQDQ was detected.
            return unsafe { mul_x86(a, b) };
        }
        #[cfg(target_arch = "aarch64")]
        if self.hardware {
            // SAFETY: `hardware` is true only after the AES (and with it PMULL) feature was detected.
            return unsafe { mul_arm(a, b) };
        }
        mul_soft(a, b)
    }

    /// The sum of the 255-bit products `a[i] b[i]`, as low and high 128 bits; one product where the slices hold one.
    ///
    /// # Panics
    /// If the lengths differ.
    #[must_use]
    pub fn dot(self, a: &[u128], b: &[u128]) -> [u128; 2] {
        assert_eq!(a.len(), b.len(), "an inner product needs equal lengths");
        #[cfg(target_arch = "x86_64")]
        if self.hardware {
            // SAFETY: `hardware` is true only after PCLMULQDQ was detected.
            return unsafe { dot_x86(a, b) };
        }
        let [mut lo, mut mid, mut hi] = [0; 3];
        for (&a, &b) in a.iter().zip(b) {
            let ([a0, a1], [b0, b1]) = (halves(a), halves(b));
            lo ^= self.mul(a0, b0);
            hi ^= self.mul(a1, b1);
            mid ^= self.mul(a0 ^ a1, b0 ^ b1);
        }
        combine(lo, mid ^ lo ^ hi, hi)
    }
}

#[inline(always)]
fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

#[inline(always)]
fn combine(lo: u128, mid: u128, hi: u128) -> [u128; 2] {
    [lo ^ mid << 64, hi ^ mid >> 64]
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,sse4.1")]
fn dot_x86(a: &[u128], b: &[u128]) -> [u128; 2] {
    use std::arch::x86_64::*;
    let whole = |x: u128| {
        let [lo, hi] = halves(x);
        _mm_set_epi64x(hi.cast_signed(), lo.cast_signed())
    };
    let number = |v: __m128i| {
        u128::from(_mm_extract_epi64::<1>(v).cast_unsigned()) << 64
            | u128::from(_mm_cvtsi128_si64(v).cast_unsigned())
    };
    let zero = _mm_setzero_si128();
    let [mut lo, mut m0, mut m1, mut hi] = [zero; 4];
    for (&a, &b) in a.iter().zip(b) {
        let (a, b) = (whole(a), whole(b));
        lo = _mm_xor_si128(lo, _mm_clmulepi64_si128::<0x00>(a, b));
        m0 = _mm_xor_si128(m0, _mm_clmulepi64_si128::<0x01>(a, b));
        m1 = _mm_xor_si128(m1, _mm_clmulepi64_si128::<0x10>(a, b));
        hi = _mm_xor_si128(hi, _mm_clmulepi64_si128::<0x11>(a, b));
    }
    combine(number(lo), number(_mm_xor_si128(m0, m1)), number(hi))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,sse4.1")]
#[inline]
fn mul_x86(a: u64, b: u64) -> u128 {
    use std::arch::x86_64::*;
    let p = _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a.cast_signed()), _mm_cvtsi64_si128(b.cast_signed()));
    let (lo, hi) = (_mm_cvtsi128_si64(p).cast_unsigned(), _mm_extract_epi64::<1>(p).cast_unsigned());
    u128::from(hi) << 64 | u128::from(lo)
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,aes")]
#[inline]
fn mul_arm(a: u64, b: u64) -> u128 {
    std::arch::aarch64::vmull_p64(a, b)
}

fn mul_soft(a: u64, b: u64) -> u128 {
    let a = u128::from(a);
    (0..64).fold(0, |r, i| r ^ (a << i & 0u128.wrapping_sub(u128::from(b >> i & 1))))
}
