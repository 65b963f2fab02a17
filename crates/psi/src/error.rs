//! Errors of an intersection: files, agreement, sizes, and the protocols below.

use hushwire_garble::GarbleError;
use hushwire_gmw::GmwError;
use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use std::{
    borrow::Cow,
    fmt,
    path::{Path, PathBuf},
};
use thiserror::Error;

/// A place in a file. Everything counts from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Of text.
    Line {
        /// The line; a quoted field may go over several.
        line: u64,
        /// The character of the line, where one is to blame.
        column: Option<u64>,
    },
    /// A row of a file that has no lines.
    Row(u64),
}

impl Place {
    /// A whole line.
    pub(crate) const fn line(line: u64) -> Self {
        Self::Line { line, column: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { line, column: None } => write!(f, "line {line}"),
            // "Column" is what CSV calls something else.
            Self::Line { line, column: Some(column) } => write!(f, "line {line}, character {column}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// The reason why there is no intersection. Reads as [`cause`](Self::cause), then [`remedy`](Self::remedy).
#[derive(Debug, Error)]
pub enum PsiError {
    /// A file that cannot be read as it is.
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
    /// A file that was to be written, in a format that cannot be.
    Unwritable {
        /// The file's path.
        path: PathBuf,
        /// The reason.
        cause: String,
        /// The remedy, as a clause.
        remedy: String,
    },
    /// The parties do not ask for the same thing.
    Terms {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
    },
    /// A set that this machine could not hold.
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
    /// A set has more keys than [`Most`](crate::Most) allows.
    TooMany {
        /// Whether it is this party's.
        own: bool,
        /// Its different keys.
        count: u64,
        /// Those of the other set.
        other: u64,
        /// The most that it may have.
        most: u64,
        /// Whether that was agreed on, and does not follow from the other set.
        agreed: bool,
    },
    /// No salt was found under which both sets fit their tables.
    NoSalt(u8),
    /// A message that no party following the protocol sends.
    Malformed {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The fault of the message.
        what: &'static str,
    },
    /// The system gave no random bytes.
    Random(String),
    /// The result cannot be written.
    Output(String),
    /// A check failed. It never says which bit.
    Abort {
        /// The party at fault, where a channel knows it.
        peer: Option<PartyId>,
        /// The check.
        check: &'static str,
    },
    /// The items of a set have no store, by chance.
    NoStore,
    /// The OTs failed.
    Ot(#[from] OtError),
    /// Yao's protocol failed.
    Yao(#[from] GarbleError),
    /// GMW failed.
    Gmw(#[from] GmwError),
    /// The channel failed.
    Net(#[from] NetError),
}

impl fmt::Display for PsiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

impl PsiError {
    /// The place or the peer to blame, where one is, and the cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::File { path, place, cause, .. } => {
                let place = place.map_or_else(String::new, |place| format!(", {place}"));
                format!("cannot read {}{place}: {cause}", path.display())
            }
            Self::Unwritable { path, cause, .. } => format!("cannot write {}: {cause}", path.display()),
            Self::Terms { peer } => format!(
                "{}: asks for another intersection: the circuit, the protocol, the scheme or the result to reveal differs, or \
                 both are the same side",
                named(*peer)
            ),
            Self::TooLarge { whose, count, what, most, .. } => {
                format!("{whose} {count} different keys, and {what} takes {most} at most")
            }
            Self::TooMany { own, count, other, most, agreed } => {
                let [whose, others] =
                    if *own { ["this party", "the peer"] } else { ["the peer", "this party"] };
                let bound = match agreed {
                    true => format!("{most} are agreed on for it at most"),
                    false => {
                        format!(
                            "where nothing is agreed on it may have {most}, which is 2^20 or four times the other's"
                        )
                    }
                };
                format!("{whose} has {count} different keys and {others} {other}, and {bound}")
            }
            Self::NoSalt(tried) => format!(
                "no salt out of {tried} fits both sets, which happens by chance in no lifetime: the keys of a party were \
                 chosen to collide"
            ),
            Self::Malformed { peer, message, what } => {
                format!("{}: message {message} is malformed: {what}", named(*peer))
            }
            Self::Random(e) => format!("drawing random bytes: {e}"),
            Self::Output(e) => format!("writing the result: {e}"),
            Self::Abort { peer, check } => format!(
                "{}: the {check} check failed: the peer left the protocol, or its messages were changed",
                named(*peer)
            ),
            Self::NoStore => {
                "no store holds the items under this session's name, which happens by chance in no lifetime"
                    .to_owned()
            }
            Self::Ot(e) => e.cause(),
            Self::Yao(e) => e.cause(),
            Self::Gmw(e) => e.cause(),
            Self::Net(e) => e.cause(),
        }
    }

    /// The next thing to do about it, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::File { remedy, .. } | Self::Unwritable { remedy, .. } => return remedy.clone().into(),
            Self::Terms { .. } => "give both parties the same options, and one of them side a",
            Self::TooLarge { remedy, .. } => remedy,
            Self::TooMany { .. } => "agree on `most-items` (--most-items) if a set is meant to be so large",
            Self::NoSalt(_) => "look for odd ones among them",
            Self::Malformed { .. } => "run the same version at both sides",
            Self::Random(_) => "see the system's log",
            Self::Output(_) => "see the system's log about that file or device",
            Self::Abort { .. } => "nothing of this run may be used; find out why before another",
            Self::NoStore => "run again: a new session has a new name",
            Self::Ot(e) => return e.remedy(),
            Self::Yao(e) => return e.remedy(),
            Self::Gmw(e) => return e.remedy(),
            Self::Net(e) => return e.remedy(),
        })
    }

    /// The network's error, if it is one.
    #[must_use]
    pub fn net(&self) -> Option<&NetError> {
        match self {
            PsiError::Net(e)
            | PsiError::Ot(OtError::Net(e))
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

fn named(peer: Option<PartyId>) -> String {
    peer.map_or_else(|| "the peer".to_owned(), |peer| peer.to_string())
}
