//! Intersection by permutation-based hashing, with the circuit of B. Pinkas, T. Schneider, G.
//! Segev, M. Zohner, "Phasing: private set intersection using permutation-based hashing", USENIX
//! Security 2015, Sec. 5.
//!
//! ```text
//! A's cuckoo table   bins × one item        bin by bin: is A's item among B's?   ─► a flag a bin
//! B's simple table   bins × `bin` items   ─┘
//! A's stash          stash items            is it among all of B's?              ─► a flag an item
//! B's values         `theirs` values      ─┘
//! ```
//!
//! A value of σ bits is x = low ‖ high with ⌊log bins⌋ low bits. Hash function i puts it into bin
//! (low + f_i(high)) mod bins, so that the bin, `high` and i determine it. An item is `high` and i
//! in two bits, σ − ⌊log bins⌋ + 2 bits in all. Two items of one bin are equal only if they have
//! the same value and the same hash function. i = 3 marks an empty place: in A's places zeros
//! precede it, in B's places ones. Values are never 0, because empty places of the stash hold 0.
//!
//! A bin of A matches at most one of B's items, so that flags are XORs: (σ' − 1) · bin · bins + (σ
//! − 1) · theirs · stash ANDs, where σ' is the width of an item.

use crate::count::count_steps;
use crate::steps::ProgramSteps;
use crate::{Bit, Builder, Layered, Program, shuffle, words};
use std::{ops::Range, sync::Arc};

/// The number of the tables' hash functions.
pub const HASHES: usize = 3;
/// AGREEMENT: the number of B's items that one block compares.
const PLACES: usize = 4;

/// The sizes of the tables. The parties agree on them; they follow from the sizes of the sets
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhasingTables {
    /// The width of a value, in bits.
    pub width: usize,
    /// The width of an item, in bits.
    pub item: usize,
    /// The number of bins.
    pub bins: usize,
    /// The number of B's items in a bin.
    pub bin: usize,
    /// The number of places in A's stash.
    pub stash: usize,
    /// The number of B's values.
    pub theirs: usize,
}

impl PhasingTables {
    /// Tables for `ours` values of A and `theirs` of B, of `width` bits each: ⌈1.2 ours⌉ bins, at
    /// least two, of [`bin_size`] items.
    ///
    /// # Panics
    /// If values have no bits beyond a bin's number (the caller's bug).
    #[must_use]
    pub fn new(ours: usize, theirs: usize, width: usize, stash: usize) -> PhasingTables {
        if ours == 0 {
            return PhasingTables { width, item: 2, bins: 0, bin: 0, stash: 0, theirs };
        }
        let bins = (6 * ours).div_ceil(5).max(2);
        let low = bins.ilog2() as usize;
        assert!(width > low, "values of more bits than a bin's number has");
        let bin = bin_size(HASHES * theirs, bins);
        PhasingTables { width, item: width - low + 2, bins, bin, stash, theirs }
    }

    /// The number of a value's bits in an item, below the two bits of the hash function's index.
    #[must_use]
    pub const fn high(&self) -> usize {
        self.item - 2
    }

    /// The number of A's places: bins, then the stash.
    #[must_use]
    pub const fn places(&self) -> usize {
        self.bins + self.stash
    }

    /// The widths of the program's inputs: A's table, A's stash, B's table, B's values (0 without a
    /// stash).
    #[must_use]
    pub fn inputs(&self) -> [usize; 4] {
        let theirs = if self.stash == 0 { 0 } else { self.theirs * self.width };
        let table = self.bins * self.item;
        [table, self.stash * self.width, table * self.bin, theirs]
    }

    /// The number of ANDs that make the flags.
    #[must_use]
    pub fn ands(&self) -> u64 {
        let bins = (self.item as u64 - 1) * (self.bin * self.bins) as u64;
        bins + (self.width as u64 - 1) * (self.theirs * self.stash) as u64
    }
}

