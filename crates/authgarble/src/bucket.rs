//! Buckets of leaky ANDs: their size, and the permutation that fills them.
//!
//! A corrupt party may learn the x of a leaky AND of an honest one, and is caught with probability 1/2 each time. A bucket
//! of B hides its x if one of its ANDs is not known. With t known among B N, permuted uniformly after they are fixed,
//!
//! ```text
//! Pr[not caught, and some bucket known whole] ≤ N · C(t, B) · 2^−t / C(N B, B)     (WRK17b, Π_aAND)
//! ```
//!
//! B is the least for which this is at most 2^−ρ for every t.

use hushwire_prg::Prg;

/// SECURITY: ρ, in bits: what a corrupt party may gain in one batch.
pub(crate) const STATISTICAL: f64 = 40.0;
/// AGREEMENT: a batch makes at least this many triples; fewer would need larger buckets.
pub(crate) const LEAST: usize = 320;
/// AGREEMENT: a batch makes at most this many triples, so that memory is bounded.
pub(crate) const MOST: usize = 1 << 18;

/// ANDs in each of `n` buckets, `n` ≥ [`LEAST`].
pub(crate) fn size(n: usize) -> usize {
    assert!(n >= LEAST, "a batch has at least {LEAST} buckets");
    (2..).find(|b| bound(n, *b) <= -STATISTICAL).expect("larger buckets are safer")
}

/// log2 of the bound for `n` buckets of `b`.
fn bound(n: usize, b: usize) -> f64 {
    let choose = |from: usize| (0..b).map(|i| ((from - i) as f64 / (i + 1) as f64).log2()).sum::<f64>();
    // C(t, b) 2^−t grows while t + 1 < 2 b.
    let most = (b..=2 * b).map(|t| choose(t) - t as f64).fold(f64::MIN, f64::max);
    (n as f64).log2() + most - choose(n * b)
}

/// Triples that a batch makes when `wanted` are.
pub(crate) fn batch(wanted: usize) -> usize {
    wanted.clamp(LEAST, MOST)
}

/// A uniform permutation of `0..len` from a coin (Fisher–Yates, without a modulus' bias).
pub(crate) fn permutation(coin: &mut Prg, len: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..len as u32).collect();
    for i in (1..len).rev() {
        order.swap(i, below(coin, i as u64 + 1) as usize);
    }
    order
}

/// A uniform number below `end`.
fn below(coin: &mut Prg, end: u64) -> u64 {
    // The largest multiple of `end` that 64 bits hold.
    let last = u64::MAX - (u64::MAX % end + 1) % end;
    loop {
        let word = coin.next_u64();
        if word <= last {
            return word % end;
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
        for (n, b) in [(320, 5), (3_000, 5), (3_100, 4), (270_000, 4), (280_000, 3), (1 << 26, 3)] {
            assert_eq!(size(n), b, "{n}");
        }
        assert!(bound(LEAST - 20, 5) > -STATISTICAL);
        // The largest term is where it is sought.
        let term =
            |t: usize| (0..4).map(|i| ((t - i) as f64 / (i + 1) as f64).log2()).sum::<f64>() - t as f64;
        assert!((4..200).all(|t| term(t) <= term(7) + 1e-9));
    }

    /// Every order of four comes about as often as any other, and no number is lost.
    #[test]
    fn permutations_are_uniform() {
        let mut coin = Prg::new(Backend::best(), &Seed::from_bytes([5; 16]), "permutations");
        let mut seen = std::collections::HashMap::new();
        for _ in 0..24_000 {
            *seen.entry(permutation(&mut coin, 4)).or_insert(0u32) += 1;
        }
        assert_eq!(seen.len(), 24);
        // 1000 each; the deviation is about 31.
        assert!(seen.values().all(|n| (800..1200).contains(n)), "{seen:?}");
        let mut long = permutation(&mut coin, 1000);
        assert!(long.iter().enumerate().any(|(i, x)| *x != i as u32));
        long.sort_unstable();
        assert!(long.iter().enumerate().all(|(i, x)| *x == i as u32));
    }
}
