//! Arithmetic of expressions.

/// Arithmetic on two numbers, whose type the [common one](super::common_type) decides; `+` and `-`
/// also move dates by days and timestamps by microseconds, and `-` of two of them is their
/// distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arithmetic {
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product; of decimals with as many digits behind the point as both have.
    Multiply,
    /// The quotient towards 0, NULL where the divisor is 0, and where it may have more than 38
    /// digits if it has more than 33. Of decimals with four more digits behind the point than the
    /// dividend has.
    Divide,
    /// The remainder with the dividend's sign, NULL where the divisor is 0.
    Remainder,
}

impl Arithmetic {
    /// As SQL writes it.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Remainder => "%",
        }
    }
}
