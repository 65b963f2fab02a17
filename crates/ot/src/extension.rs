//! The interface of every OT extension: random correlated OTs, a chunk at a time.

use core::fmt;

use hushwire_block::Block;
use hushwire_machine::Process;

use crate::{OtError, Security};

/// A party's part in the OTs (the roles in base OTs below an extension may be the other way round).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Holds Δ and q.
    Sender,
    /// Holds choice bits b and t = q ⊕ bΔ.
    Receiver,
}

impl Role {
    /// The peer's.
    #[must_use]
    pub fn other(self) -> Role {
        match self {
            Role::Sender => Role::Receiver,
            Role::Receiver => Role::Sender,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
        })
    }
}

/// A message of a consistency check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckStep {
    /// Names the step in errors.
    pub name: &'static str,
    /// The end that sends it.
    pub from: Role,
    /// The length of the message in bytes.
    pub bytes: usize,
}

/// One end of a random correlated OT extension; both ends make the same chunks and close the same segments in the same
/// order, and run the same steps of checks.
///
/// A chunk takes one message, always from the same side ([`Extension::speaker`]). In malicious modes chunks gather in
/// a segment until [`Extension::close_segment`]; the check of that segment ([`Extension::check`], step by step) may
/// run while chunks of the next one are made, after other chunks of it at either end, and must end before that one closes.
pub trait Extension<S: Security>: Send {
    /// The role of this end.
    fn role(&self) -> Role;

    /// The end that sends the message of a chunk.
    fn speaker(&self) -> Role;

    /// The process that drew the secrets from which it grows. A fork of that process may not grow
    /// the same OTs.
    fn process(&self) -> Process {
        Process::here()
    }

    /// The sender's Δ; `None` at the receiver.
    fn delta(&self) -> Option<Block>;

    /// The number of OTs that the next chunk makes when `wanted > 0` are still wanted: from 1 to `wanted`.
    fn chunk_len(&self, wanted: usize) -> usize;

    /// Bytes of the message of a next chunk of `len` OTs, as [`Extension::chunk_len`] said; 0 when OTs are in stock.
    fn chunk_bytes(&self, len: usize) -> usize;

    /// Makes the next chunk into `blocks`: q, or t with the choice bit as bit 0. The speaker writes `said`, with
    /// `heard` empty; the other side reads `heard`, with `said` empty.
    ///
    /// # Errors
    /// The message is malformed.
    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError>;

    /// Says before the first chunk that no more than `count` OTs will be taken, in segments of which each has a chunk at least: what would
    /// serve later ones need not be made. AGREEMENT: both ends say the same, or neither.
    fn limit(&mut self, _count: usize) {}

    /// Says whether the blocks of coming chunks are for later, so that they may be written past the caches. LOCAL: no
    /// result depends on it.
    fn stream(&mut self, _on: bool) {}

    /// The messages of a check, in order; none in semi-honest modes.
    fn check_steps(&self) -> &[CheckStep];

    /// Whether any chunk was made since the last [`Extension::close_segment`].
    fn is_open(&self) -> bool;

    /// Ends a segment: what was made until now is what the next check covers.
    fn close_segment(&mut self);

    /// Step `step` of the check of the segment that was closed last. The step's sender writes `said`, the other side
    /// reads `heard`. After the last step both sides may trust the segment.
    ///
    /// # Errors
    /// [`OtError::Abort`].
    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError>;
}
