//! The types of columns.

use parquet::{
    basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical},
    schema::types::ColumnDescriptor,
};
use std::fmt;

/// The type of a column, which determines the text of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParquetType {
    /// true and false.
    Boolean,
    /// Signed whole numbers of 16, 32 or 64 bits.
    Integer {
        /// The width.
        bits: u8,
    },
    /// Exact decimals, such as 14.50.
    Decimal {
        /// The number of digits, at most 38.
        precision: u8,
        /// The digits after the point.
        scale: u8,
    },
    /// Dates, such as 2026-11-23.
    Date,
    /// Microseconds without a time zone, or in UTC, such as 2026-11-23 14:05:00.250000.
    Timestamp,
    /// Binary floating point.
    Double,
    /// Bytes, unchanged. They are UTF-8 if the file declares that.
    Text,
}

impl fmt::Display for ParquetType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParquetType::Boolean => f.write_str("BOOLEAN"),
            ParquetType::Integer { bits: 16 } => f.write_str("SMALLINT"),
            ParquetType::Integer { bits: 32 } => f.write_str("INTEGER"),
            ParquetType::Integer { .. } => f.write_str("BIGINT"),
            ParquetType::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            ParquetType::Date => f.write_str("DATE"),
            ParquetType::Timestamp => f.write_str("TIMESTAMP"),
            ParquetType::Double => f.write_str("DOUBLE"),
            ParquetType::Text => f.write_str("VARCHAR"),
        }
    }
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetColumn {
    /// Its name. For a nested column it is the path.
    pub name: String,
    /// Its type; `None` if it cannot be read.
    pub kind: Option<ParquetType>,
    /// Whether fields may be NULL.
    pub nullable: bool,
}

impl ParquetColumn {
    /// Makes a column of a type.
    #[must_use]
    pub fn new(name: &str, kind: ParquetType, nullable: bool) -> Self {
        Self { name: name.to_owned(), kind: Some(kind), nullable }
    }
}

/// The conversion of a column's values to text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextForm {
    Plain,
    /// An unsigned number, in a signed word.
    Unsigned,
    Scaled(u8),
    Days,
    /// Ticks of 1000^−n seconds, with this n.
    Ticks(u32),
    Uuid,
    /// A floating-point number of 16 bits.
    Half,
}

/// The type of a file's column, and the form of its values.
pub(crate) fn of(column: &ColumnDescriptor) -> Option<(ParquetType, TextForm)> {
    let flat = column.max_rep_level() == 0 && column.path().parts().len() == 1;
    if !flat || column.self_type().get_basic_info().repetition() == Repetition::REPEATED {
        return None;
    }
    let decimal = |precision: i32, scale: i32| {
        let (p, s) = (u8::try_from(precision).ok()?, u8::try_from(scale).ok()?);
        let fits = (1..=38).contains(&p) && s <= p;
        fits.then_some((ParquetType::Decimal { precision: p, scale: s }, TextForm::Scaled(s)))
    };
    let whole = |bits: i32, signed: bool| match (bits, signed) {
        (..=16, true) | (..=8, false) => (ParquetType::Integer { bits: 16 }, TextForm::Plain),
        (..=32, true) | (..=16, false) => (ParquetType::Integer { bits: 32 }, TextForm::Plain),
        (..=32, false) => (ParquetType::Integer { bits: 64 }, TextForm::Unsigned),
        (_, true) => (ParquetType::Integer { bits: 64 }, TextForm::Plain),
        (_, false) => (ParquetType::Decimal { precision: 20, scale: 0 }, TextForm::Unsigned),
    };
    let text = Some((ParquetType::Text, TextForm::Plain));
    let physical = column.physical_type();
    let is_bytes = matches!(physical, Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY);
    match (physical, column.logical_type_ref()) {
        (_, Some(LogicalType::Decimal(d))) => decimal(d.precision, d.scale),
        (Physical::INT32, Some(LogicalType::Date)) => Some((ParquetType::Date, TextForm::Days)),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(t))) => {
            Some(whole(t.bit_width.into(), t.is_signed))
        }
        (Physical::INT64, Some(LogicalType::Timestamp(t))) => {
            let ticks = match t.unit {
                TimeUnit::MILLIS => 1,
                TimeUnit::MICROS => 2,
                TimeUnit::NANOS => 3,
            };
            Some((ParquetType::Timestamp, TextForm::Ticks(ticks)))
        }
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Uuid)) => {
            Some((ParquetType::Text, TextForm::Uuid))
        }
        // Unknown is the type of a column without values, as pandas writes a column of None. In
        // Arrow it is text, too.
        (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json))
        | (_, Some(LogicalType::Unknown)) => text,
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) => {
            Some((ParquetType::Double, TextForm::Half))
        }
        (_, Some(_)) => None,
        // Older files have these converted types instead.
        (_, None) => match column.converted_type() {
            ConvertedType::DECIMAL => decimal(column.type_precision(), column.type_scale()),
            ConvertedType::DATE if physical == Physical::INT32 => Some((ParquetType::Date, TextForm::Days)),
            ConvertedType::TIMESTAMP_MILLIS if physical == Physical::INT64 => {
                Some((ParquetType::Timestamp, TextForm::Ticks(1)))
            }
            ConvertedType::TIMESTAMP_MICROS if physical == Physical::INT64 => {
                Some((ParquetType::Timestamp, TextForm::Ticks(2)))
            }
            ConvertedType::INT_8 | ConvertedType::INT_16 => Some(whole(16, true)),
            ConvertedType::UINT_8 => Some(whole(8, false)),
            ConvertedType::UINT_16 => Some(whole(16, false)),
            ConvertedType::UINT_32 => Some(whole(32, false)),
            ConvertedType::UINT_64 => Some(whole(64, false)),
            ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON if is_bytes => text,
            ConvertedType::NONE | ConvertedType::INT_32 | ConvertedType::INT_64 => match physical {
                Physical::BOOLEAN => Some((ParquetType::Boolean, TextForm::Plain)),
                Physical::INT32 => Some(whole(32, true)),
                Physical::INT64 => Some(whole(64, true)),
                Physical::INT96 => Some((ParquetType::Timestamp, TextForm::Ticks(3))),
                Physical::FLOAT | Physical::DOUBLE => Some((ParquetType::Double, TextForm::Plain)),
                Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY => text,
            },
            _ => None,
        },
    }
}
