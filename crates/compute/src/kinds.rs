//! The kinds of comparisons, reductions and scans.

/// How two elements are compared. Strings of bits and truth values are only equal or not.
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
    /// All.
    pub const ALL: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::LessOrEqual,
        Comparison::Greater,
        Comparison::GreaterOrEqual,
    ];

    /// As people write it between two values.
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

/// A reduction of one axis to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The sum, modulo the width; 0 of nothing.
    Sum,
    /// The least; the greatest number there is of nothing.
    Min,
    /// The greatest; the least number there is of nothing.
    Max,
    /// Whether all are true; true of nothing.
    All,
    /// Whether any is true; false of nothing.
    Any,
    /// How many are true, as u64.
    Count,
    /// The wrapping sum divided by the count, towards 0; all bits set of nothing.
    Mean,
    /// The first place of the least, as u64; 0 of nothing.
    ArgMin,
    /// The first place of the greatest, as u64; 0 of nothing.
    ArgMax,
}

impl Reduction {
    /// All.
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

    /// Its name in text.
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

/// A scan of rows: what was seen from the last start on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scan {
    /// The sum, wrapping.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// The row that started: it is copied down to the next start.
    First,
}

impl Scan {
    /// All.
    pub const ALL: [Scan; 4] = [Scan::Sum, Scan::Min, Scan::Max, Scan::First];

    /// Its name in text.
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
