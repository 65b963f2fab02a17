//! Why a session ends, as all its members hear it.

use core::fmt;

use hushwire_fault::Excuse;

/// The reason why a party ends a session before its time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// An error of its own, for instance of a disk.
    Failed,
    /// An error of its own, with its cause.
    Local(Excuse),
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
