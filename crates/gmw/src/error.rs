//! Errors of a run: of the network, the OTs, and the parties' disagreement.

use std::fmt;

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use thiserror::Error;

/// The reason why a run ended without a result. The party is lost then: open a new session.
///
/// Reads as its [`fault`](Self::fault) does.
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
        f.write_str(&self.fault().clauses())
    }
}

impl GmwError {
    /// The code, the peer to blame, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Mismatch { peer } => {
                Fault::of(code::GMW_DIFFERS, &[("peer", Text::peer(*peer, "the peer"))]).blaming(*peer)
            }
            Self::Inputs { found, expected } => Fault::of(
                code::GMW_INPUTS,
                &[("found", found.into_text()), ("expected", expected.into_text())],
            ),
            Self::Lost => Fault::of(code::GMW_LOST, &[]),
            Self::Ot(e) => e.fault(),
            Self::Net(e) => e.fault(),
        }
    }
}
