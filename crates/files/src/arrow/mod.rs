//! Reads Arrow's files (IPC, also called Feather version 2) and streams, row by row, as the text
//! that a CSV file of the same table would have. Such files are not written.
//!
//! ```text
//! flat     FlatTable    a table of FlatBuffers, in which the format has its headers
//! schema   ArrowField   the columns of a file, and the form of their values
//! batch    Column       the values of one column in a record batch
//! rows     Rows         the chosen columns of a file, a row at a time
//! ```
//!
//! The format is version 1 of Arrow's columnar format, little-endian, as specified in
//! arrow.apache.org/docs/format/Columnar.html. Buffers may be compressed by LZ4 or Zstandard. Flat
//! columns are read, including those with a dictionary. Types are those of Parquet files, with the
//! same names: [`ParquetType`](crate::parquet::ParquetType).
//!
//! Files are not trusted. Each place is checked against the file's bytes, and a violation is an
//! error that names the file. The chosen columns of one record batch are in memory at a time.

mod batch;
mod flat;
mod rows;
mod schema;

pub(crate) use rows::Rows;

/// The cause of an error if bytes violate the format.
type Broken = &'static str;
