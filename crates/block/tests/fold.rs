//! Compares linear combinations with sums of naive products, for every form of carry-less
//! multiplication.

use hushwire_block::fold::{Fold, Folds, scale_add};
use hushwire_block::{Block, Gf128};
use hushwire_simd::clmul::Clmul;
use proptest::prelude::*;
use zeroize::Zeroize;

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

fn naive_inner(chi: &[Gf128], x: &[Block]) -> Gf128 {
    chi.iter().zip(x).map(|(c, x)| Gf128(naive_mul(c.0, x.to_u128()))).sum()
}

/// Coefficients, and `rows` rows with one block for each coefficient.
fn matrix(rows: usize) -> impl Strategy<Value = (Vec<Gf128>, Vec<Block>)> {
    (0..20usize).prop_flat_map(move |width| {
        let chi = prop::collection::vec(any::<u128>().prop_map(Gf128), width);
        (chi, prop::collection::vec(any::<u128>().prop_map(Block::from_u128), rows * width))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn folds_of_any_shape(
        (rows, (chi, x), (more_chi, more)) in (0..11usize).prop_flat_map(|r| (Just(r), matrix(r), matrix(r))),
    ) {
        for clmul in Clmul::all() {
            let mut folds = Folds::new(rows);
            let mut want = vec![Gf128::ZERO; rows];
            for (chi, x) in [(&chi, &x), (&more_chi, &more)] {
                folds.add(clmul, chi, x);
                for (r, want) in want.iter_mut().enumerate() {
                    *want += naive_inner(chi, &x[r * chi.len()..(r + 1) * chi.len()]);
                }
                prop_assert_eq!(&folds.finish(), &want);
            }
            folds.zeroize();
            prop_assert_eq!(folds.finish(), vec![Gf128::ZERO; rows]);
        }
    }

    #[test]
    fn one_row_and_inner_products((chi, x) in matrix(1), (more_chi, more) in matrix(1)) {
        for clmul in Clmul::all() {
            prop_assert_eq!(Gf128::inner_blocks(&chi, &x, clmul), naive_inner(&chi, &x));
            let mut fold = Fold::new();
            fold.add(clmul, &chi, &x);
            prop_assert_eq!(fold.finish(), naive_inner(&chi, &x));
            fold.add(clmul, &more_chi, &more);
            prop_assert_eq!(fold.finish(), naive_inner(&chi, &x) + naive_inner(&more_chi, &more));
        }
    }

    #[test]
    fn scaled_words(chi: u128, pairs in prop::collection::vec(any::<(u64, u128)>(), 0..20)) {
        for clmul in Clmul::all() {
            let e: Vec<u64> = pairs.iter().map(|p| p.0).collect();
            let mut q: Vec<Block> = pairs.iter().map(|p| Block::from_u128(p.1)).collect();
            scale_add(clmul, Gf128(chi), &e, &mut q);
            for (&(e, old), q) in pairs.iter().zip(q) {
                prop_assert_eq!(q.to_u128(), old ^ naive_mul(chi, u128::from(e)));
            }
        }
    }
}

/// The largest elements test the reduction of the top bits, and the forms are mixed.
#[test]
fn the_largest_elements_in_mixed_forms() {
    let (chi, x) = ([Gf128(u128::MAX); 9], [Block::ONES; 9]);
    let (mut fold, mut want) = (Fold::default(), Gf128::ZERO);
    for clmul in Clmul::all() {
        fold.add(clmul, &chi, &x);
        want += naive_inner(&chi, &x);
        assert_eq!(fold.finish(), want);
        let mut q = [Block::ONES; 9];
        scale_add(clmul, chi[0], &[u64::MAX; 9], &mut q);
        assert_eq!(q, [Block::from_u128(!naive_mul(u128::MAX, u128::from(u64::MAX))); 9]);
    }
}

#[test]
#[should_panic(expected = "a coefficient for every block")]
fn lengths_must_agree() {
    let _ = Gf128::inner_blocks(&[Gf128::ONE], &[], Clmul::best());
}

#[test]
#[should_panic(expected = "rows of")]
fn a_matrix_must_be_whole() {
    Folds::new(2).add(Clmul::best(), &[Gf128::ONE], &[Block::ZERO; 3]);
}
