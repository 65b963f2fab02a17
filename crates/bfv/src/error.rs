//! Errors.

use thiserror::Error;

/// The reason why a layer is not computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BfvError {
    /// The noise of a layer might be too large.
    #[error("{cause}")]
    Margin {
        /// The finding.
        cause: String,
    },
    /// A message of the peer's is none of such a layer.
    #[error("{what}: found {found} bytes, expected {expected}")]
    Length {
        /// The message.
        what: &'static str,
        /// Its bytes.
        found: usize,
        /// The bytes that such a message has.
        expected: usize,
    },
    /// A message of the peer's holds a residue that is none.
    #[error("{what} holds a number that is no residue")]
    Residue {
        /// The message.
        what: &'static str,
    },
}
