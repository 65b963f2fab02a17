//! Convolutions in floating point.
//!
//! Images are laid out with their padding, so that the elements that a weight multiplies, for all
//! places of its window, are contiguous: a window's place in the image is its place in the result,
//! except for the gap between two rows, which is dropped at the end. Sums are taken in the order of
//! weights, whatever the CPU's vectors.

use crate::{Array, operators::Conv};
use hushwire_simd::{Kernel, Lanes, cpu, dispatch};

/// The weights for one plane of windows, each with the start of its elements.
struct Sums<'a> {
    taps: &'a [(f32, usize)],
    x: &'a [f32],
    out: &'a mut [f32],
}

impl Kernel for Sums<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let n = self.out.len();
        let (fours, rest) = self.taps.as_chunks::<4>();
        for four in fours {
            let [a, b, c, d] = four.map(|(_, at)| &self.x[at..at + n]);
            let [wa, wb, wc, wd] = four.map(|(w, _)| w);
            for i in 0..n {
                self.out[i] = self.out[i] + wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
            }
        }
        for (w, at) in rest {
            self.out.iter_mut().zip(&self.x[*at..at + n]).for_each(|(sum, x)| *sum += w * x);
        }
    }
}

/// The planes of a zero-padded image, split into phases of the stride: every `stride`-th row and
/// column from each offset on. All have one length.
struct Padded {
    data: Vec<f32>,
    /// The rows and columns of a phase.
    phase: [usize; 2],
    strides: [usize; 2],
}

