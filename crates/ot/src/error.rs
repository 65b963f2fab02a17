//! Errors of OT: from the network, the peer's messages, checks, and misuse.

use core::fmt;

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId};
use thiserror::Error;

/// The check that failed. It never tells which bit failed.
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

/// The reason why an oblivious transfer ended without a result. The state is lost; start again with
/// a new set-up.
///
/// Its text is that of its [`fault`](Self::fault).
#[derive(Debug, Error)]
pub enum OtError {
    /// A consistency check failed.
    Abort {
        /// The party at fault, if a channel identifies it.
        peer: Option<PartyId>,
        /// The check that failed.
        check: Check,
    },
    /// A message that no party that follows the protocol sends.
    Malformed {
        /// The party at fault, if a channel identifies it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The defect of the message.
        what: String,
    },
    /// The protocol does not exist at this security level.
    Unsupported {
        /// The requested protocol.
        protocol: String,
        /// The requested level.
        wanted: &'static str,
        /// The protocols or levels that exist.
        instead: &'static str,
    },
    /// No protocol has this name.
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// This endpoint failed before, a step came out of turn, or a call was dropped before its last
    /// step. Its numbers and checks may differ from the peer's, and outputs that were not checked
    /// never will be.
    Lost {
        /// The step that was about to run.
        step: &'static str,
    },
    /// The caller tried to open outputs that no check has covered yet.
    Unverified,
    /// The channel failed.
    Net(#[from] NetError),
}

impl fmt::Display for OtError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault().clauses())
    }
}

impl OtError {
    /// The error's code, the peer to blame, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let of = |peer: Option<PartyId>| ("peer", Text::peer(peer, "the peer"));
        match self {
            Self::Abort { peer, check } => {
                Fault::of(code::OT_CHECK, &[of(*peer), ("check", check.into_text())]).blaming(*peer)
            }
            Self::Malformed { peer, message, what } => {
                let places = [of(*peer), ("message", (*message).into()), ("what", what.into())];
                Fault::of(code::OT_MALFORMED, &places).blaming(*peer)
            }
            Self::Unsupported { protocol, wanted, instead } => Fault::of(
                code::OT_LEVEL,
                &[("protocol", protocol.into()), ("wanted", (*wanted).into()), ("known", (*instead).into())],
            ),
            Self::Unknown { name, known } => {
                Fault::of(code::OT_NAME, &[("name", format!("{name:?}").into()), ("known", known.into())])
            }
            Self::Lost { step } => Fault::of(code::OT_LOST, &[("step", (*step).into())]),
            Self::Unverified => Fault::of(code::OT_UNVERIFIED, &[]),
            Self::Net(e) => e.fault(),
        }
    }

    /// The error for a failed check.
    #[must_use]
    pub fn abort(check: Check) -> Self {
        OtError::Abort { peer: None, check }
    }

    /// The error for a malformed message.
    #[must_use]
    pub fn malformed(message: &'static str, what: impl Into<String>) -> Self {
        OtError::Malformed { peer: None, message, what: what.into() }
    }

    /// Sets the peer to blame.
    #[must_use]
    pub fn of(mut self, who: Option<PartyId>) -> Self {
        if let OtError::Abort { peer, .. } | OtError::Malformed { peer, .. } = &mut self {
            *peer = who;
        }
        self
    }
}
