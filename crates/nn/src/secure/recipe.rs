//! Recipes of the owner's inputs: from which weights, and at which scale.

use crate::Numbers;
use hushwire_compute::Scalar;

/// A part of a layer's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The factor of values.
    Factors,
    /// The summand.
    Terms,
    /// The lower bound of a clip.
    Low,
    /// The upper bound of a clip.
    High,
    /// A normalization's epsilon, added to its sum of squares at the square of its operand's scale: a step at least, so that no root is 0.
    Least,
    /// The number 1.
    One,
}

/// One input of the owner: weights times the scale of a value over that of another and a power of two, rounded.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) layer: usize,
    pub(crate) part: Part,
    pub(crate) lengths: Vec<usize>,
    pub(crate) frac: u8,
    pub(crate) to: Option<usize>,
    pub(crate) from: Option<usize>,
    pub(crate) shift: u8,
    /// Whether half of what one step is behind the cut comes on top.
    pub(crate) half: bool,
    /// That it is added to a sum of squares, in place of one scale over another.
    pub(crate) squares: Option<Squares>,
}

/// A sum of so many squares of values that have `guard` bits below a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Squares {
    pub(crate) count: usize,
    pub(crate) guard: u8,
}

impl Recipe {
    /// Weights as they are.
    pub(crate) fn of(layer: usize, part: Part, lengths: Vec<usize>) -> Self {
        Recipe { layer, part, lengths, frac: 0, to: None, from: None, shift: 0, half: false, squares: None }
    }

    /// Sums of squares have words of 64 bits.
    pub(super) fn scalar(&self, numbers: Numbers) -> Scalar {
        let bits = if self.part == Part::Least { 64 } else { numbers.bits };
        Scalar::Fixed { bits, frac: self.frac }
    }
}
