//! Every pair comes back; values match the definition on every tier; and a count of systems without
//! solution.

use core::marker::PhantomData;

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Gf64, Gf128};
use hushwire_ot::vole::{Base, Field, Full128, Pair64};
use hushwire_prg::Prg;
use hushwire_simd::Tier;
use hushwire_simd::clmul::Clmul;
use proptest::prelude::*;

use super::rows::Band;
use super::{Solver, decode};
use crate::okvs::NoSolution;
use crate::okvs::failure::decay;
use crate::okvs::tests::{digests, prg};
use crate::okvs::{Binned, Decode, Digest, Encoder, Layout, Module, Store, StoreForm, tail};

/// The entries that a digest selects in its bin, bit by bit, on the portable tier.
fn selected(band: &Band, digest: &Digest) -> Vec<usize> {
    let backend = Backend::forced(Tier::Portable).expect("every CPU has it");
    let key = Aes128::on(backend, b"hushwire band v1");
    let start = u64::from(u32::from_le_bytes(*digest[4..].first_chunk().expect("4 bytes")));
    let start = ((start * (band.columns() - band.width() + 1) as u64) >> 32) as usize;
    let mut bits = vec![];
    for i in 0..4u8 {
        let mut block = Block(*digest[8..].first_chunk().expect("16 bytes"));
        block.0[0] ^= i;
        backend.ecb_encrypt(&key, core::slice::from_mut(&mut block));
        bits.extend((0..128).map(|i| block.bit(i)));
    }
    (0..band.width()).filter(|i| bits[*i]).map(|i| start + i).collect()
}

/// The value of a digest by the definition.
fn value<B: Base, V: Module<B>>(layout: &Layout, store: &[V], digest: &Digest) -> V {
    let bin = &store[layout.bin(digest) * layout.bin_entries()..];
    let band = layout.band().expect("a store of bands");
    selected(band, digest).into_iter().fold(V::default(), |sum, at| sum.plus(bin[at]))
}

fn solved<B: Base, V: Module<B>>(
    layout: &Layout,
    digests: &[Digest],
    values: &[V],
    mut fill: Option<&mut Prg>,
) -> Result<Vec<V>, NoSolution> {
    let binned = Binned::new(layout, digests);
    let mut store = vec![V::default(); layout.entries()];
    let mut encoder = Encoder::<B, V>::new(Backend::best(), layout);
    for (bin, out) in store.chunks_exact_mut(layout.bin_entries()).enumerate() {
        encoder.clear();
        for item in binned.bin(bin) {
            encoder.push(&digests[*item as usize], values[*item as usize]);
        }
        encoder.solve(out, fill.as_deref_mut())?;
    }
    Ok(store)
}

/// Encodes all pairs, and checks each.
fn round_trip<B: Base, V: Module<B>>(
    layout: &Layout,
    digests: &[Digest],
    values: &[V],
    fill: Option<&mut Prg>,
) -> Result<(), NoSolution> {
    let store = solved::<B, V>(layout, digests, values, fill)?;
    for (digest, wanted) in digests.iter().zip(values) {
        assert!(value::<B, V>(layout, &store, digest) == *wanted);
    }
    Ok(())
}

fn words(digests: &[Digest]) -> Vec<Gf64> {
    digests.iter().map(|digest| Gf64(tail(digest))).collect()
}

