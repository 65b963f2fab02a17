//! Every pair comes back, in every field; duplicates count once; and a count of the uses of the
//! dense part.

use core::marker::PhantomData;

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf64, Gf128};
use hushwire_ot::vole::{Base, Field, Full128, Pair64};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::{Clmul, ClmulWords, WordKernel};
use proptest::prelude::*;

use super::decode::Clustered;
use super::layout::Binned;
use super::*;

pub(super) fn digests(seed: u64, count: usize) -> Vec<Digest> {
    let mut reader = blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof();
    let mut digests = vec![[0; 32]; count];
    digests.iter_mut().for_each(|digest| reader.fill(digest));
    digests
}

pub(super) fn prg(seed: u8) -> Prg {
    Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "test")
}

/// The value of a digest, straight from the definition.
struct Value<'a, B, V>(&'a Layout, &'a [V], &'a Digest, PhantomData<B>);

impl<B: Base, V: Module<B>> WordKernel for Value<'_, B, V> {
    type Out = V;
    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) -> V {
        let Value(layout, bin, digest, _) = self;
        let mut value =
            layout.positions(digest).iter().fold(V::default(), |sum, at| sum.plus(bin[*at as usize]));
        let (k, mut power) = (B::from_word(dense(digest)), B::from_word(1));
        for d in &bin[bin.len() - DENSE..] {
            power = power.times(k, words);
            value = value.plus(d.scaled(power, words));
        }
        value
    }
}

/// Encodes all pairs, checks each, and returns the largest number of dense entries that a bin
/// determines.
fn round_trip<B: Base, V: Module<B>>(
    layout: &Layout,
    digests: &[Digest],
    values: &[V],
    mut fill: Option<&mut Prg>,
) -> Result<usize, NoSolution> {
    let binned = Binned::new(layout, digests);
    let mut store = vec![V::default(); layout.entries()];
    let mut encoder = Encoder::<B, V>::new(Backend::best(), layout);
    let mut most = 0;
    for (bin, out) in store.chunks_exact_mut(layout.bin_entries()).enumerate() {
        encoder.clear();
        for item in binned.bin(bin) {
            encoder.push(&digests[*item as usize], values[*item as usize]);
        }
        most = most.max(encoder.solve(out, fill.as_deref_mut())?);
    }
    for (digest, value) in digests.iter().zip(values) {
        let at = layout.bin(digest) * layout.bin_entries();
        let bin = &store[at..at + layout.bin_entries()];
        assert!(Clmul::best().run(Value(layout, bin, digest, PhantomData::<B>)) == *value);
    }
    Ok(most)
}

#[test]
fn every_pair_comes_back() {
    let mut values = prg(1);
    for (items, bins) in [(0, 1), (1, 1), (2, 1), (100, 1), (100, 7), (5000, 3)] {
        let layout = Layout::with_bins(StoreForm::Clustered, items, bins);
        let digests = digests(items as u64, items);
        let words: Vec<_> = digests.iter().map(|digest| Gf64(tail(digest))).collect();
        round_trip::<Gf64, Gf64>(&layout, &digests, &words, None).expect("there is a solution");
        let wide: Vec<_> = digests.iter().map(|_| Gf128::random(&mut values)).collect();
        round_trip::<Gf128, Gf128>(&layout, &digests, &wide, Some(&mut prg(2))).expect("there is a solution");
        round_trip::<Gf64, Gf64>(&layout, &digests, &words, Some(&mut prg(3))).expect("there is a solution");
    }
}

#[test]
fn a_filled_store_looks_random() {
    // No entry is zero, and two fills differ everywhere except by chance.
    let layout = Layout::with_bins(StoreForm::Clustered, 50, 1);
    let digests = digests(3, 50);
    let mut encoder = Encoder::<Gf64, Gf64>::new(Backend::best(), &layout);
    let stores = [4, 5].map(|seed| {
        encoder.clear();
        digests.iter().for_each(|digest| encoder.push(digest, Gf64(u64::MAX)));
        let mut store = vec![Gf64::ZERO; layout.entries()];
        encoder.solve(&mut store, Some(&mut prg(seed))).expect("there is a solution");
        store
    });
    assert!(stores[0].iter().zip(&stores[1]).all(|(a, b)| a != b && *a != Gf64::ZERO));
}

/// Items with the given positions, each with a different k̂.
fn at_positions(encoder: &mut Encoder<Gf64, Gf64>, count: usize, word: u32) {
    for i in 0..count {
        let mut digest = digests(77 + i as u64, 1)[0];
        digest[4..16].copy_from_slice(&[word.to_le_bytes(); 3].concat());
        encoder.push(&digest, Gf64(i as u64 + 1));
    }
}

