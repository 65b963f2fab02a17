//! Polynomials modulo x^N + 1 and primes just below 2^50, and their number-theoretic transforms.
//!
//! **Layout.** A stage splits each factor x^2t − r² into x^t − r and x^t + r. In stage s, the
//! elements of factor b are 2^s apart, from place b on (M. Pease, "An adaptation of the fast
//! Fourier transform for parallel processing", J. ACM 15, 1968): every stage reads halves and
//! writes pairs, so that all stages are the same loop over whole vectors. Transformed values have
//! the order of the last factors; no other order is needed.
//!
//! **Arithmetic.** With wide vectors, residues are integers in doubles: h = a·w rounded, q = h/p
//! rounded, and (h − q·p) + (a·w − h) is a·w − q·p, both terms exact by fused multiplication (J.
//! van der Hoeven, G. Lecerf, G. Quintin, "Modular SIMD arithmetic in Mathemagix", ACM TOMS 43,
//! 2016, section 3). Without wide vectors, products have 128 bits. Either way the results are the
//! same residues below p.

use hushwire_aes::Backend;
use hushwire_simd::{Kernel, Lanes};

/// The greatest primes p = 1 mod 2^14 below 2^50, each with an element of order 2^14.
const PRIMES: [(u64, u64); 3] = [
    (1_125_899_906_826_241, 971_709_613_313_032),
    (1_125_899_906_629_633, 1_096_684_567_043_902),
    (1_125_899_905_744_897, 340_368_873_960_073),
];

/// The number of bits of a residue.
pub(crate) const BITS: u32 = 50;

/// The number of available primes.
pub(crate) const MOST: usize = PRIMES.len();

/// The smallest number of twiddles of a stage, which are repeated to whole vectors.
const LEAST: usize = 16;

/// A prime, and the factors of x^N + 1 modulo it, stage by stage.
#[derive(Clone)]
pub(crate) struct Prime {
    pub(crate) p: u64,
    /// For each stage, r of each factor. The first stages belong to shorter polynomials, in a power
    /// of x.
    forward: Vec<Roots>,
    inverse: Vec<Roots>,
    /// The inverse of N.
    scale: u64,
    /// The roots of x^N + 1, in the order of transformed values.
    pub(crate) points: Vec<u64>,
}

/// The roots of a stage, as numbers and in doubles.
#[derive(Clone)]
struct Roots {
    whole: Vec<u64>,
    doubles: Vec<f64>,
}

impl Roots {
    fn new(whole: Vec<u64>) -> Self {
        let doubles = whole.iter().map(|r| *r as f64).collect();
        Roots { whole, doubles }
    }
}

/// x^e modulo p; e and p are public.
fn power(mut x: u64, mut e: u64, p: u64) -> u64 {
    let mut out = 1;
    while e > 0 {
        if e & 1 == 1 {
            out = times(out, x, p);
        }
        x = times(x, x, p);
        e >>= 1;
    }
    out
}

/// The inverse of x modulo the prime p: x^(p − 2).
pub(crate) fn inverse_of(x: u64, p: u64) -> u64 {
    power(x, p - 2, p)
}

/// The product of residues. Modulo p, 2^50 is c = 2^50 − p < 2^21: twice, the bits above 2^50 are
/// multiplied by c and added.
pub(crate) fn times(a: u64, b: u64, p: u64) -> u64 {
    let (c, low) = (u128::from((1 << BITS) - p), (1u128 << BITS) - 1);
    let fold = |x: u128| (x >> BITS) * c + (x & low);
    reduced(fold(fold(u128::from(a) * u128::from(b))) as u64, p)
}

impl Prime {
    /// Prime `k`, for polynomials of `n` coefficients, 2^4 to 2^13.
    pub(crate) fn new(k: usize, n: usize) -> Prime {
        let (p, root) = PRIMES[k];
        // The powers of an element of order 2n.
        let psi = power(root, (1 << 13) / n as u64, p);
        let powers: Vec<u64> =
            std::iter::successors(Some(1), |x| Some(times(*x, psi, p))).take(2 * n).collect();
        // The exponents of the roots: x^n + 1 = x^n − ψ^n.
        let mut exponents = vec![n as u64];
        let (mut forward, mut inverse) = (vec![], vec![]);
        while exponents.len() < n {
            let roots: Vec<u64> = exponents.iter().map(|e| e / 2).collect();
            let whole = |of: &dyn Fn(u64) -> u64| -> Vec<u64> {
                let values: Vec<u64> = roots.iter().map(|e| powers[of(*e) as usize]).collect();
                values.iter().copied().cycle().take(values.len().max(LEAST)).collect()
            };
            forward.push(Roots::new(whole(&|e| e)));
            inverse.push(Roots::new(whole(&|e| 2 * n as u64 - e)));
            exponents = roots.iter().flat_map(|e| [*e, e + n as u64]).collect();
        }
        let points = exponents.iter().map(|e| powers[*e as usize]).collect();
        Prime { p, forward, inverse, scale: inverse_of(n as u64, p), points }
    }

