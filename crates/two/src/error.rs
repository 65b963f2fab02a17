//! Errors of a run.

use hushwire_bfv::BfvError;
use hushwire_compute::ComputeError;
use hushwire_machine::{NetError, PartyId, drive::Misstep};
use hushwire_ot::OtError;
use std::{borrow::Cow, fmt};
use thiserror::Error;

/// SECURITY: results of layers under encryption that a session opens at most: each layer's flooding hides as many.
pub const COEFFICIENTS: u64 = 1 << 26;

/// The reason why a run ended without a result. The party is lost then: open a new session.
///
/// Reads as [`cause`](Self::cause), then [`remedy`](Self::remedy).
#[derive(Debug, Error)]
pub enum TwoError {
    /// The parties are not about to run the same thing.
    Mismatch {
        /// The party at fault, where the channel knows it.
        peer: Option<PartyId>,
    },
    /// This party's inputs are not those that the plan takes from it.
    Inputs {
        /// Values that came.
        found: usize,
        /// Values that it takes.
        expected: usize,
    },
    /// An input of this party has another type or other lengths than the plan says.
    Input {
        /// Its place among the party's inputs.
        place: usize,
    },
    /// Layers under encryption open more results than the session's noise hides ([`COEFFICIENTS`]).
    TooMany {
        /// Results.
        found: u64,
    },
    /// A run takes more memory than it may.
    Memory {
        /// The most bytes that it takes at a party.
        takes: u64,
        /// Bytes that it may take.
        may: u64,
    },
    /// An opened order is not a permutation.
    Unordered {
        /// The peer, where the channel knows it.
        peer: Option<PartyId>,
    },
    /// A run before failed.
    Lost,
    /// The caller cancelled the run.
    Cancelled,
    /// An operation on values that are known failed, or the computation cannot be planned.
    Compute(#[from] ComputeError),
    /// A layer under encryption failed.
    Encryption {
        /// The peer, where its message is to blame and the channel knows it.
        peer: Option<PartyId>,
        /// The reason.
        cause: BfvError,
    },
    /// The OTs failed.
    Ot(#[from] OtError),
    /// The channel failed.
    Net(#[from] NetError),
}

impl From<BfvError> for TwoError {
    fn from(cause: BfvError) -> Self {
        Self::Encryption { peer: None, cause }
    }
}

impl From<Misstep> for TwoError {
    fn from(misstep: Misstep) -> Self {
        Self::Net(misstep.into())
    }
}

impl fmt::Display for TwoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

/// Two sizes for people to read: in bytes where both would round to the same text.
fn in_units(bytes: [u64; 2]) -> [String; 2] {
    match bytes.map(|bytes| bytes.div_ceil(1 << 20)) {
        [a, b] if a != b => [a, b].map(|n| format!("{n} MiB")),
        _ => bytes.map(|n| format!("{n} bytes")),
    }
}

impl TwoError {
    /// The same, of this peer's message.
    pub(crate) fn of(self, peer: Option<PartyId>) -> Self {
        match self {
            Self::Encryption { peer: None, cause } if !matches!(cause, BfvError::Margin { .. }) => {
                Self::Encryption { peer, cause }
            }
            other => other,
        }
    }

    /// The peer to blame, where one is, and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Mismatch { peer } => {
                let peer = peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string());
                format!("{peer}: runs another computation, other owners or another run of the session")
            }
            Self::Inputs { found, expected } => {
                format!("this party's inputs: found {found} values, expected {expected}")
            }
            Self::Input { place } => {
                format!("this party's input {place} has another type or other lengths than the plan")
            }
            Self::TooMany { found } => {
                format!("layers under encryption open {found} results, and a session at most {COEFFICIENTS}")
            }
            Self::Memory { takes, may } => {
                let [takes, may] = in_units([*takes, *may]);
                format!("it takes up to {takes} of memory at each party, and may take {may}")
            }
            Self::Unordered { peer } => {
                let peer = peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string());
                format!("{peer}: says shares of places that are no order of rows")
            }
            Self::Lost => "this party is lost, because a run before failed".to_owned(),
            Self::Cancelled => "the caller cancelled the run".to_owned(),
            Self::Compute(e) => e.cause(),
            Self::Encryption { peer: Some(peer), cause } => format!("{peer}: {cause}"),
            Self::Encryption { peer: None, cause } => cause.to_string(),
            Self::Ot(e) => e.cause(),
            Self::Net(e) => e.cause(),
        }
    }

    /// The next thing to do about it, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Unordered { .. } => "run the same build at both parties",
            Self::Mismatch { .. } => "give both parties the same job",
            Self::Inputs { .. } | Self::Input { .. } => {
                "bring a value for each of its inputs, as the plan has them"
            }
            Self::TooMany { .. } => "run fewer images in a session, or take products by OT",
            Self::Memory { .. } => "bring fewer rows, or allow more memory",
            Self::Lost | Self::Cancelled => "set up a new session",
            Self::Compute(e) => return e.remedy().clone().into(),
            Self::Encryption { .. } => {
                "compute layers by OT (linear = \"ot\", --linear ot), or take another ring (--bits)"
            }
            Self::Ot(e) => return e.remedy(),
            Self::Net(e) => return e.remedy(),
        })
    }
}
