//! The kinds of comparisons, reductions and scans.

/// A comparison of two elements. Strings of bits and truth values have no order, only equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// Equal.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
}

impl Comparison {
    /// All comparisons.
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    /// The sign between two values.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }

    /// Whether it needs an order.
    #[must_use]
    pub const fn orders(self) -> bool {
        !matches!(self, Comparison::Equal | Comparison::NotEqual)
    }
}

/// A reduction, which removes an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum, modulo the width; 0 if there are no elements.
    Sum,
    /// The least element; the scalar's greatest number if there are no elements.
    Min,
    /// The greatest element; the scalar's least number if there are no elements.
    Max,
    /// Whether all are true; true if there are no elements.
    All,
    /// Whether any is true; false if there are no elements.
    Any,
    /// The number of true elements, as u64.
    Count,
    /// The wrapping sum divided by the count, towards 0; all bits set if there are no elements.
    Mean,
    /// The first place of the least element, as u64; 0 if there are no elements.
    ArgMin,
    /// The first place of the greatest element, as u64; 0 if there are no elements.
    ArgMax,
}

impl Reduction {
    /// All reductions.
    pub const ALL: [Reduction; 9] = [
        Reduction::Sum,
        Reduction::Min,
        Reduction::Max,
        Reduction::All,
        Reduction::Any,
        Reduction::Count,
        Reduction::Mean,
        Reduction::ArgMin,
        Reduction::ArgMax,
    ];

    /// The name in text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Min => "min_of",
            Reduction::Max => "max_of",
            Reduction::All => "all",
            Reduction::Any => "any",
            Reduction::Count => "count",
            Reduction::Mean => "mean",
            Reduction::ArgMin => "argmin",
            Reduction::ArgMax => "argmax",
        }
    }
}

/// A scan of rows: accumulates from the last start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scan {
    /// The wrapping sum.
    Sum,
    /// The least element.
    Min,
    /// The greatest element.
    Max,
    /// The row that started, copied down to the next start.
    First,
}

impl Scan {
    /// All scans.
    pub const ALL: [Scan; 4] = [Scan::Sum, Scan::Min, Scan::Max, Scan::First];

    /// The name in text.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Scan::Sum => "scan_sum",
            Scan::Min => "scan_min",
            Scan::Max => "scan_max",
            Scan::First => "copy_down",
        }
    }
}
