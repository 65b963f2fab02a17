//! The sizes of a store, which follow from its kind and the number of pairs alone, and a digest's
//! places in it.

use super::band::Band;
use super::{Digest, Store, word};

/// SECURITY: the number of dense entries of a bin.
pub(crate) const DENSE: usize = 3;
/// SECURITY: each of two kinds of failure has probability 2^−41 over all bins.
const LAMBDA: f64 = 41.0;
/// AGREEMENT: the approximate number of items of a bin. More make the store smaller; fewer stay in
/// the caches (2^16: a seventh faster, 2.2 more bits per item).
const BIN: usize = 1 << 18;

/// AGREEMENT: the smallest number of pairs whose store has more entries than pairs. SECURITY: a
/// corrupted party can bring as many items as there are entries. From this size on, a band store
/// has at most 1.3 entries per pair.
pub(crate) const POLYNOMIAL: usize = 192;
/// AGREEMENT: the smallest number of pairs whose store may be clustered. SECURITY: clustered stores
/// of few pairs have more than 1.3 entries per pair. Stores of up to about three hundred pairs have
/// no solution with a probability above 2^−40.
pub(crate) const CLUSTERED: usize = 8192;

/// The form of the rows of a store's digests, which follows from its kind and the number of pairs.
/// AGREEMENT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowForm {
    /// Powers of a point.
    Polynomial,
    /// Consecutive entries, selected by random bits.
    Band(Band),
    /// Three entries, and the dense entries.
    Clustered,
}

/// The form of rows, without sizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StoreForm {
    Polynomial,
    Band,
    Clustered,
}

impl StoreForm {
    /// The form of a store of this kind for `items` pairs.
    pub(crate) fn of(store: Store, items: usize) -> Self {
        match store {
            _ if items < POLYNOMIAL => StoreForm::Polynomial,
            Store::Clustered if items >= CLUSTERED => StoreForm::Clustered,
            Store::Clustered | Store::Band => StoreForm::Band,
        }
    }
}

/// The sizes of a store, the same at both parties. AGREEMENT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    #[cfg(test)]
    items: usize,
    bins: usize,
    #[cfg(test)]
    capacity: usize,
    /// The number of entries of a bin, including dense ones.
    entries: usize,
    rows: RowForm,
}

/// ln x for x > 0, by operations that every machine rounds alike.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = (bits >> 52) as f64 - 1023.0;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    // 2 atanh((m − 1) / (m + 1)), m in [1, 2): each term is less than an eighth of the term before.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..24).rev().fold(0.0, |sum, i| sum * z * z + 1.0 / f64::from(2 * i + 1));
    exponent * core::f64::consts::LN_2 + 2.0 * z * series
}

fn log2(x: f64) -> f64 {
    ln(x) / core::f64::consts::LN_2
}

/// 2^x for x in 0 .. 64, by operations that every machine rounds alike.
fn exp2(x: f64) -> f64 {
    let whole = x as u32;
    let y = (x - f64::from(whole)) * core::f64::consts::LN_2;
    let fraction = (1..24).rev().fold(1.0, |sum, i| 1.0 + sum * y / f64::from(i));
    (1u64 << whole) as f64 * fraction
}

/// The least c with P[Binomial(items, 1 / bins) > c] below 2^−lambda, by Chernoff's bound.
fn capacity(items: usize, bins: usize, lambda: f64) -> usize {
    if bins == 1 {
        return items;
    }
    let (n, p) = (items as f64, 1.0 / bins as f64);
    let fits = |c: usize| {
        let a = (c + 1) as f64 / n;
        // log2 of the bound is −n · KL(a ‖ p) / ln 2.
        a >= 1.0 || a > p && n * (a * log2(a / p) + (1.0 - a) * log2((1.0 - a) / (1.0 - p))) >= lambda
    };
    let (mut no, mut yes) = (items / bins, items);
    while yes - no > 1 {
        let middle = no.midpoint(yes);
        *(if fits(middle) { &mut yes } else { &mut no }) = middle;
    }
    yes
}

impl Layout {
    /// The layout for up to `items` pairs.
    #[must_use]
    pub(crate) fn new(store: Store, items: usize) -> Self {
        Self::with_bins(StoreForm::of(store, items), items, items.div_ceil(BIN).max(1))
    }

