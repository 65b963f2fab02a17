//! Writes tables as files.

use super::{ParquetColumn, ParquetType};
use crate::FileError;
use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical},
    data_type::{
        BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
        Int32Type, Int64Type,
    },
    errors::ParquetError as Encoder,
    file::{
        properties::WriterProperties,
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::types::Type,
};
use std::{io::Write, sync::Arc};

/// LOCAL: the rows of a row group, which are encoded at a time.
const GROUP: usize = 1 << 17;

/// A value to be written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParquetField<'a> {
    /// NULL.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number. For a decimal it counts steps of 10^-scale, for a date days since
    /// 1970-01-01, and for a timestamp microseconds since then.
    Number(i128),
    /// A number of a [`ParquetType::Double`].
    Real(f64),
    /// Bytes of a [`ParquetType::Text`].
    Text(&'a [u8]),
}

pub(crate) fn refused(e: &Encoder) -> FileError {
    FileError::output(e)
}

/// The column's type in the file.
fn declared(column: &ParquetColumn) -> Result<Type, Encoder> {
    let kind = column.kind.ok_or_else(|| Encoder::General(format!("column {} has no type", column.name)))?;
    let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let (physical, logical) = match kind {
        ParquetType::Boolean => (Physical::BOOLEAN, None),
        ParquetType::Integer { bits: 64 } => (Physical::INT64, Some(LogicalType::integer(64, true))),
        ParquetType::Integer { bits } => (Physical::INT32, Some(LogicalType::integer(bits as i8, true))),
        ParquetType::Decimal { precision, scale } => {
            let physical = match precision {
                ..=9 => Physical::INT32,
                10..=18 => Physical::INT64,
                _ => Physical::FIXED_LEN_BYTE_ARRAY,
            };
            (physical, Some(LogicalType::decimal(scale.into(), precision.into())))
        }
        ParquetType::Date => (Physical::INT32, Some(LogicalType::Date)),
        ParquetType::Timestamp => (Physical::INT64, Some(LogicalType::timestamp(false, TimeUnit::MICROS))),
        ParquetType::Double => (Physical::DOUBLE, None),
        ParquetType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let mut made = Type::primitive_type_builder(&column.name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical);
    if let ParquetType::Decimal { precision, scale } = kind {
        made = made.with_precision(precision.into()).with_scale(scale.into());
    }
    if physical == Physical::FIXED_LEN_BYTE_ARRAY {
        made = made.with_length(16);
    }
    made.build()
}

/// The fields of a column that are not NULL, as `one` makes them, and a level for each row.
fn put<'a, T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    column: &ParquetColumn,
    fields: impl Iterator<Item = ParquetField<'a>>,
    one: impl Fn(ParquetField<'a>) -> Option<T::T>,
) -> Result<(), Encoder> {
    let wrong = || Encoder::General(format!("column {} has a value that is not of its type", column.name));
    let (mut levels, mut values) = (vec![], vec![]);
    for field in fields {
        let there = field != ParquetField::Null;
        levels.push(i16::from(there));
        if there {
            values.push(one(field).ok_or_else(wrong)?);
        } else if !column.nullable {
            return Err(wrong());
        }
    }
    let levels = column.nullable.then_some(&levels[..]);
    writer.typed::<T>().write_batch(&values, levels, None)?;
    Ok(())
}

fn number<T: TryFrom<i128>>(field: ParquetField<'_>) -> Option<T> {
    if let ParquetField::Number(n) = field { n.try_into().ok() } else { None }
}

/// Writes a table of `rows` rows. `field` returns each field once, by row and column.
///
/// # Errors
/// `to` refuses, or a field is not of its column's type.
pub fn write<'a>(
    to: impl Write + Send,
    columns: &[ParquetColumn],
    rows: usize,
    field: impl Fn(usize, usize) -> ParquetField<'a>,
) -> Result<(), FileError> {
    let mut table = Writer::new(to, columns)?;
    for begin in (0..rows).step_by(GROUP) {
        table.group(rows.min(begin + GROUP) - begin, |row, column| field(begin + row, column))?;
    }
    table.finish()
}

/// A table that is being written, one group of rows at a time.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ParquetColumn>,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// `to` refuses, or a column has no type.
    pub fn new(to: W, columns: &[ParquetColumn]) -> Result<Self, FileError> {
        let begin = || {
            let fields = columns
                .iter()
                .map(|column| Ok(Arc::new(declared(column)?)))
                .collect::<Result<_, Encoder>>()?;
            let schema = Type::group_type_builder("table").with_fields(fields).build()?;
            let properties = WriterProperties::builder()
                .set_compression(Compression::SNAPPY)
                .set_created_by("hushwire".to_owned())
                .build();
            SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))
        };
        let file = begin().map_err(|e| refused(&e))?;
        Ok(Self { file, columns: columns.to_vec() })
    }

    /// Writes a group of `rows` rows. `field` returns each field once, by row and column.
    ///
    /// # Errors
    /// As [`write()`].
    pub fn group<'a>(
        &mut self,
        rows: usize,
        field: impl Fn(usize, usize) -> ParquetField<'a>,
    ) -> Result<(), FileError> {
        let Self { file, columns } = self;
        let mut work = || {
            let mut group = file.next_row_group()?;
            for (at, column) in columns.iter().enumerate() {
                let Some(mut writer) = group.next_column()? else { break };
                put_column(&mut writer, column, (0..rows).map(|row| field(row, at)))?;
                writer.close()?;
            }
            group.close()?;
            Ok(())
        };
        work().map_err(|e: Encoder| refused(&e))
    }

    /// Ends the table.
    ///
    /// # Errors
    /// `to` refuses.
    pub fn finish(self) -> Result<(), FileError> {
        self.file.close().map_err(|e| refused(&e))?;
        Ok(())
    }
}

/// The fields of a column, by its type.
fn put_column<'a>(
    w: &mut SerializedColumnWriter<'_>,
    column: &ParquetColumn,
    all: impl Iterator<Item = ParquetField<'a>>,
) -> Result<(), Encoder> {
    match column.kind {
        Some(ParquetType::Boolean) => put::<BoolType>(w, column, all, |f| {
            if let ParquetField::Boolean(truth) = f { Some(truth) } else { None }
        }),
        Some(
            ParquetType::Integer { bits: 64 }
            | ParquetType::Timestamp
            | ParquetType::Decimal { precision: 10..=18, .. },
        ) => put::<Int64Type>(w, column, all, number),
        Some(
            ParquetType::Integer { .. } | ParquetType::Date | ParquetType::Decimal { precision: ..=9, .. },
        ) => put::<Int32Type>(w, column, all, number),
        Some(ParquetType::Decimal { .. }) => put::<FixedLenByteArrayType>(w, column, all, |f| {
            let steps = number::<i128>(f)?;
            Some(FixedLenByteArray::from(steps.to_be_bytes().to_vec()))
        }),
        Some(ParquetType::Double) => {
            put::<DoubleType>(w, column, all, |f| if let ParquetField::Real(x) = f { Some(x) } else { None })
        }
        Some(ParquetType::Text) | None => put::<ByteArrayType>(w, column, all, |f| {
            if let ParquetField::Text(text) = f { Some(ByteArray::from(text.to_vec())) } else { None }
        }),
    }
}
