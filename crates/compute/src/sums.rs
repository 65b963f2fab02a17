//! Convolutions in the clear, as sums of products whose terms are in order.
//!
//! Images are laid out with their padding, so that the elements that a weight multiplies, for all
//! places of its window, are contiguous: a window's place in the image is its place in the result,
//! except for the gap between two rows, which is dropped at the end.

use crate::windows::Steps;
use hushwire_columns::{Number, TILE};

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
        let mut data = vec![T::default(); count * of_plane + TILE];
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
                let made = T::sums(weights, &places, &padded.data, bias, n);
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
