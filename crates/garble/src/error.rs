//! Errors of garbling and of Yao's protocol: the network, the OTs, the parties' disagreement, and misuse.

use std::{borrow::Cow, fmt};

use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use thiserror::Error;

/// The reason why a garbled circuit ended without a result.
///
/// Reads as [`cause`](Self::cause), then [`remedy`](Self::remedy).
#[derive(Debug, Error)]
pub enum GarbleError {
    /// A message that no party following the protocol sends.
    Malformed {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The fault of the message.
        what: String,
    },
    /// The parties were not given the same thing to do.
    Mismatch {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The term that differs.
        what: &'static str,
    },
    /// The tables end before the circuit does.
    Short {
        /// Bytes that it needs.
        wanted: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// The scheme cannot do what was asked for.
    Unsupported {
        /// The scheme's name.
        scheme: &'static str,
        /// The work that it cannot do.
        what: &'static str,
        /// The schemes that can.
        instead: String,
    },
    /// No scheme has that name.
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The circuit's gates cannot be read.
    Gates(#[from] std::io::Error),
    /// Oblivious transfer of inputs failed.
    Ot(#[from] OtError),
    /// The channel failed.
    Net(#[from] NetError),
}

impl fmt::Display for GarbleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

impl GarbleError {
    /// The peer to blame, where one is, and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Malformed { peer, message, what } => {
                format!("{}: {message} is malformed: {what}", named(*peer))
            }
            Self::Mismatch { peer, what } => format!("{}: {what} differ from ours", named(*peer)),
            Self::Short { wanted, left } => {
                format!("the garbled tables end early: {wanted} bytes are needed and {left} are left")
            }
            Self::Unsupported { scheme, what, .. } => format!("scheme {scheme} {what}"),
            Self::Unknown { name, .. } => format!("no garbling scheme is called {name:?}"),
            Self::Gates(e) => format!("the circuit cannot be read: {e}"),
            Self::Ot(e) => e.cause(),
            Self::Net(e) => e.cause(),
        }
    }

    /// The next thing to do about it, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Malformed { .. } => "run the same version at both sides",
            Self::Mismatch { .. } => "give both parties the same",
            Self::Short { .. } => "evaluate with the circuit that was garbled",
            Self::Unsupported { instead: known, .. } | Self::Unknown { known, .. } => {
                return format!("take one of {known}").into();
            }
            Self::Gates(_) => "see whether its file is whole",
            Self::Ot(e) => return e.remedy(),
            Self::Net(e) => return e.remedy(),
        })
    }

    /// A malformed message.
    #[must_use]
    pub fn malformed(peer: Option<PartyId>, message: &'static str, what: impl Into<String>) -> Self {
        GarbleError::Malformed { peer, message, what: what.into() }
    }

    /// Names the peer that is to blame.
    #[must_use]
    pub fn of(mut self, who: Option<PartyId>) -> Self {
        if let GarbleError::Malformed { peer, .. } | GarbleError::Mismatch { peer, .. } = &mut self {
            *peer = who;
        }
        if let GarbleError::Ot(e) = self { e.of(who).into() } else { self }
    }
}

fn named(peer: Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
