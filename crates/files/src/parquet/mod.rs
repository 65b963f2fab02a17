//! Parquet files of flat tables: read row by row as text, as a CSV file of the same table would have it, and written from values.
//!
//! ```text
//! kind     Kind      the type of a column, from what the file declares; what has none here (nested, times of day) is refused when it is asked for
//! rows     Rows      the chosen columns of a file, a row at a time: a batch of each column is decoded, so that memory does not grow with the file
//! fields             values as text: 2026-11-23, 14.50, true
//! write    Writer    a table as one file, compressed by Snappy, a group of rows at a time
//! copy     Copied    rows of a file as another file, with all columns as they stand
//! ```
//!
//! Whoever needs bytes to compare (an intersection's keys, say) and whoever needs values reads the same text. NULL is no text, and apart
//! from an empty string:
//!
//! ```
//! use hushwire_files::parquet::{Column, Field, Kind, Rows, write};
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("t.parquet");
//! let id = Column::new("id", Kind::Integer { bits: 32 }, false);
//! let columns = [id, Column::new("name", Kind::Text, true)];
//! let names = [Some("Ada"), None];
//! write(std::fs::File::create(&path)?, &columns, 2, |row, column| match column {
//!     0 => Field::Number(row as i128),
//!     _ => names[row].map_or(Field::Null, |name| Field::Text(name.as_bytes())),
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
//! Files are the owner's own, and may still be broken in any way: whatever the decoder makes of one, an error comes out and names the file. What
//! is decoded is not wiped from memory.

mod copy;
mod fields;
mod kind;
mod rows;
#[cfg(test)]
mod tests;
mod write;

pub use copy::{Beside, Copied};
pub use kind::{Column, Kind};
pub use rows::{Record, Rows, is_decoding};
pub use write::{Field, Writer, write};
