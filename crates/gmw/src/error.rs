//! Errors of a run: of the network, the OTs, and the parties' disagreement.

use std::{borrow::Cow, fmt};

use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use thiserror::Error;

/// The reason why a run ended without a result. The party is lost then: open a new session.
///
/// Reads as [`cause`](Self::cause), then [`remedy`](Self::remedy).
#[derive(Debug, Error)]
pub enum GmwError {
    /// The parties are not about to run the same thing.
    Mismatch {
        /// The party at fault, where the channel knows it.
        peer: Option<PartyId>,
    },
    /// This party's inputs do not have the size that they need.
    Inputs {
        /// Planes that came.
        found: usize,
        /// Planes that it takes.
        expected: usize,
    },
    /// A run before failed, and both parties' triples may no longer be each other's.
    Lost,
    /// The OTs that triples are made of failed.
    Ot(#[from] OtError),
    /// The channel failed.
    Net(#[from] NetError),
}

impl fmt::Display for GmwError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

impl GmwError {
    /// The peer to blame, where one is, and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Mismatch { peer } => {
                let peer = peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string());
                format!(
                    "{peer}: runs another circuit, other roles, another number of instances or another run of the session"
                )
            }
            Self::Inputs { found, expected } => {
                format!("this party's inputs: found {found} planes, expected {expected}")
            }
            Self::Lost => "this party is lost, because a run before failed".to_owned(),
            Self::Ot(e) => e.cause(),
            Self::Net(e) => e.cause(),
        }
    }

    /// The next thing to do about it, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Mismatch { .. } => "give both parties the same job",
            Self::Inputs { .. } => "bring a plane for every bit of its inputs",
            Self::Lost => "set up a new session",
            Self::Ot(e) => return e.remedy(),
            Self::Net(e) => return e.remedy(),
        })
    }
}
