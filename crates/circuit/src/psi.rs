//! Intersection of two sorted sets by sort, compare, shuffle: Y. Huang, D. Evans, J. Katz, "Private set intersection:
//! are garbled circuits better than custom protocols?", NDSS 2012, Sec. 5.
//!
//! ```text
//! A ascending ─┐ merge      2N   keep, for every second value, those equal  N      shuffle
//! B ascending ─┘ by ⌈log 2N⌉ ──► to a neighbour, with a tag that is 1 ─────────────► under bits of one party
//!                steps           (the others become 0)
//! ```

use crate::steps::Steps;
use crate::{Bit, Builder, Layered, Program, sort, sort::Shape, words};
use std::sync::Arc;

/// The middle value with tag 1 in its last bit if it equals a neighbour, else zeros: DupSelect-3, 3 W ANDs for W bits.
#[must_use]
pub fn select(b: &mut Builder, before: &[Bit], value: &[Bit], after: Option<&[Bit]>) -> Vec<Bit> {
    let left = words::equal(b, before, value);
    let right = after.map_or(Bit::ZERO, |after| words::equal(b, value, after));
    let tag = words::any(b, &[left, right]);
    let mut kept = words::and_bit(b, tag, value);
    kept.push(tag);
    kept
}

/// The intersection of two sets of `n` ascending values: inputs are the two sets and the control bits of
/// [`crate::shuffle::route`]; the output is `n` values of `width + 1` bits, the last the tag of a value that is in both.
#[must_use]
pub fn intersect(name: &str, n: usize, shape: Shape) -> Program {
    let width = shape.width;
    let mut steps = Steps::default();
    let merged: Arc<[u32]> = sort::merge_steps(&mut steps, n, n, shape).into();
    let value = move |merged: &[u32], k: usize| merged[k * width..(k + 1) * width].to_vec();
    let controls = crate::shuffle::switches(n);
    let first_control = 2 * n * width;
    let first_kept = first_control + controls;
    let kept = move |k: usize| sort::registers(k, width + 1).map(move |r| first_kept as u32 + r);
    // Two equal values stand together, and one of them at an odd place.
    for (neighbours, copies) in [(2, n - 1), (1, 1)] {
        let mut b = Builder::new();
        let words: Vec<Vec<Bit>> = (0..=neighbours).map(|_| b.input(width)).collect();
        let output = select(&mut b, &words[0], &words[1], words.get(2).map(Vec::as_slice));
        let block = Arc::new(Layered::new(&b.finish(&[output])));
        let merged = merged.clone();
        steps.push(&block, copies, move |hear| {
            for k in if neighbours == 2 { 0..n - 1 } else { n - 1..n } {
                let reads: Vec<u32> = (0..=neighbours).flat_map(|i| value(&merged, 2 * k + i)).collect();
                hear(&reads, &kept(k).collect::<Vec<u32>>());
            }
        });
    }
    let values: Vec<u32> = (0..n).flat_map(kept).collect();
    crate::shuffle::shuffle_steps(&mut steps, values.clone(), first_control as u32, width + 1);
    let inputs = vec![n * width, n * width, controls];
    steps.program(name, inputs, vec![n * (width + 1)], first_kept + n * (width + 1), values)
}
