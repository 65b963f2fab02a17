//! Errors of a command, and the exit code that says so.

use hushwire_job::{JobError, Kind};
use hushwire_machine::NetError;
use std::{fmt, io, path::Path};

/// Everything a command can fail with. Each message names a cause and a remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line does not make sense.
    #[error("{0}")]
    Usage(String),
    /// This program's own end of the network failed.
    #[error("{}; {}", .0.cause, .0.remedy)]
    Net(JobError),
    /// A job could not be read or run, or a file not be used; the error of another process of ours names its member.
    #[error("{0}")]
    Job(#[from] JobError),
}

impl From<NetError> for Error {
    fn from(e: NetError) -> Self {
        Self::Net(e.into())
    }
}

impl Error {
    /// An operating system's refusal, with its remedy.
    pub(crate) fn io(doing: &str, path: &Path, source: &io::Error) -> Self {
        JobError::io(doing, path, source).into()
    }

    /// A file that is not as it should be. `doing` is "read", "write", ….
    pub(crate) fn file(
        doing: &str,
        path: &Path,
        cause: impl fmt::Display,
        remedy: impl fmt::Display,
    ) -> Self {
        JobError::file(doing, path, cause, remedy).into()
    }

    /// It would work, and would be unsafe.
    pub(crate) fn refused(cause: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        JobError::new(Kind::Refused, "refused", cause, remedy).into()
    }

    /// Neither the user nor the network is to blame.
    pub(crate) fn internal(doing: &str, cause: impl fmt::Display) -> Self {
        JobError::new(Kind::Internal, doing, cause, "please report this with the command line").into()
    }

    /// The process's exit code; `--help` lists them.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Net(_) => 3,
            Self::Job(e) => match e.kind {
                Kind::Internal => 1,
                Kind::Usage => 2,
                Kind::Network => 3,
                Kind::File => 4,
                Kind::Refused => 5,
            },
        }
    }
}
