//! Secret and error polynomials from a stream. No branch or index depends on the samples.

use hushwire_block::Wiped;
use hushwire_prg::Prg;

/// The number of bits on either side of an error's 0: a centred binomial distribution of 42 bits,
/// σ² = 10.5, σ = 3.24.
pub(crate) const HALF: u32 = 21;

/// The standard deviation of errors.
pub(crate) const SIGMA: f64 = 3.240_370_349_203_93;

/// `count` words of a stream.
pub(crate) fn words(prg: &mut Prg, count: usize) -> Wiped<Vec<u64>> {
    let mut bytes = Wiped::new(vec![0; 8 * count]);
    prg.fill(&mut bytes);
    Wiped::new(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Coefficients −1, 0 and 1 with equal probability: of two bits, one of four patterns is rejected.
/// The number of rejections is independent of the coefficients.
pub(crate) fn ternary(prg: &mut Prg, n: usize) -> Vec<i64> {
    let mut out = Vec::with_capacity(n + 32);
    while out.len() < n {
        for word in words(prg, (n - out.len()).div_ceil(24)).iter() {
            for k in 0..32 {
                let two = (word >> (2 * k) & 3) as i64;
                if two < 3 && out.len() < n {
                    out.push(two - 1);
                }
            }
        }
    }
    out
}

/// Error coefficients.
pub(crate) fn errors(prg: &mut Prg, n: usize) -> Vec<i64> {
    let most = (1u64 << HALF) - 1;
    let one =
        |word: &u64| i64::from((word & most).count_ones()) - i64::from((word >> 32 & most).count_ones());
    words(prg, n).iter().map(one).collect()
}

/// Uniform residues below p: words of 50 bits, where those of at least p (a share of about 2^-31)
/// are rejected. These residues are public.
pub(crate) fn uniform(prg: &mut Prg, n: usize, p: u64) -> Vec<u64> {
    let mut out = Vec::with_capacity(n);
    while out.len() < n {
        let mut bytes = vec![0; 8 * (n - out.len())];
        prg.fill(&mut bytes);
        let residues = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word) >> 14);
        if residues.clone().fold(0, u64::max) < p {
            out.extend(residues);
        } else {
            out.extend(residues.filter(|x| *x < p));
        }
    }
    out
}

/// Uniform numbers in [0, 2^(bits + 1)): each is its flooding plus 2^bits.
pub(crate) fn floods(prg: &mut Prg, bits: u32, count: usize) -> Vec<u128> {
    let halves = words(prg, 2 * count);
    let one = |[high, low]: &[u64; 2]| (u128::from(*high) << 64 | u128::from(*low)) >> (127 - bits);
    halves.as_chunks().0.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_prg::Seed;

    fn prg() -> Prg {
        Prg::new(Backend::best(), &Seed::from_bytes([7; 16]), "samples")
    }

    /// χ² of counts against their expected values.
    fn chi_square(found: &[usize], expected: &[f64]) -> f64 {
        found.iter().zip(expected).map(|(f, e)| (*f as f64 - e).powi(2) / e).sum()
    }

    #[test]
    fn distributions() {
        let n = 1 << 17;
        let mut counts = [0; 3];
        ternary(&mut prg(), n).iter().for_each(|x| counts[(x + 1) as usize] += 1);
        // Two degrees of freedom: above 20 for one in 22,000 seeds, and this seed is fixed.
        assert!(chi_square(&counts, &[n as f64 / 3.0; 3]) < 20.0);
        let errors = errors(&mut prg(), n);
        let squares: i64 = errors.iter().map(|x| x * x).sum();
        assert!((squares as f64 / n as f64 - SIGMA * SIGMA).abs() < 0.3);
        assert!(errors.iter().all(|x| x.abs() <= i64::from(HALF)));
        // Binomial coefficients of 42 from −8 to 8.
        let binomial =
            |k: i64| (1..=k).fold(1.0, |c, i| c * (43 - i) as f64 / i as f64) / 2f64.powi(42) * n as f64;
        let (mut found, mut expected) = (vec![], vec![]);
        for x in -8..=8 {
            found.push(errors.iter().filter(|e| **e == x).count());
            expected.push(binomial(x + 21));
        }
        assert!(chi_square(&found, &expected) < 50.0, "16 degrees of freedom");
        let (mut octants, mut prg) = ([0; 8], prg());
        for x in floods(&mut prg, 100, n) {
            assert!(x < 1 << 101);
            octants[(x >> 98) as usize] += 1;
        }
        assert!(chi_square(&octants, &[n as f64 / 8.0; 8]) < 40.0, "7 degrees of freedom");
    }
}