impl Padded {
    fn new(planes: &[f32], [rows, columns]: [usize; 2], conv: &Conv, [down, across]: [usize; 2]) -> Self {
        let strides = conv.steps.strides.map(|n| n as usize);
        let [above, left] = [conv.steps.padding[0], conv.steps.padding[1]].map(|n| n as usize);
        let [height, width] = [conv.weights.lengths[2], conv.weights.lengths[3]];
        // Up to the last window's end.
        let phase = [down + (height - 1) / strides[0], across + (width - 1) / strides[1]];
        let each = phase[0] * phase[1];
        let of_plane = each * strides[0] * strides[1];
        let mut data = vec![0.0; planes.len() / (rows * columns).max(1) * of_plane];
        for (plane, to) in
            planes.chunks_exact((rows * columns).max(1)).zip(data.chunks_exact_mut(of_plane.max(1)))
        {
            for (r, row) in plane.chunks_exact(columns).enumerate() {
                let (block, line) = ((r + above) % strides[0], (r + above) / strides[0]);
                for (c, x) in row.iter().enumerate() {
                    let (part, at) = ((c + left) % strides[1], (c + left) / strides[1]);
                    if line < phase[0] && at < phase[1] {
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

/// A convolution of images.
pub(crate) fn convolved(conv: &Conv, x: &Array, to: &[usize]) -> Array {
    let [inner, height, width] = [conv.weights.lengths[1], conv.weights.lengths[2], conv.weights.lengths[3]];
    let [channels, rows, columns] = [x.lengths[1], x.lengths[2], x.lengths[3]];
    let [outputs, down, across] = [to[1], to[2], to[3]];
    let mut out = Array::zeros(to);
    if out.data.is_empty() {
        return out;
    }
    let tier = cpu().best();
    for (image, out) in out.data.chunks_mut(outputs * down * across).enumerate() {
        let planes = &x.data[image * channels * rows * columns..][..channels * rows * columns];
        let padded = Padded::new(planes, [rows, columns], conv, [down, across]);
        let wide = padded.phase[1];
        let mut sums = vec![0.0; (down - 1) * wide + across];
        for (output, made) in out.chunks_mut(down * across).enumerate() {
            let first = output / (outputs / conv.groups) * inner;
            let weights = &conv.weights.data[output * inner * height * width..][..inner * height * width];
            let taps: Vec<(f32, usize)> = weights
                .iter()
                .enumerate()
                .map(|(k, w)| {
                    let (c, i, j) = (k / (height * width), k / width % height, k % width);
                    (*w, padded.place(first + c, i, j))
                })
                .collect();
            sums.fill(conv.bias[output]);
            dispatch(tier, false, Sums { taps: &taps, x: &padded.data, out: &mut sums });
            for (row, made) in made.chunks_mut(across).enumerate() {
                made.copy_from_slice(&sums[row * wide..][..across]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_compute::Steps;

    /// The definition, weight by weight.
    fn defined(conv: &Conv, x: &Array, to: &[usize]) -> Array {
        let [_, inner, height, width] = conv.weights.lengths[..] else { panic!("four axes") };
        let [_, channels, rows, columns] = x.lengths[..] else { panic!("four axes") };
        let mut out = Array::zeros(to);
        for (place, made) in out.data.iter_mut().enumerate() {
            let (column, row) = (place % to[3], place / to[3] % to[2]);
            let (output, image) = (place / (to[3] * to[2]) % to[1], place / (to[3] * to[2] * to[1]));
            let first = output / (to[1] / conv.groups) * inner;
            *made = conv.bias[output];
            for (c, i, j) in
                (0..inner * height * width).map(|k| (k / (height * width), k / width % height, k % width))
            {
                let at = |at: usize, step: usize, k: usize, before: u32, n: usize| {
                    (at * step + k).checked_sub(before as usize).filter(|at| *at < n)
                };
                let (strides, padding) = (conv.steps.strides, conv.steps.padding);
                let r = at(row, strides[0] as usize, i, padding[0], rows);
                let s = at(column, strides[1] as usize, j, padding[1], columns);
                if let (Some(r), Some(s)) = (r, s) {
                    let w = conv.weights.data[((output * inner + c) * height + i) * width + j];
                    *made += w * x.data[((image * channels + first + c) * rows + r) * columns + s];
                }
            }
        }
        out
    }

    #[test]
    fn convolutions_are_as_defined() {
        // Sums of thirds are rounded, differently in another order.
        let numbers =
            |n: usize, k: usize| (0..n).map(|i| ((i * k) % 23) as f32 / 3.0 - 4.0).collect::<Vec<_>>();
        // Images, groups, channels and outputs of a group; rows and columns; kernel; strides;
        // padding: above, left, below, right.
        type Case = ([usize; 4], [usize; 2], [usize; 2], [u32; 2], [u32; 4]);
        let cases: [Case; 7] = [
            ([1, 1, 3, 5], [7, 9], [3, 3], [1, 1], [1, 1, 1, 1]),
            ([2, 1, 4, 2], [6, 5], [1, 1], [1, 1], [0; 4]),
            ([1, 1, 2, 3], [9, 8], [1, 1], [2, 2], [0; 4]),
            ([2, 3, 1, 2], [8, 7], [3, 2], [2, 1], [0, 1, 2, 0]),
            ([1, 1, 3, 2], [11, 12], [7, 5], [2, 3], [3, 2, 3, 2]),
            ([1, 2, 2, 1], [4, 4], [4, 4], [1, 1], [0; 4]),
            ([1, 1, 1, 1], [3, 3], [2, 2], [3, 3], [2, 2, 0, 0]),
        ];
        for ([images, groups, inner, each], [rows, columns], [h, w], strides, padding) in cases {
            let (channels, outputs) = (groups * inner, groups * each);
            let reach = |n: usize, k: usize, axis: usize| {
                (n + (padding[axis] + padding[axis + 2]) as usize - k) / strides[axis] as usize + 1
            };
            let to = [images, outputs, reach(rows, h, 0), reach(columns, w, 1)];
            let x = Array::new(
                &[images, channels, rows, columns],
                numbers(images * channels * rows * columns, 7),
            );
            let conv = Conv {
                weights: Array::new(&[outputs, inner, h, w], numbers(outputs * inner * h * w, 5)).into(),
                bias: numbers(outputs, 3).into(),
                steps: Steps { strides, padding },
                groups,
            };
            assert_eq!(convolved(&conv, &x, &to).data, defined(&conv, &x, &to).data, "{to:?}, {strides:?}");
        }
    }
}
