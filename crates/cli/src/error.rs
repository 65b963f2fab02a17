//! Errors of a command, and the exit code that says so.

use hushwire_job::{JobError, Kind, io_remedy};
use hushwire_wire::NetError;
use serde::{Deserialize, Serialize};
use std::{fmt, io, path::Path};

/// Everything a command can fail with. Each message names a cause and a remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line does not make sense.
    #[error("{0}")]
    Usage(String),
    /// A file or directory could not be used as asked.
    #[error("cannot {doing} {path}: {cause}; {remedy}")]
    File {
        /// The attempt: "read", "write", …
        doing: &'static str,
        path: String,
        cause: String,
        remedy: String,
    },
    /// It would work, and would be unsafe.
    #[error("refused: {what}; {remedy}")]
    Refused { what: String, remedy: String },
    /// A party failed.
    #[error("{0}")]
    Party(Failure),
    /// The owner's own end of the network failed.
    #[error("{0}")]
    Net(#[from] NetError),
    /// The owner's own end of a run's network failed.
    #[error("{}; {}", .0.cause, .0.remedy)]
    Peer(JobError),
    /// Neither the user nor the network is to blame.
    #[error("{doing}: {cause}; please report this with the command line")]
    Internal { doing: &'static str, cause: String },
    /// A job could not be read or run, or a file of it not written.
    #[error("{0}")]
    Job(#[from] JobError),
}

impl Error {
    /// An operating system's refusal, with its remedy.
    pub(crate) fn io(doing: &'static str, path: &Path, source: &io::Error) -> Self {
        Self::file(doing, path, source, io_remedy(source))
    }

    /// A file that is not as it should be.
    pub(crate) fn file(
        doing: &'static str,
        path: &Path,
        cause: impl fmt::Display,
        remedy: impl fmt::Display,
    ) -> Self {
        Self::File {
            doing,
            path: path.display().to_string(),
            cause: cause.to_string(),
            remedy: remedy.to_string(),
        }
    }

    /// The process's exit code; `--help` lists them.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Internal { .. } => 1,
            Self::Usage(_) => 2,
            Self::Net(_) | Self::Peer(_) => 3,
            Self::File { .. } => 4,
            Self::Refused { .. } => 5,
            Self::Party(failure) => failure.code,
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

/// A party's failure, as its process reports it to the owner's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The process, by number in the order in which they were started; parties come first.
    pub(crate) party: usize,
    /// As messages name it: "party 1", "client alice".
    pub(crate) who: String,
    /// The step under way.
    pub(crate) step: String,
    pub(crate) cause: String,
    pub(crate) remedy: String,
    /// The exit code that fits.
    pub(crate) code: u8,
    /// Only the consequence of another process's failure.
    pub(crate) consequence: bool,
}

impl Failure {
    /// A member's failure in a job; it names itself.
    pub(crate) fn of_job(party: usize, error: &JobError) -> Self {
        let JobError { who, step, cause, remedy, consequence, .. } = error.clone();
        Self { party, who, step, cause, remedy, code: Error::Job(error.clone()).code(), consequence }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // "party 1 cannot write …" needs no more.
        let failed = if self.step.starts_with("cannot ") { "" } else { "failed during " };
        write!(f, "{} {failed}{}: {}; {}", self.who, self.step, self.cause, self.remedy)
    }
}
