//! Every operation against plain arithmetic.

use super::pair::{both, prg, random, shared};
use crate::{
    Sign,
    ring::{Holders, mask},
    tally,
};

const RINGS: [u32; 9] = [1, 2, 5, 8, 16, 32, 37, 41, 64];

/// Numbers of a ring, including its edges.
fn numbers(label: &str, count: usize, ring: u32) -> Vec<u64> {
    let mut all = random(&mut prg(label), count, ring);
    let top = 1u64 << (ring - 1);
    let edges = [0, 1, mask(ring), top, top.wrapping_sub(1) & mask(ring)];
    all.iter_mut().zip(edges).for_each(|(x, edge)| *x = edge);
    all
}

fn signed(x: u64, ring: u32) -> i128 {
    (i128::from(x) << (128 - ring)) >> (128 - ring)
}

fn sum(shares: &[Vec<u64>; 2], ring: u32) -> Vec<u64> {
    shares[0].iter().zip(&shares[1]).map(|(a, b)| a.wrapping_add(*b) & mask(ring)).collect()
}

fn xor(shares: &[Vec<u8>; 2]) -> Vec<bool> {
    shares[0].iter().zip(&shares[1]).map(|(a, b)| a ^ b == 1).collect()
}

const ROWS: usize = 37;

#[test]
fn signs_and_comparisons() {
    for ring in RINGS {
        let (x, mut y) = (numbers("x", ROWS, ring), numbers("y", ROWS, ring));
        y.reverse();
        y[7] = x[7];
        let (xs, ys) = (shared(&mut prg("a"), &x, ring), shared(&mut prg("b"), &y, ring));
        let cots = [8 * 64 * ROWS; 2];
        let (made, _) = both(cots, |mut kit, i| {
            let (x, y) = (xs[i].clone(), ys[i].clone());
            async move {
                let signs = kit.signs(&x, ring).await;
                let less = kit.less(&x, &y, ring, false).await;
                let less_signed = kit.less(&x, &y, ring, true).await;
                Ok([signs, less, less_signed, kit.equal(&x, &y, ring).await])
            }
        });
        let [signs, less, less_signed, equal] =
            [0, 1, 2, 3].map(|k| xor(&[0, 1].map(|i| made[i][k].to_vec())));
        for i in 0..ROWS {
            let (x, y) = (x[i], y[i]);
            assert_eq!(signs[i], signed(x, ring) < 0, "{ring}: {x}");
            assert_eq!(less[i], x < y, "{ring}: {x} < {y}");
            assert_eq!(less_signed[i], signed(x, ring) < signed(y, ring), "{ring}: {x} < {y}");
            assert_eq!(equal[i], x == y, "{ring}: {x} = {y}");
        }
    }
}

#[test]
fn bits_times_numbers() {
    for ring in RINGS {
        let (x, y) = (numbers("x", ROWS, ring), numbers("y", ROWS, ring));
        let bits: [Vec<u8>; 2] =
            ["c", "d"].map(|l| random(&mut prg(l), ROWS, 1).iter().map(|b| *b as u8).collect());
        let (xs, ys) = (shared(&mut prg("a"), &x, ring), shared(&mut prg("b"), &y, ring));
        let (made, _) = both([100 * ROWS; 2], |mut kit, i| {
            let (x, y, b) = (xs[i].clone(), ys[i].clone(), bits[i].clone());
            async move {
                let chosen = kit.choose_by(&b, &x, &y, ring).await?;
                let words = kit.words_of(&[&b], ring).await?;
                Ok([chosen, words, kit.relu(&x, ring).await?])
            }
        });
        let [chosen, words, relu] = [0, 1, 2].map(|k| sum(&[0, 1].map(|i| made[i][k].to_vec()), ring));
        for (i, b) in xor(&bits).into_iter().enumerate() {
            assert_eq!(chosen[i], if b { x[i] } else { y[i] });
            assert_eq!(words[i], u64::from(b));
            assert_eq!(relu[i], if signed(x[i], ring) < 0 { 0 } else { x[i] });
        }
    }
}

