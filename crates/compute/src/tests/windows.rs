//! Convolutions and pooling, compared with loops from their definitions.

use super::evaluator::run;
use crate::test_support::{Dice, tensor};
use crate::{Scalar, Tensor};
use proptest::prelude::*;

/// An element of a padded image; `None` outside.
fn at(x: &Tensor, [n, c, i, j]: [i64; 4]) -> Option<u128> {
    let l: Vec<i64> = x.lengths().iter().map(|l| *l as i64).collect();
    let inside = (0..l[2]).contains(&i) && (0..l[3]).contains(&j);
    inside.then(|| x.get((((n * l[1] + c) * l[2] + i) * l[3] + j) as usize))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn windows_are_their_definitions(
        seed: u64, n in 0..3usize, groups in 1..3usize, inner in 1..3usize, outer in 1..3usize,
        size in prop::array::uniform2(1..4usize), stride in prop::array::uniform2(1..4i64), pad in prop::array::uniform4(0..3i64),
        more in prop::array::uniform2(0..4usize),
    ) {
        let mut dice = Dice(seed);
        let rows = [size[0] + more[0], size[1] + more[1]];
        let lengths = [n, groups * inner, rows[0], rows[1]];
        let kernels = [groups * outer, inner, size[0], size[1]];
        let kind = Scalar::signed(16);
        let (x, k) = (tensor(&mut dice, kind, &lengths), tensor(&mut dice, kind, &kernels));
        let types = [format!("i16{lengths:?}"), format!("i16{kernels:?}")];
        let expr = format!("conv2d(x, y, stride={stride:?}, pad={pad:?}, groups={groups})");
        let got = run([&types[0], &types[1]], &expr, x.clone(), k.clone());
        let out = |d: usize| (rows[d] as i64 + pad[d] + pad[d + 2] - size[d] as i64) / stride[d] + 1;
        prop_assert_eq!(got.lengths(), &[n, kernels[0], out(0) as usize, out(1) as usize]);
        let mut place = 0;
        for image in 0..n as i64 {
            for o in 0..kernels[0] as i64 {
                for r in 0..out(0) {
                    for c in 0..out(1) {
                        let mut sum = 0u128;
                        for m in 0..inner as i64 {
                            for i in 0..size[0] as i64 {
                                for j in 0..size[1] as i64 {
                                    let channel = o / outer as i64 * inner as i64 + m;
                                    let here = at(&x, [image, channel, r * stride[0] + i - pad[0], c * stride[1] + j - pad[1]]);
                                    let factor = at(&k, [o, m, i, j]).unwrap();
                                    sum = sum.wrapping_add(here.unwrap_or(0).wrapping_mul(factor));
                                }
                            }
                        }
                        prop_assert_eq!(got.get(place), sum & 0xffff);
                        place += 1;
                    }
                }
            }
        }
        // Padding is smaller than the window.
        let pad: Vec<i64> = (0..4).map(|d| pad[d].min(size[d % 2] as i64 - 1)).collect();
        let out = |d: usize| (rows[d] as i64 + pad[d] + pad[d + 2] - size[d] as i64) / stride[d] + 1;
        for kind in ["sum", "mean", "min", "max"] {
            let expr = format!("pool_{kind}(x, {size:?}, stride={stride:?}, pad={pad:?})");
            let got = run([&types[0], &types[1]], &expr, x.clone(), k.clone());
            for place in 0..got.len() {
                let (across, down) = (out(1), out(0));
                let p = place as i64;
                let (c, r) = (p % across, p / across % down);
                let plane = p / across / down;
                let mut seen = vec![];
                for i in 0..size[0] as i64 {
                    for j in 0..size[1] as i64 {
                        let [n, m] = [plane / lengths[1] as i64, plane % lengths[1] as i64];
                        seen.extend(at(&x, [n, m, r * stride[0] + i - pad[0], c * stride[1] + j - pad[1]]));
                    }
                }
                let seen: Vec<i64> = seen.iter().map(|s| i64::from(*s as u16 as i16)).collect();
                let expected = match kind {
                    "sum" => seen.iter().sum(),
                    // The sum wraps before it is divided.
                    "mean" => i64::from(seen.iter().sum::<i64>() as i16) / seen.len() as i64,
                    "min" => *seen.iter().min().unwrap(),
                    _ => *seen.iter().max().unwrap(),
                };
                prop_assert_eq!(got.get(place), u128::from(expected as u16), "{}", expr);
            }
        }
    }
}
