//! Errors of an intersection: files, agreement, sizes, and the protocols below.

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_garble::GarbleError;
use hushwire_gmw::GmwError;
use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use std::{
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

/// The reason why there is no intersection. Reads as its [`fault`](Self::fault) does.
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
        self.fault().fmt(f)
    }
}

impl From<PsiError> for Fault {
    fn from(e: PsiError) -> Self {
        e.fault()
    }
}

impl PsiError {
    /// The code, the place or the peer to blame, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let of = |peer: Option<PartyId>| ("peer", Text::peer(peer, "the peer"));
        match self {
            Self::File { path, place, cause, remedy } => {
                let place = place.map_or_else(String::new, |place| format!(", {place}"));
                let step = format!("cannot read {}{place}", path.display());
                Fault::new(code::READ, step, cause, remedy).whole()
            }
            Self::Unwritable { path, cause, remedy } => Fault::file("write", path, cause, remedy),
            Self::Terms { peer } => Fault::of(code::SET_TERMS, &[of(*peer)]).blaming(*peer),
            Self::TooLarge { whose, count, what, most, remedy } => Fault::of(
                code::SET_TOO_LARGE,
                &[
                    ("whose", whose.into()),
                    ("count", count.into_text()),
                    ("what", (*what).into()),
                    ("most", most.into_text()),
                    ("remedy", (*remedy).into()),
                ],
            ),
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
                Fault::of(
                    code::SET_TOO_MANY,
                    &[
                        ("whose", whose.into()),
                        ("count", count.into_text()),
                        ("others", others.into()),
                        ("other", other.into_text()),
                        ("bound", bound.into()),
                    ],
                )
            }
            Self::NoSalt(tried) => Fault::of(code::SET_SALT, &[("tried", tried.into_text())]),
            Self::Malformed { peer, message, what } => {
                let places = [of(*peer), ("message", (*message).into()), ("what", (*what).into())];
                Fault::of(code::SET_MALFORMED, &places).blaming(*peer)
            }
            Self::Random(e) => Fault::of(code::SET_RANDOM, &[("cause", e.into())]),
            Self::Output(e) => Fault::of(code::SET_OUTPUT, &[("cause", e.into())]),
            Self::Abort { peer, check } => {
                Fault::of(code::SET_CHECK, &[of(*peer), ("check", (*check).into())]).blaming(*peer)
            }
            Self::NoStore => Fault::of(code::SET_STORE, &[]),
            Self::Ot(e) => e.fault(),
            Self::Yao(e) => e.fault(),
            Self::Gmw(e) => e.fault(),
            Self::Net(e) => e.fault(),
        }
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
