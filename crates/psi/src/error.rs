//! What can go wrong.

use hushwire_garble::GarbleError;
use hushwire_gmw::GmwError;
use hushwire_ot::OtError;
use hushwire_wire::{NetError, PartyId};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why there is no intersection. Each message ends with what can be done.
#[derive(Debug, Error)]
pub enum PsiError {
    /// A file that cannot be read as it is.
    #[error("cannot read {}{}: {cause}; {remedy}", .path.display(), at(*.line))]
    File {
        /// Which.
        path: PathBuf,
        /// The line of the file, from 1.
        line: Option<u64>,
        /// What is wrong.
        cause: String,
        /// What to do about it.
        remedy: String,
    },
    /// The parties do not ask for the same thing.
    #[error(
        "{}: wants something else: the circuit, the protocol, the scheme or what is revealed differs, or both are the same side; give both parties the same options, and one of them side a",
        named(.peer)
    )]
    Terms {
        /// Who, where a channel knows it.
        peer: Option<PartyId>,
    },
    /// A set that this machine could not hold.
    #[error("{whose} {count} different keys, and {what} takes {most} at most; {remedy}")]
    TooLarge {
        /// "this party has", "party 1 has", "both parties have".
        whose: String,
        /// How many.
        count: u64,
        /// What takes fewer.
        what: &'static str,
        /// How many it takes.
        most: u64,
        /// What to do about it.
        remedy: &'static str,
    },
    /// No salt was found under which both sets fit their tables.
    #[error(
        "no salt out of {0} fits both sets, which happens by chance in no lifetime: the keys of a party were chosen to collide; look for what is odd about them"
    )]
    NoSalt(u8),
    /// A message that no party following the protocol sends.
    #[error("{}: message {message} is malformed: {what}; both sides must run the same version", named(.peer))]
    Malformed {
        /// Who, where a channel knows it.
        peer: Option<PartyId>,
        /// Which message.
        message: &'static str,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The system gave no random bytes.
    #[error("drawing random bytes: {0}; see the system's log")]
    Random(String),
    /// The result cannot be written.
    #[error("writing the result: {0}; see what the system says about that disk")]
    Output(String),
    /// Yao's protocol failed.
    #[error(transparent)]
    Yao(#[from] GarbleError),
    /// GMW failed.
    #[error(transparent)]
    Gmw(#[from] GmwError),
    /// The channel failed.
    #[error(transparent)]
    Net(#[from] NetError),
}

impl PsiError {
    /// The network's error, if it is one.
    #[must_use]
    pub fn net(&self) -> Option<&NetError> {
        match self {
            PsiError::Net(e)
            | PsiError::Yao(GarbleError::Net(e) | GarbleError::Ot(OtError::Net(e)))
            | PsiError::Gmw(GmwError::Net(e) | GmwError::Ot(OtError::Net(e))) => Some(e),
            _ => None,
        }
    }

    /// A file that is not as it should be.
    pub(crate) fn file(
        path: &Path,
        line: Option<u64>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        PsiError::File { path: path.to_owned(), line, cause: cause.into(), remedy: remedy.into() }
    }
}

fn at(line: Option<u64>) -> String {
    line.map_or_else(String::new, |line| format!(", line {line}"))
}

fn named(peer: &Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
