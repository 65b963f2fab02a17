//! Reads and writes the files of members of a session: tables, arrays, results and keys.
//!
//! ```text
//! rows      Rows         a table's files row by row: CSV or, with the feature `parquet`, Parquet
//!                        and Arrow
//! dialect   Dialect      separators, headers, marks and words of text files; values
//! moment    DateFormat   dates and times in formats as %d.%m.%Y
//! strict                 CSV as RFC 4180 defines it; deviations are errors with their place
//! sniff                  the separator of a file, and whether its first record has names
//! outline                the form of a value, for errors
//! pattern   matching     several files by one name with * in it
//! encoding, packed       text in other encodings than UTF-8, and compressed text
//! result    write_rows   rows of a table as a result, CSV or Parquet
//! parquet   Writer, …    Parquet files of flat tables, with the feature `parquet`
//! arrow                  Arrow's files of flat tables, with the same feature
//! npy       read, write  NumPy's array files
//! named     named        a column by its name
//! half      half         floating-point numbers of 16 bits
//! new_file  NewFile      a file that appears under its name only when it is complete
//! claim     Claim        the right of one run to write a path
//! private_file           private keys, in files that only their user may read
//! input     open_input   a file or standard input
//! zip       first_name   the content of a ZIP archive, for errors
//! mark      strip        the byte order mark at the start of a text
//! ```
//!
//! The crate knows no protocol and no job. A protocol takes [`Rows`], and a job names the files. A
//! [`FileError`] has the file, the place in the file, the cause and the remedy.
#![forbid(unsafe_code)]

#[cfg(feature = "parquet")]
mod arrow;
mod claim;
mod dialect;
mod encoding;
mod error;
mod format;
mod half;
mod input;
pub mod mark;
mod moment;
mod named;
mod new_file;
pub mod npy;
mod outline;
mod packed;
#[cfg(feature = "parquet")]
pub mod parquet;
mod pattern;
mod private_file;
mod result;
mod rows;
mod sniff;
mod strict;
pub mod zip;

pub use claim::{Claim, FileState};
pub use dialect::{DIALECT_OPTIONS, Dialect, DialectOption};
pub use error::{Access, FileError, FilePlace};
pub use format::{FileFormat, check_input, check_output, is_parquet};
pub use half::half;
pub use input::{open_input, read_once, refuse_once};
pub use moment::DateFormat;
pub use new_file::NewFile;
pub use outline::outline;
pub use pattern::matching;
pub use private_file::read_private_key;
pub use result::{
    MoreColumns, check_result, csv_line, write_columns, write_flags, write_parquet, write_parquet_columns,
    write_rows,
};
pub use rows::{FoundForm, Rows};

/// Whether a panic of this thread would be caught and become an error that names a file. Hooks that
/// end the process at a panic ask this first.
#[must_use]
pub fn panic_is_caught() -> bool {
    #[cfg(feature = "parquet")]
    let caught = parquet::is_decoding();
    #[cfg(not(feature = "parquet"))]
    let caught = false;
    caught
}
