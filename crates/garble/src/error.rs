//! Errors of garbling and of Yao's protocol: the network, the OTs, the parties' disagreement, and misuse.

use hushwire_ot::OtError;
use hushwire_wire::{NetError, PartyId};
use thiserror::Error;

/// The reason why a garbled circuit ended without a result.
#[derive(Debug, Error)]
pub enum GarbleError {
    /// A message that no party following the protocol sends.
    #[error("{}: {message} is malformed: {what}; both sides must run the same version", named(.peer))]
    Malformed {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The fault of the message.
        what: String,
    },
    /// The parties were not given the same thing to do.
    #[error("{}: {what} differ from ours; give both parties the same", named(.peer))]
    Mismatch {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The term that differs.
        what: &'static str,
    },
    /// The tables end before the circuit does.
    #[error(
        "the garbled tables end early: {wanted} bytes are needed and {left} are left; evaluate with the circuit that was garbled"
    )]
    Short {
        /// Bytes that it needs.
        wanted: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// The scheme cannot do what was asked for.
    #[error("scheme {scheme} {what}; take one of {instead}")]
    Unsupported {
        /// The scheme's name.
        scheme: &'static str,
        /// The work that it cannot do.
        what: &'static str,
        /// The schemes that can.
        instead: String,
    },
    /// No scheme has that name.
    #[error("no garbling scheme is called {name:?}, only {known} are")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// The circuit's gates cannot be read.
    #[error("the circuit cannot be read: {0}; see whether its file is whole")]
    Gates(#[from] std::io::Error),
    /// Oblivious transfer of inputs failed.
    #[error(transparent)]
    Ot(#[from] OtError),
    /// The channel failed.
    #[error(transparent)]
    Net(#[from] NetError),
}

impl GarbleError {
    /// A malformed message.
    #[must_use]
    pub fn malformed(peer: Option<PartyId>, message: &'static str, what: impl Into<String>) -> Self {
        GarbleError::Malformed { peer, message, what: what.into() }
    }
}

fn named(peer: &Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
