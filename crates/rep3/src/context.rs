//! The part of the session that a batch's local steps use.

use crate::Role;
use hushwire_aes::Backend;
use hushwire_prg::{Address, Prss};

/// The resources of a batch's local steps: kernels, zero-shares, and the batch's place in them.
///
/// It serves one computation, which takes it: there is no second one of the same masks.
pub struct Context {
    /// The party whose steps they are.
    pub(crate) role: Role,
    /// The tier that kernels run with (LOCAL).
    pub(crate) backend: Backend,
    /// Zero-shares of this session.
    pub(crate) prss: std::sync::Arc<Prss>,
    /// Memory and circuits that served before (LOCAL).
    pub(crate) kept: std::sync::Arc<crate::kept::Kept>,
    /// The batch's place in them (AGREEMENT): no two batches of a session share one.
    pub(crate) address: Address,
}

impl Context {
    /// The party whose steps they are.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The counter of its first zero-share, for a device.
    #[must_use]
    pub fn counter(&self) -> u128 {
        self.address.counter(0)
    }
}
