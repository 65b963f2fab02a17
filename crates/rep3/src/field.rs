//! GF(2^8), its subfield GF(2^4), and the linear maps between them, as matrices in GFNI's layout.
//!
//! Notation: `x` ∈ GF(2^8) modulo x^8+x^4+x^3+x+1 (AES's field). GF(2^4) is the set {x : x^16 = x},
//! with basis 1, γ, γ², γ³ over GF(2), γ = 3^17 of order 15; a *nibble* holds those four
//! coordinates, coordinate `i` in bit `i`. The projection onto the subfield is π(x) = Tr(δx) with
//! Tr(y) = y + y^16 and Tr(δ) = 1: linear, and the identity on it.

/// Product in GF(2^8), at compile time.
pub(crate) const fn mul(a: u8, b: u8) -> u8 {
    let (mut a, mut r, mut i) = (a, 0, 0);
    while i < 8 {
        if b >> i & 1 == 1 {
            r ^= a;
        }
        a = (a << 1) ^ if a >> 7 == 1 { 0x1b } else { 0 };
        i += 1;
    }
    r
}

/// `x^(2^k)`: linear over GF(2).
pub(crate) const fn frobenius(x: u8, k: u32) -> u8 {
    let (mut x, mut i) = (x, 0);
    while i < k {
        x = mul(x, x);
        i += 1;
    }
    x
}

const fn pow(x: u8, n: u32) -> u8 {
    let (mut r, mut i) = (1, 0);
    while i < n {
        r = mul(r, x);
        i += 1;
    }
    r
}

const GAMMA: u8 = pow(3, 17);

const DELTA: u8 = {
    let mut d = 1u8;
    while d ^ frobenius(d, 4) != 1 {
        d += 1;
    }
    d
};

/// The element of GF(2^4) ⊂ GF(2^8) with the coordinates in the low nibble of `n`.
pub(crate) const fn embed(n: u8) -> u8 {
    let (mut r, mut i) = (0, 0);
    while i < 4 {
        if n >> i & 1 == 1 {
            r ^= pow(GAMMA, i);
        }
        i += 1;
    }
    r
}

/// The coordinates of π(x).
pub(crate) const fn project(x: u8) -> u8 {
    let y = mul(DELTA, x);
    let y = y ^ frobenius(y, 4);
    let mut n = 0;
    while embed(n) != y {
        n += 1;
    }
    n
}

/// The linear map with these images of bits 0…7, in GFNI's layout: byte `7-i` is the row that makes
/// output bit `i`.
const fn matrix(images: [u8; 8]) -> u64 {
    let (mut m, mut i) = (0u64, 0);
    while i < 8 {
        let (mut row, mut j) = (0u64, 0);
        while j < 8 {
            row |= ((images[j] >> i & 1) as u64) << j;
            j += 1;
        }
        m |= row << (8 * (7 - i));
        i += 1;
    }
    m
}

macro_rules! linear {
    ($x:ident => $e:expr) => {{
        let (mut images, mut j) = ([0u8; 8], 0);
        while j < 8 {
            let $x: u8 = 1 << j;
            images[j] = $e;
            j += 1;
        }
        matrix(images)
    }};
}

/// `x^2`.
pub(crate) const SQUARE: u64 = linear!(x => frobenius(x, 1));
/// `x^4`.
pub(crate) const POW4: u64 = linear!(x => frobenius(x, 2));
/// `x^16`.
pub(crate) const POW16: u64 = linear!(x => frobenius(x, 4));
/// `2x`, as MixColumns needs it.
pub(crate) const DOUBLE: u64 = linear!(x => mul(2, x));
/// The S-box's affine map without its constant 0x63 (FIPS-197, 5.1.1).
pub(crate) const SBOX_LINEAR: u64 =
    linear!(x => x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4));

/// One half of a byte that carries two nibbles.
#[derive(Clone, Copy)]
pub(crate) struct Nibble {
    /// Byte in GF(2^8) → nibble of π(x), in this half.
    pub pack: u64,
    /// Nibble of this half → `v^(2^k)` in GF(2^8), for k = 0…3.
    pub power: [u64; 4],
}

/// Bits 0…3: the first half of a batch.
pub(crate) const LOW: Nibble = Nibble {
    pack: linear!(x => project(x)),
    power: [
        linear!(x => embed(x & 15)),
        linear!(x => frobenius(embed(x & 15), 1)),
        linear!(x => frobenius(embed(x & 15), 2)),
        linear!(x => frobenius(embed(x & 15), 3)),
    ],
};

/// Bits 4…7: the second half of a batch.
pub(crate) const HIGH: Nibble = Nibble {
    pack: linear!(x => project(x) << 4),
    power: [
        linear!(x => embed(x >> 4)),
        linear!(x => frobenius(embed(x >> 4), 1)),
        linear!(x => frobenius(embed(x >> 4), 2)),
        linear!(x => frobenius(embed(x >> 4), 3)),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(m: u64, x: u8) -> u8 {
        (0..8).fold(0, |r, i| r | ((m.to_le_bytes()[7 - i] & x).count_ones() as u8 & 1) << i)
    }

    #[test]
    fn the_subfield_is_a_field_of_sixteen_and_the_projection_fixes_it() {
        for n in 0..16 {
            let e = embed(n);
            assert_eq!(frobenius(e, 4), e);
            assert_eq!(project(e), n);
        }
        assert_eq!(pow(GAMMA, 15), 1);
    }

    #[test]
    fn the_tower_inverts() {
        for x in 0..=255u8 {
            let v = mul(x, frobenius(x, 4));
            assert_eq!(embed(project(v)), v, "a norm lies in the subfield");
            let inv_v = mul(mul(frobenius(v, 1), frobenius(v, 2)), frobenius(v, 3));
            let inv = mul(frobenius(x, 4), inv_v);
            assert_eq!(mul(x, inv), u8::from(x != 0));
        }
    }

    #[test]
    fn matrices_are_the_maps_they_are_named_after() {
        for x in 0..=255u8 {
            assert_eq!(apply(SQUARE, x), mul(x, x));
            assert_eq!(apply(POW16, x), frobenius(x, 4));
            assert_eq!(apply(DOUBLE, x), mul(2, x));
            assert_eq!(apply(HIGH.pack, x), project(x) << 4);
            assert_eq!(apply(LOW.power[3], x), frobenius(embed(x & 15), 3));
            assert_eq!(apply(HIGH.power[2], x), frobenius(embed(x >> 4), 2));
        }
        assert_eq!(apply(SBOX_LINEAR, 0xca) ^ 0x63, 0xed, "FIPS-197: S(0x53) = 0xed, 0x53^-1 = 0xca");
    }
}
