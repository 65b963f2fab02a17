//! The reason why a session ends, as all its members are told it.

use core::fmt;

use hushwire_fault::Excuse;

/// The reason why a party ends a session early.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An error of its own, for instance of its disk.
    Failed,
    /// An error of its own, with the cause.
    Local(Excuse),
    /// A person or a supervisor stopped it.
    Interrupted,
    /// Its links closed before it announced that it ends.
    Died,
    /// It was silent for too long.
    Silent,
    /// It is alive, but no data moved for the stall limit.
    Stalled,
    /// It ended in good order by its own view, while others still needed it.
    Left,
    /// It did not come.
    Absent,
    /// It disagrees about the session, or does not hold the key of the expected certificate.
    Refused,
    /// It sent a message that no honest party sends.
    Cheated,
    /// Another process with its key had joined before.
    Duplicate,
    /// It declines the job: its operator has not allowed jobs of this kind.
    Declined,
}

impl Reason {
    /// Whether a member may give this reason for itself before it has joined.
    #[must_use]
    pub fn is_excuse(self) -> bool {
        matches!(self, Self::Local(_) | Self::Declined)
    }
}

/// The text follows a party's name: "party 1: died".
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
