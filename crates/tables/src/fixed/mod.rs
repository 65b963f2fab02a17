//! Roots, exponentials, logarithms and angles of fixed-point numbers.
//!
//! Each function is written once, on [`Fixed`]: for numbers in the clear, and for columns on
//! shares. Both have the same bits, since nothing but integers is computed. Inside, numbers have 60
//! fractional bits in 128; arguments and results are DOUBLEs with 32, or with all of them where a
//! function is sensitive to what it takes.

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
/// The fractional bits of numbers inside.
pub(crate) const INSIDE: u8 = 60;
/// 1 with the fractional bits of numbers inside.
pub(crate) const ONE: i128 = 1 << INSIDE;

/// Whole numbers of 128 bits with a sign.
pub(crate) trait Fixed: Copy {
    /// A truth value for each number.
    type Truth: Copy;

    /// The same public number for each.
    fn same(self, n: i128) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The product, without its lowest bits: rounded towards −∞.
    fn times(self, other: Self, without: u8) -> Self;
    fn left(self, bits: u8) -> Self;
    /// Rounded towards −∞.
    fn right(self, bits: u8) -> Self;
    fn below(self, other: Self) -> Self::Truth;
    fn both(a: Self::Truth, b: Self::Truth) -> Self::Truth;
    fn choose(condition: Self::Truth, yes: Self, no: Self) -> Self;
    /// The whole quotient of a number that is not negative by a small public one.
    fn part(self, by: i128) -> Self;
    /// The whole quotient of two numbers that are not negative; anything if the divisor is 0.
    fn over(self, divisor: Self) -> Self;
    /// The whole square root of a number that is not negative.
    fn whole_root(self) -> Self;

    fn negative(self) -> Self {
        self.same(0).minus(self)
    }

    fn size(self) -> Self {
        Self::choose(self.below(self.same(0)), self.negative(), self)
    }

    /// A product of numbers inside.
    fn by(self, other: Self) -> Self {
        self.times(other, INSIDE)
    }

    /// A polynomial in this number, its coefficients from the constant one on.
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
