//! Arithmetic of expressions.

/// Arithmetic on two numbers, in their [common type](super::common_type). `+` and `-` also move
/// dates by days and timestamps by microseconds; `-` of two dates or timestamps is their distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product. A product of decimals has the fractional digits of both.
    Multiply,
    /// The quotient, rounded towards 0. NULL if the divisor is 0, or if the quotient may have more
    /// than 38 digits and has more than 33. A quotient of decimals has four more fractional digits
    /// than the dividend, and a quotient of integers has nine.
    Divide,
    /// The whole quotient of integers, rounded towards 0. NULL if the divisor is 0.
    DivideWhole,
    /// The remainder, with the dividend's sign. NULL if the divisor is 0.
    Remainder,
}

impl Arithmetic {
    /// The sign in SQL.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::DivideWhole => "//",
            Arithmetic::Remainder => "%",
        }
    }
}