#[test]
fn numbers_of_bits() {
    for ring in RINGS {
        let x = numbers("x", ROWS, ring);
        let one = random(&mut prg("m"), ROWS, ring);
        let (made, _) = both([64 * ROWS; 2], |mut kit, i| {
            let own: Vec<u64> =
                if i == 0 { one.clone() } else { x.iter().zip(&one).map(|(x, m)| x ^ m).collect() };
            async move {
                let bits: Vec<Vec<u8>> =
                    (0..ring).map(|k| own.iter().map(|x| (x >> k & 1) as u8).collect()).collect();
                kit.words_of(&bits.iter().map(Vec::as_slice).collect::<Vec<_>>(), ring).await
            }
        });
        assert_eq!(sum(&made.map(|share| share.to_vec()), ring), x, "{ring}");
    }
}

#[test]
fn shifts_are_exact() {
    for ring in RINGS {
        for by in [0, 1, 3, 4, 12, ring.saturating_sub(2), ring - 1] {
            for sign in [Sign::None, Sign::Any, Sign::Positive, Sign::Short] {
                if by >= ring || sign == Sign::Short && by + 2 > ring {
                    continue;
                }
                let mut x = numbers("x", ROWS, ring);
                match sign {
                    Sign::Positive => x.iter_mut().for_each(|x| *x &= mask(ring) >> 1),
                    Sign::Short => x.iter_mut().for_each(|x| {
                        *x = (((signed(*x, ring) >> 1) as u64).wrapping_add(0)) & mask(ring);
                    }),
                    _ => {}
                }
                let xs = shared(&mut prg("a"), &x, ring);
                let (made, _) = both([100 * ROWS; 2], |mut kit, i| {
                    let x = xs[i].clone();
                    async move {
                        let exact = kit.truncate(&x, ring, by, sign).await?;
                        let below = if sign.is_known() {
                            kit.truncate_below(&x, ring, by, sign).await?
                        } else {
                            exact.clone()
                        };
                        Ok([exact, below])
                    }
                });
                let [exact, below] = [0, 1].map(|k| sum(&[0, 1].map(|i| made[i][k].to_vec()), ring));
                for i in 0..ROWS {
                    let shifted = match sign {
                        Sign::None | Sign::Positive => x[i] >> by,
                        _ => (signed(x[i], ring) >> by) as u64 & mask(ring),
                    };
                    assert_eq!(exact[i], shifted, "{ring} {by} {sign:?}: {:x}", x[i]);
                    let error = shifted.wrapping_sub(below[i]) & mask(ring);
                    assert!(error <= 1, "{ring} {by} {sign:?}: {error}");
                }
            }
        }
    }
}

