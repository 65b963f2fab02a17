//! Why a session ends, as all its members hear it.

use core::fmt;

/// The cause of a member's own failure, as the other members hear it: one of these, so that no
/// name, value or length of a file can be in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Cause {
    /// Its values or their places do not fit the job, or are missing.
    Inputs,
    /// It cannot read or use a file.
    Reading,
    /// It cannot write an output.
    Writing,
    /// It cannot use the job, or its own configuration does not fit the job.
    Job,
    /// It would be unsafe to take part.
    Unsafe,
    /// A bug, or something that no other cause covers.
    #[default]
    Other,
}

/// Reads as a clause after a colon.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inputs => "its inputs do not fit the job",
            Self::Reading => "it cannot use a file that it reads",
            Self::Writing => "it cannot write an output",
            Self::Job => "it cannot use the job, or its own file does not fit the job",
            Self::Unsafe => "it refuses a run that would not be safe for it",
            Self::Other => "an error of its own",
        })
    }
}

/// The reason why a party ends a session before its time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An error of its own, for instance of a disk.
    Failed,
    /// An error of its own, with its cause.
    Local(Cause),
    /// A person or a supervisor stopped it.
    Interrupted,
    /// Its links closed and it had not said that it ends.
    Died,
    /// Nothing was heard of it any more.
    Silent,
    /// It lives, and data did not move for the stall limit.
    Stalled,
    /// It ended, in order as it thought, while others still needed it.
    Left,
    /// It did not come.
    Absent,
    /// It disagrees about the session, or is not the one that the certificate should prove.
    Refused,
    /// It sent a message that no honest party sends.
    Cheated,
    /// Another process with its key had joined before.
    Duplicate,
    /// It takes no part in jobs of this kind: its operator has not allowed it.
    Declined,
}

impl Reason {
    /// Whether a member may give it for itself before it has joined.
    #[must_use]
    pub fn is_excuse(self) -> bool {
        matches!(self, Self::Local(_) | Self::Declined)
    }
}

/// Reads after a party's name: "party 1: died".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed | Self::Local(_) => "failed",
            Self::Interrupted => "was interrupted",
            Self::Died => "died",
            Self::Silent => "fell silent",
            Self::Stalled => "stalled",
            Self::Left => "ended too early",
            Self::Absent => "did not come",
            Self::Refused => "was refused",
            Self::Cheated => "sent a message that no honest party sends",
            Self::Duplicate => "was started twice",
            Self::Declined => "declined",
        })
    }
}
