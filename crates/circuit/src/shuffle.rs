//! Permutation networks: A. Waksman, "A permutation network", JACM 15 (1968), for any number of
//! values as in B. Beauquier, É. Darrot, "On arbitrary size Waksman networks and their
//! vulnerability", PPL 12 (2002).
//!
//! ```text
//! x0 ─┬switch┬── upper network ──┬switch┬─ y0
//! x1 ─┘      └─┐               ┌─┘      └─ y1
//! x2 ─┬switch┬───  lower       ───────── y2
//! x3 ─┘      └──── network     ───────── y3
//!
//! Σ ⌈log₂ k⌉, k = 1 … n, switches in 2 ⌈log₂ n⌉ − 1 columns; an even network has no last switch on
//! the right, and the last value of an odd one goes to the lower network as it is
//! ```
//!
//! A switch of values of `W` bits has W ANDs and AND-depth 1. A party that knows the control bits
//! knows the permutation.

use crate::steps::ProgramSteps;
use crate::{Builder, Layered, Program, sort::registers, words};
use std::sync::Arc;

pub use crate::route::{MOST_ROUTED, route};

/// A switch: the places of its two values, and the number of its control bit.
type Switch = (u32, u32, u32);

/// The number of switches, and thus of control bits, of a network of `n` values.
#[must_use]
pub fn switches(n: usize) -> usize {
    (1..=n).map(|k| k.next_power_of_two().trailing_zeros() as usize).sum()
}

/// A program that permutes `n` values of `width` bits. Its inputs are the values and the control
/// bits that [`route`] returns.
#[must_use]
pub fn shuffle(name: &str, n: usize, width: usize) -> Program {
    let mut steps = ProgramSteps::default();
    let (bits, controls) = (n * width, switches(n));
    shuffle_steps(&mut steps, (0..bits as u32).collect(), bits as u32, width);
    let outputs = (0..bits as u32).collect();
    steps.program(name, vec![bits, controls], vec![bits], bits + controls, outputs)
}

/// Adds steps that permute the values in the registers `values` (bit after bit, `width` each), with
/// control bits from register `control` on.
pub(crate) fn shuffle_steps(steps: &mut ProgramSteps, values: Vec<u32>, control: u32, width: usize) {
    let mut b = Builder::new();
    let (swap, x, y) = (b.input(1), b.input(width), b.input(width));
    let (x, y) = words::swap(&mut b, swap[0], &x, &y);
    let block = Arc::new(Layered::new(&b.finish(&[x, y])));
    let values: Arc<[u32]> = values.into();
    let mut columns = vec![];
    let all: Vec<u32> = (0..(values.len() / width.max(1)) as u32).collect();
    network(&all, 0, &mut 0, &mut columns);
    for column in columns {
        let values = values.clone();
        steps.push(&block, column.len(), move |hear| {
            let mut both = Vec::with_capacity(2 * width + 1);
            for (x, y, bit) in &column {
                let value = |v: u32| registers(v as usize, width).map(|r| values[r as usize]);
                both.clear();
                both.push(control + bit);
                both.extend(value(*x).chain(value(*y)));
                hear(&both, &both[1..]);
            }
        });
    }
}

/// The values of the upper network and of the lower network.
fn halves<T: Copy>(at: &[T]) -> (Vec<T>, Vec<T>) {
    let (pairs, rest) = at.as_chunks::<2>();
    let upper = pairs.iter().map(|p| p[0]).collect();
    (upper, pairs.iter().map(|p| p[1]).chain(rest.iter().copied()).collect())
}

/// Adds the switches on the values `at` to the columns from `first` on; `next` numbers the control
/// bits.
fn network(at: &[u32], first: usize, next: &mut u32, columns: &mut Vec<Vec<Switch>>) {
    let n = at.len();
    if n < 2 {
        return;
    }
    let depth = 2 * n.next_power_of_two().trailing_zeros() as usize - 1;
    columns.resize(columns.len().max(first + depth), vec![]);
    let column = |k: usize, pairs: &[[u32; 2]], columns: &mut Vec<Vec<Switch>>, next: &mut u32| {
        for [x, y] in pairs {
            columns[k].push((*x, *y, *next));
            *next += 1;
        }
    };
    let (pairs, rest) = at.as_chunks::<2>();
    column(first, pairs, columns, next);
    let (upper, lower) = halves(at);
    network(&upper, first + 1, next, columns);
    network(&lower, first + 1, next, columns);
    column(first + depth - 1, &pairs[..n / 2 - usize::from(rest.is_empty())], columns, next);
}