#[test]
fn products_and_matrices() {
    for ring in RINGS {
        for (shape, holders) in [
            ([3, 4, 2], [[true, true], [true, true]]),
            ([2, 3, 5], [[true, true], [true, true]]),
            ([4, 2, 3], [[true, false], [true, true]]),
            ([1, 7, 4], [[true, true], [false, true]]),
            ([2, 2, 2], [[true, false], [false, true]]),
            ([2, 2, 2], [[true, false], [true, false]]),
            ([150, 1, 1], [[true, true], [true, true]]),
            // Long vectors: the shortest one, and one of several pieces with a short last piece.
            ([63, 2, 1], [[true, true], [true, true]]),
            ([64, 2, 1], [[true, true], [true, true]]),
            ([517, 1, 3], [[true, true], [true, true]]),
            ([1, 2, 1100], [[false, true], [true, false]]),
            ([0, 1, 1], [[true, true], [true, true]]),
        ] {
            let [r, k, c]: [usize; 3] = shape;
            let (a, b) = (numbers("x", r * k, ring), numbers("y", k * c, ring));
            let held = |x: &[u64], holders: Holders, label| match holders {
                [true, false] => [x.to_vec(), vec![0; x.len()]],
                [false, true] => [vec![0; x.len()], x.to_vec()],
                _ => shared(&mut prg(label), x, ring),
            };
            let (xs, ys) = (held(&a, holders[0], "a"), held(&b, holders[1], "b"));
            let (made, spent) = both([64 * 300; 2], |mut kit, i| {
                let (x, y) = (xs[i].clone(), ys[i].clone());
                async move {
                    let product = kit.matmul([&x, &y], shape, holders, ring).await?;
                    let n = x.len().min(y.len());
                    let each = kit.multiply(&x[..n], &y[..n], holders, ring).await?;
                    Ok([product, each])
                }
            });
            let n = a.len().min(b.len());
            let cost = tally::matmul(shape, holders, ring).then(tally::multiply(n, 1, holders, ring));
            assert_eq!(
                (spent.bytes, spent.rounds),
                (cost.bytes, cost.rounds),
                "{ring} {shape:?} {holders:?}"
            );
            let [product, each] = [0, 1].map(|k| sum(&[0, 1].map(|i| made[i][k].to_vec()), ring));
            let plain = crate::ops::local_matmul(&a, &b, shape, ring);
            assert_eq!(product, plain, "{ring} {shape:?} {holders:?}");
            let plain: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a.wrapping_mul(*b) & mask(ring)).collect();
            assert_eq!(each, plain);
        }
    }
}

#[test]
fn rows_by_a_factor_each() {
    for (ring, holders) in [(32, [true, false]), (7, [false, true]), (64, [true, true])] {
        let (rows, factors) = (numbers("x", 5 * 9, ring), numbers("y", 5, ring));
        let xs = shared(&mut prg("a"), &rows, ring);
        let fs = match holders {
            [true, false] => [factors.clone(), vec![0; 5]],
            [false, true] => [vec![0; 5], factors.clone()],
            _ => shared(&mut prg("b"), &factors, ring),
        };
        // One OT for each bit of a factor, not of a number.
        let cots = tally::multiply(5, 9, [[true; 2], holders], ring).cots;
        assert_eq!(cots.iter().sum::<usize>(), 5 * ring as usize * holders.iter().filter(|h| **h).count());
        let (made, _) = both(cots, |mut kit, i| {
            let (x, f) = (xs[i].clone(), fs[i].clone());
            async move { kit.multiply(&x, &f, [[true; 2], holders], ring).await }
        });
        let expected: Vec<u64> = (0..45).map(|i| rows[i].wrapping_mul(factors[i / 9]) & mask(ring)).collect();
        assert_eq!(sum(&made.map(|share| share.to_vec()), ring), expected, "{ring} {holders:?}");
    }
}

/// Numbers that are rectified and shifted at once, in the remaining ring, and converted back to the
/// whole ring.
#[test]
fn rectifiers_that_cut() {
    for ring in RINGS.into_iter().filter(|ring| *ring > 2) {
        for by in [1, 3, 4, 13, ring - 3, ring - 2] {
            if by < 1 || by > ring - 2 {
                continue;
            }
            let x = numbers("x", ROWS, ring);
            let xs = shared(&mut prg("a"), &x, ring);
            let (made, _) = both([100 * ROWS; 2], |mut kit, i| {
                let x = xs[i].clone();
                async move {
                    let small = kit.rectify(&x, ring, by).await?;
                    let whole = kit.extend(&small, ring - by, ring).await?;
                    Ok([small, whole])
                }
            });
            let [small, whole] =
                [(0, ring - by), (1, ring)].map(|(k, ring)| sum(&[0, 1].map(|i| made[i][k].to_vec()), ring));
            for (i, x) in x.iter().enumerate() {
                let expected = if signed(*x, ring) < 0 { 0 } else { x >> by };
                assert_eq!([small[i], whole[i]], [expected; 2], "{x} by {by} modulo 2^{ring}");
            }
        }
    }
}
