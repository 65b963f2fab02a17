//! Reads and writes Parquet files of flat tables. They are read row by row, as the text that a CSV
//! file of the same table would have. They are written from values.
//!
//! ```text
//! kind     ParquetType  the type of a column; nested columns and times of day have none
//! rows     Rows         the chosen columns of a file, a row at a time, decoded in batches
//! table    Footers      the files of a table that several programs read in parts
//! fields                values as text: 2026-11-23, 14.50, true
//! write    Writer       a table as one file, compressed by Snappy, a group of rows at a time
//! copy     Copied       rows of a file as another file, with all columns unchanged
//! ```
//!
//! An intersection, which compares bytes, and a query, which needs values, read the same text. NULL
//! has no text, and differs from an empty string:
//!
//! ```
//! use hushwire_files::parquet::{ParquetColumn, ParquetField, ParquetType, Rows, write};
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("t.parquet");
//! let columns = [
//!     ParquetColumn::new("id", ParquetType::Integer { bits: 32 }, false),
//!     ParquetColumn::new("name", ParquetType::Text, true),
//! ];
//! let names = [Some("Ada"), None];
//! write(std::fs::File::create(&path)?, &columns, 2, |row, column| match column {
//!     0 => ParquetField::Number(row as i128),
//!     _ => names[row].map_or(ParquetField::Null, |name| ParquetField::Text(name.as_bytes())),
//! })?;
//! let mut rows = Rows::open(&path)?;
//! let name = rows.place("name")?;
//! rows.choose(&[name])?;
//! let mut keys = vec![];
//! while let Some((record, _)) = rows.read()? {
//!     keys.push(record.get(0).map(<[u8]>::to_vec));
//! }
//! assert_eq!(keys, [Some(b"Ada".to_vec()), None]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The files are the owner's own, but may be broken in any way. The result is then an error that
//! names the file, even if the decoder panics. Decoded values are not wiped from memory.

/// Does the same with a column's reader, for any type of the column.
macro_rules! of_any_type {
    ($column:expr, $reader:ident => $do:expr) => {{
        use ::parquet::column::reader::ColumnReader;
        match $column {
            ColumnReader::BoolColumnReader($reader) => $do,
            ColumnReader::Int32ColumnReader($reader) => $do,
            ColumnReader::Int64ColumnReader($reader) => $do,
            ColumnReader::Int96ColumnReader($reader) => $do,
            ColumnReader::FloatColumnReader($reader) => $do,
            ColumnReader::DoubleColumnReader($reader) => $do,
            ColumnReader::ByteArrayColumnReader($reader) => $do,
            ColumnReader::FixedLenByteArrayColumnReader($reader) => $do,
        }
    }};
}

mod copy;
pub(crate) mod fields;
mod kind;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use copy::{Beside, Copied};
pub(crate) use fields::field_of;
pub(crate) use kind::TextForm;
pub use kind::{ParquetColumn, ParquetType};
pub(crate) use rows::place;
pub use rows::{Record, Rows, is_decoding};
pub use table::Footers;
pub use write::{ParquetField, Writer, write};
