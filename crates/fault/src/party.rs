//! Members of a session, as errors hold them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A party of a session. Numbers 0 to 127 compute. Numbers 128 to 254 are clients, which only bring
/// inputs and take outputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct PartyId(pub u8);

impl PartyId {
    /// The first number of a client.
    pub const FIRST_CLIENT: u8 = 128;
    /// The client that owns the data of a job with one data owner.
    pub const OWNER: Self = Self(Self::FIRST_CLIENT);

    /// Whether this is a client. Clients dial the parties, and are never dialled.
    #[must_use]
    pub const fn is_client(self) -> bool {
        self.0 >= Self::FIRST_CLIENT
    }
}

impl fmt::Display for PartyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Self::FIRST_CLIENT => f.write_str("owner"),
            id if self.is_client() => write!(f, "client {id}"),
            id => write!(f, "party {id}"),
        }
    }
}

/// A member: its number on the wire, its name for people, or both. It is written by its name if it
/// has one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Who {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<PartyId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl Who {
    /// A member with a name and perhaps no number, such as `client alice`.
    pub fn named(name: impl Into<String>) -> Self {
        Self { id: None, name: Some(name.into()) }
    }

    /// The member's number on the wire, if it is known.
    #[must_use]
    pub const fn id(&self) -> Option<PartyId> {
        self.id
    }

    /// The same member, with the name that `names` has for its number.
    #[must_use]
    pub fn with_names(self, names: &dyn Fn(PartyId) -> Option<String>) -> Self {
        let name = self.id.and_then(names).or(self.name);
        Self { name, ..self }
    }
}

impl From<PartyId> for Who {
    fn from(id: PartyId) -> Self {
        Self { id: Some(id), name: None }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.id) {
            (Some(name), _) => f.write_str(name),
            (None, Some(id)) => id.fmt(f),
            (None, None) => f.write_str("a member"),
        }
    }
}
