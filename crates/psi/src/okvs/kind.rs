//! The kinds of stores that users can choose.

use core::{fmt, str::FromStr};

/// The kind of store that the receiver's items go into. AGREEMENT.
///
/// It has an effect from 8192 items on. Sets of fewer than 192 items always use a polynomial, and
/// sets of 192 to 8191 items always use bands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Store {
    /// Three entries for an item, plus the dense entries of its bin: about 1.25 entries per item in
    /// total.
    #[default]
    Clustered,
    /// A band of entries for an item: about 1.06 entries per item in total. It takes fewer bytes,
    /// but more processor time.
    Band,
}

impl Store {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Clustered, Self::Band];

    /// The name in options and job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clustered => "clustered",
            Self::Band => "band",
        }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Store {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|store| store.name() == name);
        found.ok_or_else(|| format!("{name:?} is neither clustered nor band"))
    }
}
