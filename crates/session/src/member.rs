//! The members of a job.
//!
//! Parties and clients take part in a run, and have links and numbers on the wire. Data sets and
//! recipients are only names in the job: the parties keep their shares.

use crate::MOST_PARTIES;
use hushwire_fault::Who;
use hushwire_machine::PartyId;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// A member: a party, which computes; a client, which only brings inputs or takes outputs; or a
/// member that is not connected. The latter is a data set, whose shares the parties keep, or a
/// recipient, for whom they seal shares.
///
/// The names in files are `party0`, `client:alice`, `data:stays` and `recipient:anna`. Messages
/// write `party 0`, `client alice`, `data set stays` and `recipient anna`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Member {
    /// A party, 0 to 7. The protocol sets the number of parties.
    Party(u8),
    /// A client, by its name in the job.
    Client(String),
    /// A data set, by its name in the job. It brings inputs, takes no part in a run, and has no
    /// link.
    Data(String),
    /// A recipient, by its name in the job. It learns outputs, takes no part in a run, and has no
    /// link.
    Recipient(String),
}

impl Member {
    /// The name in files: `party0`, `client:alice`.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Party(index) => format!("party{index}"),
            Self::Client(name) => format!("client:{name}"),
            Self::Data(name) => format!("data:{name}"),
            Self::Recipient(name) => format!("recipient:{name}"),
        }
    }

    /// Whether the member takes part in runs, and has links.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self, Self::Party(_) | Self::Client(_))
    }

    /// The name of a member that is not a party.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Party(_) => None,
            Self::Client(name) | Self::Data(name) | Self::Recipient(name) => Some(name),
        }
    }

    /// The member's number on the wire; `clients` are the job's clients, in order. `None` for a
    /// client that is not among them, and for a member that is not connected.
    #[must_use]
    pub fn id(&self, clients: &[String]) -> Option<PartyId> {
        match self {
            Self::Party(index) => Some(PartyId(*index)),
            Self::Client(name) => {
                let at = u8::try_from(clients.iter().position(|c| c == name)?).ok()?;
                // Number 128 is the owner in jobs that have a single owner.
                Some(PartyId((PartyId::FIRST_CLIENT + 1).checked_add(at)?))
            }
            Self::Data(_) | Self::Recipient(_) => None,
        }
    }
}

/// Checks the name of a client, an input or an output. Names appear unchanged in files and
/// messages.
///
/// # Errors
/// The text is not 1 to 64 letters, digits, `-`, `_` and `.`.
pub fn check_name(name: &str) -> Result<(), String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if (1..=64).contains(&name.len()) && name.chars().all(good) {
        return Ok(());
    }
    Err(format!("{name:?} is not a name of 1 to 64 letters, digits, '-', '_' and '.'"))
}

/// The index in the name of a party.
fn index(name: &str) -> Option<u8> {
    name.strip_prefix("party").and_then(|digits| digits.trim_start_matches([' ', ':']).parse().ok())
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Party(index) => write!(f, "party {index}"),
            Self::Client(name) => write!(f, "client {name}"),
            Self::Data(name) => write!(f, "data set {name}"),
            Self::Recipient(name) => write!(f, "recipient {name}"),
        }
    }
}

impl From<&Member> for Who {
    fn from(member: &Member) -> Self {
        match member {
            Member::Party(index) => PartyId(*index).into(),
            Member::Client(_) | Member::Data(_) | Member::Recipient(_) => Who::named(member.to_string()),
        }
    }
}

impl FromStr for Member {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        type Made = fn(String) -> Member;
        let kinds: [(&str, &str, Made); 3] = [
            ("client:", "client", Self::Client),
            ("data:", "data set", Self::Data),
            ("recipient:", "recipient", Self::Recipient),
        ];
        for (prefix, kind, made) in kinds {
            let Some(name) = text.strip_prefix(prefix) else { continue };
            // Computations and queries name members without their kind, so a client must not have a
            // party's name.
            return match index(name) {
                Some(_) => Err(format!("{name:?} is a party's name; give the {kind} another one")),
                None => check_name(name).map(|()| made(name.to_owned())),
            };
        }
        match index(text) {
            Some(index) if index < MOST_PARTIES => Ok(Self::Party(index)),
            Some(index) => Err(format!("there is no party {index}, only 0 to {}", MOST_PARTIES - 1)),
            None => Err(format!("{text:?} is neither a party, as party0, nor a client, as client:alice")),
        }
    }
}

impl From<Member> for String {
    fn from(member: Member) -> Self {
        member.key()
    }
}

impl TryFrom<String> for Member {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for member in [
            Member::Party(0),
            Member::Party(2),
            Member::Client("alice".into()),
            Member::Data("stays".into()),
            Member::Recipient("anna".into()),
        ] {
            assert_eq!(member.key().parse(), Ok(member));
        }
        assert_eq!("party 1".parse(), Ok(Member::Party(1)));
        for bad in [
            "party8",
            "party",
            "party-1",
            "client:",
            "client:a b",
            "alice",
            "",
            "client",
            "client:party0",
            "client:party8",
            "data:",
            "data:party0",
            "recipient:a b",
        ] {
            assert!(bad.parse::<Member>().is_err(), "{bad}");
        }
    }

    #[test]
    fn clients_have_numbers_after_the_owner() {
        let clients = ["bob".to_owned(), "alice".to_owned()];
        assert_eq!(Member::Client("alice".into()).id(&clients), Some(PartyId(130)));
        assert_eq!(Member::Client("carol".into()).id(&clients), None);
        assert_eq!(Member::Party(2).id(&clients), Some(PartyId(2)));
        for absent in [Member::Data("bob".into()), Member::Recipient("alice".into())] {
            assert!(absent.id(&clients).is_none() && !absent.is_connected());
        }
    }
}
