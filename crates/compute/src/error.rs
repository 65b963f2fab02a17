//! Errors of computations.

use hushwire_fault::{Fault, TextPlace, code};

/// The reason why a computation, or values for it, are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// An operation does not take its operands, or a part of the computation does not fit the
    /// others.
    #[error("{cause}; {remedy}")]
    Type {
        /// The operation and its operands.
        cause: String,
        /// A valid way to write it.
        remedy: String,
    },
    /// The same, or unreadable text, with its place in the text.
    #[error("{place}: {cause}; {remedy}")]
    Text {
        /// The place of the operation, or of the first character that cannot be read.
        place: TextPlace,
        /// As for [`ComputeError::Type`], or the text found there.
        cause: String,
        /// A valid way to write it.
        remedy: String,
    },
    /// Bytes that are not the binary form of a computation.
    #[error("binary form of a computation: {cause} at byte {at}; make it again from its text")]
    Binary {
        /// The index of the byte.
        at: usize,
        /// The fault there.
        cause: String,
    },
    /// Values for a run do not fit the computation.
    #[error("input {input:?}: {cause}; {remedy}")]
    Input {
        /// The input, or the symbol.
        input: String,
        /// The difference.
        cause: String,
        /// The remedy.
        remedy: String,
    },
}

impl ComputeError {
    /// Makes a [`ComputeError::Type`].
    pub(crate) fn ty(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        ComputeError::Type { cause: cause.into(), remedy: remedy.into() }
    }

    /// The error as a fault: its code and texts, without the place in a text.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let (code, cause, remedy) = match self {
            Self::Type { cause, remedy } | Self::Text { cause, remedy, .. } => {
                (code::COMPUTATION, cause.clone(), remedy.as_str())
            }
            Self::Binary { at, cause } => {
                (code::COMPUTATION, format!("{cause} at byte {at}"), "make it again from its text")
            }
            Self::Input { input, cause, remedy } => {
                (code::VALUES, format!("{input}: {cause}"), remedy.as_str())
            }
        };
        Fault::of(code, &[("cause", cause.into()), ("remedy", remedy.into())])
    }

    /// The place in a text, if there is one.
    #[must_use]
    pub fn place(&self) -> Option<TextPlace> {
        match self {
            ComputeError::Text { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// Adds the place in a text, unless the error has one.
    pub(crate) fn at(self, place: TextPlace) -> Self {
        match self {
            ComputeError::Type { cause, remedy } => ComputeError::Text { place, cause, remedy },
            other => other,
        }
    }
}

impl From<ComputeError> for Fault {
    fn from(e: ComputeError) -> Self {
        let place = e.place();
        e.fault().placed(place)
    }
}

/// An error at a place of a text.
pub(crate) fn wrong(place: TextPlace, cause: impl Into<String>, remedy: impl Into<String>) -> ComputeError {
    ComputeError::Text { place, cause: cause.into(), remedy: remedy.into() }
}
