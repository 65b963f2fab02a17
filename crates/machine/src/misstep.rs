//! Calls and messages that the gate in front of a machine refused.

use thiserror::Error;

/// A call or a message that the gate refused. The machine cannot be used any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Misstep {
    /// The length of a peer's message differs from the round's.
    #[error("{found} bytes came during {step} instead of {expected}")]
    Message {
        /// The round in progress.
        step: &'static str,
        /// The number of bytes that came.
        found: usize,
        /// The number of bytes that the round declares.
        expected: usize,
    },
    /// The length of a caller's buffer differs from the round's, or the number of buffers is not
    /// that of the slots.
    #[error("a buffer of {found} bytes was brought to {step} instead of one of {expected}")]
    Buffer {
        /// The round in progress.
        step: &'static str,
        /// The length of the buffer.
        found: usize,
        /// The number of bytes that the round declares.
        expected: usize,
    },
    /// A step failed earlier, or this call came out of turn.
    #[error("this run is lost at {step}: a step of it failed before, or was called out of turn")]
    Lost {
        /// The step at which it was lost.
        step: &'static str,
    },
}