#[test]
fn every_pair_comes_back() {
    let mut values = prg(1);
    let sizes =
        [(0, 1), (1, 1), (2, 1), (17, 1), (100, 7), (380, 1), (400, 1), (410, 1), (900, 1), (3000, 3)];
    for (items, bins) in sizes {
        let layout = Layout::with_bins(StoreForm::Band, items, bins);
        let digests = digests(items as u64, items);
        round_trip::<Gf64, Gf64>(&layout, &digests, &words(&digests), None).expect("there is a solution");
        let wide: Vec<_> = digests.iter().map(|_| Gf128::random(&mut values)).collect();
        round_trip::<Gf128, Gf128>(&layout, &digests, &wide, Some(&mut prg(2))).expect("there is a solution");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn any_number_of_pairs_in_any_bins(items in 0..500usize, bins in 1..5usize, seed in any::<u64>()) {
        let layout = Layout::with_bins(StoreForm::Band, items, bins);
        let digests = digests(seed, items);
        prop_assert!(round_trip::<Gf64, Gf64>(&layout, &digests, &words(&digests), None).is_ok());
    }
}

/// Values under Δ, and sums alone, as the protocol computes them, for any order of digests and on
/// every tier.
fn decodes<F: Field<Base: Module<<F as Field>::Base>>>() {
    let layout = Layout::with_bins(StoreForm::Band, 1500, 2);
    let digests = digests(8, 700);
    let mut random = prg(9);
    let bin: Vec<Block> = (0..layout.bin_entries()).map(|_| random.next_block()).collect();
    let band = layout.band().expect("a store of bands");
    let sum = |digest| selected(band, digest).into_iter().fold(Block::ZERO, |sum, at| sum ^ bin[at]);
    let delta = random.next_block();
    let add = |_, digest: &Digest| F::Base::from_word(tail(digest));
    for backend in Backend::all() {
        let mut out = vec![Block::ZERO; digests.len()];
        let (layout, bin, digests) = (&layout, &bin[..], digests.iter());
        decode(backend, band, bin, digests.clone(), &mut out);
        assert!(digests.clone().zip(&out).all(|(digest, out)| *out == sum(digest)));
        let whole = Decode::<F, _, _> {
            layout,
            bin,
            digests: digests.clone(),
            delta,
            add,
            out: &mut out,
            field: PhantomData,
        };
        whole.run_on(backend);
        for (digest, out) in digests.zip(&out) {
            assert_eq!(*out ^ sum(digest), times::<F>(F::Base::from_word(tail(digest)), delta));
        }
    }
}

/// The product of two field elements.
fn times<F: Field>(b: F::Base, f: Block) -> Block {
    struct Product<F: Field>(F::Base, Block);
    impl<F: Field> hushwire_simd::clmul::WordKernel for Product<F> {
        type Out = Block;
        #[inline(always)]
        fn run<W: hushwire_simd::clmul::ClmulWords>(self, words: W) -> Block {
            F::times(self.0, self.1, words)
        }
    }
    Clmul::portable().run(Product::<F>(b, f))
}

#[test]
fn decoding_is_the_definition_on_every_tier() {
    decodes::<Pair64>();
    decodes::<Full128>();
}

/// Parties with different CPUs get the same store.
#[test]
fn solutions_are_the_same_on_every_tier() {
    let layout = Layout::new(Store::Band, 600);
    let digests = digests(4, 600);
    let mut first: Option<Vec<Gf64>> = None;
    for backend in Backend::all() {
        let mut solver = Solver::<Gf64, Gf64>::new(backend, layout.band().expect("a store of bands"));
        digests.iter().zip(words(&digests)).for_each(|(digest, word)| solver.push(digest, word));
        let mut store = vec![Gf64::ZERO; layout.entries()];
        solver.solve(&mut store, None).expect("there is a solution");
        assert!(first.get_or_insert_with(|| store.clone()) == &store);
    }
}

#[test]
fn duplicates_count_once_and_contradictions_are_no_pairs() {
    let layout = Layout::with_bins(StoreForm::Band, 900, 2);
    let mut all = digests(5, 900);
    all.extend(all.clone());
    all.extend(std::iter::repeat_n(all[7], 1000));
    let values = words(&all);
    round_trip::<Gf64, Gf64>(&layout, &all, &values, None).expect("there is a solution");
    let mut other = values;
    other[1207] = Gf64(1);
    assert_eq!(solved::<Gf64, Gf64>(&layout, &all, &other, None), Err(NoSolution));
}

/// Digests that were chosen to start together can fill a band, but not more. A party that chooses
/// such digests ends its own run, with an error that names it.
#[test]
fn chosen_digests_have_no_solution_once_they_are_more_than_a_band() {
    let layout = Layout::new(Store::Band, 3000);
    let width = layout.band().expect("a store of bands").width();
    for (count, is_solved) in [(width - 48, true), (width + 1, false)] {
        let mut digests = digests(6, count);
        digests.iter_mut().for_each(|digest| digest[..8].fill(0x55));
        assert_eq!(round_trip::<Gf64, Gf64>(&layout, &digests, &words(&digests), None).is_ok(), is_solved);
    }
}

/// Values of digests that are in no pair differ for every fill, and never repeat.
#[test]
fn other_digests_have_random_values() {
    let layout = Layout::new(Store::Band, 1000);
    let (ours, others) = (digests(3, 1000), digests(4, 1000));
    let same = vec![Gf64(u64::MAX); ours.len()];
    let mut seen: Vec<u64> = vec![];
    for seed in [4, 5] {
        let store =
            solved::<Gf64, Gf64>(&layout, &ours, &same, Some(&mut prg(seed))).expect("there is a solution");
        assert!(store.iter().all(|entry| *entry != Gf64::ZERO));
        seen.extend(others.iter().map(|digest| value::<Gf64, Gf64>(&layout, &store, digest).0));
    }
    let ones: u32 = seen.iter().map(|value| value.count_ones()).sum();
    // 128 000 bits: a standard deviation is 179.
    assert!(ones.abs_diff(64_000) < 1500, "{ones} ones");
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 2000);
}