    /// The values of a polynomial at the roots of x^n + 1. If n is less than N, the value at place
    /// b is the value of the polynomial in x^(N / n) at the N / n places from b N / n on.
    pub(crate) fn forward(&self, backend: Backend, a: &mut [u64]) {
        backend.run(Transform { prime: self, a, inverse: false });
    }

    /// The inverse transform.
    pub(crate) fn inverse(&self, backend: Backend, a: &mut [u64]) {
        backend.run(Transform { prime: self, a, inverse: true });
    }

    /// `sum[i] += a[i] b[i]`.
    pub(crate) fn add_products(&self, backend: Backend, sum: &mut [u64], a: &[u64], b: &[u64]) {
        backend.run(Products { p: self.p, sum, a, b });
    }

    /// `of[i] = (of[i] − shift[i]) inverse`. `shift` holds residues of a neighbouring prime `q`,
    /// centred: the upper half counts as negative.
    pub(crate) fn lessen(&self, backend: Backend, of: &mut [u64], shift: &[u64], q: u64, inverse: u64) {
        backend.run(Lessen { p: self.p, of, shift, q, inverse });
    }

    /// The residue of x modulo p, without a branch.
    pub(crate) fn residue(&self, x: u128) -> u64 {
        let (c, low) = (u128::from((1 << BITS) - self.p), (1u128 << BITS) - 1);
        let fold = |x: u128| (x >> BITS) * c + (x & low);
        // From 128 bits to 100, to 71, to below 2^50 + 2^42, twice p.
        reduced(fold(fold(fold(x))) as u64, self.p)
    }

    pub(crate) fn plus(&self, a: u64, b: u64) -> u64 {
        reduced(a + b, self.p)
    }

    pub(crate) fn minus(&self, a: u64, b: u64) -> u64 {
        reduced(a + self.p - b, self.p)
    }
}

/// Whichever of x and x − p is a residue, without a branch.
#[inline(always)]
pub(crate) fn reduced(x: u64, p: u64) -> u64 {
    let y = x.wrapping_sub(p);
    y.wrapping_add(p & (y >> 63).wrapping_neg())
}

/// Residues as integers in doubles, between −p and p or within a small multiple of that.
#[derive(Clone, Copy)]
struct Doubles {
    p: f64,
    inverse: f64,
}

/// Adding and subtracting this number rounds to an integer.
const ROUND: f64 = 6_755_399_441_055_744.0;
const TWO_52: f64 = 4_503_599_627_370_496.0;

impl Doubles {
    fn new(p: u64) -> Self {
        Doubles { p: p as f64, inverse: 1.0 / p as f64 }
    }

    /// The integer nearest to x / p, or one of the two nearest, for |x| ≤ 2^51 p.
    #[inline(always)]
    fn quotient(self, x: f64) -> f64 {
        x.mul_add(self.inverse, ROUND) - ROUND
    }

    /// The product a·b modulo p, between −p and p: at most p/2 + |a| / 4 from 0. |a| < 2p, so that
    /// quotients stay below 2^51, the limit of [`Self::quotient`]; |b| < p.
    #[inline(always)]
    fn times(self, a: f64, b: f64) -> f64 {
        debug_assert!(a.abs() < 2.0 * self.p && b.abs() < self.p, "{a} times {b}");
        let h = a * b;
        let low = a.mul_add(b, -h);
        let q = self.quotient(h);
        (-q).mul_add(self.p, h) + low
    }

    #[inline(always)]
    fn small(self, a: f64) -> f64 {
        (-self.quotient(a)).mul_add(self.p, a)
    }

    /// The residue below p; |a| < 4p.
    #[inline(always)]
    fn residue(self, a: f64) -> u64 {
        let small = self.small(a);
        // Adds p to negative numbers, with the sign as a mask; the bits of 2^52 + x then hold the
        // integer x ≥ 0.
        let sign = ((small.to_bits() as i64) >> 63) as u64;
        let up = small + f64::from_bits(self.p.to_bits() & sign);
        let residue = (up + TWO_52).to_bits() & ((1 << 52) - 1);
        reduced(residue, self.p as u64)
    }
}

struct Transform<'a> {
    prime: &'a Prime,
    a: &'a mut [u64],
    inverse: bool,
}

