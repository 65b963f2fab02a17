//! Every pair comes back; values are the polynomial's for every multiplication kernel; no store of
//! n entries holds more than n pairs.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf64, Gf128};
use hushwire_ot::vole::{Base, Field, Full128, Pair64};
use hushwire_simd::clmul::{Clmul, ClmulWords, WordKernel};
use proptest::prelude::*;

use super::NoSolution;
use super::layout::POLYNOMIAL;
use super::polynomial::{Evaluate, point};
use super::tests::{digests, prg};
use super::{Decode, Digest, Encoder, Layout, Module, Store, StoreForm, no_addition, tail};

fn layout(items: usize) -> Layout {
    Layout::with_bins(StoreForm::Polynomial, items, 1)
}

/// The sum Σ P[i] x^i, power by power.
struct Value<'a, B, V>(&'a [V], B);

impl<B: Base, V: Module<B>> WordKernel for Value<'_, B, V> {
    type Out = V;
    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) -> V {
        let mut power = B::from_word(1);
        self.0.iter().fold(V::default(), |sum, p| {
            let term = p.scaled(power, words);
            power = power.times(self.1, words);
            sum.plus(term)
        })
    }
}

fn solved<B: Base, V: Module<B>>(
    items: usize,
    digests: &[Digest],
    values: &[V],
    is_filled: bool,
) -> Result<Vec<V>, NoSolution> {
    let layout = layout(items);
    let mut encoder = Encoder::<B, V>::new(Backend::best(), &layout);
    digests.iter().zip(values).for_each(|(digest, value)| encoder.push(digest, *value));
    let mut store = vec![V::default(); layout.entries()];
    encoder.solve(&mut store, is_filled.then(|| prg(1)).as_mut())?;
    Ok(store)
}

fn comes_back<B: Base, V: Module<B>>(items: usize, digests: &[Digest], is_filled: bool) {
    let mut random = prg(2);
    let values: Vec<V> = digests.iter().map(|_| V::random(&mut random)).collect();
    let store = solved::<B, V>(items, digests, &values, is_filled).expect("there is a solution");
    for (digest, value) in digests.iter().zip(values) {
        assert!(Clmul::best().run(Value(&store, point::<B>(digest))) == value);
    }
}

#[test]
fn every_pair_comes_back() {
    for items in [0, 1, 2, 3, 15, 16, 17, POLYNOMIAL - 1] {
        for count in [items, items / 2, 0] {
            for is_filled in [true, false] {
                let digests = digests(items as u64, count);
                comes_back::<Gf64, Gf64>(items, &digests, is_filled);
                comes_back::<Gf128, Gf128>(items, &digests, is_filled);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn pairs_that_come_twice_count_once(count in 1..30usize, again in 0..30usize, seed in any::<u64>()) {
        let mut digests = digests(seed, count);
        digests.extend((0..again).map(|i| digests[i % count]).collect::<Vec<_>>());
        let mut values: Vec<_> = digests.iter().map(|digest| Gf64(tail(digest))).collect();
        prop_assert!(solved::<Gf64, Gf64>(count, &digests, &values, false).is_ok());
        if again > 0 {
            values[count].0 ^= 1;
            prop_assert_eq!(solved::<Gf64, Gf64>(count, &digests, &values, false), Err(NoSolution));
        }
    }
}

/// A party that agreed on n items brings n. One more does not fit, and a store of n items gives
/// other items their values only by chance.
#[test]
fn a_store_holds_as_many_pairs_as_were_agreed_on() {
    for store in Store::ALL {
        for items in [1, 2, 9, 30, POLYNOMIAL - 1] {
            assert_eq!(Layout::new(store, items).entries(), items);
            let digests = digests(items as u64, 2 * items);
            let values: Vec<_> = digests.iter().map(|digest| Gf64(tail(digest))).collect();
            let more = items + 1;
            let result = solved::<Gf64, Gf64>(items, &digests[..more], &values[..more], false);
            assert_eq!(result, Err(NoSolution), "{items}");
            let store =
                solved::<Gf64, Gf64>(items, &digests[..items], &values, false).expect("as many as agreed");
            let value = |digest: &Digest| Clmul::best().run(Value(&store, point::<Gf64>(digest)));
            let fits = digests.iter().filter(|digest| value(digest) == Gf64(tail(digest)));
            assert_eq!(fits.count(), items);
        }
    }
}

#[test]
fn a_filled_store_says_nothing_of_how_many_pairs_it_holds() {
    // No entry is zero, two fills differ everywhere except by chance, and all pairs are in both.
    let digests = digests(3, 5);
    let values = vec![Gf64(u64::MAX); 5];
    let layout = layout(40);
    let stores = [4, 5].map(|seed| {
        let mut encoder = Encoder::<Gf64, Gf64>::new(Backend::best(), &layout);
        digests.iter().zip(&values).for_each(|(digest, value)| encoder.push(digest, *value));
        let mut store = vec![Gf64::ZERO; 40];
        encoder.solve(&mut store, Some(&mut prg(seed))).expect("there is a solution");
        for digest in &digests {
            assert_eq!(Clmul::best().run(Value(&store, point::<Gf64>(digest))), values[0]);
        }
        store
    });
    assert!(stores[0].iter().zip(&stores[1]).all(|(a, b)| a != b && *a != Gf64::ZERO));
}

/// Values under Δ, and values alone, in both fields and with every multiplication kernel.
fn evaluates<F: Field<Base: Module<<F as Field>::Base>>>() {
    for items in [1, 2, 15, 16, 17, 48, 100] {
        let (layout, digests, mut random) = (layout(items), digests(8, 70), prg(9));
        let bin: Vec<Block> = (0..items).map(|_| random.next_block()).collect();
        let delta = random.next_block();
        for clmul in Clmul::all() {
            for delta in [delta, Block::ZERO] {
                let mut out = vec![Block::ZERO; digests.len()];
                let add = |_, digest: &Digest| F::Base::from_word(tail(digest));
                let field = PhantomData::<F>;
                let (layout, bin, all) = (&layout, &bin[..], digests.iter());
                clmul.run(Evaluate(Decode { layout, bin, digests: all, delta, add, out: &mut out, field }));
                for (digest, out) in digests.iter().zip(out) {
                    let wanted = clmul.run(Expected::<F>(bin, digest, delta, PhantomData));
                    assert_eq!(out, wanted, "{items}");
                }
            }
        }
        // The store's own decoding gives the same value.
        let mut out = vec![Block::ZERO; digests.len()];
        let (layout, bin, add, field) = (&layout, &bin[..], no_addition, PhantomData::<F>);
        let decode =
            Decode { layout, bin, digests: digests.iter(), delta: Block::ZERO, add, out: &mut out, field };
        decode.run_on(Backend::best());
        let wanted = Clmul::best().run(Expected::<F>(bin, &digests[0], Block::ZERO, PhantomData));
        assert_eq!(out[0], wanted);
    }
}

/// Powers one by one; each product is reduced.
struct Expected<'a, F>(&'a [Block], &'a Digest, Block, PhantomData<F>);

impl<F: Field> WordKernel for Expected<'_, F> {
    type Out = Block;
    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) -> Block {
        let Expected(bin, digest, delta, _) = self;
        let mut value = F::times(F::Base::from_word(tail(digest)), delta, words);
        let mut power = F::Base::from_word(1);
        for entry in bin {
            value ^= F::times(power, *entry, words);
            power = power.times(point(digest), words);
        }
        value
    }
}

#[test]
fn values_are_the_polynomial_s_in_every_form() {
    evaluates::<Pair64>();
    evaluates::<Full128>();
}
