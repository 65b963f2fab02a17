//! Files of symmetric keys: the places of a member's key share and of the ledger of its counters.
//! Such files are recognized by their first bytes, so that no output replaces them.

use crate::{Fault, as_text, toml_file::Section};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The table `[aes-ctr]` of a member's file: its settings for encryptions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KeyPlaces {
    /// At a party: the file with its share of the key.
    #[serde(with = "as_text::maybe_path")]
    pub key_share: Option<PathBuf>,
    /// At the owner: the directory of the ledger of counters.
    #[serde(with = "as_text::maybe_path")]
    pub ledger: Option<PathBuf>,
    /// At the owner: the first counter block. If it is `None`, the counter is drawn or found in the
    /// ledger.
    pub iv: Option<Iv>,
    /// At the owner: whether a missing ledger counts as lost. No counter may then be chosen under
    /// the key.
    pub history_lost: bool,
    /// The form in which the user gave these settings, for remedies.
    pub said: Said,
}

/// The form in which a user gives settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// The member's file and the job file.
    #[default]
    File,
    /// Options of `hushwire local aes-ctr`.
    Options,
}

impl Said {
    /// The text for this form.
    #[must_use]
    pub fn choose<'a>(self, file: &'a str, options: &'a str) -> &'a str {
        match self {
            Self::File => file,
            Self::Options => options,
        }
    }
}

impl KeyPlaces {
    /// Reads the table.
    ///
    /// # Errors
    /// A key is unknown, or a value is invalid; the error names the line.
    pub fn from_section(mut section: Section<'_>) -> Result<Self, Fault> {
        let key_share = section.take("key-share").map(|v| v.path()).transpose()?;
        let ledger = section.take("ledger").map(|v| v.path()).transpose()?;
        let iv = section.parsed("iv", Iv::from_hex, "write 32 hexadecimal digits")?;
        if let Some(decrypt) = section.take("decrypt") {
            return Err(decrypt.error(
                "is said in the job file, so that all members agree on it",
                "write direction = \"decrypt\" there, and leave it out here",
            ));
        }
        let history_lost = section.flag("history-lost")?;
        section.finish()?;
        Ok(Self { key_share, ledger, iv, history_lost, said: Said::File })
    }
}

/// The first counter block, as a big-endian number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iv(pub u128);

impl Iv {
    /// Parses a counter of 32 hexadecimal digits.
    ///
    /// # Errors
    /// The text is something else.
    pub fn from_hex(digits: &str) -> Result<Self, String> {
        let mut iv = [0; 16];
        hex::decode_to_slice(digits.trim(), &mut iv)
            .map_err(|_| format!("{digits:?} is not an initial counter of 32 hexadecimal digits"))?;
        Ok(Self(u128::from_be_bytes(iv)))
    }

    /// Draws a fresh counter. Two of them start fewer than 2^36 blocks (1 TiB) apart with a
    /// probability below 2^-91.
    ///
    /// # Errors
    /// The operating system gives no randomness.
    pub fn draw() -> Result<Self, Fault> {
        Ok(Self(u128::from_be_bytes(draw("drawing an initial counter")?)))
    }
}

impl fmt::Display for Iv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Iv {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Iv {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(from)?;
        Self::from_hex(&digits).map_err(serde::de::Error::custom)
    }
}

/// Draws bytes from the operating system.
///
/// # Errors
/// The system gives none; `doing` names the purpose.
pub fn draw<const N: usize>(doing: &'static str) -> Result<[u8; N], Fault> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| Fault::internal(doing, e))?;
    Ok(bytes)
}

/// The path of party `party`'s share in a directory that holds all three.
#[must_use]
pub fn share_path(dir: &Path, party: usize) -> PathBuf {
    dir.join(format!("party-{party}.share"))
}

/// Whether a directory holds the shares of a key of any run.
pub(crate) fn holds_shares(dir: &Path) -> bool {
    (0..3).any(|party| share_path(dir, party).exists())
}

/// Whether a file that begins with these bytes is a key share, or a ledger of counters.
pub(crate) fn is_of_a_key(text: &[u8]) -> bool {
    /// LOCAL: the text before a ledger's ranges is shorter than this.
    const WITHIN: usize = 512;
    let head = String::from_utf8_lossy(&text[..text.len().min(WITHIN)]);
    let is_ledger = head.trim_start().starts_with('{')
        && ["\"key_id\":", "\"ranges\":"].iter().all(|field| head.contains(field));
    is_ledger || text.starts_with(b"HWSHARE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_and_shown() {
        for digits in ["00000000000000000000000000000000", "fffffffffffffffffffffffffffffff0"] {
            assert_eq!(Iv::from_hex(digits).map(|iv| iv.to_string()), Ok(digits.to_owned()));
        }
        assert!(Iv::from_hex("f0").is_err());
    }
}
