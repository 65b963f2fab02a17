//! Errors of garbling and of Yao's protocol: from the network, the OTs, disagreement of the
//! parties, and misuse.

use std::fmt;

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::{NetError, PartyId, drive::Misstep};
use hushwire_ot::OtError;
use thiserror::Error;

/// The reason why a garbled circuit ended without a result.
///
/// Its text is that of its [`fault`](Self::fault).
#[derive(Debug, Error)]
pub enum GarbleError {
    /// A message that no party that follows the protocol sends.
    Malformed {
        /// The party at fault, if a channel identifies it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The defect of the message.
        what: String,
    },
    /// The parties were given different computations or terms.
    Mismatch {
        /// The party at fault, if a channel identifies it.
        peer: Option<PartyId>,
        /// The term that differs.
        what: &'static str,
    },
    /// The tables end before the circuit does.
    Short {
        /// The number of bytes that the circuit needs.
        wanted: usize,
        /// The number of bytes that the tables have.
        left: usize,
    },
    /// The scheme cannot do the requested work.
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
        /// No scheme has this name.
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
        f.write_str(&self.fault().clauses())
    }
}

impl GarbleError {
    /// The error's code, the peer to blame, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let of = |peer: Option<PartyId>| ("peer", Text::peer(peer, "the peer"));
        match self {
            Self::Malformed { peer, message, what } => {
                let places = [of(*peer), ("message", (*message).into()), ("what", what.into())];
                Fault::of(code::YAO_MALFORMED, &places).blaming(*peer)
            }
            Self::Mismatch { peer, what } => {
                Fault::of(code::YAO_DIFFERS, &[of(*peer), ("what", (*what).into())]).blaming(*peer)
            }
            Self::Short { wanted, left } => {
                Fault::of(code::YAO_SHORT, &[("wanted", wanted.into_text()), ("left", left.into_text())])
            }
            Self::Unsupported { scheme, what, instead } => Fault::of(
                code::YAO_SCHEME,
                &[("scheme", (*scheme).into()), ("what", (*what).into()), ("known", instead.into())],
            ),
            Self::Unknown { name, known } => {
                Fault::of(code::YAO_NAME, &[("name", format!("{name:?}").into()), ("known", known.into())])
            }
            Self::Gates(e) => Fault::of(code::YAO_GATES, &[("cause", e.into_text())]),
            Self::Ot(e) => e.fault(),
            Self::Net(e) => e.fault(),
        }
    }

    /// The error for a malformed message.
    #[must_use]
    pub fn malformed(peer: Option<PartyId>, message: &'static str, what: impl Into<String>) -> Self {
        GarbleError::Malformed { peer, message, what: what.into() }
    }

    /// Sets the peer to blame.
    #[must_use]
    pub fn of(mut self, who: Option<PartyId>) -> Self {
        if let GarbleError::Malformed { peer, .. } | GarbleError::Mismatch { peer, .. } = &mut self {
            *peer = who;
        }
        if let GarbleError::Ot(e) = self { e.of(who).into() } else { self }
    }
}

impl From<Misstep> for GarbleError {
    fn from(misstep: Misstep) -> Self {
        match misstep {
            Misstep::Message { step, found, expected } => {
                Self::malformed(None, step, format!("{found} bytes instead of {expected}"))
            }
            misstep => Self::Ot(misstep.into()),
        }
    }
}
