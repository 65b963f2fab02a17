//! Convolutions of pictures with filters, channels last.
//!
//! ```text
//! pictures   batch × height × width × channels             row-major (NHWC)
//! filters    height × width × channels × filters           row-major (HWIO)
//! result     batch × height × width × filters              row-major (NHWC)
//! ```
//!
//! Each of several groups has its own pictures, filters and result. Groups lie one behind the
//! other.
//!
//! With channels last, a convolution is a matrix product whose left factor has the pictures'
//! patches as rows. Filters and results are then row-major matrices without any copying, and a line
//! of a patch is contiguous in memory. Patches are gathered in blocks that fit into a cache, never
//! all at once. As is usual in networks, filters are not flipped, so the operation is a
//! cross-correlation.

use super::{
    bilinear::{Bilinear, BilinearForm, FactorShares, Factors, Tell, WithKnown, with_known},
    column::Column,
    gemm::{Gemm, Left, plain},
    matmul::tell_rows,
    shape::product_of,
    word::Word,
};
use crate::{Context, Place, ShareError};
use hushwire_aes::Backend;
use std::sync::Arc;

/// The geometry of a convolution. In each pair, the first number is for rows, the second for
/// columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// The number of convolutions of this geometry, side by side.
    pub groups: usize,
    /// The number of a group's pictures, and their height, width and channels.
    pub pictures: [usize; 4],
    /// The filters' height and width.
    pub window: [usize; 2],
    /// The number of a group's filters, which is the number of channels of its result.
    pub filters: usize,
    /// The steps between windows.
    pub stride: [usize; 2],
    /// The zeros above and to the left of pictures.
    pub before: [usize; 2],
    /// The zeros below and to the right.
    pub after: [usize; 2],
}

impl Geometry {
    /// The height and width of the result.
    ///
    /// # Errors
    /// [`ShareError::Shape`] for a stride or a window of 0, and if a window is larger than the
    /// padded picture.
    pub fn windows(&self) -> Result<[usize; 2], ShareError> {
        let mut windows = [0; 2];
        for (axis, windows) in windows.iter_mut().enumerate() {
            let (window, stride) = (self.window[axis], self.stride[axis]);
            if window == 0 || stride == 0 {
                let cause = "a convolution's window or stride is 0";
                return Err(ShareError::Shape { cause, remedy: "take 1 at least" });
            }
            let padded = self.pictures[1 + axis].checked_add(self.before[axis]);
            let padded = padded.and_then(|n| n.checked_add(self.after[axis]));
            let left = padded.and_then(|n| n.checked_sub(window)).ok_or(ShareError::Shape {
                cause: "a convolution's window is larger than the padded picture",
                remedy: "pad more, or take a smaller window",
            })?;
            *windows = left / stride + 1;
        }
        Ok(windows)
    }

    /// The number of elements of the result, over all groups.
    ///
    /// # Errors
    /// [`ShareError::Shape`] as [`Geometry::windows`], and if there are more elements than
    /// addresses.
    pub fn results(&self) -> Result<usize, ShareError> {
        let [down, across] = self.windows()?;
        product_of(&[self.groups, self.pictures[0], down, across, self.filters])
    }
}

/// A convolution as a product of matrices, one per group.
#[derive(Clone, Copy)]
pub struct Patches {
    geometry: Geometry,
    windows: [usize; 2],
    shape: [usize; 3],
}

/// One party's endpoint of a convolution.
pub type Conv2d<W> = Bilinear<W, Patches>;

impl<W: Word> Conv2d<W> {
    /// Convolves pictures x with filters y.
    ///
    /// # Errors
    /// [`ShareError::Shape`] as [`Geometry::windows`], and if there are more elements than
    /// addresses; [`ShareError::Length`] unless shares have the elements of the geometry.
    pub fn new(
        cx: Context,
        geometry: Geometry,
        x: Arc<Column<W>>,
        y: Arc<Column<W>>,
    ) -> Result<Self, ShareError> {
        let patches = Patches::new(geometry)?;
        let [pictures, filters] = patches.factors()?;
        Bilinear::of(cx, patches, (x, pictures), (y, filters))
    }
}

