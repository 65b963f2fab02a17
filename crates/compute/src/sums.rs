//! Sums of products in the clear, for convolutions and products of matrices: fast, and with the
//! terms of each sum in order, so that floating-point results do not depend on the CPU.
//!
//! ```text
//! out[o][i] = start[o] + Σ_k weights[o][k] · x[places[k] + i]
//!
//! tiles of M outputs and N elements; all weights of a tile, then all weights of the next
//! ```
//!
//! Images are laid out with their padding, so that the elements that a weight multiplies, for all
//! places of its window, are contiguous: a window's place in the image is its place in the result,
//! except for the gap between two rows, which is dropped at the end.

use crate::windows::Steps;
use hushwire_simd::{Kernel, Lanes, cpu, dispatch};
use std::{num::NonZero, thread};

/// LOCAL: outputs and elements of a tile, whose sums stay in registers.
const M: usize = 4;
const N: usize = 64;
/// LOCAL: products for each thread, at least.
const ALONE: usize = 1 << 22;

/// A number whose products are added up.
pub trait Number: Copy + Default + Send + Sync {
    /// This number and a product.
    #[must_use]
    fn plus_product(self, a: Self, b: Self) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn plus_product(self, a: f32, b: f32) -> f32 {
        self + a * b
    }
}

impl Number for u32 {
    #[inline(always)]
    fn plus_product(self, a: u32, b: u32) -> u32 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

impl Number for u64 {
    #[inline(always)]
    fn plus_product(self, a: u64, b: u64) -> u64 {
        self.wrapping_add(a.wrapping_mul(b))
    }
}

/// The sums of one tile.
struct Tile<'a, T> {
    /// For each term, the weights of the tile's outputs.
    weights: &'a [[T; M]],
    /// The place where the tile's elements begin, for each term.
    places: &'a [usize],
    x: &'a [T],
    start: [T; M],
}

impl<T: Number> Kernel for Tile<'_, T> {
    type Out = [[T; N]; M];
    /// A kernel by itself, with loops left as loops, on purpose: so they are made vectors.
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) -> [[T; N]; M] {
        let mut sums = self.start.map(|start| [start; N]);
        for (weights, place) in self.weights.iter().zip(self.places) {
            let x = &self.x[*place..][..N];
            for i in 0..M {
                for j in 0..N {
                    sums[i][j] = sums[i][j].plus_product(weights[i], x[j]);
                }
            }
        }
        sums
    }
}

