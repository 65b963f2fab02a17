//! Errors of measurements, reports and plots, by the way in which a program reacts to them.

use std::{fmt, io, path::Path};

/// Any error of the measured code.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A result with this crate's [`BenchError`].
pub type Result<T, E = BenchError> = std::result::Result<T, E>;

/// The reason why a run or a plot has no result, as text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The requested row, value or backend does not exist.
    #[error("{0}")]
    Asked(String),
    /// A file cannot be read or written, or is not a report.
    #[error("{0}")]
    File(String),
    /// The output file exists, and is not of the kind that may be replaced.
    #[error("{0}")]
    Taken(String),
    /// A stream does not accept the table or the JSON.
    #[error("writing the report: {0}")]
    Output(#[from] io::Error),
    /// The measured code failed, a tool is missing, or a benchmark is wrong.
    #[error("{0}")]
    Failed(String),
}

impl BenchError {
    /// Returns the exit code of the command.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Asked(_) => 2,
            Self::File(_) | Self::Output(_) => 4,
            Self::Taken(_) => 5,
        }
    }

    /// The error of a case.
    pub(crate) fn case(case: &str, params: &impl fmt::Display, source: &dyn fmt::Display) -> Self {
        Self::Failed(format!("case `{case}` ({params}) failed: {source}"))
    }

    /// The error of `action`, a participle such as "writing", for a file.
    pub(crate) fn file(action: &str, path: &Path, source: &dyn fmt::Display) -> Self {
        Self::File(format!("{action} {}: {source}", path.display()))
    }

    /// The error of a limit that cannot be used.
    pub(crate) fn limit(name: &str, what: &str) -> Self {
        Self::Failed(format!("limit `{name}`: {what}"))
    }
}
