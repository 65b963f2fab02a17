//! Sorting, merging and shuffling against the standard library.

use crate::common::{Rng, join, run_both, sorted, split};
use hushwire_circuit::sort::{Compare, SortShape};
use hushwire_circuit::{eval, named, shuffle, sort};
use proptest::prelude::*;

/// A network that sorts zeros and ones sorts everything (Knuth, 5.3.4, Theorem Z); 512 instances
/// run at once.
#[test]
fn zeros_and_ones_are_sorted_for_any_number_of_values() {
    for n in 1..=11 {
        let program = sort::sort("bits", n, SortShape { width: 1, key: 1, compare: Compare::Small });
        let inputs: Vec<u8> =
            (0..1u16 << n).flat_map(|v| v.to_le_bytes()[..n.div_ceil(8)].to_vec()).collect();
        let outputs = eval::eval_values(&program, &[inputs], 1 << n).unwrap();
        for (v, out) in outputs[0].chunks(n.div_ceil(8)).enumerate() {
            let ones = v.count_ones() as usize;
            let out = out.iter().rev().fold(0, |n, b| n << 8 | usize::from(*b));
            assert_eq!(out, (1 << n) - (1 << (n - ones)), "{v:b} of {n}");
        }
    }
}

#[test]
fn zeros_and_ones_are_merged_for_any_lengths() {
    for (left, right) in (0..9).flat_map(|l| (0..9).map(move |r| (l, r))).filter(|(l, r)| l + r > 0) {
        let program =
            sort::merge("bits", left, right, SortShape { width: 1, key: 1, compare: Compare::Fast });
        for (a, b) in (0..=left).flat_map(|a| (0..=right).map(move |b| (a, b))) {
            let ascending = |n: usize, ones: usize| (0..n).map(|i| i >= n - ones).collect::<Vec<bool>>();
            let out = run_both(&program, &[ascending(left, a), ascending(right, b)]);
            assert_eq!(out, ascending(left + right, a + b), "{a} of {left}, {b} of {right}");
        }
    }
}

#[test]
fn every_permutation_has_a_route() {
    fn each(done: &mut Vec<usize>, n: usize, hear: &mut dyn FnMut(&[usize])) {
        if done.len() == n {
            return hear(done);
        }
        for i in 0..n {
            if !done.contains(&i) {
                done.push(i);
                each(done, n, hear);
                done.pop();
            }
        }
    }
    for n in 1..=6usize {
        let program = shuffle::shuffle("small", n, 3);
        let values: Vec<u64> = (0..n as u64).collect();
        each(&mut vec![], n, &mut |permutation| {
            let bits = shuffle::route(permutation).to_vec();
            assert_eq!(bits.len(), shuffle::switches(n));
            let out = eval::eval_bits(&program, &[join(&values, 3), bits]).unwrap().remove(0);
            let expected: Vec<u64> = permutation.iter().map(|i| *i as u64).collect();
            assert_eq!(split(&out, 3), expected);
        });
    }
}

#[test]
fn what_is_no_permutation_has_no_route() {
    assert!(shuffle::route(&[]).is_empty() && shuffle::route(&[0]).is_empty());
    for wrong in [&[1][..], &[0, 0], &[0, 2], &[2, 0, 2, 1], &[0, usize::MAX]] {
        assert!(std::panic::catch_unwind(|| shuffle::route(wrong)).is_err(), "{wrong:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn values_are_sorted(seed in any::<u64>(), n in 1usize..40, width in 1usize..20) {
        let mut rng = Rng(seed);
        let values: Vec<u64> = (0..n).map(|_| rng.next() & ((1 << width) - 1)).collect();
        for name in ["sort", "sort-fast"] {
            let program = named::program(&format!("{name}:{n}x{width}")).unwrap();
            prop_assert_eq!(split(&run_both(&program, &[join(&values, width)]), width), sorted(values.clone()));
        }
    }

    #[test]
    fn what_is_no_key_moves_along(seed in any::<u64>(), n in 1usize..20) {
        let mut rng = Rng(seed);
        // All keys are different, so that the order is unique.
        let values: Vec<u64> = (0..n as u64).map(|i| ((rng.next() & 0xff) << 8) | ((i * 37 + seed % 256) % 256)).collect();
        let program = sort::sort("keys", n, SortShape { width: 16, key: 8, compare: Compare::Small });
        let mut expected = values.clone();
        expected.sort_by_key(|v| v & 0xff);
        prop_assert_eq!(split(&run_both(&program, &[join(&values, 16)]), 16), expected);
    }

    #[test]
    fn large_shuffles_have_routes(seed in any::<u64>(), n in 1usize..150) {
        let mut rng = Rng(seed);
        let mut permutation: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| permutation.swap(i, rng.below(i + 1)));
        let values: Vec<u64> = (0..n).map(|_| rng.next() & 0xffff).collect();
        let program = named::program(&format!("shuffle:{n}x16")).unwrap();
        let out = run_both(&program, &[join(&values, 16), shuffle::route(&permutation).to_vec()]);
        let expected: Vec<u64> = permutation.iter().map(|i| values[*i]).collect();
        prop_assert_eq!(split(&out, 16), expected);
    }
}

#[test]
fn sizes_are_as_documented() {
    let size = |name: &str| {
        let program = named::program(name).unwrap();
        (program.ands(), program.depth(), program.stages().len())
    };
    // t = 4: (16 − 4 + 4) 4 − 1 exchanges.
    assert_eq!(size("sort:16x32"), (63 * 64, 10 * 33, 10));
    assert_eq!(size("sort-fast:16x32"), (63 * (96 - 7 + 32), 10 * 7, 10));
    assert_eq!(size("merge:8x32"), (32 * 64, 4 * 33, 4));
    assert_eq!(size("shuffle:16x32"), (49 * 32, 7, 7));
    assert_eq!(shuffle::switches(16), 49);
}

/// A file of this network would have a billion gates; the stages take no memory until they run.
#[test]
fn large_networks_are_made_at_once() {
    let program = named::program("sort:65536x32").unwrap();
    assert_eq!(program.ands(), ((256 - 16 + 4) * (1 << 14) - 1) * 64);
    assert_eq!(program.stages().len(), 136);
    assert_eq!(program.stages().shape(135).1, 65535 / 2);
    let error = |name: &str| named::program(name).err().unwrap().to_string();
    assert_eq!(
        error("sort:65536x4096"),
        "'sort:65536x4096': N is 65536 and may be 1 to 4096; write it as in sort:16x32"
    );
    assert_eq!(error("sort:16"), "'sort:16': its numbers are NxW; write it as in sort:16x32");
    assert_eq!(error("aes128:4"), "'aes128:4': it takes no numbers; write it as in aes128");
}

/// Peers compare a digest that covers the stages.
#[test]
fn the_digest_of_a_sort_is_pinned() {
    let program = named::program("sort:16x32").unwrap();
    let digest: String = program.digest().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(digest, "ee6296221d00413cdc201669feeecea2183915316c0b3fcb1807d4d33aec0ab0");
}
