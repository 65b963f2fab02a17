//! The linear code over B: every output adds ten entries of a table, each multiplied by a uniform
//! element of B.
//!
//! The places of the entries and their factors are public: words of one stream of AES blocks, and
//! elements from another. If factors were elements of GF(2) alone, an attacker could choose one
//! bit of B and look at it alone, where half of the noise is zero.

use core::marker::PhantomData;

use hushwire_aes::{Aes128, Backend};
use hushwire_block::Block;
use hushwire_simd::clmul::{Clmul, ClmulWords, WordKernel};

use super::field::{Base, Field};

/// SECURITY: the number of table entries in an output.
const LOCAL: usize = 10;
/// LOCAL: the number of outputs whose streams are made at once.
const PIECE: usize = 256;

/// An entry of the table at the party that also holds u: t, then u in the first bytes. It has half
/// a cache line, so that no read crosses two lines.
pub(super) type TableEntry = [Block; 2];

pub(super) fn pair<B: Base>(t: Block, u: B) -> TableEntry {
    let mut pair = [t, Block::ZERO];
    u.to_bytes(&mut pair[1].0);
    pair
}

/// The keys of one round's code, and memory for its streams.
pub(super) struct Code {
    backend: Backend,
    clmul: Clmul,
    places: Aes128,
    factors: Aes128,
    words: Vec<u8>,
    elements: Vec<u8>,
}

impl Code {
    pub(super) fn new(backend: Backend, [places, factors]: [Aes128; 2]) -> Self {
        let (words, elements) = (Vec::new(), Vec::new());
        Self { backend, clmul: Clmul::best(), places, factors, words, elements }
    }

    /// Adds the code's outputs, from number `first` on, to a party's q.
    pub(super) fn add<F: Field>(&mut self, first: usize, table: &[Block], q: &mut [Block]) {
        for (i, q) in q.chunks_mut(PIECE).enumerate() {
            self.streams::<F>(first + i * PIECE, q.len());
            let (words, elements) = (&self.words[..], &self.elements[..]);
            self.clmul.run(Single::<F> { words, elements, table, q, field: PhantomData });
        }
    }

    /// Adds the code's outputs, from number `first` on, to a party's t and u.
    pub(super) fn add_pairs<F: Field>(
        &mut self,
        first: usize,
        table: &[TableEntry],
        t: &mut [Block],
        u: &mut [F::Base],
    ) {
        for (i, (t, u)) in t.chunks_mut(PIECE).zip(u.chunks_mut(PIECE)).enumerate() {
            self.streams::<F>(first + i * PIECE, t.len());
            let (words, elements) = (&self.words[..], &self.elements[..]);
            self.clmul.run(Double::<F> { words, elements, table, t, u });
        }
    }

    /// The streams of `len` outputs from `first` on: 4 bytes and an element for each entry.
    ///
    /// A piece of outputs has whole blocks, so that pieces continue one another.
    fn streams<F: Field>(&mut self, first: usize, len: usize) {
        for (bytes, stream, key) in
            [(4, &mut self.words, &self.places), (F::Base::BYTES, &mut self.elements, &self.factors)]
        {
            assert!((first * LOCAL * bytes).is_multiple_of(16), "outputs begin with a block");
            stream.resize(len * LOCAL * bytes, 0);
            let at = first as u128 * (LOCAL * bytes) as u128 / 16;
            self.backend.counter_bytes(key, at, stream);
        }
    }
}

/// Each output's ten places in a table of `len` entries, a power of two, and their factors.
#[inline(always)]
fn terms<'a, B: Base>(
    words: &'a [u8],
    elements: &'a [u8],
    len: usize,
) -> impl Iterator<Item = impl Iterator<Item = (usize, B)> + 'a> + 'a {
    let mask = len - 1;
    words.chunks_exact(4 * LOCAL).zip(elements.chunks_exact(LOCAL * B::BYTES)).map(
        move |(words, elements)| {
            words.as_chunks::<4>().0.iter().zip(elements.chunks_exact(B::BYTES)).map(
                move |(word, element)| (u32::from_le_bytes(*word) as usize & mask, B::from_bytes(element)),
            )
        },
    )
}

fn assert_table(len: usize) {
    assert!(len.is_power_of_two() && len <= 1 << 31, "{len} entries: not a power of two");
}

struct Single<'a, F: Field> {
    words: &'a [u8],
    elements: &'a [u8],
    table: &'a [Block],
    q: &'a mut [Block],
    field: PhantomData<F>,
}

impl<F: Field> WordKernel for Single<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<W: ClmulWords>(self, w: W) {
        let table = self.table;
        assert_table(table.len());
        for (q, terms) in self.q.iter_mut().zip(terms::<F::Base>(self.words, self.elements, table.len())) {
            let mut sum = [0; 2];
            for (at, factor) in terms {
                let product = F::scale(factor, table[at], w);
                sum = [sum[0] ^ product[0], sum[1] ^ product[1]];
            }
            *q ^= F::reduce(sum);
        }
    }
}

