//! Errors of a job, and warnings about settings that should be changed.

pub use hushwire_fault::{Fault, Kind, io_remedy};

/// A warning about a setting that is valid, but should be changed. Its text is the cause, then the
/// remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct Warning {
    /// The cause, as a clause.
    pub cause: String,
    /// The remedy, as a clause.
    pub remedy: String,
}
