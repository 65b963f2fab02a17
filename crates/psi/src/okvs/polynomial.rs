//! Stores of few pairs: polynomials, which have exactly one entry per pair.
//!
//! **Functionality.** As in [`super`]: the entries are coefficients, and a digest's value is the
//! polynomial's value at the digest's point.
//!
//! **Paper.** Garimella, Pinkas, Rosulek, Trieu, Yanai, "Oblivious Key-Value Stores and
//! Amplification for Private Set Intersection" (CRYPTO 2021), section 3: a polynomial is a store
//! that has one entry per pair.
//!
//! ```text
//! digest    … 8 │ point x: 8 or 16 bytes, an element of B │ value 8, the last ones      bytes
//! value     = P[0] + P[1] x + P[2] x² + …
//! solve     pair by pair: P += (v − P(x)) / Z(x) · Z, then Z *= X + x; then, for the
//!           remaining entries, P += R Z with R random
//! ```
//!
//! **Failure.** Two digests have the same point. With n pairs this has probability below n² ·
//! 2^−65, which is 2^−49 for the largest number of pairs.
//!
//! **Time.** Solving takes n² products, and reading a value takes n: [`Layout`](super::Layout) uses
//! other stores from about two hundred pairs on.
//!
//! **Constant time.** Yes, except for repeated digests.

use hushwire_block::Block;
use hushwire_ot::vole::{Base, Field};
use hushwire_prg::Prg;
use hushwire_simd::clmul::{Clmul, ClmulWords, WordKernel};

use super::NoSolution;
use super::{Decode, Digest, Module};

/// LOCAL: the number of coefficients whose products are added up before they are reduced.
const STEP: usize = 16;

/// The digest's point.
#[inline(always)]
pub(super) fn point<B: Base>(digest: &Digest) -> B {
    B::from_bytes(&digest[8..8 + B::BYTES])
}

/// The pairs of a store.
pub(crate) struct Interpolator<B, V> {
    entries: usize,
    points: Vec<B>,
    values: Vec<V>,
}

impl<B: Base, V: Module<B>> Interpolator<B, V> {
    pub(crate) fn new(entries: usize) -> Self {
        Self { entries, points: Vec::new(), values: Vec::new() }
    }

    /// Forgets all pairs.
    pub(crate) fn clear(&mut self) {
        self.points.clear();
        self.values.clear();
    }

    /// Adds a pair.
    pub(crate) fn push(&mut self, digest: &Digest, value: V) {
        self.points.push(point(digest));
        self.values.push(value);
    }

    /// See [`Encoder::solve`](super::Encoder::solve).
    pub(crate) fn solve(&mut self, out: &mut [V], fill: Option<&mut Prg>) -> Result<(), NoSolution> {
        assert_eq!(out.len(), self.entries, "the entries of a store");
        out.fill(V::default());
        Clmul::best().run(Solve { pairs: self, out, fill })
    }
}

/// The part of [`Interpolator::solve`] that multiplies.
struct Solve<'a, B, V> {
    pairs: &'a Interpolator<B, V>,
    out: &'a mut [V],
    fill: Option<&'a mut Prg>,
}

impl<B: Base, V: Module<B>> WordKernel for Solve<'_, B, V> {
    type Out = Result<(), NoSolution>;

    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) -> Self::Out {
        let Solve { pairs, out, fill } = self;
        // Z, whose zeros are the points so far; its last coefficient is one.
        let mut zeros = Vec::with_capacity(out.len() + 1);
        zeros.push(B::from_word(1));
        for (x, value) in pairs.points.iter().zip(&pairs.values) {
            let degree = zeros.len() - 1;
            let (mut p, mut z) = (V::default(), zeros[degree]);
            for i in (0..degree).rev() {
                p = p.scaled(*x, words).plus(out[i]);
                z = z.times(*x, words).plus(zeros[i]);
            }
            let rest = value.plus(p);
            if z == B::default() {
                // A repeated pair, or one that contradicts it.
                if rest == V::default() { continue } else { return Err(NoSolution) }
            }
            if degree == out.len() {
                return Err(NoSolution);
            }
            let factor = rest.scaled(z.inverse(words), words);
            for (p, z) in out.iter_mut().zip(&zeros) {
                *p = p.plus(factor.scaled(*z, words));
            }
            zeros.push(zeros[degree]);
            for i in (1..=degree).rev() {
                zeros[i] = zeros[i].times(*x, words).plus(zeros[i - 1]);
            }
            zeros[0] = zeros[0].times(*x, words);
        }
        if let Some(prg) = fill {
            // Adds a random multiple of Z for each entry that no pair determines.
            for i in 0..out.len() + 1 - zeros.len() {
                let factor = V::random(prg);
                for (p, z) in out[i..].iter_mut().zip(&zeros) {
                    *p = p.plus(factor.scaled(*z, words));
                }
            }
        }
        Ok(())
    }
}

/// The values of a polynomial.
pub(super) struct Evaluate<'a, F: Field, D, A>(pub(super) Decode<'a, F, D, A>);

impl<'a, F, D, A> WordKernel for Evaluate<'a, F, D, A>
where
    F: Field,
    D: Iterator<Item = &'a Digest>,
    A: Fn(usize, &Digest) -> F::Base,
{
    type Out = ();

    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) {
        let Decode { bin, digests, delta, add, out, .. } = self.0;
        let step = STEP.min(bin.len());
        let mut powers = [F::Base::from_word(1); STEP + 1];
        for (i, (digest, out)) in digests.zip(out).enumerate() {
            powers[1] = point(digest);
            for j in 2..=step {
                powers[j] = powers[j / 2].times(powers[j - j / 2], words);
            }
            let mut value = Block::ZERO;
            for part in bin.chunks(step).rev() {
                let mut wide = F::scale(powers[step], value, words);
                for (power, coefficient) in powers.iter().zip(part) {
                    let product = F::scale(*power, *coefficient, words);
                    wide = [wide[0] ^ product[0], wide[1] ^ product[1]];
                }
                value = F::reduce(wide);
            }
            *out = value ^ F::times(add(i, digest), delta, words);
        }
    }
}
