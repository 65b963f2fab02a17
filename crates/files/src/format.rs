//! The format of a table's file, by the suffix of its name.

use crate::{Access, FileError};
use std::path::Path;

/// Whether a file's name has the suffix of Parquet.
#[must_use]
pub fn is_parquet(path: &Path) -> bool {
    FileFormat::of(path) == FileFormat::Parquet
}

/// The format of a table's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// CSV and other text of a [`Dialect`](crate::Dialect).
    Text,
    /// Parquet: `.parquet`.
    Parquet,
    /// Arrow's file or stream: `.arrow`, `.arrows`, `.feather` and `.ipc`.
    Arrow,
}

impl FileFormat {
    /// Returns the format for a file's name.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let is = |end: &str| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(end));
        match () {
            () if is("parquet") => FileFormat::Parquet,
            () if ["arrow", "arrows", "feather", "ipc"].into_iter().any(is) => FileFormat::Arrow,
            () => FileFormat::Text,
        }
    }

    /// The name of the format in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FileFormat::Text => "text",
            FileFormat::Parquet => "Parquet",
            FileFormat::Arrow => "Arrow",
        }
    }

    /// Whether this build does not support it.
    fn is_missing(self) -> bool {
        !cfg!(feature = "parquet") && self != FileFormat::Text
    }
}

const BUILD: &str =
    "build it with `cargo build --release -p hushwire-cli --features parquet`, or take CSV instead";

/// Refuses a result file in a format that is not written, or not in this build.
///
/// # Errors
/// The name is that of an Arrow file, or of a Parquet file that this build does not support.
pub fn check_output(path: &Path) -> Result<(), FileError> {
    let (cause, remedy) = match FileFormat::of(path) {
        FileFormat::Arrow => {
            ("it would be Arrow, which is read and not written", "name a file that ends in .parquet or .csv")
        }
        format if format.is_missing() => {
            ("it would be Parquet, and this hushwire was built without it", BUILD)
        }
        _ => return Ok(()),
    };
    Err(FileError { access: Access::Write, ..FileError::new(path, None, cause, remedy) })
}

/// Refuses an input file in a format that this build does not support.
///
/// # Errors
/// The file is Parquet or Arrow by its name, and this build supports neither.
pub fn check_input(path: &Path) -> Result<(), FileError> {
    let format = FileFormat::of(path);
    if !format.is_missing() {
        return Ok(());
    }
    let cause = format!("it is {}, and this hushwire was built without it", format.name());
    Err(FileError::new(path, None, cause, BUILD))
}
