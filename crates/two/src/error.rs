//! Errors of a run.

use hushwire_bfv::BfvError;
use hushwire_compute::ComputeError;
use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId, drive::Misstep};
use hushwire_ot::OtError;
use std::fmt;
use thiserror::Error;

/// SECURITY: the most results of layers under encryption that a session opens. Each layer's
/// flooding is sized to hide this many.
pub const COEFFICIENTS: u64 = 1 << 26;

/// The reason why a run ended without a result. The party cannot be used after it: open a new
/// session.
///
/// Its text is that of its [`fault`](Self::fault).
#[derive(Debug, Error)]
pub enum TwoError {
    /// The parties are not about to run the same computation.
    Mismatch {
        /// The party at fault, if the channel knows it.
        peer: Option<PartyId>,
    },
    /// The number of this party's inputs is not the plan's.
    Inputs {
        /// The number of given values.
        found: usize,
        /// The number of values in the plan.
        expected: usize,
    },
    /// An input of this party does not have the plan's type or lengths.
    Input {
        /// Its place among the party's inputs.
        place: usize,
    },
    /// Layers under encryption would open more results than the session's noise hides
    /// ([`COEFFICIENTS`]).
    TooMany {
        /// The number of results.
        found: u64,
    },
    /// A run takes more memory than it is allowed to.
    Memory {
        /// The most bytes that it takes at one party.
        takes: u64,
        /// The bytes that it is allowed to take.
        may: u64,
    },
    /// An opened order is not a permutation.
    Unordered {
        /// The peer, if the channel knows it.
        peer: Option<PartyId>,
    },
    /// An earlier run failed.
    Lost,
    /// The caller cancelled the run.
    Cancelled,
    /// An operation on known values failed, or the computation cannot be planned.
    Compute(#[from] ComputeError),
    /// A layer under encryption failed.
    Encryption {
        /// The peer, if its message is to blame and the channel knows it.
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
        f.write_str(&self.fault().clauses())
    }
}

/// Two sizes in units for people. They are in bytes if both would round to the same text.
fn in_units(bytes: [u64; 2]) -> [String; 2] {
    match bytes.map(|bytes| bytes.div_ceil(1 << 20)) {
        [a, b] if a != b => [a, b].map(|n| format!("{n} MiB")),
        _ => bytes.map(|n| format!("{n} bytes")),
    }
}

impl TwoError {
    /// The same error, with this peer to blame.
    pub(crate) fn of(self, peer: Option<PartyId>) -> Self {
        match self {
            Self::Encryption { peer: None, cause } if !matches!(cause, BfvError::Margin { .. }) => {
                Self::Encryption { peer, cause }
            }
            other => other,
        }
    }

    /// The code, the peer to blame, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let of = |peer: Option<PartyId>| ("peer", Text::peer(peer, "the peer"));
        match self {
            Self::Mismatch { peer } => Fault::of(code::TWO_DIFFERS, &[of(*peer)]).blaming(*peer),
            Self::Inputs { found, expected } => Fault::of(
                code::TWO_INPUTS,
                &[("found", found.into_text()), ("expected", expected.into_text())],
            ),
            Self::Input { place } => Fault::of(code::TWO_INPUT, &[("place", place.into_text())]),
            Self::TooMany { found } => Fault::of(
                code::TWO_RESULTS,
                &[("found", found.into_text()), ("most", COEFFICIENTS.into_text())],
            ),
            Self::Memory { takes, may } => {
                let [takes, may] = in_units([*takes, *may]).map(Text::from);
                Fault::of(code::TWO_MEMORY, &[("takes", takes), ("may", may)])
            }
            Self::Unordered { peer } => Fault::of(code::TWO_ORDER, &[of(*peer)]).blaming(*peer),
            Self::Lost => Fault::of(code::TWO_LOST, &[]),
            Self::Cancelled => Fault::of(code::TWO_CANCELLED, &[]),
            Self::Compute(e) => e.fault(),
            Self::Encryption { peer: None, cause } => {
                Fault::of(code::TWO_NOISE, &[("cause", cause.into_text())])
            }
            Self::Encryption { peer, cause } => {
                Fault::of(code::TWO_LAYER, &[of(*peer), ("cause", cause.into_text())]).blaming(*peer)
            }
            Self::Ot(e) => e.fault(),
            Self::Net(e) => e.fault(),
        }
    }
}
