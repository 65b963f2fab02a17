//! Compresses ALSZ15's 192 rows to blocks of 128 bits.
//!
//! ```text
//! block = (rows 0 to 127)  ⊕  χ · (rows 128 to 191)   in GF(2^128), but bit 0 stays row 0's
//! ```
//!
//! This linear map is the same on q, t and Δ, so that it preserves t = q ⊕ bΔ. It is fixed, and a
//! receiver may know it when it deviates. Its strength is the number of bits of the long Δ on which
//! each bit of the short one depends. Bits 1 to 127 of the short Δ, and all their sums, are code
//! words of a [191, 127] code over the bits of the long one. [`CHI`] is chosen such that no nonzero
//! word has weight 8 or less. Any 8 bits of the long Δ therefore reveal nothing about the short
//! one.

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf128, fold::scale_add, transpose};
use hushwire_simd::clmul::Clmul;

/// SECURITY: the first 32 hexadecimal digits of π's fraction. The distance of its code is at least
/// 9: an exhaustive search over sums of up to eight columns of the parity check found none that is
/// zero. A test repeats the search up to six columns.
pub(super) const CHI: Gf128 = Gf128(0x243f_6a88_85a3_08d3_1319_8a2e_0370_7344);

/// Compresses 192 rows of W blocks each, row after row, to a block for each of 128 W OTs. `high`
/// has room for 128 W words, the upper rows of each OT. Overwrites row 0. In constant time.
pub(super) fn rows192(
    backend: Backend,
    clmul: Clmul,
    rows: &mut [Block],
    high: &mut [u64],
    blocks: &mut [Block],
) {
    let width = rows.len() / 192;
    let (low, upper) = rows.split_at_mut(128 * width);
    // Row 0 gets in advance what the product adds to bit 0: the upper rows j for which χ · x^j has
    // bit 0. χ is public.
    let mut multiple = CHI;
    for row in upper.chunks_exact(width) {
        if multiple.0 & 1 == 1 {
            for (bits, added) in low[..width].iter_mut().zip(row) {
                *bits ^= *added;
            }
        }
        multiple = multiple.mul_x();
    }
    transpose::rows128(backend.tier(), backend.gfni(), low, blocks);
    transpose::rows64(backend.tier(), backend.gfni(), upper, high);
    scale_add(clmul, CHI, high, blocks);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The columns of the code's parity check: a unit vector for each upper row, and for row i the
    /// bits that it shares with each upper row.
    fn columns() -> Vec<u64> {
        let mut shifted = [CHI; 64];
        for j in 1..64 {
            shifted[j] = shifted[j - 1].mul_x();
        }
        let row = |i: usize| (0..64).fold(0, |word, j| word | ((shifted[j].0 >> i & 1) as u64) << j);
        (0..64).map(|j| 1 << j).chain((1..128).map(row)).collect()
    }

    #[test]
    fn no_six_columns_of_the_parity_check_sum_to_zero() {
        let columns = columns();
        assert_eq!(columns.len(), 191);
        // If two different sums of up to three columns were equal, up to six columns would have the
        // sum zero.
        let mut sums = vec![0];
        for (a, x) in columns.iter().enumerate() {
            sums.push(*x);
            for (b, y) in columns[..a].iter().enumerate() {
                sums.push(x ^ y);
                sums.extend(columns[..b].iter().map(|z| x ^ y ^ z));
            }
        }
        sums.sort_unstable();
        assert!(sums.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn the_map_is_linear_keeps_row_0_and_is_the_field_s() {
        let clmul = Clmul::best();
        for backend in Backend::all() {
            let width = 4;
            let mut rows: Vec<Block> =
                (0..192 * width).map(|i| Block::from_u128((i as u128 + 3).wrapping_pow(31))).collect();
            let bit = |rows: &[Block], r: usize, c: usize| u128::from(rows[r * width + c / 128].bit(c % 128));
            let original = rows.clone();
            let (mut blocks, mut high) = (vec![Block::ZERO; 128 * width], vec![0; 128 * width]);
            rows192(backend, clmul, &mut rows, &mut high, &mut blocks);
            for c in 0..128 * width {
                let low = (0..128).fold(0, |word, r| word | bit(&original, r, c) << r);
                let upper = (0..64).fold(0, |word, r| word | bit(&original, 128 + r, c) << r);
                let wanted = low ^ CHI.mul(Gf128(upper), clmul).0 & !1;
                assert_eq!(blocks[c].to_u128(), wanted, "{backend:?} column {c}");
            }
        }
    }
}