/// The least number of places with which no bin overflows when `balls` independent balls fall into
/// `bins` uniform bins, except with probability 2^−40. The condition is bins · P(Bin(balls, 1/bins)
/// exceeds places) ≤ 2^−40, by a union bound over bins and a geometric bound on the tail. It uses
/// only basic operations of IEEE 754, so that every machine finds the same number.
///
/// # Panics
/// If there are fewer than two bins (the caller's bug).
#[must_use]
pub fn bin_size(balls: usize, bins: usize) -> usize {
    assert!(bins >= 2, "at least two bins");
    // P(X = k) is m · 2^e.
    let (mut m, mut e) = power(1.0 - 1.0 / bins as f64, balls);
    let mean = balls as f64 / bins as f64;
    for k in 0..balls {
        let ratio = (balls - k) as f64 / (k + 1) as f64 / (bins - 1) as f64;
        m *= ratio;
        while m < 0.5 {
            (m, e) = (m * 2.0, e - 1);
        }
        while m >= 1.0 {
            (m, e) = (m / 2.0, e + 1);
        }
        // (m, e) is now P(X = k + 1); later ratios are smaller.
        let next = (balls - k).saturating_sub(1) as f64 / (k + 2) as f64 / (bins - 1) as f64;
        if k as f64 >= mean && next < 1.0 {
            let tail = m / (1.0 - next) * bins as f64;
            if e < -100 || tail * exp2(e) <= exp2(-40) {
                return k;
            }
        }
    }
    balls
}

/// 2^e for −100 ≤ e ≤ 0.
fn exp2(e: i64) -> f64 {
    (e..0).fold(1.0, |x, _| x / 2.0)
}

/// x^n as m · 2^e.
fn power(x: f64, n: usize) -> (f64, i64) {
    let normal = |mut m: f64, mut e: i64| {
        while m < 0.5 {
            (m, e) = (m * 2.0, e - 1);
        }
        (m, e)
    };
    let (mut result, mut square) = ((1.0, 0), normal(x, 0));
    for i in 0..usize::BITS - n.leading_zeros() {
        if n >> i & 1 == 1 {
            result = normal(result.0 * square.0, result.1 + square.1);
        }
        square = normal(square.0 * square.0, 2 * square.1);
    }
    result
}

/// A program that finds A's items. Its inputs are [`PhasingTables::inputs`]; its output is a flag
/// for every bin, then for every place of the stash. An item's bin depends on A's other items, so
/// that only A may learn the flags.
#[must_use]
pub fn flags(name: &str, tables: &PhasingTables) -> Program {
    let mut steps = ProgramSteps::default();
    let (flags, free) = flag_steps(&mut steps, tables, 0);
    steps.program(name, tables.inputs().to_vec(), vec![flags.len()], free as usize, flags)
}

/// A program that counts A's items that B has.
#[must_use]
pub fn size(name: &str, tables: &PhasingTables) -> Program {
    let mut steps = ProgramSteps::default();
    let (flags, mut free) = flag_steps(&mut steps, tables, 0);
    let total = count_steps(&mut steps, &flags, &mut free);
    steps.program(name, tables.inputs().to_vec(), vec![total.len()], free as usize, total)
}

/// [`size`] as two shares: a fifth input of `bits` bits, from B, is added to the number modulo
/// 2^`bits`. Tables that are too large for one run are compared in pieces, and only the sum over
/// all pieces is opened.
#[must_use]
pub fn shared_size(name: &str, tables: &PhasingTables, bits: usize) -> Program {
    let inputs: Vec<usize> = tables.inputs().into_iter().chain([bits]).collect();
    let mask = inputs[..4].iter().sum::<usize>();
    let mut steps = ProgramSteps::default();
    let (flags, mut free) = flag_steps(&mut steps, tables, bits);
    let mut reads = count_steps(&mut steps, &flags, &mut free);
    reads.truncate(bits);
    let mut b = Builder::new();
    let (mut total, share) = (b.input(reads.len()), b.input(bits));
    total.resize(bits, Bit::ZERO);
    let sum = words::add_mod(&mut b, &total, &share);
    let block = Arc::new(Layered::new(&b.finish(&[sum])));
    reads.extend(run(mask, bits));
    let sum = run(free as usize, bits);
    let writes = sum.clone();
    steps.push(&block, 1, move |hear| hear(&reads, &writes));
    steps.program(name, inputs, vec![bits], free as usize + bits, sum)
}

