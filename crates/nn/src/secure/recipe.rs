//! Recipes of the owner's inputs: the weights from which they are computed, and their scale.

use crate::{Array, Numbers};
use hushwire_compute::Scalar;
use std::{borrow::Cow, sync::Arc};

/// A part of a layer's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WeightPart {
    /// The factor of values.
    Factors,
    /// The summand.
    Terms,
    /// The lower bound of a clip.
    Low,
    /// The upper bound of a clip.
    High,
    /// A normalization's epsilon, added to its sum of squares at the square of its operand's scale:
    /// at least one step, so that no root is 0.
    Least,
    /// Decision trees: a 1 for each node at the element that it compares.
    Select,
    /// Bounds of comparisons, rounded as elements are, so that an element that equals its bound
    /// also equals it on shares.
    Bounds,
    /// 1 for each bound that an element must be less than by a step, else 0.
    Strict,
    /// Decision trees: 1 or −1 for each node on the path to each leaf.
    Paths,
    /// Decision trees: for each leaf, the sum along the path that leads to it.
    Counts,
    /// The number 1.
    One,
}

impl WeightPart {
    /// This part of weights that have these parts.
    pub(crate) fn of<'a>(self, all: &[(WeightPart, &'a [f32])]) -> Cow<'a, [f32]> {
        let own = all.iter().find(|(part, _)| *part == self);
        Cow::Borrowed(own.map_or(&[], |(_, data)| data))
    }
}

/// The elements of an operand that is weights; none if it is a value.
pub(crate) fn known_data(weights: &Option<Arc<Array>>) -> &[f32] {
    weights.as_ref().map_or(&[], |weights| &weights.data)
}

/// An input of the owner: weights times the quotient of two values' scales and a power of two,
/// rounded.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) layer: usize,
    pub(crate) part: WeightPart,
    pub(crate) lengths: Vec<usize>,
    pub(crate) frac: u8,
    pub(crate) to: Option<usize>,
    pub(crate) from: Option<usize>,
    pub(crate) shift: u8,
    /// Whether half a step of the cut value is added.
    pub(crate) half: bool,
    /// The ring.
    pub(crate) numbers: Numbers,
    /// For a number that is added to a sum of squares, instead of a quotient of scales.
    pub(crate) squares: Option<Squares>,
}

/// A sum of squares of values that have `guard` bits below a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Squares {
    pub(crate) count: usize,
    pub(crate) guard: u8,
}

impl Recipe {
    /// Unmodified weights. The ring is that of the layer that asks for them.
    pub(crate) fn of(layer: usize, part: WeightPart, lengths: Vec<usize>) -> Self {
        Recipe {
            layer,
            part,
            lengths,
            frac: 0,
            to: None,
            from: None,
            shift: 0,
            half: false,
            numbers: Numbers::default(),
            squares: None,
        }
    }

    /// Sums of squares have 64-bit words.
    pub(super) fn scalar(&self) -> Scalar {
        let bits = if self.part == WeightPart::Least { 64 } else { self.numbers.bits };
        Scalar::Fixed { bits, frac: self.frac }
    }
}
