//! Stable codes of errors.
//!
//! A [`Code`] names a line of the table. Its [`Kind`] determines the exit code of a command.

use crate::table::TABLE;
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The kind of a failure. Commands derive their exit code from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A bug in Hushwire.
    Internal,
    /// An invalid request.
    Usage,
    /// A failure of a party, a peer, or the network.
    Network,
    /// A file that cannot be used.
    File,
    /// A request that would work, but would not be safe.
    Refused,
}

impl Kind {
    /// The kind's name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Usage => "usage",
            Self::Network => "network",
            Self::File => "file",
            Self::Refused => "refused",
        }
    }

    /// The exit code of a command that ends with this kind of failure.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Network => 3,
            Self::File => 4,
            Self::Refused => 5,
        }
    }
}

/// A code of the table, such as `HW0115`. It keeps its number and its meaning in all releases.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Code(pub(crate) u16);

/// One line of [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// The kind of the failure.
    pub kind: Kind,
    /// The failure, in a few words.
    pub name: &'static str,
    /// The cause as a clause, with placeholders in braces.
    pub text: &'static str,
    /// The remedy as a clause, with placeholders in braces.
    pub remedy: &'static str,
}

impl Code {
    /// The code's line of the table.
    #[must_use]
    pub fn entry(self) -> &'static Entry {
        let at = TABLE.binary_search_by_key(&self, |entry| entry.code);
        // Only the table makes codes.
        &TABLE[at.unwrap_or_default()]
    }

    /// The kind of the failure.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.entry().kind
    }
}

impl Entry {
    /// The anchor of the code's heading on the troubleshooting page.
    #[must_use]
    pub fn anchor(&self) -> String {
        let keeps = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
        let name = self.name.to_lowercase();
        let name: String =
            name.chars().filter(|c| keeps(*c)).map(|c| if c == ' ' { '-' } else { c }).collect();
        format!("{}-{name}", self.code.to_string().to_lowercase())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HW{:04}", self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Code {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits =
            text.get(..2).filter(|start| start.eq_ignore_ascii_case("HW")).map_or(text, |_| &text[2..]);
        let number = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
        let known =
            number.map(Code).filter(|code| TABLE.binary_search_by_key(code, |entry| entry.code).is_ok());
        known.ok_or_else(|| format!("no error has the code {text:?}"))
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}