/// A program that outputs the common values, in an order that A's control bits determine. A has two
/// more inputs: its values, by bin and then by place of the stash (anything in empty places), and
/// the control bits of [`crate::shuffle::route`] for that number of values. The output has one
/// value for each place, 0 if there is no match. Both A and B may learn it, since places are A's
/// secret.
#[must_use]
pub fn items(name: &str, tables: &PhasingTables) -> Program {
    let (places, width) = (tables.places(), tables.width);
    let (values, controls) = (places * width, shuffle::switches(places));
    let inputs: Vec<usize> = tables.inputs().into_iter().chain([values, controls]).collect();
    let first = inputs[..4].iter().sum::<usize>();
    let mut steps = ProgramSteps::default();
    let (flags, free) = flag_steps(&mut steps, tables, values + controls);
    let mut b = Builder::new();
    let (flag, value) = (b.input(1), b.input(width));
    let kept = words::and_bit(&mut b, flag[0], &value);
    let block = Arc::new(Layered::new(&b.finish(&[kept])));
    steps.push(&block, places, move |hear| {
        for (p, flag) in flags.iter().enumerate() {
            let value = run(first + p * width, width);
            let reads: Vec<u32> = [*flag].into_iter().chain(value.iter().copied()).collect();
            hear(&reads, &value);
        }
    });
    let kept = run(first, values);
    shuffle::shuffle_steps(&mut steps, kept.clone(), (first + values) as u32, width);
    steps.program(name, inputs, vec![values], free as usize, kept)
}

/// Adds steps that make the flags. Returns the flags' registers, after the tables and `more`
/// registers of other inputs, and the first free register.
fn flag_steps(steps: &mut ProgramSteps, tables: &PhasingTables, more: usize) -> (Vec<u32>, u32) {
    let PhasingTables { width, item, bins, bin, stash, theirs } = *tables;
    let inputs = tables.inputs();
    let mut firsts = [0; 5];
    for (i, input) in inputs.iter().enumerate() {
        firsts[i + 1] = firsts[i] + input;
    }
    let [table, own, simple, values, end] = firsts;
    let flags = end + more;
    // Bins: a few of B's places at a time, for all bins in parallel. Each step adds to the flags of
    // the step before.
    for first in (0..bin.max(1)).step_by(PLACES) {
        let (places, start) = (PLACES.min(bin - first), first == 0);
        let block = compare(item, places, start);
        steps.push(&block, bins, move |hear| {
            let mut reads = vec![];
            for k in 0..bins {
                let flag = (flags + k) as u32;
                reads.clear();
                reads.extend(span(table + k * item, item));
                reads.extend(span(simple + (k * bin + first) * item, places * item));
                if !start {
                    reads.push(flag);
                }
                hear(&reads, &[flag]);
            }
        });
    }
    // The stash: every place with a few values at a time, then the flags of all groups together.
    let groups = theirs.div_ceil(PLACES).max(1);
    let partial = flags + bins + stash;
    let whole = theirs / PLACES;
    for (groups_of, places) in [(0..whole, PLACES), (whole..groups, theirs - whole * PLACES)] {
        let block = compare(width, places, true);
        steps.push(&block, groups_of.len() * stash, move |hear| {
            let mut reads = vec![];
            for s in 0..stash {
                for g in groups_of.clone() {
                    reads.clear();
                    reads.extend(span(own + s * width, width));
                    reads.extend(span(values + g * PLACES * width, places * width));
                    hear(&reads, &[(partial + s * groups + g) as u32]);
                }
            }
        });
    }
    let mut b = Builder::new();
    let bits = b.input(groups);
    let any = bits.into_iter().fold(Bit::ZERO, |any, bit| b.xor(any, bit));
    let block = Arc::new(Layered::new(&b.finish(&[vec![any]])));
    steps.push(&block, stash, move |hear| {
        for s in 0..stash {
            hear(&run(partial + s * groups, groups), &[(flags + bins + s) as u32]);
        }
    });
    (run(flags, bins + stash), (partial + stash * groups) as u32)
}

/// Whether a word equals one of `places` others, of which at most one is equal. Unless `start` is
/// set, the result is added to a flag.
fn compare(width: usize, places: usize, start: bool) -> Arc<Layered> {
    let mut b = Builder::new();
    let word = b.input(width);
    let others: Vec<Vec<Bit>> = (0..places).map(|_| b.input(width)).collect();
    let mut flag = if start { Bit::ZERO } else { b.input(1)[0] };
    for other in others {
        let equal = words::equal(&mut b, &word, &other);
        flag = b.xor(flag, equal);
    }
    Arc::new(Layered::new(&b.finish(&[vec![flag]])))
}

/// `count` registers from `first` on.
fn span(first: usize, count: usize) -> Range<u32> {
    first as u32..(first + count) as u32
}

/// `count` registers from `first` on, as a list.
fn run(first: usize, count: usize) -> Vec<u32> {
    span(first, count).collect()
}
