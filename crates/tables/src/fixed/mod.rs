//! Roots, exponentials, logarithms and angles of fixed-point numbers.
//!
//! Each function is written once, on [`Fixed`]: for numbers in the clear, and for columns on
//! shares. Both give the same bits, since only integers are computed. Internally, numbers have 60
//! fractional bits in 128. Arguments and results are DOUBLEs with 32, or with all 60 if a function
//! is sensitive to its argument.

mod angles;
mod powers;
mod wide;

pub(crate) use angles::{SLACK, arc_cosine, arc_sine, arc_tangent, cosine, most_of_waves, sine};
#[cfg(test)]
pub(crate) use powers::root;
pub(crate) use powers::{LOG2_E, exponential, logarithm, power};
pub(crate) use wide::Wide;

/// The fractional bits of arguments and results.
pub(crate) const FRAC: u8 = 32;
/// The fractional bits of internal numbers.
pub(crate) const INSIDE: u8 = 60;
/// The number 1 with [`INSIDE`] fractional bits.
pub(crate) const ONE: i128 = 1 << INSIDE;

/// Signed whole numbers of 128 bits.
pub(crate) trait Fixed: Copy {
    /// A truth value for each number.
    type Truth: Copy;

    /// The same public number for each element.
    fn same(self, n: i128) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The product without its lowest bits: rounded towards −∞.
    fn times(self, other: Self, without: u8) -> Self;
    fn left(self, bits: u8) -> Self;
    /// Shifts to the right, rounding towards −∞.
    fn right(self, bits: u8) -> Self;
    fn below(self, other: Self) -> Self::Truth;
    fn both(a: Self::Truth, b: Self::Truth) -> Self::Truth;
    fn choose(condition: Self::Truth, yes: Self, no: Self) -> Self;
    /// The whole quotient of a number that is not negative, divided by a small public one.
    fn part(self, by: i128) -> Self;
    /// The whole quotient of two numbers that are not negative; arbitrary if the divisor is 0.
    fn over(self, divisor: Self) -> Self;
    /// The whole square root of a number that is not negative.
    fn whole_root(self) -> Self;

    fn negative(self) -> Self {
        self.same(0).minus(self)
    }

    fn size(self) -> Self {
        Self::choose(self.below(self.same(0)), self.negative(), self)
    }

    /// The product of two numbers with [`INSIDE`] fractional bits.
    fn by(self, other: Self) -> Self {
        self.times(other, INSIDE)
    }

    /// A polynomial in this number, with coefficients from the constant one on.
    fn polynomial(self, coefficients: &[i128]) -> Self {
        let last = coefficients.last().map_or(0, |c| *c);
        let rest = coefficients.iter().rev().skip(1);
        rest.fold(self.same(last), |sum, c| sum.by(self).plus(self.same(*c)))
    }
}

impl Fixed for i128 {
    type Truth = bool;

    fn same(self, n: i128) -> i128 {
        n
    }

    fn plus(self, other: i128) -> i128 {
        self.wrapping_add(other)
    }

    fn minus(self, other: i128) -> i128 {
        self.wrapping_sub(other)
    }

    fn times(self, other: i128, without: u8) -> i128 {
        self.wrapping_mul(other) >> without
    }

    fn left(self, bits: u8) -> i128 {
        self << bits
    }

    fn right(self, bits: u8) -> i128 {
        self >> bits
    }

    fn below(self, other: i128) -> bool {
        self < other
    }

    fn both(a: bool, b: bool) -> bool {
        a & b
    }

    fn part(self, by: i128) -> i128 {
        self / by
    }

    fn choose(condition: bool, yes: i128, no: i128) -> i128 {
        if condition { yes } else { no }
    }

    fn over(self, divisor: i128) -> i128 {
        self.checked_div(divisor).unwrap_or(0)
    }

    fn whole_root(self) -> i128 {
        self.max(0).isqrt()
    }
}

#[cfg(test)]
mod tests;