#[test]
fn sizes_follow_from_numbers_of_items() {
    let expansion = |items: usize| Layout::new(Store::Band, items).entries() as f64 / items as f64;
    assert!((expansion(1 << 20) - 1.0635).abs() < 0.001, "{}", expansion(1 << 20));
    assert!((expansion(1 << 16) - 1.0485).abs() < 0.002, "{}", expansion(1 << 16));
    for items in [192, 300, 10_000, 262_145, 10_000_000] {
        let layout = Layout::new(Store::Band, items);
        let band = layout.band().expect("a store of bands");
        assert!(layout.bin_entries() >= layout.capacity() + 48 && band.width() == 448.min(band.columns()));
        let bins = layout.bins();
        assert!(layout.entries() < Layout::with_bins(StoreForm::Clustered, items, bins).entries(), "{items}");
    }
}

/// The number of systems without a solution among `instances` systems of `rows` rows.
fn unsolved(band: &Band, rows: usize, instances: u64) -> u64 {
    let mut solver = Solver::<Gf64, Gf64>::new(Backend::best(), band);
    let mut store = vec![Gf64::ZERO; band.columns()];
    let mut unsolved = 0;
    for seed in 0..instances {
        solver.clear();
        let digests = digests(seed << 20 | rows as u64, rows);
        digests.iter().for_each(|digest| solver.push(digest, Gf64(tail(digest))));
        unsolved += u64::from(solver.solve(&mut store, None).is_err());
    }
    unsolved
}

/// Bands so narrow that failures can be counted, and the queue's bound without the columns that the
/// module subtracts.
fn failures_stay_below_the_bound(instances: u64) {
    for (rows, width, more) in [(256, 64, 0.05), (256, 48, 0.1), (1024, 64, 0.1), (1024, 48, 0.15)] {
        let columns = ((1.0 + more) * rows as f64) as usize + 1;
        let expected = (instances * rows as u64) as f64 * (-decay(more) * width as f64).exp();
        let found = unsolved(&Band::with_width(columns, width), rows, instances) as f64;
        assert!(found < 4.0 + expected + 4.0 * expected.sqrt(), "{rows}, {width}: {found}, {expected}");
    }
    // Random bits of a few more columns than rows.
    for (rows, spare) in [(20, 3), (60, 5)] {
        let expected = instances as f64 * f64::exp2(-f64::from(spare));
        let band = Band::with_width(rows + spare as usize, rows + spare as usize);
        let found = unsolved(&band, rows, instances) as f64;
        assert!(found < 4.0 + expected + 4.0 * expected.sqrt(), "{rows}, {spare}: {found}, {expected}");
        // The bits must be that random: fewer failures would mean that some bits are not counted.
        assert!(found > expected / 2.0 - 4.0 * expected.sqrt(), "{rows}, {spare}: {found}, {expected}");
    }
    // The sizes in use.
    for rows in [192, 256, 400, 600] {
        let layout = Layout::new(Store::Band, rows);
        assert_eq!(unsolved(layout.band().expect("a store of bands"), rows, instances), 0, "{rows}");
    }
}

#[test]
fn failures_are_fewer_than_the_bound() {
    failures_stay_below_the_bound(150);
}

#[test]
#[ignore = "minutes: 10^5 instances of each size"]
fn failures_are_fewer_than_the_bound_in_many_instances() {
    failures_stay_below_the_bound(100_000);
}
