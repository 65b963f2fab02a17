//! The table `[aes-ctr]` of a member's file.

use super::key::Iv;
use crate::{Fault, as_text, toml_file::Section};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A member's own settings for jobs of this kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AesCtrPlaces {
    /// Of a party: the file of its share of the key.
    #[serde(with = "as_text::maybe_path")]
    pub key_share: Option<PathBuf>,
    /// Of the owner: the directory of the ledger of counters.
    #[serde(with = "as_text::maybe_path")]
    pub ledger: Option<PathBuf>,
    /// Of the owner: the first counter block; drawn or found in the ledger where it is not given.
    pub iv: Option<Iv>,
    /// Of the owner: whether a ledger that is not there was lost, and no counter may be chosen under the key.
    pub history_lost: bool,
    /// The form in which a person said all this, for remedies.
    pub said: Said,
}

/// The form in which a person says settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    /// A member's file, and the job's.
    #[default]
    File,
    /// Options of `hushwire local aes-ctr`.
    Options,
}

impl Said {
    /// The text that fits.
    pub(crate) fn choose<'a>(self, file: &'a str, options: &'a str) -> &'a str {
        match self {
            Self::File => file,
            Self::Options => options,
        }
    }
}

impl AesCtrPlaces {
    pub(crate) fn from_section(mut section: Section<'_>) -> Result<Self, Fault> {
        let key_share = section.take("key-share").map(|v| v.path()).transpose()?;
        let ledger = section.take("ledger").map(|v| v.path()).transpose()?;
        let iv =
            section.take("iv").map(|v| v.parsed(Iv::from_hex, "write 32 hexadecimal digits")).transpose()?;
        if let Some(decrypt) = section.take("decrypt") {
            return Err(decrypt.error(
                "is said in the job file, so that all members agree on it",
                "write direction = \"decrypt\" there, and leave it out here",
            ));
        }
        let history_lost = section.take("history-lost").map(|v| v.flag()).transpose()?.unwrap_or_default();
        section.finish()?;
        Ok(Self { key_share, ledger, iv, history_lost, said: Said::File })
    }
}
