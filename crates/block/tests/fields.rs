//! Field axioms, known values, and both forms of carry-less multiplication.

use hushwire_block::{Block, Gf128, as_bytes, as_bytes_mut};
use hushwire_simd::clmul::Clmul;
use proptest::prelude::*;

/// Shift-and-add multiplication, with the reduction written as a division step.
fn naive_mul(a: u128, b: u128) -> u128 {
    let (mut a, mut r) = (a, 0);
    for i in 0..128 {
        if b >> i & 1 == 1 {
            r ^= a;
        }
        a = a << 1 ^ if a >> 127 == 1 { 0x87 } else { 0 };
    }
    r
}

fn forms() -> Vec<Clmul> {
    Clmul::all()
}

#[test]
fn blocks_count_bits_from_byte_0() {
    let b = Block::from_u128(1 << 9 | 1);
    assert_eq!(b.0[..2], [1, 2]);
    assert!(b.bit(0) && b.bit(9) && !b.bit(8) && b.lsb());
    assert_eq!(b.and_bit(true), b);
    assert_eq!(b.and_bit(false), Block::ZERO);
    assert_eq!(b ^ Block::ONES ^ b, Block::ONES);
    let mut two = [b, Block::ZERO];
    as_bytes_mut(&mut two)[16] = 7;
    assert_eq!(two[1].to_u128(), 7);
    assert_eq!(as_bytes(&two).len(), 32);
    // hi = 2, lo = 1: σ gives (hi ⊕ lo)‖hi.
    assert_eq!(Block::from_u128(2 << 64 | 1).sigma(), Block::from_u128(3 << 64 | 2));
}

/// GCM's test case 2 (McGrew, Viega): H = AES_0(0), X1 = C1 · H in reflected bits; our result
/// agrees after reflection.
#[test]
fn gf128_agrees_with_ghash_after_reflection() {
    let reflect = |hex: u128| Gf128(hex.reverse_bits());
    let h = reflect(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e);
    let c = reflect(0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78);
    let x = reflect(0x5e2e_c746_9170_6288_2c85_b068_5353_deb7);
    for clmul in forms() {
        assert_eq!(c.mul(h, clmul), x);
    }
}

#[test]
fn gf128_at_the_edges() {
    for clmul in forms() {
        assert_eq!(Gf128(1 << 127).mul(Gf128::X, clmul), Gf128(0x87));
        assert_eq!(Gf128(1 << 127).mul_x(), Gf128(0x87));
        assert_eq!(Gf128(u128::MAX).mul(Gf128(u128::MAX), clmul), Gf128(naive_mul(u128::MAX, u128::MAX)));
        assert_eq!(Gf128::ZERO.inverse(clmul), Gf128::ZERO);
        assert_eq!(Gf128::X.pow(128, clmul), Gf128(0x87));
        assert_eq!(Gf128::X.pow(u128::MAX, clmul), Gf128::ONE);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn gf128_is_a_field(a: u128, b: u128, c: u128) {
        let (x, y, z) = (Gf128(a), Gf128(b), Gf128(c));
        for k in forms() {
            prop_assert_eq!(x.mul(y, k), Gf128(naive_mul(a, b)));
            prop_assert_eq!(x.mul(y, k), y.mul(x, k));
            prop_assert_eq!(x.mul(y, k).mul(z, k), x.mul(y.mul(z, k), k));
            prop_assert_eq!(x.mul(y + z, k), x.mul(y, k) + x.mul(z, k));
            prop_assert_eq!(x.mul(Gf128::ONE, k), x);
            prop_assert_eq!(x.square(k), x.mul(x, k));
            prop_assert_eq!(x.mul_x(), x.mul(Gf128::X, k));
            if a != 0 {
                prop_assert_eq!(x.mul(x.inverse(k), k), Gf128::ONE);
            }
        }
    }

    #[test]
    fn gf128_inner_products(pairs in prop::collection::vec(any::<(u128, u128)>(), 0..150)) {
        let (a, b): (Vec<Gf128>, Vec<Gf128>) = pairs.iter().map(|&(a, b)| (Gf128(a), Gf128(b))).unzip();
        let want: Gf128 = pairs.iter().map(|&(a, b)| Gf128(naive_mul(a, b))).sum();
        for k in forms() {
            prop_assert_eq!(Gf128::inner(&a, &b, k), want);
        }
    }
}
