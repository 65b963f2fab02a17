//! Errors of an intersection: files, agreement, sizes, and the protocols below.

use hushwire_garble::GarbleError;
use hushwire_gmw::GmwError;
use hushwire_ot::OtError;
use hushwire_wire::{NetError, PartyId};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A place in a file. Everything counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line; a quoted field may go over several.
    pub line: u64,
    /// The character of the line, where one is to blame.
    pub column: Option<u64>,
}

impl Place {
    /// A whole line.
    pub(crate) const fn line(line: u64) -> Self {
        Self { line, column: None }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}", self.line)?;
        // "Column" is what CSV calls something else.
        self.column.map_or(Ok(()), |column| write!(f, ", character {column}"))
    }
}

/// The reason why there is no intersection. Each message ends with what can be done.
#[derive(Debug, Error)]
pub enum PsiError {
    /// A file that cannot be read as it is.
    #[error("cannot read {}{}: {cause}; {remedy}", .path.display(), at(*.place))]
    File {
        /// The file's path.
        path: PathBuf,
        /// The place in it, where there is one.
        place: Option<Place>,
        /// The fault of that place.
        cause: String,
        /// The remedy, as a clause.
        remedy: String,
    },
    /// The parties do not ask for the same thing.
    #[error(
        "{}: asks for another intersection: the circuit, the protocol, the scheme or the result to reveal differs, or both are the same side; give both parties the same options, and one of them side a",
        named(.peer)
    )]
    Terms {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
    },
    /// A set that this machine could not hold.
    #[error("{whose} {count} different keys, and {what} takes {most} at most; {remedy}")]
    TooLarge {
        /// "this party has", "party 1 has", "both parties have".
        whose: String,
        /// The number of keys.
        count: u64,
        /// The circuit, table or result with that bound.
        what: &'static str,
        /// The largest number it takes.
        most: u64,
        /// The remedy, as a clause.
        remedy: &'static str,
    },
    /// No salt was found under which both sets fit their tables.
    #[error(
        "no salt out of {0} fits both sets, which happens by chance in no lifetime: the keys of a party were chosen to collide; look for odd ones among them"
    )]
    NoSalt(u8),
    /// A message that no party following the protocol sends.
    #[error("{}: message {message} is malformed: {what}; both sides must run the same version", named(.peer))]
    Malformed {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The fault of the message.
        what: &'static str,
    },
    /// The system gave no random bytes.
    #[error("drawing random bytes: {0}; see the system's log")]
    Random(String),
    /// The result cannot be written.
    #[error("writing the result: {0}; see the system's log about that file or device")]
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
        place: Option<Place>,
        cause: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        PsiError::File { path: path.to_owned(), place, cause: cause.into(), remedy: remedy.into() }
    }
}

fn at(place: Option<Place>) -> String {
    place.map_or_else(String::new, |place| format!(", {place}"))
}

fn named(peer: &Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
