//! σ(X_L, X_R) = (x X_L, x X_R) in GF(2^64): the linear map inside the hash. [`super`] gives the
//! reason for this choice.

use hushwire_simd::Lanes;

/// SECURITY: GF(2^64) is GF(2)[x] modulo x^64 + x^4 + x^3 + x + 1, in both words.
const POLYNOMIAL: [u8; 16] = [0x1b, 0, 0, 0, 0, 0, 0, 0, 0x1b, 0, 0, 0, 0, 0, 0, 0];
/// 1 in both words.
const ONE: [u8; 16] = [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];

/// σ of every lane. Constant time: the reduction is masked.
#[inline(always)]
pub(super) fn sigma<L: Lanes>(l: L, x: L::V) -> L::V {
    let top = l.shr64::<63>(x);
    // All ones in words whose top bit was set.
    let reduce = l.add64(l.andnot(top, l.splat(&ONE)), l.splat(&[0xff; 16]));
    l.xor(l.shl64::<1>(x), l.and(reduce, l.splat(&POLYNOMIAL)))
}
