//! Windows over the last two axes, for convolutions and pooling: the elements that contribute to
//! each element of the result.

use crate::{ComputeError, Dim, Reduction, Shape, sums::PlainConvolution, typing::Operands};
use core::fmt::Write;

/// The steps and padding of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Steps {
    /// The distance from one place to the next in rows and columns, at least 1.
    pub strides: [u32; 2],
    /// The rows and columns added around the elements: above, left, below and right.
    pub padding: [u32; 4],
}

impl Default for Steps {
    /// Steps of one, without padding.
    fn default() -> Self {
        Steps { strides: [1; 2], padding: [0; 4] }
    }
}

/// The arguments in text that differ from their defaults.
pub(crate) fn way(steps: Steps) -> String {
    let mut out = String::new();
    let usual = Steps::default();
    if steps.strides != usual.strides {
        let _ = write!(out, ", stride={:?}", steps.strides);
    }
    if steps.padding != usual.padding {
        let _ = write!(out, ", pad={:?}", steps.padding);
    }
    out
}

/// Windows of one size over planes of one size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    /// The rows and columns of a plane.
    plane: [usize; 2],
    /// The rows and columns of a window.
    size: [usize; 2],
    steps: Steps,
}

impl Windows {
    pub(crate) fn new(plane: [usize; 2], size: [usize; 2], steps: Steps) -> Self {
        Windows { plane, size, steps }
    }

    /// The number of windows in each direction; `None` if no window fits, or the numbers are
    /// invalid.
    pub(crate) fn count(&self) -> Option<[usize; 2]> {
        let one = |k: usize| {
            let around = self.steps.padding[k] as usize + self.steps.padding[k + 2] as usize;
            let room = self.plane[k].checked_add(around)?.checked_sub(self.size[k])?;
            Some(room.checked_div(self.steps.strides[k] as usize)? + 1)
        };
        if self.size.contains(&0) { None } else { Some([one(0)?, one(1)?]) }
    }

    /// The elements of window `at`, counted row by row: the place of each in the plane and in the
    /// window. Elements outside the plane are left out.
    pub(crate) fn places(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        let across = self.count().map_or(1, |c| c[1]);
        let start = [at / across, at % across];
        let inside = move |k: usize, i: usize| {
            let place = start[k] * self.steps.strides[k] as usize + i;
            place.checked_sub(self.steps.padding[k] as usize).filter(|p| *p < self.plane[k])
        };
        let windows = *self;
        (0..self.size[0]).filter_map(move |i| Some((i, inside(0, i)?))).flat_map(move |(i, row)| {
            let inside = inside;
            (0..windows.size[1])
                .filter_map(move |j| Some((row * windows.plane[1] + inside(1, j)?, i * windows.size[1] + j)))
        })
    }
}

/// Tells which products make each element of a convolution of `[n, channels, rows, columns]` with
/// kernels `[out, channels / groups, rows, columns]`.
#[derive(Clone, Copy, Debug)]
pub struct Convolution {
    windows: Windows,
    groups: usize,
    channels: usize,
    outputs: usize,
}

impl Convolution {
    /// The convolution of operands with these lengths, which the checker has accepted.
    ///
    /// # Panics
    /// If they do not have four axes each.
    #[must_use]
    pub fn new(of: &[usize], kernels: &[usize], steps: Steps, groups: u32) -> Self {
        let windows = Windows::new([of[2], of[3]], [kernels[2], kernels[3]], steps);
        Convolution { windows, groups: groups as usize, channels: of[1], outputs: kernels[0] }
    }

    /// The factors of element `at` of the result: places in the operand and in the kernels.
    pub fn factors(&self, at: usize) -> impl Iterator<Item = (usize, usize)> {
        let [rows, columns] = self.windows.count().unwrap_or([1; 2]);
        let (plane, window) = (at / (rows * columns), at % (rows * columns));
        let (image, output) = (plane / self.outputs, plane % self.outputs);
        let (inner, per_group) = (self.channels / self.groups, self.outputs / self.groups);
        let first = image * self.channels + output / per_group * inner;
        let sizes = [self.windows.plane, self.windows.size].map(|[r, c]| r * c);
        let windows = self.windows;
        (0..inner).flat_map(move |c| {
            let places: Vec<_> = windows.places(window).collect();
            places
                .into_iter()
                .map(move |(x, k)| ((first + c) * sizes[0] + x, (output * inner + c) * sizes[1] + k))
        })
    }

