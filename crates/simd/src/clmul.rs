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
            return unsafe { std::arch::aarch64::vmull_p64(a, b) };
        }
        mul_soft(a, b)
    }
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

fn mul_soft(a: u64, b: u64) -> u128 {
    let a = u128::from(a);
    (0..64).fold(0, |r, i| r ^ (a << i & 0u128.wrapping_sub(u128::from(b >> i & 1))))
}
