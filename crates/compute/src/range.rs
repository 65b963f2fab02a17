//! Ranges of values, from types, constants and promises of inputs: interval arithmetic, one
//! operation at a time (R. E. Moore, "Interval analysis", 1966).
//!
//! A range always holds: if a result may wrap, its range is the whole range of its type. If all
//! operands of an operation depend only on constants and promised ranges, a result that may wrap is
//! refused. [`Op::Wrapping`](crate::Op::Wrapping) removes the range, and the check with it.

use crate::{Dim, Scalar, Type};
use std::cell::Cell;

/// The numbers from the least to the greatest, both included; for fixed-point numbers in steps of
/// 2^-frac.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The least number.
    pub low: i128,
    /// The greatest number.
    pub high: i128,
}

impl Range {
    /// The range of a scalar; `None` if it is not a number, or an unsigned number of 128 bits.
    #[must_use]
    pub const fn of(scalar: Scalar) -> Option<Range> {
        match scalar {
            Scalar::Int { signed: false, bits: 128.. } => None,
            Scalar::Int { signed: false, bits } => {
                Some(Range { low: 0, high: ((1u128 << bits) - 1).cast_signed() })
            }
            Scalar::Int { bits, .. } | Scalar::Fixed { bits, .. } if bits >= 1 && bits <= 128 => {
                Some(Range { low: i128::MIN >> (128 - bits), high: i128::MAX >> (128 - bits) })
            }
            _ => None,
        }
    }

    /// Whether the other range lies within this one.
    #[must_use]
    pub const fn holds(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The smallest range that contains both.
    #[must_use]
    pub fn with(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The smallest range that contains these numbers.
    pub(crate) fn around(ends: impl IntoIterator<Item = Option<i128>>) -> Reach {
        let mut all: Option<Range> = None;
        for end in ends {
            let Some(end) = end else { return Reach::Beyond };
            let one = Range { low: end, high: end };
            all = Some(all.map_or(one, |r| r.with(one)));
        }
        all.map_or(Reach::Unknown, Reach::To)
    }

    /// The range of a monotonic function.
    pub(crate) fn map(self, f: impl Fn(i128) -> Option<i128>) -> Reach {
        Range::around([f(self.low), f(self.high)])
    }

    /// The smallest range that contains a function's values at the corners of two ranges. Products
    /// use it.
    pub(crate) fn corners(self, other: Range, f: impl Fn(i128, i128) -> Option<i128>) -> Reach {
        let of = |x| [f(x, other.low), f(x, other.high)];
        Range::around(of(self.low).into_iter().chain(of(self.high)))
    }
}

/// The facts on which a range depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ground {
    /// Only constants and counts.
    Constant,
    /// Also a promise.
    Promise,
    /// Also the bounds of a type.
    Type,
}

/// A value's range, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) range: Option<Range>,
    pub(crate) ground: Ground,
}

impl Known {
    /// The range of an input.
    pub(crate) fn input(ty: &Type, promised: Option<Range>) -> Self {
        match promised {
            Some(range) => Known { range: Some(range), ground: Ground::Promise },
            None => Known::free(ty),
        }
    }

    /// The whole range of a type.
    pub(crate) fn free(ty: &Type) -> Self {
        Known { range: Range::of(ty.scalar), ground: Ground::Type }
    }
}

/// The range of an operation's result, as if its type had no bounds.
pub(crate) enum Reach {
    /// This range.
    To(Range),
    /// Beyond 128 bits.
    Beyond,
    /// Unknown, but within the type.
    Unknown,
}

impl Reach {
    pub(crate) fn then(self, f: impl FnOnce(Range) -> Reach) -> Reach {
        match self {
            Reach::To(range) => f(range),
            other => other,
        }
    }
}

/// The operands' ranges as an operation sees them. The ground of the result's range covers all
/// ranges that the operation reads.
pub(crate) struct Ranges<'a> {
    known: &'a [Known],
    /// The operands' types.
    pub(crate) types: &'a [&'a Type],
    /// The result's type.
    pub(crate) ty: &'a Type,
    ground: Cell<Ground>,
}

impl<'a> Ranges<'a> {
    pub(crate) fn new(known: &'a [Known], types: &'a [&'a Type], ty: &'a Type) -> Self {
        Ranges { known, types, ty, ground: Cell::new(Ground::Constant) }
    }

    /// The ground of all ranges that were read.
    pub(crate) fn ground(&self) -> Ground {
        self.ground.get()
    }

    /// The range of an operand.
    pub(crate) fn of(&self, k: usize) -> Option<Range> {
        self.ground.set(self.ground.get().max(self.known[k].ground));
        self.known[k].range
    }

    /// The range that follows from one operand's range.
    pub(crate) fn one(&self, k: usize, f: impl FnOnce(Range) -> Reach) -> Reach {
        self.of(k).map_or(Reach::Unknown, f)
    }

    /// The range that follows from two operands' ranges.
    pub(crate) fn two(&self, k: usize, l: usize, f: impl FnOnce(Range, Range) -> Reach) -> Reach {
        let (x, y) = (self.of(k), self.of(l));
        x.zip(y).map_or(Reach::Unknown, |(x, y)| f(x, y))
    }

    /// The range of an operand, as the range of the result.
    pub(crate) fn same(&self, k: usize) -> Reach {
        self.one(k, Reach::To)
    }

    /// The length of an axis of an operand, if it is known.
    pub(crate) fn length(&self, k: usize, axis: usize) -> Option<i128> {
        match self.types[k].shape.0.get(axis)? {
            Dim::Known(n) => Some((*n).into()),
            Dim::Symbol(_) => None,
        }
    }

    /// The range of means, which divide a sum of up to `most` elements. The sum must not wrap.
    pub(crate) fn mean(&self, of: Range, most: i128) -> Reach {
        let fits = |sum| Range::of(self.ty.scalar).is_none_or(|whole| whole.holds(sum));
        sums(of, most, most).then(|sum| Reach::To(if fits(sum) { of } else { sum }))
    }
}

/// The range of sums of `least` to `most` elements.
pub(crate) fn sums(of: Range, least: i128, most: i128) -> Reach {
    let times = |x: i128| [x.checked_mul(least), x.checked_mul(most)];
    Range::around(times(of.low).into_iter().chain(times(of.high)))
}

/// A number shifted up by `times` bits.
pub(crate) fn doubled(x: i128, times: u32) -> Option<i128> {
    if times < 127 { x.checked_mul(1 << times) } else { (x == 0).then_some(0) }
}
