//! Convolutions in floating point. Terms are added in the order of weights, so that the sums do not
//! depend on the CPU's vectors.

use crate::{Array, operators::Conv};
use hushwire_compute::sums::PlainConvolution;

/// A convolution of images.
pub(crate) fn convolved(conv: &Conv, x: &Array, to: &[usize]) -> Array {
    let [images, channels, rows, columns] = [x.lengths[0], x.lengths[1], x.lengths[2], x.lengths[3]];
    let of = &conv.weights.lengths;
    let plain = PlainConvolution {
        images: [images, channels, rows, columns],
        kernels: [of[0], of[1], of[2], of[3]],
        windows: [to[2], to[3]],
        steps: conv.steps,
        groups: conv.groups,
    };
    Array::new(to, plain.run(&x.data, &conv.weights.data, &conv.bias))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_compute::Steps;

    /// The convolution by its definition, weight by weight.
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
        // Sums of thirds are rounded, and differ in another order.
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