impl WithKnown for Patches {
    fn factors(&self) -> Result<[usize; 2], ShareError> {
        let Patches { geometry, shape: [_, depth, filters], .. } = self;
        let [batch, height, width, channels] = geometry.pictures;
        let pictures = product_of(&[geometry.groups, batch, height, width, channels])?;
        Ok([pictures, product_of(&[geometry.groups, *depth, *filters])?])
    }

    fn plain<W: Word>(&self, backend: Backend, x: &[W], y: &[W], z: &mut [W]) {
        let [pictures, filters, results] = self.sizes();
        for group in 0..self.geometry.groups {
            let z = &mut z[group * results..][..results];
            plain(backend, self, self.shape, part(x, group, pictures), part(y, group, filters), z);
        }
    }
}

/// Convolves pictures x with filters y if all parties know one of them; this takes no message.
///
/// # Errors
/// As [`Conv2d::new`].
pub fn conv2d_known<W: Word>(
    backend: Backend,
    geometry: Geometry,
    factors: Factors<'_, W>,
) -> Result<Column<W>, ShareError> {
    with_known(backend, &Patches::new(geometry)?, factors)
}

impl<W: Word> Left<W> for Patches {
    fn copy(&self, words: &[W], _: usize, row: usize, from: usize, out: &mut [W]) {
        let Geometry { pictures: [_, height, width, channels], window, stride, before, .. } = self.geometry;
        let [down, across] = self.windows;
        let (picture, top, side) = (row / (down * across), row / across % down, row % across);
        // A line of a window is a contiguous part of a picture's line, except for the padding.
        let (run, line, beside) = (window[1] * channels, width * channels, before[1] * channels);
        let (mut at, mut out) = (from, out);
        while !out.is_empty() {
            let (y, place) = (top * stride[0] + at / run, side * stride[1] * channels + at % run);
            let len = (run - at % run).min(out.len());
            let (now, later) = out.split_at_mut(len);
            (out, at) = (later, at + len);
            if y < before[0] || y - before[0] >= height {
                now.fill(W::default());
                continue;
            }
            let end = (beside + line).saturating_sub(place).min(len);
            let begin = beside.saturating_sub(place).min(end);
            now[..begin].fill(W::default());
            if begin < end {
                let first = (picture * height + y - before[0]) * line + place + begin - beside;
                now[begin..end].copy_from_slice(&words[first..first + end - begin]);
            }
            now[end..].fill(W::default());
        }
    }
}

impl Patches {
    fn new(geometry: Geometry) -> Result<Patches, ShareError> {
        let windows = geometry.windows()?;
        geometry.results()?;
        let rows = product_of(&[geometry.pictures[0], windows[0], windows[1]])?;
        let depth = product_of(&[geometry.window[0], geometry.window[1], geometry.pictures[3]])?;
        Ok(Patches { geometry, windows, shape: [rows, depth, geometry.filters] })
    }

    /// The elements of both factors and of the result, for one group.
    fn sizes(&self) -> [usize; 3] {
        let [rows, depth, filters] = self.shape;
        [self.geometry.pictures.iter().product(), depth * filters, rows * filters]
    }
}

/// The part of `words` for one group, with `size` elements per group.
fn part<W>(words: &[W], group: usize, size: usize) -> &[W] {
    &words[group * size..][..size]
}

impl BilinearForm for Patches {
    const STEP: &'static str = "convolution";

    fn results(&self) -> usize {
        self.geometry.groups * self.sizes()[2]
    }

    fn add<W: Word>(&self, backend: Backend, x: FactorShares<'_, W>, y: FactorShares<'_, W>, z: &mut [W]) {
        let [pictures, filters, results] = self.sizes();
        for group in 0..self.geometry.groups {
            let (x, y) = (x.map(|x| part(x, group, pictures)), y.map(|y| part(y, group, filters)));
            let z = &mut z[group * results..][..results];
            Gemm { left: self, shape: self.shape, x, y, z }.run(backend);
        }
    }

    fn tell<W: Word>(&self, x: FactorShares<'_, W>, y: FactorShares<'_, W>, tell: &mut Tell<'_>) {
        let [pictures, filters, results] = self.sizes();
        for group in 0..self.geometry.groups {
            let (x, y) = (x.map(|x| part(x, group, pictures)), y.map(|y| part(y, group, filters)));
            let first = group * results * W::BYTES;
            tell_rows(self, self.shape, x, y, &mut |place, x, y| {
                tell(Place { offset: first + place.offset, ..place }, x, y);
            });
        }
    }
}
