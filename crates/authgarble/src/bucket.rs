//! Buckets of leaky ANDs: their size, and the shifts that fill them.
//!
//! A corrupt party may learn the x of a leaky AND of an honest one, and is caught with probability
//! 1/2 each time. A bucket of B hides its x if one of its ANDs is not known. B lists of N ANDs are
//! fixed before a coin shifts all but the first by uniform numbers s_l, and bucket k has AND k of
//! the first and AND k + s_l mod N of list l. With t_l known in list l,
//!
//! ```text
//! Pr[not caught, and some bucket known whole]
//!     ≤ 2^−Σ t_l · Σ_{k known in list 0} Π_{l>0} t_l / N ≤ 2^−B / N^(B−1)      as t 2^−t ≤ 1/2
//! ```
//!
//! B is the least for which this is at most 2^−ρ. A uniform permutation of all ANDs (WRK17b,
//! Π_aAND) has about the same bound, but its order is no order of memory: to gather by it took a
//! fifth of the whole phase. Shifts for buckets are from ABF+17 (Araki et al., "Optimized
//! honest-majority MPC for malicious adversaries", S&P 2017), which has another bound for another
//! game.

use hushwire_prg::Prg;

/// SECURITY: ρ, in bits: what a corrupt party may gain in one batch.
const STATISTICAL: f64 = 40.0;
/// AGREEMENT: a batch makes at least this many triples; fewer would need larger buckets.
pub(crate) const LEAST: usize = 432;
/// AGREEMENT: a batch makes at most this many triples, so that memory is bounded.
pub(crate) const MOST: usize = 1 << 18;

/// ANDs in each of `n` buckets, `n` ≥ [`LEAST`].
pub(crate) fn size(n: usize) -> usize {
    assert!(n >= LEAST, "a batch has at least {LEAST} buckets");
    (2..).find(|b| bound(n, *b) <= -STATISTICAL).expect("larger buckets are safer")
}

/// log2 of the bound for `n` buckets of `b`.
fn bound(n: usize, b: usize) -> f64 {
    -(b as f64) - (b - 1) as f64 * (n as f64).log2()
}

/// Triples that a batch makes when `wanted` are.
pub(crate) fn batch(wanted: usize) -> usize {
    wanted.clamp(LEAST, MOST)
}

/// The number of leaky ANDs that are made for each triple, where `triples` triples are made in
/// batches.
#[must_use]
pub fn bucket_size(triples: u64) -> usize {
    size(batch(usize::try_from(triples).unwrap_or(MOST)))
}

/// The shift of each list of `n` ANDs but the first, from a coin.
pub(crate) fn shifts(coin: &mut Prg, n: usize, b: usize) -> Vec<usize> {
    (1..b).map(|_| below(coin, n as u32) as usize).collect()
}

/// Triples of each batch for as many as are wanted.
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

/// A list in the order of a shift, in two pieces.
pub(crate) fn shifted<T>(list: &[T], shift: usize) -> impl Iterator<Item = &T> {
    let (end, begin) = list.split_at(shift);
    begin.iter().chain(end)
}

/// A uniform number below `end`: the upper half of a product with 32 bits, where those whose lower
/// half is below 2^32 mod `end` are drawn again, so that every number has as many (Lemire, "Fast
/// random integer generation in an interval", 2019).
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

    /// The numbers from which on smaller buckets do.
    #[test]
    fn buckets_shrink_where_the_bound_says() {
        for (n, b) in [(432, 5), (4_095, 5), (4_096, 4), (370_000, 4), (371_000, 3), (1 << 26, 3)] {
            assert_eq!(size(n), b, "{n}");
        }
        assert!(bound(LEAST - 2, 5) > -STATISTICAL);
        assert_eq!([bucket_size(1), bucket_size(22_573), bucket_size(u64::MAX)], [5, 4, 4]);
    }

    /// The bound holds for every choice of known ANDs, by counting: all shifts of three lists of
    /// seven.
    #[test]
    fn known_buckets_are_as_rare_as_the_bound_says() {
        const N: usize = 7;
        let mut worst = 0.0f64;
        for known in 0u32..1 << (3 * N) {
            let lists = [0, 1, 2].map(|l| known >> (l * N) & ((1 << N) - 1));
            if known.count_ones() > 8 || lists.contains(&0) {
                continue;
            }
            let rotated = |list: u32, s: usize| (list >> s | list << (N - s)) & ((1 << N) - 1);
            let whole = |s: usize, t: usize| lists[0] & rotated(lists[1], s) & rotated(lists[2], t) != 0;
            let hits = (0..N * N).filter(|k| whole(k / N, k % N)).count();
            let gain = hits as f64 / (N * N) as f64 / f64::from(1u32 << known.count_ones());
            worst = worst.max(gain);
        }
        // Reached by one known AND in each list.
        assert!((worst.log2() - bound(N, 3)).abs() < 1e-9, "{worst}");
    }

    #[test]
    fn shifts_are_uniform_and_lists_keep_all() {
        let mut coin = Prg::new(Backend::best(), &Seed::from_bytes([5; 16]), "shifts");
        let mut seen = [0u32; 24];
        for _ in 0..8_000 {
            shifts(&mut coin, 24, 4).into_iter().for_each(|shift| seen[shift] += 1);
        }
        // 1000 each; the deviation is about 31.
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        for shift in 0..5 {
            let order: Vec<usize> = shifted(&[0, 1, 2, 3, 4], shift).copied().collect();
            assert!((0..5).all(|k| order[k] == (k + shift) % 5));
        }
    }
}
