//! Sums of products of numbers in the clear, with the terms of each sum in order, so that
//! floating-point results do not depend on the CPU.
//!
//! ```text
//! out[o][i] = start[o] + Σ_k weights[o][k] · x[places[k] + i]
//!
//! tiles of M outputs and N elements; all weights of a tile, then all weights of the next
//! ```

use hushwire_simd::{Kernel, Lanes, cpu, dispatch};
use std::{num::NonZero, thread};

/// LOCAL: outputs and elements of a tile, whose sums stay in registers.
const M: usize = 4;
const N: usize = TILE;
/// LOCAL: products for each thread, at least.
const ALONE: usize = 1 << 22;

/// The number of elements, of any value, that lie behind the last one that a term needs.
pub const TILE: usize = 64;

/// A number whose products are added up, integers modulo their width.
pub trait Number: Copy + Default + Send + Sync {
    /// Sums for all outputs: rows of `n` elements one after the other. `weights` are those of the
    /// first output, then those of the next. Behind the last element that a term needs `x` has
    /// [`TILE`] more, of any value.
    ///
    /// # Panics
    /// If there are fewer weights or elements (the caller's bug).
    #[must_use]
    fn sums(weights: &[Self], places: &[usize], x: &[Self], start: &[Self], n: usize) -> Vec<Self>;
}

macro_rules! numbers {
    ($($number:ty: $plus_product:expr),+) => {$(
        impl Number for $number {
            fn sums(weights: &[Self], places: &[usize], x: &[Self], start: &[Self], n: usize) -> Vec<Self> {
                sums(weights, places, x, start, n, $plus_product)
            }
        }
    )+};
}

numbers!(
    f32: |sum, a, b| sum + a * b,
    u32: |sum: u32, a, b| sum.wrapping_add(u32::wrapping_mul(a, b)),
    u64: |sum: u64, a, b| sum.wrapping_add(u64::wrapping_mul(a, b))
);

/// The sums of one tile.
struct Tile<'a, T, F> {
    /// For each term, the weights of the tile's outputs.
    weights: &'a [[T; M]],
    /// The place where the tile's elements begin, for each term.
    places: &'a [usize],
    x: &'a [T],
    start: [T; M],
    plus_product: F,
}

impl<T: Copy, F: Fn(T, T, T) -> T> Kernel for Tile<'_, T, F> {
    type Out = [[T; N]; M];
    /// A kernel by itself, with loops left as loops, on purpose: so they are made vectors.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> [[T; N]; M] {
        let mut sums = self.start.map(|start| [start; N]);
        for (weights, place) in self.weights.iter().zip(self.places) {
            let x = &self.x[*place..][..N];
            for i in 0..M {
                for j in 0..N {
                    sums[i][j] = (self.plus_product)(sums[i][j], weights[i], x[j]);
                }
            }
        }
        sums
    }
}

#[inline(always)]
fn sums<T: Copy + Default + Send + Sync>(
    weights: &[T],
    places: &[usize],
    x: &[T],
    start: &[T],
    n: usize,
    plus_product: impl Fn(T, T, T) -> T + Copy + Sync,
) -> Vec<T> {
    let (outputs, terms) = (start.len(), places.len());
    let mut out = vec![T::default(); outputs * n];
    if out.is_empty() {
        return out;
    }
    let work = |from: usize, out: &mut [T]| {
        let mut of_tile = vec![[T::default(); M]; terms];
        for (k, out) in out.chunks_mut(M * n).enumerate() {
            let first = from + k * M;
            let width = out.len() / n;
            let mut starts = [T::default(); M];
            for o in 0..width {
                starts[o] = start[first + o];
                let row = &weights[(first + o) * terms..][..terms];
                of_tile.iter_mut().zip(row).for_each(|(tile, weight)| tile[o] = *weight);
            }
            for i in (0..n).step_by(N) {
                let tile = Tile { weights: &of_tile, places, x: &x[i..], start: starts, plus_product };
                let made = dispatch(cpu().best(), false, tile);
                let len = N.min(n - i);
                for (row, made) in out.chunks_exact_mut(n).zip(&made) {
                    row[i..i + len].copy_from_slice(&made[..len]);
                }
            }
        }
    };
    let most = outputs.saturating_mul(terms).saturating_mul(n) / ALONE;
    let cores = if most < 2 { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) };
    let threads = cores.min(most).max(1);
    let each = outputs.div_ceil(threads).next_multiple_of(M);
    thread::scope(|scope| {
        let mut parts = out.chunks_mut(each * n).enumerate();
        let first = parts.next();
        for (k, part) in parts {
            let work = &work;
            scope.spawn(move || work(k * each, part));
        }
        if let Some((_, part)) = first {
            work(0, part);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the formula has it, with more terms and elements than fit a tile, and fewer.
    #[test]
    fn sums_are_those_of_the_formula() {
        for (outputs, terms, n) in [(1, 1, 1), (3, 7, 5), (4, 2, 64), (9, 30, 200), (130, 70, 1000)] {
            let number = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i as u64;
            let x: Vec<u64> = (0..n + terms * 3 + N).map(number).collect();
            let weights: Vec<u64> = (0..outputs * terms).map(|i| number(i + 11)).collect();
            let places: Vec<usize> = (0..terms).map(|k| k * 3).collect();
            let start: Vec<u64> = (0..outputs).map(|o| number(o + 5)).collect();
            let made = u64::sums(&weights, &places, &x, &start, n);
            for (at, made) in made.iter().enumerate() {
                let (o, i) = (at / n, at % n);
                let terms = (0..terms).map(|k| weights[o * terms + k].wrapping_mul(x[places[k] + i]));
                assert_eq!(*made, terms.fold(start[o], u64::wrapping_add), "{outputs} {n} at {at}");
            }
            let low = |of: &[u64]| of.iter().map(|x| *x as u32).collect::<Vec<u32>>();
            let narrow = u32::sums(&low(&weights), &places, &low(&x), &low(&start), n);
            assert_eq!(narrow, low(&made), "{outputs} {n}");
            // Sums of floating-point numbers have their terms in order.
            let third = |x: &u64| (*x % 23) as f32 / 3.0 - 4.0;
            let [x, weights, start] =
                [&x, &weights, &start].map(|of| of.iter().map(third).collect::<Vec<f32>>());
            for (at, made) in f32::sums(&weights, &places, &x, &start, n).iter().enumerate() {
                let (o, i) = (at / n, at % n);
                let sum = (0..terms).fold(start[o], |sum, k| sum + weights[o * terms + k] * x[places[k] + i]);
                assert_eq!(made.to_bits(), sum.to_bits(), "{outputs} {n} at {at}");
            }
        }
    }
}
