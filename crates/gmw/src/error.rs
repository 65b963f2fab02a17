//! Errors of a run: from the network, the OTs, and disagreement of the parties.

use std::fmt;

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use thiserror::Error;

/// The reason why a run ended without a result. The party is then lost: open a new session.
///
/// Its text is that of its [`fault`](Self::fault).
#[derive(Debug, Error)]
pub enum GmwError {
    /// The parties are not about to run the same computation.
    Mismatch {
        /// The party at fault, if the channel identifies it.
        peer: Option<PartyId>,
    },
    /// This party's inputs do not have the required size.
    Inputs {
        /// The number of planes that were given.
        found: usize,
        /// The number of planes that the program takes.
        expected: usize,
    },
    /// An earlier run failed, so that both parties' triples may no longer match.
    Lost,
    /// The OTs from which triples are made failed.
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
    /// The error's code, the peer to blame, and the texts of the table.
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
