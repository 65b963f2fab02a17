//! Errors of sealed data.

use crate::{KeyId, VerifyKey};
use hushwire_fault::{Fault, code};
use std::fmt;

/// The reason why sealed data cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealError {
    /// The bytes do not have the expected format.
    Format {
        /// The kind of data that was read.
        what: &'static str,
        /// The fault in it.
        cause: String,
    },
    /// The bytes were changed, or belong to another key or place.
    Changed {
        /// The kind of data that was to be opened.
        what: String,
    },
    /// The signature is not from this key.
    Signature {
        /// The kind of data that was signed.
        what: &'static str,
        /// The key that should have signed.
        key: VerifyKey,
    },
    /// The key is invalid.
    Key {
        /// The kind of key.
        what: &'static str,
        /// The fault in it.
        cause: String,
    },
    /// The result is sealed to a key that is not available here.
    OtherKey(KeyId),
    /// The data set is invalid.
    Data {
        /// The fault in it.
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