    /// The layout for up to `items` pairs in `bins` bins.
    ///
    /// # Panics
    /// If a polynomial would have several bins (the caller's bug).
    pub(crate) fn with_bins(form: StoreForm, items: usize, bins: usize) -> Self {
        assert!(form != StoreForm::Polynomial || bins == 1, "a polynomial has one bin");
        let lambda = LAMBDA + log2(bins as f64);
        let capacity = capacity(items, bins, lambda).max(1);
        let size = capacity as f64;
        let (entries, rows) = match form {
            StoreForm::Polynomial => (capacity, RowForm::Polynomial),
            StoreForm::Band => {
                let band = Band::new(capacity, lambda + log2(size));
                (band.columns(), RowForm::Band(band))
            }
            StoreForm::Clustered => {
                let expansion = 1.223 + (lambda + 9.2) / exp2(0.555 * log2(size) + 2.336);
                let sparse = ((expansion * size) as usize + 1).max(DENSE);
                (sparse + DENSE, RowForm::Clustered)
            }
        };
        Layout {
            #[cfg(test)]
            items,
            bins,
            #[cfg(test)]
            capacity,
            entries,
            rows,
        }
    }

    /// A clustered store of one bin, with sizes for a test.
    #[cfg(test)]
    pub(crate) fn with_sparse(items: usize, sparse: usize) -> Self {
        Layout { items, bins: 1, capacity: items, entries: sparse + DENSE, rows: RowForm::Clustered }
    }

    /// The rows of its digests.
    pub(super) fn rows(&self) -> &RowForm {
        &self.rows
    }

    /// The rows of a bin, if they are bands.
    pub(super) fn band(&self) -> Option<&Band> {
        if let RowForm::Band(band) = &self.rows { Some(band) } else { None }
    }

    /// The number of pairs that the store holds.
    #[cfg(test)]
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    /// The number of bins.
    #[must_use]
    pub(crate) fn bins(&self) -> usize {
        self.bins
    }

    /// The number of pairs that a bin holds.
    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// The number of entries of a bin; dense ones are last.
    #[must_use]
    pub(crate) fn bin_entries(&self) -> usize {
        self.entries
    }

    /// The number of entries of the store.
    #[must_use]
    pub(crate) fn entries(&self) -> usize {
        self.bins * self.bin_entries()
    }

    /// The digest's bin.
    #[inline(always)]
    pub(crate) fn bin(&self, digest: &Digest) -> usize {
        below(word(digest, 0), self.bins as u32) as usize
    }

    /// The digest's three positions in its bin of a clustered store, all different.
    #[inline(always)]
    pub(crate) fn positions(&self, digest: &Digest) -> [u32; 3] {
        let sparse = (self.entries - DENSE) as u32;
        let a = below(word(digest, 1), sparse);
        let b = below(word(digest, 2), sparse - 1);
        let c = below(word(digest, 3), sparse - 2);
        // `b` is an index into the positions other than a, `c` into the positions other than a and
        // b.
        let b = b + u32::from(b >= a);
        let (low, high) = (a.min(b), a.max(b));
        let c = c + u32::from(c >= low);
        [a, b, c + u32::from(c >= high)]
    }
}

/// A number below `bound` from 32 uniform bits.
#[inline(always)]
pub(super) fn below(word: u32, bound: u32) -> u32 {
    ((u64::from(word) * u64::from(bound)) >> 32) as u32
}

/// Items grouped by bin, in their order. Items of bands are also grouped by nearby starts, so that
/// one walk over a bin meets them.
pub(crate) struct Binned {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Binned {
    pub(crate) fn new(layout: &Layout, digests: &[Digest]) -> Self {
        let groups = layout.band().map_or(1, Band::groups);
        let group = |digest: &Digest| {
            layout.bin(digest) * groups + layout.band().map_or(0, |band| band.group(digest))
        };
        let mut next = vec![0; layout.bins * groups + 1];
        for digest in digests {
            next[group(digest) + 1] += 1;
        }
        for i in 0..layout.bins * groups {
            next[i + 1] += next[i];
        }
        let starts = next.iter().step_by(groups).copied().collect();
        let mut items = vec![0; digests.len()];
        for (i, digest) in digests.iter().enumerate() {
            let next = &mut next[group(digest)];
            items[*next as usize] = i as u32;
            *next += 1;
        }
        Binned { starts, items }
    }

