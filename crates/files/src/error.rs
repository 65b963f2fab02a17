//! Errors of files. An error has the file, the place in it, the cause and the remedy. It does not
//! repeat values of the file.

use hushwire_fault::{Fault, code};
use std::{
    fmt, io,
    path::{Path, PathBuf},
};

/// A place in a file. All numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
    /// A place in a text.
    Line {
        /// The line. A quoted field may span several lines.
        line: u64,
        /// The character of the line, if a character is to blame.
        column: Option<u64>,
    },
    /// A row of a file without lines.
    Row(u64),
}

impl FilePlace {
    /// A whole line.
    pub(crate) const fn line(line: u64) -> Self {
        Self::Line { line, column: None }
    }
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, column: None } => write!(f, "line {line}"),
            // In CSV, "column" has another meaning.
            Self::Line { line, column: Some(column) } => write!(f, "line {line}, character {column}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// The operation on a file that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The file was to be read.
    Read,
    /// The file was to be written.
    Write,
    /// Bytes of a result were to be written to a writer whose file is not known here.
    Output,
}

/// A file that cannot be read or written. Its text is that of its [`fault`](Self::fault).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The failed operation.
    pub access: Access,
    /// The file's path; empty for [`Access::Output`].
    pub path: PathBuf,
    /// The place in the file, if there is one.
    pub place: Option<FilePlace>,
    /// The fault of that place, as a clause.
    pub cause: String,
    /// The remedy, as a clause.
    pub remedy: String,
}

impl FileError {
    /// Makes the error of a file with a defect.
    pub fn new(
        path: &Path,
        place: Option<FilePlace>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (path, cause, remedy) = (path.to_owned(), cause.into(), remedy.into());
        Self { access: Access::Read, path, place, cause, remedy }
    }

    /// Makes the error for the operating system's refusal to read a file.
    #[must_use]
    pub fn io(path: &Path, e: &io::Error) -> Self {
        use io::ErrorKind as K;
        let remedy = match e.kind() {
            K::NotFound => "check the spelling",
            K::PermissionDenied => "check its permissions",
            K::IsADirectory => "name a file in it",
            _ => SYSTEM,
        };
        Self::new(path, None, e.to_string(), remedy)
    }

    /// Makes the error for a table that differs when it is read again.
    #[must_use]
    pub fn changed(path: &Path) -> Self {
        Self::new(path, None, "it has changed since the run began", "run again")
    }

    /// Makes the error for the refusal of a writer.
    pub fn output(cause: impl fmt::Display) -> Self {
        Self { access: Access::Output, ..Self::new(Path::new(""), None, cause.to_string(), SYSTEM) }
    }

    /// The code, the step, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let Self { access, path, place, cause, remedy } = self;
        match access {
            Access::Read => {
                let place = place.map_or_else(String::new, |place| format!(", {place}"));
                let step = format!("cannot read {}{place}", path.display());
                Fault::new(code::READ, step, cause, remedy).whole()
            }
            Access::Write => Fault::file("write", path, cause, remedy),
            Access::Output => Fault::of(code::SET_OUTPUT, &[("cause", cause.into())]),
        }
    }
}

const SYSTEM: &str = "see the system's log about that file or device";

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault().fmt(f)
    }
}

impl std::error::Error for FileError {}

impl From<FileError> for Fault {
    fn from(e: FileError) -> Self {
        e.fault()
    }
}
