//! Single bytes as elements of GF(2^8): the tiers without GFNI use these functions, and tests
//! compare with them.

/// Product in GF(2^8) modulo x^8+x^4+x^3+x+1, without tables or branches.
pub(crate) fn mul_soft(a: u8, b: u8) -> u8 {
    let (mut a, mut r) = (a, 0u8);
    for i in 0..8 {
        r ^= a & 0u8.wrapping_sub((b >> i) & 1);
        a = (a << 1) ^ (0x1b & 0u8.wrapping_sub(a >> 7));
    }
    r
}

/// `M·x` over GF(2) with GFNI's matrix layout.
pub(crate) fn affine_soft(x: u8, matrix: u64) -> u8 {
    let rows = matrix.to_le_bytes();
    (0..8).fold(0, |r, i| r | ((((rows[7 - i] & x).count_ones() & 1) as u8) << i))
}
