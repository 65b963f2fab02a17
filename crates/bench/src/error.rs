//! Errors of measuring, of reports and of plots, by what a program does about them.

use std::{fmt, io, path::Path};

/// Any error of the code being measured.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A result with this crate's [`BenchError`].
pub type Result<T, E = BenchError> = std::result::Result<T, E>;

/// The reason why a run or a plot has no result, in words.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The row, value or backend that was asked for does not exist.
    #[error("{0}")]
    Asked(String),
    /// A file cannot be read or written, or is no report.
    #[error("{0}")]
    File(String),
    /// A file exists that is not of the kind that would replace it.
    #[error("{0}")]
    Taken(String),
    /// A stream does not take the table or the JSON.
    #[error("writing the report: {0}")]
    Output(#[from] io::Error),
    /// The measured code failed, a tool is missing, or a bench is wrong.
    #[error("{0}")]
    Failed(String),
}

impl BenchError {
    /// The exit code of the command.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Asked(_) => 2,
            Self::File(_) | Self::Output(_) => 4,
            Self::Taken(_) => 5,
        }
    }

    /// A case failed.
    pub(crate) fn case(case: &str, params: &impl fmt::Display, source: &dyn fmt::Display) -> Self {
        Self::Failed(format!("case `{case}` ({params}) failed: {source}"))
    }

    /// `action`, a participle such as "writing", failed on a file.
    pub(crate) fn file(action: &str, path: &Path, source: &dyn fmt::Display) -> Self {
        Self::File(format!("{action} {}: {source}", path.display()))
    }

    /// A limit has no use as it is.
    pub(crate) fn limit(name: &str, what: &str) -> Self {
        Self::Failed(format!("limit `{name}`: {what}"))
    }
}
