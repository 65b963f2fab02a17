//! Arrow's files (IPC, also called Feather version 2) and streams, read row by row as the text that
//! a CSV file of the same table would have. They are not written.
//!
//! ```text
//! flat     FlatTable    a table of FlatBuffers, in which the format has its headers
//! schema   ArrowField   the columns of a file, and the form of their values
//! batch    Column       the values of one column in a record batch
//! rows     Rows         the chosen columns of a file, a row at a time
//! ```
//!
//! The format is version 1 of Arrow's columnar format, little-endian, as its specification has it
//! (arrow.apache.org/docs/format/Columnar.html); LZ4 or Zstandard may compress buffers. Flat
//! columns are read, also those with a dictionary. Types are those of Parquet files, with the same
//! names: [`ParquetType`](crate::parquet::ParquetType).
//!
//! Nothing in a file is believed: each place is compared with the bytes that are there, and what
//! does not fit is an error that names the file. The chosen columns of one record batch are in
//! memory at a time.

mod batch;
mod flat;
mod rows;
mod schema;

pub(crate) use rows::Rows;

/// The cause where bytes are not what the format says.
type Broken = &'static str;