    /// The elements of the result, if each word holds one element of `bits` bits.
    pub(crate) fn words(&self, bits: usize, x: &[u64], kernels: &[u64]) -> Vec<u64> {
        let Windows { plane: [rows, columns], size: [height, width], steps } = self.windows;
        let windows = self.windows.count().unwrap_or([1; 2]);
        let images = x.len() / (self.channels * rows * columns).max(1);
        let plain = PlainConvolution {
            images: [images, self.channels, rows, columns],
            kernels: [self.outputs, self.channels / self.groups, height, width],
            windows,
            steps,
            groups: self.groups,
        };
        if bits > 32 {
            return plain.run(x, kernels, &vec![0; self.outputs]);
        }
        // Bits above the width are dropped at the end.
        let [x, kernels] = [x, kernels].map(|of| of.iter().map(|word| *word as u32).collect::<Vec<_>>());
        let made = plain.run(&x, &kernels, &vec![0; self.outputs]);
        made.into_iter().map(u64::from).collect()
    }

    /// The most factors of any element.
    pub(crate) fn terms(&self) -> usize {
        let [rows, columns] = self.windows.size;
        (self.channels / self.groups).saturating_mul(rows).saturating_mul(columns)
    }
}

/// The elements of an operand with these lengths that pooling combines into element `at` of its
/// result.
///
/// # Panics
/// If it has fewer than two axes.
#[must_use]
pub fn pooled(lengths: &[usize], size: [u32; 2], steps: Steps, at: usize) -> Vec<usize> {
    let plane = [lengths[lengths.len() - 2], lengths[lengths.len() - 1]];
    let windows = Windows::new(plane, size.map(|s| s as usize), steps);
    let count = windows.count().map_or(1, |[rows, columns]| rows * columns);
    let first = at / count * plane[0] * plane[1];
    windows.places(at % count).map(|(x, _)| first + x).collect()
}

fn known(shape: &Shape, axes: core::ops::Range<usize>) -> Option<Vec<usize>> {
    let length = |dim: &Dim| match dim {
        Dim::Known(n) => usize::try_from(*n).ok(),
        Dim::Symbol(_) => None,
    };
    shape.0.get(axes)?.iter().map(length).collect()
}

/// The shape of a convolution.
pub(crate) fn convolved(of: Operands<'_>, steps: Steps, groups: u32) -> Result<Shape, ComputeError> {
    let refuse = |remedy: &str| Err(of.wrong(remedy));
    let [x, k] = [of.shape(0), of.shape(1)];
    if [x, k].iter().any(|s| s.rank() != 4) {
        return refuse(
            "it takes [images, channels, rows, columns] and kernels [out, channels, rows, columns]",
        );
    }
    let (Some(images), Some(kernels)) = (known(x, 1..4), known(k, 0..4)) else {
        return refuse("only the count of images may be a symbol");
    };
    let groups = groups as usize;
    if groups == 0 || images[0] != kernels[1].saturating_mul(groups) || kernels[0] % groups != 0 {
        return refuse("a kernel has as many channels as its group, and groups have as many kernels each");
    }
    let windows = Windows::new([images[1], images[2]], [kernels[2], kernels[3]], steps);
    match windows.count() {
        Some([rows, columns]) => Ok(Shape(vec![
            x.0[0].clone(),
            k.0[0].clone(),
            Dim::Known(rows as u64),
            Dim::Known(columns as u64),
        ])),
        None => {
            refuse("kernels have a row and a column at least and fit the padded image; strides are 1 or more")
        }
    }
}

/// The shape of pooling.
pub(crate) fn pooled_shape(
    of: Operands<'_>,
    reduction: Reduction,
    size: [u32; 2],
    steps: Steps,
) -> Result<Shape, ComputeError> {
    let refuse = |remedy: &str| Err(of.wrong(remedy));
    if !matches!(reduction, Reduction::Sum | Reduction::Mean | Reduction::Min | Reduction::Max) {
        return refuse("windows have a sum, a mean, a least and a greatest element");
    }
    let shape = of.shape(0);
    let Some(from) = shape.rank().checked_sub(2) else {
        return refuse("it takes values with rows and columns");
    };
    let Some(plane) = known(shape, from..from + 2) else {
        return refuse("the last two lengths are numbers");
    };
    // A window that is entirely in the padding would reduce nothing.
    if (0..4).any(|k| steps.padding[k] >= size[k % 2]) || plane.contains(&0) {
        return refuse("there is less padding than a window is wide, and an element at least");
    }
    let windows = Windows::new([plane[0], plane[1]], size.map(|s| s as usize), steps);
    let Some(count) = windows.count() else {
        return refuse("windows fit the padded plane, and strides are 1 or more");
    };
    let mut shape = shape.clone();
    (shape.0[from], shape.0[from + 1]) = (Dim::Known(count[0] as u64), Dim::Known(count[1] as u64));
    Ok(shape)
}
