//! The errors of runs.

use hushwire_compute::ComputeError;
use hushwire_machine::NetError;
use hushwire_rep3::{Rep3Error, ShareError};

/// The reason why a computation has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreeError {
    /// Three parties cannot run the computation, or values do not fit it.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// The session has no randomness left, or a channel failed.
    #[error(transparent)]
    Rep3(#[from] Rep3Error),
    /// The shares of an input do not have the size of its type.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// A channel failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The caller ended the run between two rounds.
    #[error("the run was cancelled; nothing was opened since, and the session is of no more use")]
    Cancelled,
}
