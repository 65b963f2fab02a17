//! PCLMULQDQ makes one product at a time, VPCLMULQDQ four.

use super::{ClmulSum, ClmulWords, WordKernel, combine, halves};
use std::arch::x86_64::*;

#[target_feature(enable = "pclmulqdq,sse4.1")]
#[inline]
pub(super) fn mul(a: u64, b: u64) -> u128 {
    number(_mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a.cast_signed()), _mm_cvtsi64_si128(b.cast_signed())))
}

/// Proof that the CPU has PCLMULQDQ; only [`run`] makes it.
#[derive(Clone, Copy)]
pub(super) struct Pclmul(());

impl ClmulWords for Pclmul {
    #[inline(always)]
    fn mul(self, a: u64, b: u64) -> u128 {
        // SAFETY: the token exists only inside `run`, whose caller has detected the features.
        unsafe { mul(a, b) }
    }
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
pub(super) fn run<K: WordKernel>(kernel: K) -> K::Out {
    kernel.run(Pclmul(()))
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
#[inline]
fn whole(x: u128) -> __m128i {
    let [lo, hi] = halves(x);
    _mm_set_epi64x(hi.cast_signed(), lo.cast_signed())
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
#[inline]
fn number(v: __m128i) -> u128 {
    let (lo, hi) = (_mm_cvtsi128_si64(v).cast_unsigned(), _mm_extract_epi64::<1>(v).cast_unsigned());
    u128::from(hi) << 64 | u128::from(lo)
}

/// Four lanes of a sum.
#[target_feature(enable = "avx512f")]
#[inline]
fn load4(x: &[u128; 4]) -> __m512i {
    // SAFETY: 64 readable bytes, alignment is not needed.
    unsafe { _mm512_loadu_si512(x.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store4(v: __m512i, x: &mut [u128; 4]) {
    // SAFETY: 64 writable bytes, alignment is not needed.
    unsafe { _mm512_storeu_si512(x.as_mut_ptr().cast(), v) }
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
pub(super) fn dot(a: &[u128], b: &[u128]) -> [u128; 2] {
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

#[target_feature(enable = "pclmulqdq,sse4.1")]
pub(super) fn fold(a: &[u128], x: &[u8], sums: &mut [ClmulSum]) {
    for (row, sum) in x.chunks_exact(16 * a.len()).zip(sums) {
        let [mut lo, mut mid, mut hi] = [_mm_setzero_si128(); 3];
        for (&a, b) in a.iter().zip(row.chunks_exact(16)) {
            // SAFETY: `b` is 16 readable bytes, alignment is not needed.
            let (a, b) = (whole(a), unsafe { _mm_loadu_si128(b.as_ptr().cast()) });
            let both = |v| _mm_xor_si128(v, _mm_shuffle_epi32::<0x4e>(v));
            lo = _mm_xor_si128(lo, _mm_clmulepi64_si128::<0x00>(a, b));
            mid = _mm_xor_si128(mid, _mm_clmulepi64_si128::<0x00>(both(a), both(b)));
            hi = _mm_xor_si128(hi, _mm_clmulepi64_si128::<0x11>(a, b));
        }
        sum.add_karatsuba(number(lo), number(mid), number(hi));
    }
}

/// The number of rows that are folded together, so that they share loads of the coefficients.
const ROWS: usize = 4;

#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq,sse4.1")]
pub(super) fn fold_wide(a: &[u128], x: &[u8], sums: &mut [ClmulSum]) {
    let width = 16 * a.len();
    let mut rows = x.chunks_exact(ROWS * width);
    let mut groups = sums.chunks_exact_mut(ROWS);
    for (rows, sums) in rows.by_ref().zip(groups.by_ref()) {
        fold_rows::<ROWS>(a, rows, sums);
    }
    for (row, sum) in rows.remainder().chunks_exact(width).zip(groups.into_remainder()) {
        fold_rows::<1>(a, row, std::slice::from_mut(sum));
    }
}

/// Folds `R` rows at once with four products in each vector. Karatsuba's three products would need
/// sums of halves. These use the only port for products, or loads across cache lines, and cost more
/// than they save.
#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq,sse4.1")]
#[inline]
fn fold_rows<const R: usize>(a: &[u128], x: &[u8], sums: &mut [ClmulSum]) {
    let n = a.len();
    assert!(x.len() == 16 * n * R && sums.len() == R);
    let zero = _mm512_setzero_si512();
    let [mut lo, mut mid, mut hi] = [[zero; R]; 3];
    for r in 0..R {
        [lo[r], mid[r], hi[r]] = [load4(&sums[r].0[0]), load4(&sums[r].0[1]), load4(&sums[r].0[2])];
    }
    let mut add = |r: usize, c, v| {
        let (m0, m1) = (_mm512_clmulepi64_epi128::<0x01>(c, v), _mm512_clmulepi64_epi128::<0x10>(c, v));
        lo[r] = _mm512_xor_si512(lo[r], _mm512_clmulepi64_epi128::<0x00>(c, v));
        mid[r] = _mm512_ternarylogic_epi64::<0x96>(mid[r], m0, m1);
        hi[r] = _mm512_xor_si512(hi[r], _mm512_clmulepi64_epi128::<0x11>(c, v));
    };
    let mut j = 0;
    while j + 4 <= n {
        // SAFETY: polynomials j to j + 3 are inside `a`, and so they are in every row.
        unsafe {
            let c = _mm512_loadu_si512(a.as_ptr().add(j).cast());
            for r in 0..R {
                add(r, c, _mm512_loadu_si512(x.as_ptr().add(16 * (r * n + j)).cast()));
            }
        }
        j += 4;
    }
    if j < n {
        let mask = 0xff >> (2 * (4 - (n - j)));
        // SAFETY: the mask lets through no more than the n - j polynomials that are left.
        unsafe {
            let c = _mm512_maskz_loadu_epi64(mask, a.as_ptr().add(j).cast());
            for r in 0..R {
                add(r, c, _mm512_maskz_loadu_epi64(mask, x.as_ptr().add(16 * (r * n + j)).cast()));
            }
        }
    }
    for r in 0..R {
        store4(lo[r], &mut sums[r].0[0]);
        store4(mid[r], &mut sums[r].0[1]);
        store4(hi[r], &mut sums[r].0[2]);
    }
}

#[target_feature(enable = "pclmulqdq,sse4.1")]
pub(super) fn scale_add(c: u128, tail: u64, e: &[u64], q: &mut [u8]) {
    let (c, tail) = (whole(c), whole(u128::from(tail)));
    for (&e, q) in e.iter().zip(q.chunks_exact_mut(16)) {
        let e = _mm_cvtsi64_si128(e.cast_signed());
        let high = _mm_clmulepi64_si128::<0x01>(c, e);
        let product = _mm_xor_si128(_mm_clmulepi64_si128::<0x00>(c, e), _mm_slli_si128::<8>(high));
        let product = _mm_xor_si128(product, _mm_clmulepi64_si128::<0x01>(high, tail));
        // SAFETY: `q` is 16 bytes, alignment is not needed.
        unsafe {
            let old = _mm_loadu_si128(q.as_ptr().cast());
            _mm_storeu_si128(q.as_mut_ptr().cast(), _mm_xor_si128(old, product));
        }
    }
}

#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq,sse4.1")]
pub(super) fn scale_add_wide(c: u128, tail: u64, e: &[u64], q: &mut [u8]) {
    let (c, tail) = (_mm512_broadcast_i32x4(whole(c)), _mm512_broadcast_i32x4(whole(u128::from(tail))));
    let spread = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    for (e, q) in e.chunks(4).zip(q.chunks_mut(64)) {
        let (words, halves) = (0xf >> (4 - e.len()), 0xff >> (2 * (4 - e.len())));
        // SAFETY: the masks let through no more than there is, and `q` has 16 bytes for every word
        // of `e`.
        unsafe {
            let e = _mm512_permutexvar_epi64(spread, _mm512_maskz_loadu_epi64(words, e.as_ptr().cast()));
            let high = _mm512_clmulepi64_epi128::<0x01>(c, e);
            // `high` times x^64: its low half moves one half up.
            let up = _mm512_maskz_shuffle_epi32(0xcccc, high, 0x44);
            let over = _mm512_clmulepi64_epi128::<0x01>(high, tail);
            let product = _mm512_ternarylogic_epi64::<0x96>(_mm512_clmulepi64_epi128::<0x00>(c, e), up, over);
            let old = _mm512_maskz_loadu_epi64(halves, q.as_ptr().cast());
            _mm512_mask_storeu_epi64(q.as_mut_ptr().cast(), halves, _mm512_xor_si512(old, product));
        }
    }
}