struct Double<'a, F: Field> {
    words: &'a [u8],
    elements: &'a [u8],
    table: &'a [TableEntry],
    t: &'a mut [Block],
    u: &'a mut [F::Base],
}

impl<F: Field> WordKernel for Double<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<W: ClmulWords>(self, w: W) {
        let table = self.table;
        assert_table(table.len());
        let outputs = self.t.iter_mut().zip(self.u);
        for ((t, u), terms) in outputs.zip(terms::<F::Base>(self.words, self.elements, table.len())) {
            let mut sums = [[0; 2]; 2];
            for (at, factor) in terms {
                let [t, u] = &table[at];
                let u = F::Base::from_bytes(&u.0);
                for (sum, product) in sums.iter_mut().zip([F::scale(factor, *t, w), factor.product(u, w)]) {
                    *sum = [sum[0] ^ product[0], sum[1] ^ product[1]];
                }
            }
            *t ^= F::reduce(sums[0]);
            *u = u.plus(F::Base::reduced(sums[1]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::field::{Full128, Pair64};
    use super::*;
    use crate::ferret::rig as dealer;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};

    fn code(backend: Backend) -> Code {
        Code::new(backend, [Aes128::new(&[1; 16]), Aes128::new(&[2; 16])])
    }

    /// The first `bytes` bytes of counter mode under a key of [`code`], block by block.
    fn stream(key: u8, bytes: usize) -> Vec<u8> {
        let cipher = aes::Aes128::new(&[key; 16].into());
        let block = |at: usize| {
            let mut block = (at as u128).to_le_bytes().into();
            cipher.encrypt_block(&mut block);
            block.0
        };
        (0..bytes.div_ceil(16)).flat_map(block).take(bytes).collect()
    }

    struct Times<F: Field>(F::Base, Block);
    impl<F: Field> WordKernel for Times<F> {
        type Out = Block;
        #[inline(always)]
        fn run<W: ClmulWords>(self, w: W) -> Block {
            F::times(self.0, self.1, w)
        }
    }

    /// Compares with outputs computed from the definition, one at a time, on every tier, in one
    /// call and in several.
    fn is_as_defined<F: Field>() {
        let (mut table, n) = (vec![Block::ZERO; 64], 600);
        dealer::stream(3).fill_blocks(&mut table);
        let pairs: Vec<(Block, F::Base)> =
            table.iter().enumerate().map(|(i, t)| (*t, F::Base::from_word(77 + i as u64))).collect();
        let table_of_pairs: Vec<TableEntry> = pairs.iter().map(|(t, u)| pair(*t, *u)).collect();
        let (words, elements) = (stream(1, 4 * LOCAL * n), stream(2, F::Base::BYTES * LOCAL * n));
        let expected: Vec<(Block, F::Base)> = (0..n)
            .map(|i| {
                let mut sum = (Block::ZERO, F::Base::default());
                for j in 10 * i..10 * i + 10 {
                    let word = u32::from_le_bytes(words[4 * j..4 * j + 4].try_into().expect("4 bytes"));
                    let factor = F::Base::from_bytes(&elements[F::Base::BYTES * j..]);
                    let (t, u) = pairs[word as usize % 64];
                    sum.0 ^= Clmul::portable().run(Times::<F>(factor, t));
                    sum.1 = sum.1.plus(Clmul::portable().run(TimesBase(factor, u)));
                }
                sum
            })
            .collect();
        for backend in Backend::all() {
            let (mut t, mut q) = (vec![Block::ZERO; n], vec![Block::ZERO; n]);
            let mut u = vec![F::Base::default(); n];
            for cut in [0, 256, n] {
                let mut code = code(backend);
                t.fill(Block::ZERO);
                q.fill(Block::ZERO);
                u.fill(F::Base::default());
                code.add::<F>(0, &table, &mut q[..cut]);
                code.add::<F>(cut, &table, &mut q[cut..]);
                code.add_pairs::<F>(0, &table_of_pairs, &mut t[..cut], &mut u[..cut]);
                code.add_pairs::<F>(cut, &table_of_pairs, &mut t[cut..], &mut u[cut..]);
                for (i, expected) in expected.iter().enumerate() {
                    assert_eq!((t[i], u[i], q[i]), (expected.0, expected.1, expected.0), "output {i}");
                }
            }
        }
    }

    struct TimesBase<B>(B, B);
    impl<B: Base> WordKernel for TimesBase<B> {
        type Out = B;
        #[inline(always)]
        fn run<W: ClmulWords>(self, w: W) -> B {
            self.0.times(self.1, w)
        }
    }

    #[test]
    fn outputs_are_sums_of_ten_multiples() {
        is_as_defined::<Pair64>();
        is_as_defined::<Full128>();
    }

    #[test]
    #[should_panic(expected = "not a power of two")]
    fn a_table_of_another_length_is_refused() {
        code(Backend::best()).add::<Pair64>(0, &[Block::ZERO; 3], &mut [Block::ZERO]);
    }
}