#[test]
fn the_dense_part_holds_as_many_collisions_as_it_has_entries() {
    let layout = Layout::with_bins(StoreForm::Clustered, 100, 1);
    let mut encoder = Encoder::<Gf64, Gf64>::new(Backend::best(), &layout);
    let mut store = vec![Gf64::ZERO; layout.entries()];
    for (rows, bound) in [(1, Ok(0)), (2, Ok(1)), (3, Ok(2)), (4, Ok(3)), (5, Err(NoSolution))] {
        encoder.clear();
        at_positions(&mut encoder, rows, 0x1234_5678);
        digests(9, 40).iter().for_each(|digest| encoder.push(digest, Gf64(tail(digest))));
        assert_eq!(encoder.solve(&mut store, None), bound, "{rows} rows at the same positions");
    }
}

#[test]
fn duplicates_count_once_and_contradictions_are_no_pairs() {
    let layout = Layout::with_bins(StoreForm::Clustered, 3000, 2);
    let mut all = digests(5, 3000);
    // Each digest twice, and one a thousand times.
    all.extend(all.clone());
    all.extend(std::iter::repeat_n(all[7], 1000));
    let values: Vec<_> = all.iter().map(|digest| Gf64(tail(digest))).collect();
    round_trip::<Gf64, Gf64>(&layout, &all, &values, None).expect("there is a solution");
    let mut other = values.clone();
    other[3007] = Gf64(1);
    assert_eq!(round_trip::<Gf64, Gf64>(&layout, &all, &other, None), Err(NoSolution));
}

/// Decodes a store that encodes `h`, in the field and with every multiplication kernel.
fn decodes<F: Field>()
where
    F::Base: Module<F::Base>,
{
    let layout = Layout::with_bins(StoreForm::Clustered, 700, 3);
    let digests = digests(8, 700);
    let binned = Binned::new(&layout, &digests);
    let mut random = prg(9);
    let bin: Vec<Block> = (0..layout.bin_entries()).map(|_| random.next_block()).collect();
    let delta = random.next_block();
    let add = |_, digest: &Digest| F::Base::from_word(tail(digest));
    let mut before: Option<Vec<Block>> = None;
    for clmul in Clmul::all() {
        let items = binned.bin(1);
        let mut out = vec![Block::ZERO; items.len()];
        let (layout, bin, digests) = (&layout, &bin[..], &digests[..]);
        clmul.run(Clustered(Decode::<F, _, _> {
            layout,
            bin,
            digests: items.iter().map(|item| &digests[*item as usize]),
            delta,
            add,
            out: &mut out,
            field: PhantomData,
        }));
        for (item, out) in items.iter().zip(&out) {
            let wanted = clmul.run(Expected::<F>(layout, bin, &digests[*item as usize], delta, PhantomData));
            assert_eq!(*out, wanted);
        }
        assert!(before.replace(out.clone()).is_none_or(|before| before == out));
    }
}

/// Three sparse entries and three products, each of which is reduced.
struct Expected<'a, F>(&'a Layout, &'a [Block], &'a Digest, Block, PhantomData<F>);

impl<F: Field> WordKernel for Expected<'_, F> {
    type Out = Block;
    #[inline(always)]
    fn run<W: ClmulWords>(self, words: W) -> Block {
        let Expected(layout, bin, digest, delta, _) = self;
        let mut value = F::times(F::Base::from_word(tail(digest)), delta, words);
        for at in layout.positions(digest) {
            value ^= bin[at as usize];
        }
        let (k, mut power) = (F::Base::from_word(dense(digest)), F::Base::from_word(1));
        for d in &bin[bin.len() - DENSE..] {
            power = power.times(k, words);
            value ^= F::times(power, *d, words);
        }
        value
    }
}

#[test]
fn decoding_is_the_definition_in_every_form() {
    decodes::<Pair64>();
    decodes::<Full128>();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_number_of_pairs_in_any_bins(items in 0..400usize, bins in 1..9usize, seed in any::<u64>()) {
        let layout = Layout::with_bins(StoreForm::Clustered, items, bins);
        let digests = digests(seed, items);
        let values: Vec<_> = digests.iter().map(|digest| Gf64(tail(digest))).collect();
        prop_assert!(round_trip::<Gf64, Gf64>(&layout, &digests, &values, None).is_ok());
    }
}
