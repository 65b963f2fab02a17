//! AVX-512 IFMA.

use super::{Eight, NumberKernel, Numbers};
use std::arch::x86_64::*;

/// Proof that the CPU has AVX-512 with IFMA; only [`run`] makes it.
#[derive(Clone, Copy)]
pub(super) struct Ifma(());

#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn run<K: NumberKernel>(kernel: K) -> K::Out {
    kernel.run(Ifma(()))
}

impl Numbers for Ifma {
    type V = __m512i;
    #[inline(always)]
    fn load(self, from: &Eight) -> __m512i {
        // SAFETY: 64 readable bytes, alignment is not needed; the token exists only where the
        // features are.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store(self, v: __m512i, to: &mut Eight) {
        // SAFETY: 64 writable bytes, alignment is not needed; the token exists only where the
        // features are.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), v) }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe { _mm512_set1_epi64(x.cast_signed()) }
    }
    #[inline(always)]
    fn low(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe { _mm512_madd52lo_epu64(sum, a, b) }
    }
    #[inline(always)]
    fn high(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe { _mm512_madd52hi_epu64(sum, a, b) }
    }
    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe { _mm512_add_epi64(a, b) }
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn shr<const S: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe { _mm512_srli_epi64::<S>(a) }
    }
    #[inline(always)]
    fn less(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: the token exists only where the features are.
        unsafe {
            let is_least = _mm512_cmpge_epu64_mask(a, b);
            _mm512_mask_sub_epi64(a, is_least, a, b)
        }
    }
}