impl Kernel for Transform<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        // The shortest vectors of roots fill half a polynomial.
        match (L::BYTES == 64 && !L::SOFT && self.a.len() >= 2 * LEAST, self.inverse) {
            (true, false) => wide_forward(self.prime, self.a),
            (true, true) => wide_inverse(self.prime, self.a),
            (false, false) => narrow_forward(self.prime, self.a),
            (false, true) => narrow_inverse(self.prime, self.a),
        }
    }
}

#[inline(always)]
fn wide_forward(prime: &Prime, a: &mut [u64]) {
    let (of, n) = (Doubles::new(prime.p), a.len());
    let mut now: Vec<f64> = a.iter().map(|x| *x as f64).collect();
    let mut next = vec![0.0; n];
    for (s, roots) in prime.forward[..n.ilog2() as usize].iter().enumerate() {
        let roots = &roots.doubles[..];
        let (low, high) = now.split_at(n / 2);
        // Every third stage starts from small residues: below p/2, then 1.13p, 1.91p, and 2.89p
        // after the third.
        let small = s % 3 == 0;
        let blocks = low.chunks_exact(roots.len()).zip(high.chunks_exact(roots.len()));
        for ((low, high), out) in blocks.zip(next.chunks_exact_mut(2 * roots.len())) {
            for (((x, y), r), out) in low.iter().zip(high).zip(roots).zip(out.as_chunks_mut::<2>().0) {
                let [x, y] = if small { [of.small(*x), of.small(*y)] } else { [*x, *y] };
                let y = of.times(y, *r);
                *out = [x + y, x - y];
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
    a.iter_mut().zip(&now).for_each(|(a, x)| *a = of.residue(*x));
}

#[inline(always)]
fn wide_inverse(prime: &Prime, a: &mut [u64]) {
    let (of, n) = (Doubles::new(prime.p), a.len());
    let mut now: Vec<f64> = a.iter().map(|x| *x as f64).collect();
    let mut next = vec![0.0; n];
    for roots in prime.inverse.iter().rev() {
        let roots = &roots.doubles[..];
        let (low, high) = next.split_at_mut(n / 2);
        let blocks = low.chunks_exact_mut(roots.len()).zip(high.chunks_exact_mut(roots.len()));
        for ((low, high), two) in blocks.zip(now.chunks_exact(2 * roots.len())) {
            for (((x, y), r), [a, b]) in low.iter_mut().zip(high).zip(roots).zip(two.as_chunks::<2>().0) {
                *x = of.small(a + b);
                *y = of.times(a - b, *r);
            }
        }
        std::mem::swap(&mut now, &mut next);
    }
    let scale = prime.scale as f64;
    a.iter_mut().zip(&now).for_each(|(a, x)| *a = of.residue(of.times(*x, scale)));
}

fn narrow_forward(prime: &Prime, a: &mut [u64]) {
    let (p, n) = (prime.p, a.len());
    let mut next = vec![0; n];
    for roots in &prime.forward[..n.ilog2() as usize] {
        let (roots, (low, high)) = (&roots.whole, a.split_at(n / 2));
        for (j, out) in next.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            let y = times(high[j], roots[j % roots.len()], p);
            *out = [prime.plus(low[j], y), prime.minus(low[j], y)];
        }
        a.copy_from_slice(&next);
    }
}

fn narrow_inverse(prime: &Prime, a: &mut [u64]) {
    let (p, n) = (prime.p, a.len());
    let mut next = vec![0; n];
    for roots in prime.inverse.iter().rev() {
        let roots = &roots.whole;
        for (j, [x, y]) in a.as_chunks::<2>().0.iter().enumerate() {
            next[j] = prime.plus(*x, *y);
            next[j + n / 2] = times(prime.minus(*x, *y), roots[j % roots.len()], p);
        }
        a.copy_from_slice(&next);
    }
    a.iter_mut().for_each(|a| *a = times(*a, prime.scale, p));
}

struct Lessen<'a> {
    p: u64,
    of: &'a mut [u64],
    shift: &'a [u64],
    q: u64,
    inverse: u64,
}

impl Kernel for Lessen<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Lessen { p, of, shift, q, inverse } = self;
        // Uniform numbers mask both residues, and the choice is arithmetic, so that it needs no
        // branch.
        let centred = |x: u64| {
            let is_high = (q / 2).wrapping_sub(x) >> 63;
            x.wrapping_sub(q & is_high.wrapping_neg()).cast_signed()
        };
        if L::BYTES == 64 && !L::SOFT {
            let (doubles, inverse) = (Doubles::new(p), inverse as f64);
            for (of, shift) in of.iter_mut().zip(shift) {
                *of = doubles.residue(doubles.times(*of as f64 - centred(*shift) as f64, inverse));
            }
        } else {
            for (of, shift) in of.iter_mut().zip(shift) {
                // 2p are added so that no difference is negative: primes are less than 2^22 apart.
                let apart = (*of + 2 * p).wrapping_add_signed(-centred(*shift));
                *of = times(reduced(reduced(apart, 2 * p), p), inverse, p);
            }
        }
    }
}