    /// The digests in the order of bins, so that a bin's digests are adjacent.
    pub(crate) fn grouped(&self, digests: Vec<Digest>) -> Vec<Digest> {
        let grouped = self.items.iter().map(|item| digests[*item as usize]).collect();
        // Frees the memory, since the result takes as much.
        drop(digests);
        grouped
    }

    /// The range of a bin's items in that order.
    pub(crate) fn span(&self, bin: usize) -> core::ops::Range<usize> {
        self.starts[bin] as usize..self.starts[bin + 1] as usize
    }

    /// The number of the item at an index of that order.
    pub(crate) fn item(&self, place: usize) -> u32 {
        self.items[place]
    }

    /// The numbers of a bin's items.
    pub(crate) fn bin(&self, bin: usize) -> &[u32] {
        &self.items[self.span(bin)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_powers_are_those_of_the_library() {
        for i in 1..5000 {
            let x = f64::from(i) * 0.37;
            assert!((ln(x) - x.ln()).abs() < 1e-12 * (1.0 + x.ln().abs()), "{x}");
            let y = f64::from(i) / 100.0;
            assert!((exp2(y) / y.exp2() - 1.0).abs() < 1e-12, "{y}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_design() {
        // 1.249 at 2^20 with bins of 2^18, 1.285 with bins of 2^16, 1.35 with bins of 2^14.
        let expansion = |layout: Layout| layout.entries() as f64 / layout.items() as f64;
        assert!((expansion(Layout::new(Store::Clustered, 1 << 20)) - 1.249).abs() < 0.005);
        assert!((expansion(Layout::with_bins(StoreForm::Clustered, 1 << 20, 16)) - 1.285).abs() < 0.01);
        assert!((expansion(Layout::with_bins(StoreForm::Clustered, 1 << 20, 64)) - 1.35).abs() < 0.01);
        for items in [0, 1, 2, 3, 10, 1000, 262_144, 262_145, 10_000_000] {
            let layout = Layout::new(Store::Clustered, items);
            assert!(layout.capacity() * layout.bins() >= items && layout.entries >= layout.capacity());
        }
    }

    /// All sizes up to 20 000, and those about the first numbers of bins.
    fn sizes() -> impl Iterator<Item = usize> {
        let bins =
            (1..40).flat_map(|bins| [-1, 0, 1, 2].map(|more: i64| (bins * BIN as i64 + more) as usize));
        (1..20_000).chain(bins).chain([1 << 24, 1 << 28])
    }

    /// A corrupted party can bring as many items as there are entries: as many as agreed for few
    /// items, and at most 1.3 times as many for any number.
    #[test]
    fn entries_are_as_many_as_pairs_or_at_most_a_third_of_them_more() {
        for store in Store::ALL {
            let mut before = 0;
            for items in sizes() {
                let layout = Layout::new(store, items);
                let entries = layout.entries();
                assert!(10 * entries <= 13 * items, "{store}, {items}: {entries}");
                assert!(entries == items || items >= POLYNOMIAL, "{store}, {items}: {entries}");
                // A party that reports fewer items can bring fewer.
                assert!(entries >= before, "{store}, {items}: {entries}, {before}");
                before = entries;
            }
        }
    }

    #[test]
    fn chernoff_s_bound_is_above_the_exact_tail() {
        let (items, bins, lambda) = (4000, 8, 20.0);
        let c = capacity(items, bins, lambda);
        let p: f64 = 1.0 / bins as f64;
        let (mut term, mut tail) = ((1.0 - p).powi(items as i32), 0.0);
        for k in 0..items {
            if k > c {
                tail += term;
            }
            term *= (items - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
        assert!(tail < (-lambda).exp2() && tail > (-lambda - 6.0).exp2(), "{tail}");
    }

    #[test]
    fn positions_are_three_different_ones_and_uniform() {
        let layout = Layout::with_sparse(1, 5);
        let mut seen = [0; 125];
        for i in 0..60_000u32 {
            let digest = *blake3::hash(&i.to_le_bytes()).as_bytes();
            let [a, b, c] = layout.positions(&digest).map(|p| p as usize);
            assert!(a != b && b != c && a != c && a.max(b).max(c) < 5);
            seen[25 * a + 5 * b + c] += 1;
        }
        // 60 ordered triples, about 1000 times each.
        let seen: Vec<_> = seen.into_iter().filter(|n| *n > 0).collect();
        assert_eq!(seen.len(), 60);
        assert!(seen.iter().all(|n: &i32| (n - 1000).abs() < 160), "{seen:?}");
    }
}