/// Sums for all outputs: rows of `n` elements one after the other. `weights` are those of the first
/// output, then those of the next. Behind the last element that a term needs `x` has 64 more, of
/// any value.
pub fn sums<T: Number>(weights: &[T], places: &[usize], x: &[T], start: &[T], n: usize) -> Vec<T> {
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
                let tile = Tile { weights: &of_tile, places, x: &x[i..], start: starts };
                let made = dispatch(cpu().best(), false, tile);
                let len = N.min(n - i);
                for (row, made) in out.chunks_exact_mut(n).zip(&made) {
                    row[i..i + len].copy_from_slice(&made[..len]);
                }
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(outputs.saturating_mul(terms).saturating_mul(n) / ALONE).max(1);
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

/// A convolution of images `[n, channels, rows, columns]` with kernels
/// `[outputs, channels / groups, rows, columns]`.
#[derive(Clone, Copy, Debug)]
pub struct PlainConvolution {
    /// The lengths of the images.
    pub images: [usize; 4],
    /// The lengths of the kernels.
    pub kernels: [usize; 4],
    /// Rows and columns of the result.
    pub windows: [usize; 2],
    /// Steps and padding.
    pub steps: Steps,
    /// The number of groups.
    pub groups: usize,
}

/// The planes of zero-padded images, split into phases of the stride: every `stride`-th row and
/// column from each offset on. All have one length.
struct Padded<T> {
    data: Vec<T>,
    /// The rows and columns of a phase.
    phase: [usize; 2],
    strides: [usize; 2],
}

impl<T: Number> Padded<T> {
    fn new(planes: &[T], of: &PlainConvolution) -> Self {
        let ([_, _, rows, columns], [down, across]) = (of.images, of.windows);
        let strides = of.steps.strides.map(|n| n as usize);
        let [above, left] = [of.steps.padding[0], of.steps.padding[1]].map(|n| n as usize);
        let [_, _, height, width] = of.kernels;
        // Up to the last window's end.
        let phase = [down + (height - 1) / strides[0], across + (width - 1) / strides[1]];
        let each = phase[0] * phase[1];
        let of_plane = each * strides[0] * strides[1];
        let count = planes.len() / (rows * columns).max(1);
        let mut data = vec![T::default(); count * of_plane + N];
        for (plane, to) in
            planes.chunks_exact((rows * columns).max(1)).zip(data.chunks_exact_mut(of_plane.max(1)))
        {
            for (r, row) in plane.chunks_exact(columns).enumerate() {
                let (block, line) = ((r + above) % strides[0], (r + above) / strides[0]);
                if line >= phase[0] {
                    continue;
                }
                if strides[1] == 1 {
                    let to = &mut to[block * each + line * phase[1]..][..phase[1]];
                    to.iter_mut().skip(left).zip(row).for_each(|(to, x)| *to = *x);
                    continue;
                }
                for (c, x) in row.iter().enumerate() {
                    let (part, at) = ((c + left) % strides[1], (c + left) / strides[1]);
                    if at < phase[1] {
                        to[(block * strides[1] + part) * each + line * phase[1] + at] = *x;
                    }
                }
            }
        }
        Padded { data, phase, strides }
    }

    /// The place of the element that element `i`, `j` of the first window covers in a plane.
    fn place(&self, plane: usize, i: usize, j: usize) -> usize {
        let [s, t] = self.strides;
        let phase = (plane * s + i % s) * t + j % t;
        phase * self.phase[0] * self.phase[1] + i / s * self.phase[1] + j / t
    }
}

impl PlainConvolution {
    /// The results, of images and kernels of these lengths, plus a number for each output.
    pub fn run<T: Number>(&self, x: &[T], kernels: &[T], bias: &[T]) -> Vec<T> {
        let ([images, channels, rows, columns], [outputs, inner, height, width]) =
            (self.images, self.kernels);
        let [down, across] = self.windows;
        let mut out = vec![T::default(); images * outputs * down * across];
        if out.is_empty() {
            return out;
        }
        let (per_group, taps) = (outputs / self.groups, inner * height * width);
        for (image, out) in out.chunks_exact_mut(outputs * down * across).enumerate() {
            let planes = &x[image * channels * rows * columns..][..channels * rows * columns];
            let padded = Padded::new(planes, self);
            let wide = padded.phase[1];
            let n = (down - 1) * wide + across;
            for (group, out) in out.chunks_exact_mut(per_group * down * across).enumerate() {
                let place = |k: usize| {
                    let (c, i, j) = (k / (height * width), k / width % height, k % width);
                    padded.place(group * inner + c, i, j)
                };
                let places: Vec<usize> = (0..taps).map(place).collect();
                let weights = &kernels[group * per_group * taps..][..per_group * taps];
                let bias = &bias[group * per_group..][..per_group];
                let made = sums(weights, &places, &padded.data, bias, n);
                for (sums, made) in made.chunks_exact(n).zip(out.chunks_exact_mut(down * across)) {
                    for (row, made) in made.chunks_exact_mut(across).enumerate() {
                        made.copy_from_slice(&sums[row * wide..][..across]);
                    }
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the formula has it, with more terms and elements than fit a tile, and fewer.
    #[test]
    fn sums_are_those_of_the_formula() {
        for (outputs, terms, n) in [(1, 1, 1), (3, 7, 5), (4, 2, 64), (9, 30, 200), (130, 70, 500)] {
            let number = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i as u64;
            let x: Vec<u64> = (0..n + terms * 3 + N).map(number).collect();
            let weights: Vec<u64> = (0..outputs * terms).map(|i| number(i + 11)).collect();
            let places: Vec<usize> = (0..terms).map(|k| k * 3).collect();
            let start: Vec<u64> = (0..outputs).map(|o| number(o + 5)).collect();
            let made = sums(&weights, &places, &x, &start, n);
            for (at, made) in made.iter().enumerate() {
                let (o, i) = (at / n, at % n);
                let terms = (0..terms).map(|k| weights[o * terms + k].wrapping_mul(x[places[k] + i]));
                assert_eq!(*made, terms.fold(start[o], u64::wrapping_add), "{outputs} {n} at {at}");
            }
            // Sums of floating-point numbers have their terms in order.
            let third = |x: &u64| (*x % 23) as f32 / 3.0 - 4.0;
            let [x, weights, start] =
                [&x, &weights, &start].map(|of| of.iter().map(third).collect::<Vec<f32>>());
            for (at, made) in sums(&weights, &places, &x, &start, n).iter().enumerate() {
                let (o, i) = (at / n, at % n);
                let sum = (0..terms).fold(start[o], |sum, k| sum + weights[o * terms + k] * x[places[k] + i]);
                assert_eq!(made.to_bits(), sum.to_bits(), "{outputs} {n} at {at}");
            }
        }
    }
}
