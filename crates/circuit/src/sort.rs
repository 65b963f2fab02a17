//! Networks that sort and merge, as programs: a step is a column of compare-exchanges, none of
//! which share a value.
//!
//! ```text
//! sort    K. E. Batcher's merge exchange for any number of values (D. E. Knuth, TAOCP vol. 3,
//!         5.2.2, Algorithm M): t (t + 1) / 2 steps for t = ⌈log₂ n⌉,
//!         (t² − t + 4) 2^(t−2) − 1 exchanges for n = 2^t
//! merge   Batcher's bitonic merger (AFIPS 1968), for any lengths: ⌈log₂ n⌉ steps, each of n/2
//!         exchanges for n = 2^t
//! ```
//!
//! An exchange of values of `W` bits has 2 W ANDs and AND-depth W + 1; with [`Compare::Fast`],
//! about 4 W and 2 + log W. Value `k` has the registers from `k W` on, its least significant bit
//! first.

use crate::steps::ProgramSteps;
use crate::{Builder, Layered, Program, words};
use std::sync::Arc;

/// The form of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Bit after bit: the fewest ANDs.
    Small,
    /// In a tree: the fewest layers.
    Fast,
}

/// The values to sort: `width` bits each, ordered by their lowest `key` bits. The other bits move
/// with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortShape {
    /// The width of a value, in bits.
    pub width: usize,
    /// The number of bits that are compared; at most `width`.
    pub key: usize,
    /// The comparison.
    pub compare: Compare,
}

impl SortShape {
    /// A circuit of two values: the one with the smaller key comes out first. Equal keys are not
    /// exchanged.
    #[must_use]
    pub fn exchange(self) -> Layered {
        let mut b = Builder::new();
        let (x, y) = (b.input(self.width), b.input(self.width));
        let (kx, ky) = (&x[..self.key], &y[..self.key]);
        let swap = match self.compare {
            Compare::Small => words::less(&mut b, ky, kx),
            Compare::Fast => words::less_fast(&mut b, ky, kx),
        };
        let (low, high) = words::swap(&mut b, swap, &x, &y);
        Layered::new(&b.finish(&[low, high]))
    }
}

/// The registers of a value of `width` bits.
pub(crate) fn registers(value: usize, width: usize) -> impl Iterator<Item = u32> {
    (value * width..(value + 1) * width).map(|r| r as u32)
}

/// A program that sorts `n` values in ascending order: one input and one output of `n · width`
/// bits.
#[must_use]
pub fn sort(name: &str, n: usize, shape: SortShape) -> Program {
    let mut steps = ProgramSteps::default();
    sort_steps(&mut steps, n, shape);
    let bits = n * shape.width;
    steps.program(name, vec![bits], vec![bits], bits, (0..bits as u32).collect())
}

fn sort_steps(steps: &mut ProgramSteps, n: usize, shape: SortShape) {
    let block = Arc::new(shape.exchange());
    merge_exchange(n, |column| exchange(steps, &block, shape.width, move || column.pairs()));
}

/// The network that sorts `n` values: for each column, the places of its exchanges, the lower place
/// first.
pub fn columns(n: usize) -> impl Iterator<Item = Vec<(usize, usize)>> {
    let mut columns = vec![];
    merge_exchange(n, |column| columns.push(column));
    columns.into_iter().map(|column| column.pairs().collect())
}

/// A column of the network that sorts `n` values.
#[derive(Clone, Copy)]
pub(crate) struct SortColumn {
    n: usize,
    distance: usize,
    mask: usize,
    wanted: usize,
}

impl SortColumn {
    /// The places of each exchange, the lower place first.
    pub(crate) fn pairs(self) -> impl Iterator<Item = (usize, usize)> {
        let SortColumn { n, distance, mask, wanted } = self;
        (0..n - distance).filter(move |i| i & mask == wanted).map(move |i| (i, i + distance))
    }
}

/// Algorithm M, with its names.
pub(crate) fn merge_exchange(n: usize, mut hear: impl FnMut(SortColumn)) {
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            hear(SortColumn { n, distance: d, mask: p, wanted: r });
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
}

fn exchange<P>(
    steps: &mut ProgramSteps,
    block: &Arc<Layered>,
    width: usize,
    pairs: impl Fn() -> P + Send + Sync + 'static,
) where
    P: Iterator<Item = (usize, usize)>,
{
    steps.push(block, pairs().count(), move |hear| {
        let mut both = Vec::with_capacity(2 * width);
        for (x, y) in pairs() {
            both.clear();
            both.extend(registers(x, width).chain(registers(y, width)));
            hear(&both, &both);
        }
    });
}

/// A program that merges two ascending sequences of `left` and `right` values: two inputs, one
/// ascending output.
#[must_use]
pub fn merge(name: &str, left: usize, right: usize, shape: SortShape) -> Program {
    let mut steps = ProgramSteps::default();
    let outputs = merge_steps(&mut steps, left, right, shape);
    let (x, y) = (left * shape.width, right * shape.width);
    steps.program(name, vec![x, y], vec![x + y], x + y, outputs)
}

/// Adds steps that merge the first `left` values with the next `right`. Returns the register of
/// each bit of the result.
pub(crate) fn merge_steps(steps: &mut ProgramSteps, left: usize, right: usize, shape: SortShape) -> Vec<u32> {
    let n = left + right;
    // The network sees the left values in reverse: descending, then ascending.
    let place = move |i: usize| if i < left { left - 1 - i } else { i };
    let block = Arc::new(shape.exchange());
    let mut d = n.next_power_of_two() / 2;
    while d > 0 {
        let pairs = move || (0..n - d).filter(move |i| i & d == 0).map(move |i| (place(i), place(i + d)));
        exchange(steps, &block, shape.width, pairs);
        d /= 2;
    }
    (0..n).flat_map(|i| registers(place(i), shape.width)).collect()
}
