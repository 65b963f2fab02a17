//! Base units.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// A base unit, such as `blocks/s` or `ms`.
///
/// A name that ends in `/s` is a rate, for which more is better. Any other unit (times, sizes) is a
/// cost, for which less is better.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unit(Cow<'static, str>);

impl Unit {
    /// Cipher blocks per second.
    pub const BLOCKS_PER_S: Self = Self(Cow::Borrowed("blocks/s"));
    /// Oblivious transfers per second.
    pub const OT_PER_S: Self = Self(Cow::Borrowed("OT/s"));
    /// AND gates per second.
    pub const AND_PER_S: Self = Self(Cow::Borrowed("AND/s"));
    /// Bytes per second.
    pub const BYTES_PER_S: Self = Self(Cow::Borrowed("bytes/s"));
    /// Milliseconds.
    pub const MS: Self = Self(Cow::Borrowed("ms"));
    /// Bytes.
    pub const BYTES: Self = Self(Cow::Borrowed("bytes"));

    /// Returns the unit `what` per second.
    #[must_use]
    pub fn per_second(what: &str) -> Self {
        Self(Cow::Owned(format!("{what}/s")))
    }

    /// Returns the unit's name in a report.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether more is better.
    #[must_use]
    pub fn is_rate(&self) -> bool {
        self.0.ends_with("/s")
    }

    /// Returns the fraction of `limit` that `value` reaches. It is 1 at the limit for rates and
    /// costs.
    #[must_use]
    pub fn fraction(&self, value: f64, limit: f64) -> f64 {
        if self.is_rate() { value / limit } else { limit / value }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
