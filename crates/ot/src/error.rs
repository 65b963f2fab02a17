//! Errors of OT: the network, the peer's messages, checks, and misuse.

use core::fmt;
use std::borrow::Cow;

use hushwire_machine::{NetError, PartyId};
use thiserror::Error;

/// The check that failed. It never says which bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The base OTs' proof of consistency (CSW20: Π and its answer).
    BaseOt,
    /// The digest over the check leaves of the GGM trees (SoftSpoken).
    Trees,
    /// The fold of the receiver's rows (KOS, SoftSpoken).
    Rows,
    /// The hashes over pairs of columns (ALSZ15).
    Pairs,
    /// The fold of the punctured trees' leaves (Ferret).
    Leaves,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Check::BaseOt => "base OT",
            Check::Trees => "GGM tree",
            Check::Rows => "row",
            Check::Pairs => "column pair",
            Check::Leaves => "punctured leaf",
        })
    }
}

/// The reason why an oblivious transfer ended without a result. The state is lost: start again with a new set-up.
///
/// Reads as [`cause`](Self::cause), then [`remedy`](Self::remedy).
#[derive(Debug, Error)]
pub enum OtError {
    /// A consistency check failed.
    Abort {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The check that failed.
        check: Check,
    },
    /// A message that no party following the protocol sends.
    Malformed {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The fault of the message.
        what: String,
    },
    /// The protocol does not exist at this security level.
    Unsupported {
        /// The protocol that was asked for.
        protocol: String,
        /// The level asked for.
        wanted: &'static str,
        /// The protocols or levels that exist.
        instead: &'static str,
    },
    /// No protocol has that name.
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// This end failed before, a step of it came out of turn, or a call was dropped before its last step: its numbers
    /// and checks may no longer be the peer's, and what was open will never be checked.
    Lost {
        /// The step that was to run.
        step: &'static str,
    },
    /// Outputs were to be opened before a check covered them.
    Unverified,
    /// The channel failed.
    Net(#[from] NetError),
}

impl fmt::Display for OtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

impl OtError {
    /// The peer to blame, where one is, and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Abort { peer, check } => format!(
                "{}: the {check} check failed: the peer left the protocol, or its messages were changed",
                named(*peer)
            ),
            Self::Malformed { peer, message, what } => {
                format!("{}: message {message} is malformed: {what}", named(*peer))
            }
            Self::Unsupported { protocol, wanted, .. } => format!("{protocol} is not a {wanted} protocol"),
            Self::Unknown { name, .. } => format!("no OT protocol is called {name:?}"),
            Self::Lost { step } => format!(
                "{step}: this end of the OTs is lost, because a call before failed or was dropped unfinished"
            ),
            Self::Unverified => "these outputs are not verified yet".to_owned(),
            Self::Net(e) => e.cause(),
        }
    }

    /// The next thing to do about it, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Abort { .. } => "nothing of this batch may be used; set up a new session",
            Self::Malformed { .. } => "run the same version at both sides",
            Self::Unsupported { instead: known, .. } => return format!("take one of {known}").into(),
            Self::Unknown { known, .. } => return format!("take one of {known}").into(),
            Self::Lost { .. } => "set up a new session",
            Self::Unverified => "run verify after the extension that made them",
            Self::Net(e) => return e.remedy(),
        })
    }

    /// A failed check.
    #[must_use]
    pub fn abort(check: Check) -> Self {
        OtError::Abort { peer: None, check }
    }

    /// A malformed message.
    #[must_use]
    pub fn malformed(message: &'static str, what: impl Into<String>) -> Self {
        OtError::Malformed { peer: None, message, what: what.into() }
    }

    /// Names the peer that is to blame.
    #[must_use]
    pub fn of(mut self, who: Option<PartyId>) -> Self {
        if let OtError::Abort { peer, .. } | OtError::Malformed { peer, .. } = &mut self {
            *peer = who;
        }
        self
    }
}

fn named(peer: Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
