//! Errors of computations.

use hushwire_fault::{Fault, TextPlace, code};

/// The reason for which a computation, or values for it, are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComputeError {
    /// An operation has operands that it does not take, or a part of the computation does not fit the others.
    #[error("{cause}; {remedy}")]
    Type {
        /// The operation and its operands.
        cause: String,
        /// A way to write it.
        remedy: String,
    },
    /// The same, or a text that cannot be read, at a place of the text.
    #[error("{place}: {cause}; {remedy}")]
    Text {
        /// Where the operation, or the first character that cannot be read, stands.
        place: TextPlace,
        /// As of [`ComputeError::Type`], or what stands there.
        cause: String,
        /// A way to write it.
        remedy: String,
    },
    /// A binary form that no computation has.
    #[error("binary form of a computation: {cause} at byte {at}; make it again from its text")]
    Binary {
        /// The byte.
        at: usize,
        /// The fault there.
        cause: String,
    },
    /// Values for a run that do not fit the computation.
    #[error("input {input:?}: {cause}; {remedy}")]
    Input {
        /// The input, or the symbol.
        input: String,
        /// How they differ.
        cause: String,
        /// A way to mend it.
        remedy: String,
    },
}

impl ComputeError {
    /// A [`ComputeError::Type`].
    pub(crate) fn ty(cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        ComputeError::Type { cause: cause.into(), remedy: remedy.into() }
    }

    /// The code and the texts, without the place in a text.
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

    /// The place in a text, where there is one.
    #[must_use]
    pub fn place(&self) -> Option<TextPlace> {
        match self {
            ComputeError::Text { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// The same at a place of a text, unless it has one.
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
