//! The gate in front of every machine, for machines that do not check their messages themselves.
//!
//! [`Machine`](crate::Machine) is implemented only here, by [`gated!`](hushwire_machine::gated):
//! exact lengths, calls in turn, and nothing after an error.

use crate::{Exchanged, OtError, Round};
use hushwire_machine::drive::Misstep;

pub(crate) use hushwire_machine::drive::Latch;

/// A party's part of a protocol, behind the gate. Only the gate calls [`Guarded::say`] and
/// [`Guarded::hear`]: in turn, with the lengths that [`Guarded::exchange`] declared, and not after
/// an error.
pub(crate) trait Guarded {
    /// The next exchange; `None` after the last one.
    fn exchange(&self) -> Option<Round>;

    /// Writes the message of this exchange.
    ///
    /// # Errors
    /// The protocol's error.
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError>;

    /// Reads the peer's message, and moves on to the next exchange.
    ///
    /// # Errors
    /// The message is malformed, or a check failed.
    fn take(&mut self, message: &[u8]) -> Result<(), OtError>;

    /// [`Guarded::take`] in the form that the gate calls.
    ///
    /// # Errors
    /// The same as for [`Guarded::take`].
    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), OtError> {
        self.take(message.heard)
    }

    /// The gate's state.
    fn latch(&self) -> &Latch;
}

/// Implements [`Machine`](hushwire_machine::drive::Machine) for a guarded type, with the gate in
/// front.
macro_rules! guarded {
    ([$($parameters:tt)*] $type:ty) => {
        hushwire_machine::gated!([$($parameters)*] $type, $crate::OtError;);
    };
}
pub(crate) use guarded;

impl From<Misstep> for OtError {
    fn from(misstep: Misstep) -> Self {
        match misstep {
            Misstep::Message { step, found, expected } => {
                OtError::malformed(step, format!("{found} bytes instead of {expected}"))
            }
            Misstep::Lost { step } => OtError::Lost { step },
            misstep => OtError::Net(misstep.into()),
        }
    }
}

/// Refuses a message of another length.
pub(crate) fn wrong_length(name: &'static str, message: &[u8], wanted: usize) -> Result<(), OtError> {
    match message.len() {
        found if found == wanted => Ok(()),
        found => Err(Misstep::Message { step: name, found, expected: wanted }.into()),
    }
}
