//! Errors of a job, and settings that should not stay as they are.

pub use hushwire_fault::{Fault, Kind, io_remedy};

/// A setting that is not wrong, and should not stay so. Reads as its cause, then its remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct Warning {
    /// The cause, as a clause.
    pub cause: String,
    /// The remedy, as a clause.
    pub remedy: String,
}
