//! Ranges of values, from types, constants and what inputs promise: intervals, one operation at a time (R. E. Moore, "Interval
//! analysis", 1966).
//!
//! A range always holds: where a result may wrap it is its type's whole range. Where all that an operation reads follows from
//! constants and promised ranges, a result that may wrap is refused; [`Op::Wrapping`](crate::Op::Wrapping) forgets the range, and the check with it.

use crate::{Dim, Scalar, Type};
use std::cell::Cell;

/// From the least to the greatest, both included; of fixed numbers in steps of 2^-frac.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Range {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
}

impl Range {
    /// All elements of a scalar; `None` where it is no number, or has 128 bits and no sign.
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

    /// Whether all of another range lies in it.
    #[must_use]
    pub const fn holds(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }

    /// The least range that holds both.
    #[must_use]
    pub fn with(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The least range that holds these numbers.
    pub(crate) fn around(ends: impl IntoIterator<Item = Option<i128>>) -> Reach {
        let mut all: Option<Range> = None;
        for end in ends {
            let Some(end) = end else { return Reach::Beyond };
            let one = Range { low: end, high: end };
            all = Some(all.map_or(one, |r| r.with(one)));
        }
        all.map_or(Reach::Unknown, Reach::To)
    }

    /// Ends by a function that grows, or falls, from one to the other.
    pub(crate) fn map(self, f: impl Fn(i128) -> Option<i128>) -> Reach {
        Range::around([f(self.low), f(self.high)])
    }

    /// The least range that holds what a function has at the corners of two, as products have.
    pub(crate) fn corners(self, other: Range, f: impl Fn(i128, i128) -> Option<i128>) -> Reach {
        let of = |x| [f(x, other.low), f(x, other.high)];
        Range::around(of(self.low).into_iter().chain(of(self.high)))
    }
}

/// The ground that a range stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ground {
    /// Constants and counts alone.
    Constant,
    /// A promise too.
    Promise,
    /// A type somewhere.
    Type,
}

/// A value's range, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) range: Option<Range>,
    pub(crate) ground: Ground,
}

impl Known {
    /// An input.
    pub(crate) fn input(ty: &Type, promised: Option<Range>) -> Self {
        match promised {
            Some(range) => Known { range: Some(range), ground: Ground::Promise },
            None => Known::free(ty),
        }
    }

    /// All that a type has.
    pub(crate) fn free(ty: &Type) -> Self {
        Known { range: Range::of(ty.scalar), ground: Ground::Type }
    }
}

/// The results of an operation, were there no end to its type.
pub(crate) enum Reach {
    /// Of these.
    To(Range),
    /// Of more than 128 bits.
    Beyond,
    /// Nothing is known but the type, which they fit.
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

/// Operands' ranges as an operation looks at them. The result's range stands on the ground of those that it looks at.
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

    /// The ground of all ranges that were looked at.
    pub(crate) fn ground(&self) -> Ground {
        self.ground.get()
    }

    /// The range of an operand.
    pub(crate) fn of(&self, k: usize) -> Option<Range> {
        self.ground.set(self.ground.get().max(self.known[k].ground));
        self.known[k].range
    }

    /// The range that follows from that of one operand.
    pub(crate) fn one(&self, k: usize, f: impl FnOnce(Range) -> Reach) -> Reach {
        self.of(k).map_or(Reach::Unknown, f)
    }

    /// The range that follows from those of two operands.
    pub(crate) fn two(&self, k: usize, l: usize, f: impl FnOnce(Range, Range) -> Reach) -> Reach {
        let (x, y) = (self.of(k), self.of(l));
        x.zip(y).map_or(Reach::Unknown, |(x, y)| f(x, y))
    }

    /// The same range as an operand has.
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

    /// Means divide a sum of up to `most` elements, which must not wrap.
    pub(crate) fn mean(&self, of: Range, most: i128) -> Reach {
        let fits = |sum| Range::of(self.ty.scalar).is_none_or(|whole| whole.holds(sum));
        sums(of, most, most).then(|sum| Reach::To(if fits(sum) { of } else { sum }))
    }
}

/// Sums of from `least` to `most` elements.
pub(crate) fn sums(of: Range, least: i128, most: i128) -> Reach {
    let times = |x: i128| [x.checked_mul(least), x.checked_mul(most)];
    Range::around(times(of.low).into_iter().chain(times(of.high)))
}

/// A number shifted up by so many bits.
pub(crate) fn doubled(x: i128, times: u32) -> Option<i128> {
    if times < 127 { x.checked_mul(1 << times) } else { (x == 0).then_some(0) }
}
