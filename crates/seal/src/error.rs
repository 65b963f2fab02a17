//! Reasons for which something sealed cannot be used.

use crate::{KeyId, VerifyKey};
use hushwire_fault::{Fault, code};
use std::fmt;

/// The reason why something sealed cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealError {
    /// The bytes are not of the format.
    Format {
        /// The thing that was read.
        what: &'static str,
        /// The fault of it.
        cause: String,
    },
    /// The bytes were changed, or belong to another key or place.
    Changed {
        /// The thing that was to be opened.
        what: String,
    },
    /// A signature is not one by this key.
    Signature {
        /// The thing that was signed.
        what: &'static str,
        /// The key that should have signed it.
        key: VerifyKey,
    },
    /// A key that is none.
    Key {
        /// The key.
        what: &'static str,
        /// The fault of it.
        cause: String,
    },
    /// A result is sealed to a key that is not here.
    OtherKey(KeyId),
    /// A data set that makes no sense.
    Data {
        /// The fault of it.
        cause: String,
        /// The remedy.
        remedy: &'static str,
    },
}

impl SealError {
    pub(crate) fn format(what: &'static str, cause: impl fmt::Display) -> Self {
        Self::Format { what, cause: cause.to_string() }
    }

    pub(crate) fn changed(what: impl fmt::Display) -> Self {
        Self::Changed { what: what.to_string() }
    }

    pub(crate) fn data(cause: impl fmt::Display, remedy: &'static str) -> Self {
        Self::Data { cause: cause.to_string(), remedy }
    }

    /// The error with its code, cause and remedy.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Format { what, cause } => {
                Fault::filled(code::SEAL_FORMAT, &[("what", what), ("cause", cause)])
            }
            Self::Changed { what } => Fault::filled(code::SEAL_CHANGED, &[("what", what)]),
            Self::Signature { what, key } => {
                Fault::filled(code::SEAL_SIGNATURE, &[("what", what), ("key", key)])
            }
            Self::Key { what, cause } => Fault::filled(code::SEAL_KEY, &[("what", what), ("cause", cause)]),
            Self::OtherKey(key) => Fault::filled(code::SEAL_OTHER_KEY, &[("key", key)]),
            Self::Data { cause, remedy } => {
                Fault::filled(code::SEAL_DATA, &[("cause", cause), ("remedy", remedy)])
            }
        }
    }
}

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.fault(), f)
    }
}

impl std::error::Error for SealError {}

impl From<SealError> for Fault {
    fn from(e: SealError) -> Self {
        e.fault()
    }
}