struct Products<'a> {
    p: u64,
    sum: &'a mut [u64],
    a: &'a [u64],
    b: &'a [u64],
}

impl Kernel for Products<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Products { p, sum, a, b } = self;
        if L::BYTES == 64 && !L::SOFT {
            let of = Doubles::new(p);
            for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
                *sum = of.residue(of.times(*a as f64, *b as f64) + *sum as f64);
            }
        } else {
            for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
                *sum = reduced(*sum + times(*a, *b, p), p);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::uniform;
    use hushwire_prg::{Prg, Seed};
    use proptest::prelude::*;

    fn polynomials(n: usize) -> impl Strategy<Value = Vec<u64>> {
        let edge = prop_oneof![4 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX)];
        prop::collection::vec(edge, n)
    }

    /// Multiplication modulo x^n + 1, term by term.
    fn schoolbook(a: &[u64], b: &[u64], p: u64) -> Vec<u64> {
        let n = a.len();
        let mut out = vec![0u64; n];
        for i in 0..n {
            for j in 0..n {
                let x = times(a[i], b[j], p);
                let to = &mut out[(i + j) % n];
                *to = if i + j < n { (*to + x) % p } else { (*to + p - x) % p };
            }
        }
        out
    }

    #[test]
    fn constants_are_what_they_say() {
        for (p, root) in PRIMES {
            assert!(p < 1 << BITS && p % (1 << 14) == 1);
            // p = 1 mod 2^14, with an element of order 2^14; p passes Fermat's test to several
            // bases.
            assert_eq!(power(root, 1 << 13, p), p - 1);
            assert!([2, 3, 5, 7, 11, 13].iter().all(|a| power(*a, p - 1, p) == 1));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn products_modulo_the_polynomial(a in polynomials(64), b in polynomials(64), k in 0..3usize) {
            let prime = Prime::new(k, 64);
            let [a, b] = [a, b].map(|x| x.iter().map(|x| x % prime.p).collect::<Vec<_>>());
            let expected = schoolbook(&a, &b, prime.p);
            for backend in Backend::all() {
                let [mut x, mut y] = [a.clone(), b.clone()];
                prime.forward(backend, &mut x);
                prime.forward(backend, &mut y);
                let mut product = vec![0; 64];
                prime.add_products(backend, &mut product, &x, &y);
                prime.inverse(backend, &mut product);
                prop_assert_eq!(&product, &expected);
            }
        }
    }

    #[test]
    fn products_of_residues() {
        for (p, root) in PRIMES {
            let edges = [0, 1, 2, p - 1, p - 2, p / 2, root, (1 << 49) + 1];
            for (a, b) in edges.iter().flat_map(|a| edges.iter().map(move |b| (*a, *b))) {
                assert_eq!(u128::from(times(a, b, p)), u128::from(a) * u128::from(b) % u128::from(p));
            }
        }
    }

    /// All tiers give the same bits, at both sizes and for the greatest residues.
    #[test]
    fn tiers_give_the_same_residues() {
        for n in [4096, 8192] {
            for k in 0..3 {
                let prime = Prime::new(k, n);
                let a: Vec<u64> = (0..n as u64).map(|i| prime.p - 1 - i * i % 3).collect();
                let mut first: Option<Vec<u64>> = None;
                for backend in Backend::all() {
                    let mut x = a.clone();
                    prime.forward(backend, &mut x);
                    assert!(x.iter().all(|x| *x < prime.p));
                    let mut square = a.clone();
                    prime.add_products(backend, &mut square, &x, &x);
                    let whole = [x.clone(), square].concat();
                    assert_eq!(*first.get_or_insert(whole.clone()), whole, "{backend:?}");
                    prime.inverse(backend, &mut x);
                    assert_eq!(x, a);
                }
            }
        }
    }

    /// Factors of products stay below 2p, which a debug build asserts, in the longest transforms as
    /// well.
    #[test]
    fn long_transforms_are_right() {
        let backend = Backend::best();
        let mut prg = Prg::new(backend, &Seed::from_bytes([77; 16]), "long");
        for (k, n) in (0..MOST).flat_map(|k| [(k, 1 << 12), (k, 1 << 13)]) {
            let prime = Prime::new(k, n);
            for _ in 0..20 {
                let a = uniform(&mut prg, n, prime.p);
                let [mut wide, mut narrow] = [a.clone(), a.clone()];
                prime.forward(backend, &mut wide);
                narrow_forward(&prime, &mut narrow);
                assert_eq!(wide, narrow);
                prime.inverse(backend, &mut wide);
                assert_eq!(wide, a);
            }
        }
    }
}
