//! Counts the ones among bits: J. Boyar, R. Peralta, "Tight bounds for the multiplicative
//! complexity of symmetric functions", TCS 396 (2008). A single circuit takes n minus the number of
//! ones in n's binary form ANDs; in stages it takes a few more.

use crate::steps::ProgramSteps;
use crate::{Bit, Builder, Layered, words};
use std::sync::Arc;

/// AGREEMENT: the number of bits that one block counts; the result is a full number of 5 bits.
const CHUNK: usize = 31;

/// The number of ones among `bits`. Every adder takes a bit as its carry.
#[must_use]
pub fn count(b: &mut Builder, bits: &[Bit]) -> Vec<Bit> {
    let [rest @ .., last] = bits else { return vec![] };
    if rest.is_empty() {
        return vec![*last];
    }
    // A full number plus the rest: no adder then has a carry out that is always 0.
    let (low, high) = rest.split_at((1 << bits.len().ilog2()) - 1);
    let (low, high) = (count(b, low), count(b, high));
    let mut total = plus(b, &low, &high, *last);
    total.truncate(width(bits.len()));
    total
}

/// The width of a number up to `n`.
fn width(n: usize) -> usize {
    (usize::BITS - n.leading_zeros()) as usize
}

/// The full sum; widths may differ.
fn plus(b: &mut Builder, x: &[Bit], y: &[Bit], carry: Bit) -> Vec<Bit> {
    let width = x.len().max(y.len());
    let pad = |x: &[Bit]| x.iter().copied().chain([Bit::ZERO; 64]).take(width).collect::<Vec<Bit>>();
    let (mut sum, carry) = words::add(b, &pad(x), &pad(y), carry);
    sum.push(carry);
    sum
}

/// Adds steps that count the ones in the registers `bits`. Returns the number's registers; new
/// registers start at `free`.
pub(crate) fn count_steps(steps: &mut ProgramSteps, bits: &[u32], free: &mut u32) -> Vec<u32> {
    let mut take = |n: usize| -> Vec<u32> {
        *free += n as u32;
        (*free - n as u32..*free).collect()
    };
    let mut numbers = vec![];
    let mut stage = vec![];
    for chunk in bits.chunks(CHUNK) {
        let number = take(width(chunk.len()));
        stage.push((chunk.to_vec(), number.clone()));
        numbers.push(number);
    }
    // All chunks but the last have one size.
    grouped(steps, &stage, |b, n, _| {
        let bits = b.input(n);
        count(b, &bits)
    });
    while numbers.len() > 1 {
        let (mut next, mut stage) = (vec![], vec![]);
        for pair in numbers.chunks(2) {
            let [x, y] = pair else {
                next.push(pair[0].clone());
                continue;
            };
            let sum = take(x.len().max(y.len()) + 1);
            stage.push(([&x[..], y].concat(), sum.clone()));
            next.push(sum);
        }
        let wide = numbers[0].len();
        grouped(steps, &stage, |b, n, _| {
            let (x, y) = (b.input(wide), b.input(n - wide));
            plus(b, &x, &y, Bit::ZERO)
        });
        numbers = next;
    }
    let mut total = numbers.pop().unwrap_or_default();
    total.truncate(width(bits.len()));
    total
}

/// Adds a step for each run of copies that read equally many registers.
fn grouped(
    steps: &mut ProgramSteps,
    copies: &[(Vec<u32>, Vec<u32>)],
    make: impl Fn(&mut Builder, usize, usize) -> Vec<Bit>,
) {
    let mut rest = copies;
    while let [first, ..] = rest {
        let n = first.0.len();
        let same = rest.iter().take_while(|c| c.0.len() == n).count();
        let mut b = Builder::new();
        let out = make(&mut b, n, first.1.len());
        let block = Arc::new(Layered::new(&b.finish(&[out])));
        let (run, others) = rest.split_at(same);
        let run = run.to_vec();
        steps.push(&block, same, move |hear| run.iter().for_each(|(reads, writes)| hear(reads, writes)));
        rest = others;
    }
}
