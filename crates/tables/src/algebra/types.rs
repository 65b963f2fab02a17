//! Types of columns, and values in the clear.

use core::fmt;

/// The microseconds of a day.
pub(crate) const DAY: i128 = 86_400_000_000;
/// The largest number of bytes of a string.
pub const MAX_TEXT: u16 = 512;
/// The largest number of decimal digits of a number.
pub const MAX_DIGITS: u8 = 38;

/// The first day of the year 1, and the last day of 9999.
const YEAR_1: i128 = -719_162;
const YEAR_9999: i128 = 2_932_896;

/// The type of a column's values. A value may also be NULL if the column says so.
///
/// Numbers are integers of a step. Arithmetic on them is exact, in as many bits as ranges require,
/// at most 128; otherwise it is refused. A sum of rows or a quotient that needs more bits is NULL,
/// since an error would reveal something about the data to all parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// True or false.
    Boolean,
    /// 16 bits.
    SmallInt,
    /// 32 bits.
    Integer,
    /// 64 bits.
    BigInt,
    /// Decimal digits, `scale` of them fractional: steps of 10^-scale, in 64 bits up to 18 digits,
    /// else in 128.
    Decimal {
        /// The number of digits, 1 to 38.
        precision: u8,
        /// The number of fractional digits, at most `precision`.
        scale: u8,
    },
    /// Days since 1970-01-01, in 32 bits. These are the days of the years 1 to 9999, and others
    /// that arithmetic can reach.
    Date,
    /// Microseconds since 1970-01-01 00:00, in 64 bits, for the same years.
    Timestamp,
    /// Microseconds between two times, in 64 bits: the difference of timestamps. A table cannot
    /// declare it.
    Interval,
    /// A string with at most this many bytes. It contains no byte 0, since zeros pad it. Strings
    /// are compared byte by byte.
    Varchar(u16),
    /// A keyed digest of a string in 64 or 128 bits, made by owners who share its key: for equality
    /// only. Among n different strings, two have the same digest with probability below n² /
    /// 2^(bits + 1): 2^-25 for a million in 64 bits, 2^-89 in 128.
    Digest {
        /// The number of bits: 64 or 128.
        bits: u8,
    },
    /// A number in steps of 2^-frac, in 64 bits: an approximation that a schema declares. It has no
    /// infinity and no NaN.
    Double {
        /// The number of fractional bits, at most 48.
        frac: u8,
    },
}

impl ColumnType {
    /// Whether the type exists.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        match self {
            ColumnType::Decimal { precision, scale } => {
                precision >= 1 && precision <= MAX_DIGITS && scale <= precision
            }
            ColumnType::Varchar(bytes) => bytes >= 1 && bytes <= MAX_TEXT,
            ColumnType::Double { frac } => frac <= 48,
            ColumnType::Digest { bits } => matches!(bits, 64 | 128),
            _ => true,
        }
    }

    /// Whether the type has arithmetic: integers, decimals and doubles.
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        matches!(
            self,
            ColumnType::SmallInt
                | ColumnType::Integer
                | ColumnType::BigInt
                | ColumnType::Decimal { .. }
                | ColumnType::Double { .. }
        )
    }

    /// Whether the type is an integer.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, ColumnType::SmallInt | ColumnType::Integer | ColumnType::BigInt)
    }

    /// Whether the type has an order; digests have only equality.
    #[must_use]
    pub const fn is_ordered(self) -> bool {
        !matches!(self, ColumnType::Digest { .. })
    }

    /// The width of a value that arithmetic has not changed, in bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        match self {
            ColumnType::Boolean => 1,
            ColumnType::SmallInt => 16,
            ColumnType::Integer | ColumnType::Date => 32,
            ColumnType::Decimal { precision: 19.., .. } => 128,
            ColumnType::BigInt
            | ColumnType::Decimal { .. }
            | ColumnType::Timestamp
            | ColumnType::Interval
            | ColumnType::Double { .. } => 64,
            ColumnType::Varchar(bytes) => bytes * 8,
            ColumnType::Digest { bits } => bits as u16,
        }
    }

    /// The least and the greatest number of steps; 0 to 0 for strings and truth values. Arithmetic
    /// may exceed them.
    #[must_use]
    pub const fn range(self) -> Range {
        match self {
            ColumnType::Boolean | ColumnType::Varchar(_) => Range { low: 0, high: 0 },
            ColumnType::Digest { bits: 128 } => Range::of_bits(128),
            ColumnType::Digest { .. } => Range { low: 0, high: u64::MAX as i128 },
            ColumnType::Decimal { precision, .. } => {
                let most = 10i128.pow(precision as u32) - 1;
                Range { low: -most, high: most }
            }
            ColumnType::Date => Range { low: YEAR_1, high: YEAR_9999 },
            ColumnType::Timestamp => Range { low: YEAR_1 * DAY, high: (YEAR_9999 + 1) * DAY - 1 },
            ColumnType::Interval => {
                let most = (YEAR_9999 + 1 - YEAR_1) * DAY;
                Range { low: -most, high: most }
            }
            _ => Range::of_bits(self.bits()),
        }
    }

    /// The number of fractional digits of integers and decimals.
    #[must_use]
    pub const fn scale(self) -> u8 {
        match self {
            ColumnType::Decimal { scale, .. } => scale,
            _ => 0,
        }
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Boolean => f.write_str("BOOLEAN"),
            ColumnType::SmallInt => f.write_str("SMALLINT"),
            ColumnType::Integer => f.write_str("INTEGER"),
            ColumnType::BigInt => f.write_str("BIGINT"),
            ColumnType::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            ColumnType::Date => f.write_str("DATE"),
            ColumnType::Timestamp => f.write_str("TIMESTAMP"),
            ColumnType::Interval => f.write_str("INTERVAL"),
            ColumnType::Varchar(bytes) => write!(f, "VARCHAR({bytes})"),
            ColumnType::Digest { bits: 64 } => f.write_str("DIGEST"),
            ColumnType::Digest { bits } => write!(f, "DIGEST({bits})"),
            ColumnType::Double { frac } => write!(f, "DOUBLE({frac})"),
        }
    }
}

