//! The room that values have in the ring, as operators see it.

use crate::{Numbers, scale::Scales};

/// A bound on the scale of a value that an operation reads.
pub(crate) struct Limit {
    /// The index of the value among those it reads.
    pub(crate) read: usize,
    /// The greatest size that the bound assumes for the value.
    pub(crate) greatest: f64,
    /// The largest number that scale times greatest size may reach.
    pub(crate) most: f64,
    /// The same limit, without the room that is kept free.
    pub(crate) whole: f64,
}

/// The sizes from which bounds on scales follow.
pub(crate) struct Limits<'a> {
    pub(crate) numbers: Numbers,
    /// The greatest size of the operation's value.
    pub(crate) own: f64,
    /// The greatest sizes of the values that it reads.
    pub(crate) reads: &'a [f64],
    /// The factor of the room that is kept free.
    pub(crate) free: f64,
}

impl Limits<'_> {
    /// The greatest number with `below` bits reserved.
    pub(crate) fn room(&self, below: u8) -> f64 {
        2f64.powi(i32::from(self.numbers.bits - 1) - i32::from(below))
    }
}

/// A value that an operation reads: the node of its scale, and its greatest size.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) node: usize,
    pub(crate) size: f64,
}

/// The room of an operation's numbers.
pub(crate) struct Room<'a> {
    pub(crate) numbers: Numbers,
    pub(super) scales: &'a Scales,
    /// The node of its value's scale, and whether that is wide.
    pub(crate) node: usize,
    pub(super) wide: bool,
    /// The greatest size of its value.
    pub(crate) own: f64,
    pub(crate) reads: &'a [Read],
    /// The greatest root of a row's sum of squares, if it takes such roots.
    pub(crate) root: f64,
}

impl Room<'_> {
    /// The scale of a node.
    pub(crate) fn scale(&self, node: usize) -> f64 {
        self.scales.of(node)
    }

    /// The number of bits above a number of this size at the scale of a node, less `more`.
    pub(crate) fn left(&self, size: f64, node: usize, more: f64) -> f64 {
        f64::from(self.numbers.bits - 1) - more - (size * self.scale(node)).log2()
    }

    /// The number of bits above its value, less `more`.
    pub(crate) fn own(&self, more: f64) -> f64 {
        self.left(self.own, self.node, more)
    }

    /// The number of fractional bits; products of nominal values have twice as many.
    pub(crate) fn frac(&self) -> f64 {
        self.numbers.frac.into()
    }

    /// The number of bits that are cut after layers with weights.
    pub(crate) fn cut(&self) -> f64 {
        self.numbers.cut.into()
    }

    /// The number of additional bits of its value before it is cut.
    pub(crate) fn wide(&self) -> f64 {
        if self.wide { self.cut() } else { 0.0 }
    }
}
