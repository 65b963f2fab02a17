//! The two ends, as users hold them.

use hushwire_block::Block;
use hushwire_machine::passed_on;

use crate::{
    Context, Extension, OtError, Receiving, Role, Security, Sending, Verified, end::ExtensionEnd,
    pipeline::Pipeline,
};

/// The sender's end of an OT extension at security level `S`.
///
/// `extend` any number of times, in the same order as the receiver, then `verify`. Each gives a
/// [`Machine`](crate::Machine).
pub struct Sender<S: Security>(ExtensionEnd<S>);

/// The receiver's end of an OT extension at security level `S`.
///
/// As [`Sender`].
pub struct Receiver<S: Security>(ExtensionEnd<S>);

impl<S: Security> Sender<S> {
    /// Functionalities over an extension's sender. `context` is agreed and no other end's.
    ///
    /// # Panics
    /// If `extension` is a receiver (the caller's bug).
    #[must_use]
    pub fn new(context: &Context, extension: Box<dyn Extension<S>>) -> Self {
        assert_eq!(extension.role(), Role::Sender, "a sender needs a sender's extension");
        Self(ExtensionEnd::new(context, extension))
    }

    /// The correlation, secret; bit 0 is 1.
    #[must_use]
    pub fn delta(&self) -> Block {
        self.0.hasher.delta()
    }

    pub(crate) fn end(&mut self) -> &mut ExtensionEnd<S> {
        &mut self.0
    }

    /// The next OTs.
    ///
    /// # Panics
    /// If buffers of packed bits are too short for the count (the caller's bug).
    pub fn extend<'w>(&mut self, work: Sending<'w>) -> Pipeline<'_, Sending<'w>, S> {
        Pipeline::new(&mut self.0, work, false)
    }

    /// Checks all that was made; nothing moves in semi-honest mode.
    pub fn verify(&mut self) -> Verify<'_, S> {
        Verify(Pipeline::new(&mut self.0, (), true))
    }
}

impl<S: Security> Receiver<S> {
    /// Functionalities over an extension's receiver. `context` is agreed and no other end's.
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

    /// The next OTs.
    ///
    /// # Panics
    /// If buffers of packed bits are too short for the count (the caller's bug).
    pub fn extend<'w>(&mut self, work: Receiving<'w>) -> Pipeline<'_, Receiving<'w>, S> {
        Pipeline::new(&mut self.0, work, false)
    }

    /// Checks all that was made; nothing moves in semi-honest mode.
    pub fn verify(&mut self) -> Verify<'_, S> {
        Verify(Pipeline::new(&mut self.0, (), true))
    }
}

/// The check of all that one end made.
#[must_use = "run its steps, then finish"]
pub struct Verify<'e, S: Security>(Pipeline<'e, (), S>);

impl<S: Security> Verify<'_, S> {
    /// The seal that opens the outputs made before.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Verified {
        self.0.proof()
    }
}

passed_on!([S: Security] Verify<'_, S>, OtError, self => self.0);
