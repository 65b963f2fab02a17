//! Calls and messages that the gate before a machine did not let through.

use thiserror::Error;

/// A call that the gate did not let through, or a message. The machine is of no more use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Misstep {
    /// A peer's message has another length than the round declares.
    #[error("{found} bytes came during {step} instead of {expected}")]
    Message {
        /// The round under way.
        step: &'static str,
        /// Bytes that came.
        found: usize,
        /// Bytes that the round declares.
        expected: usize,
    },
    /// A buffer of the caller's has another length than the round declares, or there is not one for
    /// each slot.
    #[error("a buffer of {found} bytes was brought to {step} instead of one of {expected}")]
    Buffer {
        /// The round under way.
        step: &'static str,
        /// Its bytes.
        found: usize,
        /// Bytes that the round declares.
        expected: usize,
    },
    /// A step failed before, or this call came out of turn.
    #[error("this run is lost at {step}: a step of it failed before, or was called out of turn")]
    Lost {
        /// The step at which it was lost.
        step: &'static str,
    },
}
