//! The part of the session that a batch's local steps use.

use crate::Role;
use hushwire_aes::Backend;
use hushwire_prg::{Address, Prss};

/// The resources of a batch's local steps: kernels, zero-shares, and the batch's place in them.
///
/// One computation consumes it, so no second computation has the same masks.
pub struct Context {
    /// The party that runs the steps.
    pub(crate) role: Role,
    /// The tier for which kernels are built (LOCAL).
    pub(crate) backend: Backend,
    /// The session's source of zero-shares.
    pub(crate) prss: std::sync::Arc<Prss>,
    /// Memory and circuits kept from earlier batches (LOCAL).
    pub(crate) kept: std::sync::Arc<crate::kept::Kept>,
    /// The batch's address among the zero-shares (AGREEMENT): no two batches of a session share
    /// one.
    pub(crate) address: Address,
}

impl Context {
    /// The party that runs the steps.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The counter of the first zero-share, for a device that makes the same ones.
    #[must_use]
    pub fn counter(&self) -> u128 {
        self.address.counter(0)
    }
}
