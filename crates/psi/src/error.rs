//! Errors of an intersection: files, agreement, sizes, and the underlying protocols.

use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_files::FileError;
use hushwire_garble::GarbleError;
use hushwire_gmw::GmwError;
use hushwire_machine::{NetError, PartyId};
use hushwire_ot::OtError;
use std::fmt;
use thiserror::Error;

/// The reason why there is no intersection. It displays as its [`fault`](Self::fault).
#[derive(Debug, Error)]
pub enum PsiError {
    /// A file that cannot be read or written.
    File(#[from] FileError),
    /// The parties do not ask for the same thing.
    Terms {
        /// The party at fault, if a channel knows it.
        peer: Option<PartyId>,
    },
    /// A set that this machine could not hold.
    TooLarge {
        /// The owner, as text: "this party has", "party 1 has", "both parties have".
        whose: String,
        /// The number of keys.
        count: u64,
        /// The circuit, table or result that has the bound.
        what: &'static str,
        /// The largest number that it takes.
        most: u64,
        /// The remedy, as a clause.
        remedy: &'static str,
    },
    /// A set has more keys than [`Most`](crate::Most) allows.
    TooMany {
        /// Whether the set is this party's.
        own: bool,
        /// The number of its different keys.
        count: u64,
        /// The number of different keys of the other set.
        other: u64,
        /// The largest number that it may have.
        most: u64,
        /// Whether that limit was agreed on; otherwise it follows from the other set.
        agreed: bool,
    },
    /// No salt was found under which both sets fit their tables.
    NoSalt(u8),
    /// A message that no honest party sends.
    Malformed {
        /// The party at fault, if a channel knows it.
        peer: Option<PartyId>,
        /// The name of the message.
        message: &'static str,
        /// The fault of the message.
        what: &'static str,
    },
    /// The system gave no random bytes.
    Random(String),
    /// A check failed. The error never tells which bit was wrong.
    Abort {
        /// The party at fault, if a channel knows it.
        peer: Option<PartyId>,
        /// The name of the check.
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
            Self::File(e) => e.fault(),
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
}