/// The numbers from `low` to `high`, both included, in steps of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// The least number.
    pub low: i128,
    /// The greatest number.
    pub high: i128,
}

impl Range {
    /// All signed numbers of this width, 1 to 128 bits.
    #[must_use]
    pub const fn of_bits(bits: u16) -> Range {
        let high = i128::MAX >> (128 - bits);
        Range { low: -high - 1, high }
    }

    /// Whether the other range lies within this one.
    #[must_use]
    pub const fn holds(self, other: Range) -> bool {
        self.low <= other.low && other.high <= self.high
    }
}

/// A value in the clear.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// No value.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A number in steps of its type: 10^-scale, days, microseconds, 2^-frac; a digest as an
    /// unsigned number.
    Number(i128),
    /// Bytes without zeros; in UTF-8 if they came as text.
    Text(Vec<u8>),
}

impl Value {
    /// A string.
    #[must_use]
    pub fn text(text: &str) -> Value {
        Value::Text(text.as_bytes().to_vec())
    }

    /// Whether this is NULL.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The number, if this is a number.
    #[must_use]
    pub const fn number(&self) -> Option<i128> {
        match self {
            Value::Number(n) => Some(*n),
            _ => None,
        }
    }

    /// Whether this is a value of a type; NULL is a value of every type.
    #[must_use]
    pub fn fits(&self, ty: ColumnType) -> bool {
        match (self, ty) {
            (Value::Null, _) | (Value::Boolean(_), ColumnType::Boolean) => true,
            (Value::Text(bytes), ColumnType::Varchar(most)) => {
                bytes.len() <= usize::from(most) && !bytes.contains(&0)
            }
            (Value::Number(n), ty) if !matches!(ty, ColumnType::Boolean | ColumnType::Varchar(_)) => {
                ty.range().holds(Range { low: *n, high: *n })
            }
            _ => false,
        }
    }
}

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Column {
    /// Its name, for messages: operators use indices from 0.
    pub name: String,
    /// Its values' type.
    pub ty: ColumnType,
    /// Whether it may be NULL, which takes one more bit in each row.
    pub nullable: bool,
    /// A public range, narrower than the type's, that its owners promise and check. Fewer bits are
    /// then compared, added and multiplied. With a small range, groups can be summed without a
    /// sort.
    pub range: Option<Range>,
}

impl Column {
    /// A column without NULLs.
    #[must_use]
    pub fn new(name: &str, ty: ColumnType) -> Column {
        Column { name: name.to_owned(), ty, nullable: false, range: None }
    }

    /// The same column with NULLs.
    #[must_use]
    pub fn nullable(self) -> Column {
        Column { nullable: true, ..self }
    }

    /// The same column within a public range, both ends included, in steps of the type.
    #[must_use]
    pub fn within(self, low: i128, high: i128) -> Column {
        Column { range: Some(Range { low, high }), ..self }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.name, self.ty, if self.nullable { "" } else { " NOT NULL" })
    }
}

/// Columns in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schema(pub Vec<Column>);

impl Schema {
    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.0
    }

    /// The index of the first column with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|column| column.name == name)
    }
}
