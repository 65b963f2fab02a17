//! Errors of a job: who, during what, why, and the remedy.

use hushwire_machine::{Cause, NetError, printable};
use serde::{Deserialize, Serialize};
use std::{fmt, io, path::Path};

/// The sort of a failure; commands turn it into their exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A bug of ours.
    Internal,
    /// A request that makes no sense.
    Usage,
    /// A party, a peer, or the network.
    Network,
    /// A file that cannot be used.
    File,
    /// It would work, and would not be safe.
    Refused,
}

/// A job that could not be read, or did not end well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub struct JobError {
    /// The member that failed, as `party 1`; empty where it is this program and nobody else takes part yet.
    pub who: String,
    /// The step under way.
    pub step: String,
    /// The cause, as a clause.
    pub cause: String,
    /// The remedy, as a clause; empty where there is none.
    pub remedy: String,
    /// The sort of the failure.
    pub kind: Kind,
    /// Probably only the consequence of another member's failure, whose error says more.
    pub consequence: bool,
    /// The only part of this error that the other members may hear.
    #[serde(skip)]
    pub told: Cause,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.who.is_empty() {
            // "party 1 cannot write …" and "client alice refused: …" need no more.
            let whole = self.step.starts_with("cannot ") || self.step == "refused";
            let failed = if whole { "" } else { "failed during " };
            write!(f, "{} {failed}", self.who)?;
        }
        write!(f, "{}: {}; {}", self.step, self.cause, self.remedy)
    }
}

/// A setting that is not wrong, and should not stay so. Reads as its cause, then its remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct Warning {
    /// The cause, as a clause.
    pub cause: String,
    /// The remedy, as a clause.
    pub remedy: String,
}

impl JobError {
    /// An error without a name of its own. Files, peers and arguments may have a part in the texts: control characters
    /// in them are escaped.
    pub fn new(
        kind: Kind,
        step: impl fmt::Display,
        cause: impl fmt::Display,
        remedy: impl fmt::Display,
    ) -> Self {
        let shown = |text: String| printable(&text).into_owned();
        let [step, cause, remedy] = [step.to_string(), cause.to_string(), remedy.to_string()].map(shown);
        let told = match kind {
            Kind::Usage => Cause::Inputs,
            Kind::File => Cause::Reading,
            Kind::Refused => Cause::Unsafe,
            Kind::Internal | Kind::Network => Cause::Other,
        };
        Self { who: String::new(), step, cause, remedy, kind, consequence: false, told }
    }

    /// An error for a request that makes no sense.
    pub fn usage(step: impl fmt::Display, cause: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, step, cause, remedy)
    }

    /// A bug of ours.
    pub fn internal(step: impl fmt::Display, cause: impl fmt::Display) -> Self {
        Self::new(Kind::Internal, step, cause, "please report this with the job")
    }

    /// A file that is not as it should be. `doing` is `read`, `write`, ….
    pub fn file(doing: &str, path: &Path, cause: impl fmt::Display, remedy: impl fmt::Display) -> Self {
        let e = Self::new(Kind::File, format!("cannot {doing} {}", path.display()), cause, remedy);
        if doing == "write" { e.telling(Cause::Writing) } else { e }
    }

    /// The operating system's refusal, with its remedy.
    #[must_use]
    pub fn io(doing: &str, path: &Path, source: &io::Error) -> Self {
        Self::file(doing, path, source, io_remedy(source))
    }

    /// The same error, for which the other members are told this cause.
    #[must_use]
    pub fn telling(self, told: Cause) -> Self {
        Self { told, ..self }
    }

    /// Names who failed, unless that is known already.
    #[must_use]
    pub fn of(mut self, who: impl fmt::Display) -> Self {
        if self.who.is_empty() {
            self.who = who.to_string();
        }
        self
    }

    /// Puts a step in front, where there is none yet.
    #[must_use]
    pub fn during(mut self, step: &str) -> Self {
        if self.step.is_empty() {
            step.clone_into(&mut self.step);
        }
        self
    }
}

/// The remedy about a file that the operating system refused.
#[must_use]
pub fn io_remedy(source: &io::Error) -> &'static str {
    use io::ErrorKind as K;
    use rustix::io::Errno;
    if [Errno::MFILE, Errno::NFILE].map(|e| Some(e.raw_os_error())).contains(&source.raw_os_error()) {
        return "allow this process more open files (`ulimit -n`), or take fewer threads";
    }
    match source.kind() {
        K::NotFound => "check the spelling and that its directory exists",
        K::PermissionDenied | K::ReadOnlyFilesystem => "check the permissions of it and of its directory",
        K::StorageFull | K::QuotaExceeded => {
            "free space on that disk, or name a file on another one; no part of it was kept"
        }
        K::FileTooLarge => {
            "allow larger files (`ulimit -f`), or name one on another disk; no part of it was kept"
        }
        K::IsADirectory => "name a file in it",
        K::NotADirectory => "name a directory, or move that file away",
        K::BrokenPipe => "the program that should read it has ended: look at its error, or name a file",
        _ => "see the system's log about that file or device",
    }
}

/// The party, the step and the cause stay together: the step is a message's, not the job's.
impl From<NetError> for JobError {
    fn from(e: NetError) -> Self {
        let kind = match e {
            NetError::Config { .. } | NetError::Forked { .. } => Kind::Usage,
            _ => Kind::Network,
        };
        Self { consequence: e.is_consequence(), ..Self::new(kind, "", e.cause(), e.remedy()) }
    }
}
