//! Errors of runs.

use hushwire_compute::ComputeError;
use hushwire_machine::NetError;
use hushwire_rep3::{Rep3Error, ShareError};

/// The reason why a computation has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreeError {
    /// The computation is none that three parties run, or values for it do not fit.
    #[error(transparent)]
    Compute(#[from] ComputeError),
    /// The session has no randomness left, or a channel failed.
    #[error(transparent)]
    Rep3(#[from] Rep3Error),
    /// Shares of an input have another size than its type says.
    #[error(transparent)]
    Share(#[from] ShareError),
    /// A channel failed.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The caller ended the run between two rounds.
    #[error("the run was cancelled; nothing was opened since, and the session is of no more use")]
    Cancelled,
}
