//! Intersection of two sorted sets by sort, compare, shuffle: Y. Huang, D. Evans, J. Katz, "Private
//! set intersection: are garbled circuits better than custom protocols?", NDSS 2012, Sec. 5.
//!
//! ```text
//! A ascending ─┐ merge      N    keep, for every second value, ⌊N/2⌋   shuffle, or count
//! B ascending ─┘ by ⌈log N⌉ ───► those equal to a neighbour   ───────► under bits of one party
//!                steps           (the others become 0)
//! ```
//!
//! For two sets of n = 2^k values of σ bits, N = 2 n. The merge takes 2 σ n log(2 n) ANDs, for a
//! comparison and a swap each. The selection takes 3 σ − 2 for every second value, except for the
//! last, which takes 2 σ − 1. The shuffle takes σ (n log n − n + 1).
//!
//! **Security.** A position in the merged order reveals how many of the other set's values are
//! smaller. A party that learns the shuffled values must not know the control bits, so that the
//! other party draws them.

use crate::count::count_steps;
use crate::steps::ProgramSteps;
use crate::{Bit, Builder, Layered, Program, sort, sort::SortShape, sort::registers, words};
use std::sync::Arc;

/// The middle value if it equals a neighbour, otherwise zeros; and whether it does. This is
/// DupSelect-3, with 3 W − 2 ANDs for W bits (the paper's 3 W − 1 has an OR where sets allow an
/// XOR).
#[must_use]
pub fn select(b: &mut Builder, before: &[Bit], value: &[Bit], after: Option<&[Bit]>) -> (Vec<Bit>, Bit) {
    let left = words::equal(b, before, value);
    let right = after.map_or(Bit::ZERO, |after| words::equal(b, value, after));
    // The values of one set are different, so that three neighbours are never equal.
    let found = b.xor(left, right);
    (words::and_bit(b, found, value), found)
}

/// The number of values that [`intersect`] outputs.
#[must_use]
pub const fn kept(left: usize, right: usize) -> usize {
    (left + right) / 2
}

/// The intersection of two sets of `left` and `right` ascending values other than 0. The inputs are
/// the two sets and the control bits of [`crate::shuffle::route`] for [`kept`] values. The output
/// has [`kept`] values, 0 where there is no match.
#[must_use]
pub fn intersect(name: &str, left: usize, right: usize, shape: SortShape) -> Program {
    let (kept, width) = (kept(left, right), shape.width);
    let (bits, controls) = ((left + right) * width, crate::shuffle::switches(kept));
    let mut steps = ProgramSteps::default();
    let first = bits + controls;
    duplicates(&mut steps, left, right, shape, first, false);
    let values: Vec<u32> = (first as u32..(first + kept * width) as u32).collect();
    crate::shuffle::shuffle_steps(&mut steps, values.clone(), bits as u32, width);
    let inputs = vec![left * width, right * width, controls];
    steps.program(name, inputs, vec![kept * width], first + kept * width, values)
}

/// A program that counts the values that two sets of `left` and `right` ascending values have in
/// common. The two inputs are the sets; the output is a number of ⌈log(⌊N/2⌋ + 1)⌉ bits.
#[must_use]
pub fn size(name: &str, left: usize, right: usize, shape: SortShape) -> Program {
    let (kept, bits) = (kept(left, right), (left + right) * shape.width);
    let mut steps = ProgramSteps::default();
    duplicates(&mut steps, left, right, shape, bits, true);
    let flags: Vec<u32> = (bits as u32..(bits + kept) as u32).collect();
    let mut free = (bits + kept) as u32;
    let total = count_steps(&mut steps, &flags, &mut free);
    steps.program(
        name,
        vec![left * shape.width, right * shape.width],
        vec![total.len()],
        free as usize,
        total,
    )
}

/// Adds steps that merge, and then write every second value that equals a neighbour, from register
/// `first` on. If `flags` is set, they write only whether it does.
fn duplicates(
    steps: &mut ProgramSteps,
    left: usize,
    right: usize,
    shape: SortShape,
    first: usize,
    flags: bool,
) {
    let (n, width) = (left + right, shape.width);
    let merged: Arc<[u32]> = sort::merge_steps(steps, left, right, shape).into();
    // Two equal values are neighbours, and one of them is at an odd place. The last place may have
    // no right neighbour.
    let inner = n.saturating_sub(1) / 2;
    for (neighbours, places) in [(2, 0..inner), (1, inner..n / 2)] {
        let mut b = Builder::new();
        let words: Vec<Vec<Bit>> = (0..=neighbours).map(|_| b.input(width)).collect();
        let (value, found) = select(&mut b, &words[0], &words[1], words.get(2).map(Vec::as_slice));
        let output = if flags { vec![found] } else { value };
        let out = output.len();
        let block = Arc::new(Layered::new(&b.finish(&[output])));
        let merged = merged.clone();
        steps.push(&block, places.len(), move |hear| {
            for k in places.clone() {
                let reads = &merged[2 * k * width..(2 * k + 1 + neighbours) * width];
                let writes: Vec<u32> = registers(k, out).map(|r| first as u32 + r).collect();
                hear(reads, &writes);
            }
        });
    }
}
