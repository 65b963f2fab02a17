//! Values of digests.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_ot::vole::{Base, Field};
use hushwire_simd::clmul::{Clmul, ClmulWords, WordKernel};

use super::layout::RowForm;
use super::polynomial::Evaluate;
use super::two_core::dense_powers;
use super::{DENSE, Digest, Layout, band, dense};

/// The values in F of one bin's digests: `out[i]` = value of the i-th digest + `add(i, digest)` ·
/// `delta`.
pub(crate) struct Decode<'a, F: Field, D, A> {
    pub(crate) layout: &'a Layout,
    /// The bin's entries.
    pub(crate) bin: &'a [Block],
    pub(crate) digests: D,
    pub(crate) delta: Block,
    pub(crate) add: A,
    pub(crate) out: &'a mut [Block],
    pub(crate) field: PhantomData<F>,
}

impl<'a, F, D, A> Decode<'a, F, D, A>
where
    F: Field,
    D: ExactSizeIterator<Item = &'a Digest> + Clone,
    A: Fn(usize, &Digest) -> F::Base,
{
    /// Writes the values by the method of the store's kind.
    ///
    /// # Panics
    /// Unless `bin` has a bin's length, and `out` the length of `digests` (the caller's bug).
    pub(crate) fn run_on(self, backend: Backend) {
        assert!(
            self.bin.len() == self.layout.bin_entries() && self.digests.len() == self.out.len(),
            "a bin, and a place for each"
        );
        let clmul = Clmul::best();
        let band = match self.layout.rows() {
            RowForm::Clustered => return clmul.run(Clustered(self)),
            RowForm::Polynomial => return clmul.run(Evaluate(self)),
            RowForm::Band(band) => band,
        };
        let Decode { bin, digests, delta, add, out, field, .. } = self;
        band::decode(backend, band, bin, digests.clone(), out);
        clmul.run(AddDecoded { digests, delta, add, out, field });
    }
}

/// The values of a clustered store.
pub(super) struct Clustered<'a, F: Field, D, A>(pub(super) Decode<'a, F, D, A>);

impl<'a, F, D, A> WordKernel for Clustered<'a, F, D, A>
where
    F: Field,
    D: Iterator<Item = &'a Digest>,
    A: Fn(usize, &Digest) -> F::Base,
{
    type Out = ();

    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) {
        let Decode { layout, bin, digests, delta, add, out, .. } = self.0;
        let (sparse, entries) = bin.split_at(bin.len() - DENSE);
        for (i, (digest, out)) in digests.zip(out).enumerate() {
            let [a, b, c] = layout.positions(digest).map(|at| sparse[at as usize]);
            let powers: [F::Base; DENSE] = dense_powers(dense(digest), words);
            let mut wide = F::scale(add(i, digest), delta, words);
            for (power, entry) in powers.into_iter().zip(entries) {
                let product = F::scale(power, *entry, words);
                wide = [wide[0] ^ product[0], wide[1] ^ product[1]];
            }
            *out = a ^ b ^ c ^ F::reduce(wide);
        }
    }
}

/// Computes `out[i]` += `add(i, digest)` · `delta`.
struct AddDecoded<'a, F: Field, D, A> {
    digests: D,
    delta: Block,
    add: A,
    out: &'a mut [Block],
    field: PhantomData<F>,
}

impl<'a, F, D, A> WordKernel for AddDecoded<'a, F, D, A>
where
    F: Field,
    D: Iterator<Item = &'a Digest>,
    A: Fn(usize, &Digest) -> F::Base,
{
    type Out = ();

    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) {
        for (i, (digest, out)) in self.digests.zip(self.out).enumerate() {
            *out ^= F::times((self.add)(i, digest), self.delta, words);
        }
    }
}

/// An addition of zero, for callers that add nothing.
pub(crate) fn no_addition<B: Base>(_: usize, _: &Digest) -> B {
    B::default()
}

/// Computes q += A'Δ: the holder of Δ applies a message of elements of B.
pub(crate) struct Shift<'a, F> {
    pub(crate) q: &'a mut [Block],
    pub(crate) message: &'a [u8],
    pub(crate) delta: Block,
    pub(crate) field: PhantomData<F>,
}

impl<F: Field> WordKernel for Shift<'_, F> {
    type Out = ();

    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) {
        for (q, a) in self.q.iter_mut().zip(self.message.chunks_exact(F::Base::BYTES)) {
            *q ^= F::times(F::Base::from_bytes(a), self.delta, words);
        }
    }
}
