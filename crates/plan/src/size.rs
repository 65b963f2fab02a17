//! The sizes of values, and the axes and windows along which steps read elements.

use crate::share::Residue;
use hushwire_compute::Steps;
use std::ops::Range;

/// A step's number, which is also the number of its value.
pub type Slot = usize;

/// The form and size of a step's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Elements that all parties know: the bits of each, and the number of elements.
    Known(usize, usize),
    /// Shares of bit planes: the numbers of planes and elements.
    Bits(usize, usize),
    /// Shares of numbers modulo a power of two: its exponent, and the number of elements.
    Words(u32, usize),
    /// An order of rows: the number of rows, and of the order's parts if the back end has such
    /// parts.
    Order(usize, usize),
}

impl Size {
    /// The number of elements.
    #[must_use]
    pub fn rows(self) -> usize {
        match self {
            Size::Known(_, rows) | Size::Bits(_, rows) | Size::Words(_, rows) | Size::Order(rows, _) => rows,
        }
    }

    /// The bits of an element.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Size::Known(width, _) | Size::Bits(width, _) => width,
            Size::Words(ring, _) => ring as usize,
            Size::Order(..) => 64,
        }
    }

    /// The bits of the words' ring.
    #[must_use]
    pub fn ring(self) -> u32 {
        self.width() as u32
    }

    /// The number of parts of an order.
    #[must_use]
    pub fn stages(self) -> usize {
        match self {
            Size::Order(_, stages) => stages,
            Size::Known(..) | Size::Bits(..) | Size::Words(..) => 0,
        }
    }

    /// The same form with another number of elements.
    #[must_use]
    pub fn with_rows(self, rows: usize) -> Size {
        match self {
            Size::Known(width, _) => Size::Known(width, rows),
            Size::Bits(width, _) => Size::Bits(width, rows),
            Size::Words(ring, _) => Size::Words(ring, rows),
            Size::Order(_, stages) => Size::Order(rows, stages),
        }
    }
}

/// The shape of elements along an axis: `outer` groups of series, series of `n` elements, `inner`
/// apart.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    outer: usize,
    /// The elements of a series.
    pub n: usize,
    pub(crate) inner: usize,
}

impl Axis {
    /// The axis with this number of a value with these lengths.
    #[must_use]
    pub fn of(lengths: &[usize], axis: usize) -> Axis {
        let [outer, inner] = [&lengths[..axis], &lengths[axis + 1..]].map(|of| of.iter().product());
        Axis { outer, n: lengths[axis], inner }
    }

    /// The distance from one element of a series to the next.
    #[must_use]
    pub fn inner(self) -> usize {
        self.inner
    }

    /// The number of series.
    #[must_use]
    pub fn series(self) -> usize {
        self.outer * self.inner
    }

    /// The place of element `i` of series `k`.
    #[must_use]
    pub fn place(self, k: usize, i: usize) -> usize {
        (k / self.inner * self.n + i) * self.inner + k % self.inner
    }

    /// Appends the sums along the axis: of each series or, with `prefix`, up to and including each
    /// element.
    pub(crate) fn sums<W: Residue>(self, x: &[W], prefix: bool, out: &mut Vec<W>) {
        if !prefix {
            let all = |k: usize| (0..self.n).map(move |i| x[self.place(k, i)]);
            return out.extend((0..self.series()).map(|k| all(k).fold(W::default(), W::added)));
        }
        out.extend_from_slice(x);
        for (k, i) in (0..self.series()).flat_map(|k| (1..self.n).map(move |i| (k, i))) {
            out[self.place(k, i)] = out[self.place(k, i)].added(out[self.place(k, i - 1)]);
        }
    }
}

/// Windows along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Along {
    /// The number of elements.
    pub(crate) n: usize,
    /// The number of windows.
    pub(crate) windows: usize,
    /// The elements of a window, the step between windows, and the padding before the first
    /// element.
    pub(crate) size: usize,
    pub(crate) stride: usize,
    before: usize,
}

impl Along {
    /// The elements of a window. There is at least one.
    fn span(&self, window: usize) -> Range<usize> {
        let first = window * self.stride;
        first.saturating_sub(self.before)..(first + self.size - self.before).min(self.n)
    }

    /// Element `i` of a window. If it lies outside, the nearest element inside.
    pub(crate) fn nearest(&self, window: usize, i: usize) -> usize {
        (window * self.stride + i).saturating_sub(self.before).min(self.n - 1)
    }
}

/// Windows over consecutive planes.
#[derive(Clone, Copy, Debug)]
pub struct Pooling {
    pub(crate) planes: usize,
    pub(crate) rows: Along,
    pub(crate) columns: Along,
}

impl Pooling {
    /// Windows over values of some lengths, with results of other lengths.
    #[must_use]
    pub fn new(from: &[usize], to: &[usize], size: [u32; 2], steps: Steps) -> Pooling {
        let last = from.len() - 2;
        let along = |k: usize| Along {
            n: from[last + k],
            windows: to[last + k],
            size: size[k] as usize,
            stride: steps.strides[k] as usize,
            before: steps.padding[k] as usize,
        };
        Pooling { planes: from[..last].iter().product(), rows: along(0), columns: along(1) }
    }

    /// The number of windows of all planes.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.planes * self.rows.windows * self.columns.windows
    }

    /// The number of elements of each window of a plane.
    pub(crate) fn counts(&self) -> impl Iterator<Item = usize> {
        let Pooling { rows, columns, .. } = *self;
        let count = move |r| (0..columns.windows).map(move |c| rows.span(r).len() * columns.span(c).len());
        (0..rows.windows).flat_map(count)
    }

    /// Appends the sum of each window.
    pub(crate) fn sums<W: Residue>(&self, x: &[W], out: &mut Vec<W>) {
        let (height, width) = (self.rows.n, self.columns.n);
        for plane in 0..self.planes {
            let plane = &x[plane * height * width..][..height * width];
            for row in 0..self.rows.windows {
                for column in 0..self.columns.windows {
                    let lines = plane.chunks_exact(width).skip(self.rows.span(row).start);
                    let lines = lines.take(self.rows.span(row).len());
                    let all = lines.flat_map(|line| &line[self.columns.span(column)]);
                    out.push(all.fold(W::default(), |sum, word| sum.added(*word)));
                }
            }
        }
    }
}
