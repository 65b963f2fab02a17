//! Errors of a run: of the network, the OTs, and the parties' disagreement.

use hushwire_ot::OtError;
use hushwire_wire::{NetError, PartyId};
use thiserror::Error;

/// The reason why a run ended without a result. The party is lost then: open a new session.
#[derive(Debug, Error)]
pub enum GmwError {
    /// The parties are not about to run the same thing.
    #[error(
        "{}: runs another circuit, other roles, another number of instances or another run of the session; give both parties the same job",
        named(.peer)
    )]
    Mismatch {
        /// The party at fault, where the channel knows it.
        peer: Option<PartyId>,
    },
    /// This party's inputs do not have the size that they need.
    #[error(
        "this party's inputs: found {found} planes, expected {expected}; bring a plane for every bit of its inputs"
    )]
    Inputs {
        /// Planes that came.
        found: usize,
        /// Planes that it takes.
        expected: usize,
    },
    /// A run before failed, and both parties' triples may no longer be each other's.
    #[error("this party is lost, because a run before failed; set up a new session")]
    Lost,
    /// The OTs that triples are made of failed.
    #[error(transparent)]
    Ot(#[from] OtError),
    /// The channel failed.
    #[error(transparent)]
    Net(#[from] NetError),
}

fn named(peer: &Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
