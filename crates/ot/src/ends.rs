//! The two endpoints, in the form that users hold: [`Sender`] and [`Receiver`]. `extend` makes OTs
//! of any functionality, and `verify` checks them.

use hushwire_block::Block;
use hushwire_machine::passed_on;

use crate::{
    Context, Extension, OtError, Receiving, Role, Security, Sending, Verified, end::ExtensionEnd,
    pipeline::Pipeline,
};

/// The sender's endpoint of an OT extension at security level `S`.
///
/// Call `extend` any number of times, in the same order as the receiver, then `verify`. Each call
/// gives a [`Machine`](crate::Machine).
pub struct Sender<S: Security>(ExtensionEnd<S>);

/// The receiver's endpoint of an OT extension at security level `S`.
///
/// It is used in the same way as [`Sender`].
pub struct Receiver<S: Security>(ExtensionEnd<S>);

impl<S: Security> Sender<S> {
    /// Functionalities over the sender of an extension. `context` is agreed, and no other endpoint
    /// uses it.
    ///
    /// # Panics
    /// If `extension` is a receiver (the caller's bug).
    #[must_use]
    pub fn new(context: &Context, extension: Box<dyn Extension<S>>) -> Self {
        assert_eq!(extension.role(), Role::Sender, "a sender needs a sender's extension");
        Self(ExtensionEnd::new(context, extension))
    }

    /// The correlation Δ, secret; bit 0 is 1.
    #[must_use]
    pub fn delta(&self) -> Block {
        self.0.hasher.delta()
    }

    pub(crate) fn end(&mut self) -> &mut ExtensionEnd<S> {
        &mut self.0
    }

    /// Makes the next OTs.
    ///
    /// # Panics
    /// If buffers of packed bits are too short for the count (the caller's bug).
    pub fn extend<'w>(&mut self, work: Sending<'w>) -> Pipeline<'_, Sending<'w>, S> {
        Pipeline::new(&mut self.0, work, false)
    }

    /// Checks all OTs that were made; in semi-honest mode no message is sent.
    pub fn verify(&mut self) -> Verify<'_, S> {
        Verify(Pipeline::new(&mut self.0, (), true))
    }
}

impl<S: Security> Receiver<S> {
    /// Functionalities over the receiver of an extension. `context` is agreed, and no other
    /// endpoint uses it.
    ///
    /// # Panics
    /// If `extension` is a sender (the caller's bug).
    #[must_use]
    pub fn new(context: &Context, extension: Box<dyn Extension<S>>) -> Self {
        assert_eq!(extension.role(), Role::Receiver, "a receiver needs a receiver's extension");
        Self(ExtensionEnd::new(context, extension))
    }

    pub(crate) fn end(&mut self) -> &mut ExtensionEnd<S> {
        &mut self.0
    }

    /// Makes the next OTs.
    ///
    /// # Panics
    /// If buffers of packed bits are too short for the count (the caller's bug).
    pub fn extend<'w>(&mut self, work: Receiving<'w>) -> Pipeline<'_, Receiving<'w>, S> {
        Pipeline::new(&mut self.0, work, false)
    }

    /// Checks all OTs that were made; in semi-honest mode no message is sent.
    pub fn verify(&mut self) -> Verify<'_, S> {
        Verify(Pipeline::new(&mut self.0, (), true))
    }
}

/// The check of all OTs that one endpoint made.
#[must_use = "run its steps, then finish"]
pub struct Verify<'e, S: Security>(Pipeline<'e, (), S>);

impl<S: Security> Verify<'_, S> {
    /// The proof that opens the outputs made before.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Verified {
        self.0.proof()
    }
}

passed_on!([S: Security] Verify<'_, S>, OtError, self => self.0);
