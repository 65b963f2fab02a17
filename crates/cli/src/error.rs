//! Errors of a command, and their exit codes.

use hushwire::job::Fault;
use hushwire_fault::{IntoText, code};
use hushwire_machine::NetError;
use std::{io, path::Path};

/// All errors that can end a command. Each message names a cause and a remedy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line does not make sense.
    #[error("{0}")]
    Usage(String),
    /// An error at this program's own end of the network.
    #[error("{}", .0.clauses())]
    Net(Fault),
    /// A job could not be read or run, or a file could not be used. An error from another process
    /// of the run names its member.
    #[error("{0}")]
    Job(#[from] Fault),
}

impl From<NetError> for Error {
    fn from(e: NetError) -> Self {
        Self::Net(e.into())
    }
}

impl Error {
    /// The error of a system call, with its remedy.
    pub(crate) fn io(doing: &str, path: &Path, source: &io::Error) -> Self {
        Fault::io(doing, path, source).into()
    }

    /// An error of a file with unexpected content. `doing` is "read", "write", ….
    pub(crate) fn file(doing: &str, path: &Path, cause: impl IntoText, remedy: impl IntoText) -> Self {
        Fault::file(doing, path, cause, remedy).into()
    }

    /// An error of an action that would work, but would be unsafe.
    pub(crate) fn refused(cause: impl IntoText, remedy: impl IntoText) -> Self {
        Fault::new(code::UNSAFE, "refused", cause, remedy).whole().into()
    }

    /// An error for which neither the user nor the network is to blame.
    pub(crate) fn internal(doing: &str, cause: impl IntoText) -> Self {
        Fault::new(code::BUG, doing, cause, "please report this with the command line").into()
    }

    /// Returns the error as a fault, for programs.
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Usage(cause) => Fault::of(code::COMMAND_LINE, &[("cause", cause.into())]),
            Self::Net(e) | Self::Job(e) => e.clone(),
        }
    }

    /// The process's exit code; `--help` lists them.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Net(_) => 3,
            Self::Job(e) => e.kind().exit_code(),
        }
    }
}
