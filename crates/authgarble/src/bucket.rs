//! Buckets of leaky ANDs: their size, and the shifts that fill them.
//!
//! A corrupted party may learn the x of an honest party's leaky AND, and is caught with probability
//! 1/2 for each attempt. A bucket of B ANDs hides its x if at least one of them is unknown. B lists
//! of N ANDs are fixed before a coin shifts all lists but the first by uniform numbers s_l. Bucket
//! k then has AND k of the first list and AND k + s_l mod N of list l. If t_l ANDs of list l are
//! known, then
//!
//! ```text
//! Pr[not caught, and some bucket known whole]
//!     ≤ 2^−Σ t_l · Σ_{k known in list 0} Π_{l>0} t_l / N ≤ 2^−B / N^(B−1)      as t 2^−t ≤ 1/2
//! ```
//!
//! B is the smallest number for which this bound is at most 2^−ρ. A uniform permutation of all ANDs
//! (WRK17b, Π_aAND) has about the same bound, but it scatters memory accesses: gathering by it took
//! a fifth of the whole phase. Shifts for buckets are from ABF+17 (Araki et al., "Optimized
//! honest-majority MPC for malicious adversaries", S&P 2017), which has another bound for another
//! game.

use hushwire_prg::Prg;

/// SECURITY: ρ, in bits: a corrupted party gains an advantage of at most 2^−ρ in one batch.
const STATISTICAL: f64 = 40.0;
/// AGREEMENT: a batch makes at least this number of triples. Buckets of five ANDs suffice from 431
/// triples on.
pub(crate) const LEAST: usize = 432;
/// AGREEMENT: a batch makes at most this number of triples, so that memory is bounded.
pub(crate) const MOST: usize = 1 << 18;

/// The number of ANDs in each of `n` buckets, for `n` ≥ [`LEAST`].
pub(crate) fn size(n: usize) -> usize {
    assert!(n >= LEAST, "a batch has at least {LEAST} buckets");
    (2..).find(|b| bound(n, *b) <= -STATISTICAL).expect("larger buckets are safer")
}

/// The binary logarithm of the bound for `n` buckets of `b` ANDs.
fn bound(n: usize, b: usize) -> f64 {
    -(b as f64) - (b - 1) as f64 * (n as f64).log2()
}

/// The number of triples that a batch makes when `wanted` are needed.
pub(crate) fn batch(wanted: usize) -> usize {
    wanted.clamp(LEAST, MOST)
}

/// The number of leaky ANDs for each triple of the first batch, if `triples` triples are made. The
/// last batch may be smaller, and then has larger buckets.
#[must_use]
pub fn bucket_size(triples: u64) -> usize {
    size(batch(usize::try_from(triples).unwrap_or(MOST)))
}

/// The shifts of all but the first of `b` lists of `n` ANDs, each from 0 to `n` − 1, drawn from a
/// coin.
pub(crate) fn shifts(coin: &mut Prg, n: usize, b: usize) -> Vec<usize> {
    (1..b).map(|_| below(coin, n as u32) as usize).collect()
}

/// The number of triples in each batch if `wanted` are needed.
pub(crate) fn batches(wanted: usize) -> Vec<usize> {
    let mut sizes = vec![];
    let mut left = wanted;
    while left > 0 {
        let size = batch(left);
        sizes.push(size);
        left = left.saturating_sub(size);
    }
    sizes
}

/// A list from its element number `shift` on, then the elements before it.
pub(crate) fn shifted<T>(list: &[T], shift: usize) -> impl Iterator<Item = &T> {
    let (end, begin) = list.split_at(shift);
    begin.iter().chain(end)
}

/// A uniform number below `end`: the upper half of a product with a random 32-bit number. If the
/// lower half is below 2^32 mod `end`, the number is drawn again, so that every result has equally
/// many preimages (Lemire, "Fast random integer generation in an interval", 2019).
fn below(coin: &mut Prg, end: u32) -> u32 {
    loop {
        let product = (coin.next_u64() >> 32) * u64::from(end);
        if product as u32 >= end.wrapping_neg() % end {
            return (product >> 32) as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_prg::Seed;

    /// The numbers of triples from which smaller buckets suffice.
    #[test]
    fn buckets_shrink_where_the_bound_says() {
        for (n, b) in [(432, 5), (4_095, 5), (4_096, 4), (370_000, 4), (371_000, 3), (1 << 26, 3)] {
            assert_eq!(size(n), b, "{n}");
        }
        assert!(bound(431, 5) <= -STATISTICAL && bound(430, 5) > -STATISTICAL);
        assert_eq!([bucket_size(1), bucket_size(22_573), bucket_size(u64::MAX)], [5, 4, 4]);
    }

    /// The bound holds for every choice of known ANDs, as counting over all shifts of three lists
    /// of seven shows.
    #[test]
    fn known_buckets_are_as_rare_as_the_bound_says() {
        const N: usize = 7;
        let mut worst = 0.0f64;
        for known in 0u32..1 << (3 * N) {
            let lists = [0, 1, 2].map(|l| known >> (l * N) & ((1 << N) - 1));
            // More than eight guesses stay uncaught less often than the bound; without a known AND
            // in each list, no bucket is known.
            if known.count_ones() > 8 || lists.contains(&0) {
                continue;
            }
            let rotated = |list: u32, s: usize| (list >> s | list << (N - s)) & ((1 << N) - 1);
            let whole = |s: usize, t: usize| lists[0] & rotated(lists[1], s) & rotated(lists[2], t) != 0;
            let hits = (0..N * N).filter(|k| whole(k / N, k % N)).count();
            let gain = hits as f64 / (N * N) as f64 / f64::from(1u32 << known.count_ones());
            worst = worst.max(gain);
        }
        // The maximum is reached by one known AND in each list.
        assert!((worst.log2() - bound(N, 3)).abs() < 1e-9, "{worst}");
    }

    #[test]
    fn shifts_are_uniform_and_lists_keep_all() {
        let mut coin = Prg::new(Backend::best(), &Seed::from_bytes([5; 16]), "shifts");
        let mut seen = [0u32; 24];
        for _ in 0..8_000 {
            shifts(&mut coin, 24, 4).into_iter().for_each(|shift| seen[shift] += 1);
        }
        // The expectation is 1000 each; the standard deviation is about 31.
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        for shift in 0..5 {
            let order: Vec<usize> = shifted(&[0, 1, 2, 3, 4], shift).copied().collect();
            assert!((0..5).all(|k| order[k] == (k + shift) % 5));
        }
    }
}
