//! Errors of models and of their data.

use hushwire_compute::ComputeError;
use std::fmt;

/// The reason for which a model, or data for it, is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NnError {
    place: String,
    cause: String,
    remedy: String,
}

impl NnError {
    /// An error at a place, such as `node conv1 (Conv)`.
    pub fn new(place: impl Into<String>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        NnError { place: place.into(), cause: cause.into(), remedy: remedy.into() }
    }

    /// The place in the model or in the data.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The fault, as a clause.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// A way to mend it, as a clause.
    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl fmt::Display for NnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.place, self.cause, self.remedy)
    }
}

impl std::error::Error for NnError {}

/// The computation of a network.
impl From<ComputeError> for NnError {
    fn from(e: ComputeError) -> Self {
        let fault = e.fault();
        NnError::new("the network", fault.cause(), fault.remedy())
    }
}

/// A name from a file as messages show it: short, and without characters that steer a terminal or
/// turn text around.
pub(crate) fn shown(name: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let one = |c: char| if steers(c) { c.escape_default().to_string() } else { c.to_string() };
    name.chars().take(64).map(one).collect()
}
