//! Errors of layers under encryption.

use thiserror::Error;

/// The reason why a layer is not computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BfvError {
    /// The noise of a layer might be too large.
    #[error("{cause}")]
    Margin {
        /// The reason.
        cause: String,
    },
    /// A message of the peer has a length that does not fit such a layer.
    #[error("{what}: found {found} bytes, expected {expected}")]
    Length {
        /// The name of the message.
        what: &'static str,
        /// The number of bytes of the message.
        found: usize,
        /// The bytes that such a message has.
        expected: usize,
    },
    /// A message of the peer holds a number that is not a residue.
    #[error("{what} holds a number that is no residue")]
    Residue {
        /// The name of the message.
        what: &'static str,
    },
}
