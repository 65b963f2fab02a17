//! Intersections against the standard library, and the papers' numbers of ANDs.

use crate::common::{self, Rng, join, number, run_both, sorted, split};
use hushwire_circuit::phasing::{self, PhasingTables};
use hushwire_circuit::sort::{Compare, SortShape};
use hushwire_circuit::{Bit, Builder, Program, count, named, psi, shuffle};
use proptest::prelude::*;

/// `n` of the values 1 to `of`, ascending.
fn set(rng: &mut Rng, n: usize, of: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (1..=of as u64).collect();
    (0..of).for_each(|i| all.swap(i, rng.below(of)));
    sorted(all[..n].to_vec())
}

fn permutation(rng: &mut Rng, n: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    (1..n).rev().for_each(|i| all.swap(i, rng.below(i + 1)));
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Sets from few values, so that they intersect; some are empty, some have the highest value.
    #[test]
    fn sorted_sets_meet(seed in any::<u64>(), left in 0usize..20, right in 0usize..20, fast in any::<bool>()) {
        let mut rng = Rng(seed);
        let (x, y) = (set(&mut rng, left, 31), set(&mut rng, right, 31));
        let common: Vec<u64> = x.iter().copied().filter(|v| y.contains(v)).collect();
        let shape = SortShape { width: 5, key: 5, compare: if fast { Compare::Fast } else { Compare::Small } };
        let size = psi::size("size", left, right, shape);
        let found = run_both(&size, &[join(&x, 5), join(&y, 5)]);
        prop_assert_eq!(number(&found), common.len() as u128);
        let controls = shuffle::route(&permutation(&mut rng, psi::kept(left, right))).to_vec();
        let items = psi::intersect("items", left, right, shape);
        let found = split(&run_both(&items, &[join(&x, 5), join(&y, 5), controls]), 5);
        prop_assert_eq!(sorted(found.into_iter().filter(|v| *v != 0).collect()), common);
    }

    /// The control bits alone determine an item's place in the output.
    #[test]
    fn items_come_out_where_the_permutation_says(seed in any::<u64>(), n in 1usize..12) {
        let mut rng = Rng(seed);
        let x = set(&mut rng, n, 40);
        let program = psi::intersect("same", n, n, SortShape { width: 6, key: 6, compare: Compare::Small });
        let permutation = permutation(&mut rng, n);
        let found = run_both(&program, &[join(&x, 6), join(&x, 6), shuffle::route(&permutation).to_vec()]);
        let expected: Vec<u64> = permutation.iter().map(|i| x[*i]).collect();
        prop_assert_eq!(split(&found, 6), expected);
    }

    /// Tables with any content: a bin's flag is whether A's item is among B's.
    #[test]
    fn tables_are_compared(
        seed in any::<u64>(), bins in 1usize..9, bin in 0usize..10, stash in 0usize..3, theirs in 0usize..11,
    ) {
        let mut rng = Rng(seed);
        let width = 6;
        let tables = PhasingTables { width: 5, item: width, bins, bin, stash, theirs };
        let own: Vec<u64> = (0..bins).map(|_| rng.below(12) as u64).collect();
        let simple: Vec<Vec<u64>> = (0..bins).map(|_| set(&mut rng, bin, 12)).collect();
        let values = set(&mut rng, theirs, 31);
        let left: Vec<u64> = (0..stash).map(|_| rng.below(32) as u64).collect();
        let mut expected: Vec<bool> = own.iter().zip(&simple).map(|(item, bin)| bin.contains(item)).collect();
        expected.extend(left.iter().map(|v| values.contains(v)));
        let theirs = if stash == 0 { vec![] } else { join(&values, 5) };
        let mut inputs = vec![join(&own, width), join(&left, 5), join(&simple.concat(), width), theirs];
        prop_assert_eq!(&run_both(&phasing::flags("flags", &tables), &inputs), &expected);
        let ones = expected.iter().filter(|f| **f).count() as u64;
        prop_assert_eq!(number(&run_both(&phasing::size("size", &tables), &inputs)) as u64, ones);
        let share = rng.below(8) as u64;
        inputs.push(join(&[share], 3));
        let sum = number(&run_both(&phasing::shared_size("shared", &tables, 3), &inputs)) as u64;
        prop_assert_eq!(sum, (ones + share) % 8);
        inputs.pop();
        let places: Vec<u64> = (0..tables.places()).map(|_| rng.below(32) as u64).collect();
        let permutation = permutation(&mut rng, tables.places());
        inputs.extend([join(&places, 5), shuffle::route(&permutation).to_vec()]);
        let found = split(&run_both(&phasing::items("items", &tables), &inputs), 5);
        let expected: Vec<u64> = permutation.iter().map(|i| if expected[*i] { places[*i] } else { 0 }).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn ones_are_counted(seed in any::<u64>(), n in 0usize..300) {
        let mut rng = Rng(seed);
        let bits = rng.bits(n);
        let mut b = Builder::new();
        let inputs = b.input(n);
        let total = count(&mut b, &inputs);
        let circuit = b.finish(&[total]);
        let least = n as u64 - u64::from(n.count_ones());
        prop_assert_eq!(Program::flat("count", &circuit).ands(), least);
        let out = common::run(&circuit, std::slice::from_ref(&bits)).remove(0);
        prop_assert_eq!(number(&out), bits.iter().filter(|b| **b).count() as u128);
    }
}

#[test]
fn every_count_up_to_its_largest_is_right() {
    for n in [1usize, 2, 3, 4, 7, 8, 31, 32, 63] {
        let mut b = Builder::new();
        let inputs = b.input(n);
        let total = count(&mut b, &inputs);
        let circuit = b.finish(&[total]);
        for ones in 0..=n {
            let bits = (0..n).map(|i| (i * 5 + 3) % n < ones || n == ones).collect::<Vec<bool>>();
            let set = bits.iter().filter(|b| **b).count() as u64;
            assert_eq!(number(&common::run(&circuit, &[bits])[0]) as u64, set, "{ones} of {n}");
        }
    }
    let mut b = Builder::new();
    assert_eq!(count(&mut b, &[Bit::ONE]), [Bit::ONE]);
}

/// Table 8 of the VASA paper: 1024 elements of 32 bits.
#[test]
fn circuits_have_the_sizes_of_the_papers() {
    let ands = |name: &str| named::program(name).unwrap().ands();
    let (n, width) = (1024, 32);
    let merge = ands("merge:1024x32");
    assert_eq!(merge, 720_896);
    let shuffle = ands("shuffle:1024x32");
    assert_eq!(shuffle, 9217 * 32);
    let scs = ands("psi-scs:1024x32");
    // The paper's 97,248 has one more OR for every triple.
    assert_eq!(scs - merge - shuffle, 97_248 - (n - 1));
    assert_eq!(scs, 1_113_088 - (n - 1));
    let counted = ands("psi-scs-size:1024x32") - merge - (n * 2 - 1) * (width - 1);
    assert!((n - 1..n * 21 / 20).contains(&counted), "a count takes little more than it must: {counted}");
    let tables = PhasingTables::new(1024, 1024, 32, 1);
    assert_eq!((tables.bins, tables.bin, tables.item), (1229, 23, 24));
    assert_eq!(ands("psi-phasing:1024x1024x32x1"), 681_885);
    assert_eq!(tables.ands(), 681_885);
    assert_eq!(tables.inputs(), [1229 * 24, 32, 1229 * 24 * 23, 32_768]);
}

/// P(Bin(balls, 1/bins) > places) in full, by logarithms.
fn overflow(balls: usize, bins: usize, places: usize) -> f64 {
    let (n, p) = (balls as f64, 1.0 / bins as f64);
    let mut log = n * (-p).ln_1p();
    let mut tail = 0.0;
    for k in 0..balls {
        log += ((n - k as f64) / (k + 1) as f64 * p / (1.0 - p)).ln();
        if k + 1 > places {
            tail += log.exp();
        }
    }
    tail * bins as f64
}

#[test]
fn bins_are_the_smallest_that_hold() {
    let limit = (-40f64).exp2();
    for (balls, bins) in
        [(3, 2), (30, 2), (3, 1229), (3072, 1229), (300, 120_000), (60_000, 24_000), (100_000, 2), (48, 20)]
    {
        let places = phasing::bin_size(balls, bins);
        assert!(overflow(balls, bins, places) <= limit, "{balls} in {bins}: {places}");
        // The geometric bound on the tail costs at most one place.
        assert!(places < 2 || overflow(balls, bins, places - 2) > limit, "{balls} in {bins}: {places}");
        assert!(places <= balls);
    }
    assert_eq!(phasing::bin_size(0, 5), 0);
    assert_eq!(phasing::bin_size(3072, 1229), 23);
}

#[test]
fn numbers_that_make_no_tables_are_refused() {
    let error = |name: &str| named::program(name).err().unwrap().to_string();
    assert_eq!(
        error("psi-phasing:1024x32"),
        "'psi-phasing:1024x32': its numbers are NxMxWxS; write it as in psi-phasing:16x16x32x1"
    );
    assert!(error("psi-phasing:1024x1024x9x1").contains("leave nothing to compare"));
    assert!(error("psi-phasing:16x16x32x65").contains("S is 65"));
    assert!(error("psi-phasing:16x0x32x1").contains("M is 0"));
}
