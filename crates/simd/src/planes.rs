//! Elements of GF(2^8) in bit planes, for the vectors of any tier.

use crate::Lanes;

/// Turns eight vectors of bytes into eight bit planes, and planes into bytes: bit `j` of plane
/// `b`'s byte `i` is bit `b` of `v[j]`'s byte `i`.
#[inline(always)]
pub(crate) fn slice8<L: Lanes>(l: L, v: &mut [L::V; 8]) {
    let masks = [l.splat(&[0x55; 16]), l.splat(&[0x33; 16]), l.splat(&[0x0f; 16])];
    macro_rules! stage {
        ($s:literal, $m:expr, $d:literal, $($i:literal)*) => {$(
            let t = l.and(l.xor(l.shr64::<$s>(v[$i]), v[$i + $d]), $m);
            v[$i + $d] = l.xor(v[$i + $d], t);
            v[$i] = l.xor(v[$i], l.shl64::<$s>(t));
        )*};
    }
    stage!(1, masks[0], 1, 0 2 4 6);
    stage!(2, masks[1], 2, 0 1 4 5);
    stage!(4, masks[2], 4, 0 1 2 3);
}

/// Schoolbook products in GF(2^8) of elements in bit planes.
#[inline(always)]
pub(crate) fn planes_mul<L: Lanes>(l: L, a: &[L::V; 8], b: &[L::V; 8]) -> [L::V; 8] {
    let mut p = [l.zero(); 15];
    for i in 0..8 {
        for j in 0..8 {
            p[i + j] = l.xor(p[i + j], l.and(a[i], b[j]));
        }
    }
    // Reduction by x^8 = x^4 + x^3 + x + 1, from the top down.
    for k in (8..15).rev() {
        for shift in [4, 3, 1, 0] {
            p[k - 8 + shift] = l.xor(p[k - 8 + shift], p[k]);
        }
    }
    [p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]]
}

/// `M·x` for elements in bit planes.
#[inline(always)]
pub(crate) fn planes_linear<L: Lanes>(l: L, a: &[L::V; 8], matrix: u64) -> [L::V; 8] {
    let rows = matrix.to_le_bytes();
    let mut out = [l.zero(); 8];
    for i in 0..8 {
        for j in 0..8 {
            // The matrix is public.
            if rows[7 - i] >> j & 1 == 1 {
                out[i] = l.xor(out[i], a[j]);
            }
        }
    }
    out
}
