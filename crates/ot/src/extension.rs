//! The interface of every OT extension: random correlated OTs, a chunk at a time.

use core::fmt;

use hushwire_block::Block;
use hushwire_machine::Process;

use crate::{OtError, Security};

/// A party's part in the OTs. In the base OTs below an extension the roles may be reversed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Holds Δ and q.
    Sender,
    /// Holds choice bits b and t = q ⊕ bΔ.
    Receiver,
}

impl Role {
    /// The role of the peer.
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

/// One end of a random correlated OT extension. Both ends make the same chunks, close the same
/// segments in the same order, and run the same steps of checks.
///
/// A chunk takes one message, always from the same side ([`Extension::speaker`]). In malicious
/// modes chunks gather in a segment until [`Extension::close_segment`]. The check of that segment
/// ([`Extension::check`], step by step) may run while chunks of the next segment are made, and the
/// two ends need not interleave them alike; it must end before the next segment closes.
pub trait Extension<S: Security>: Send {
    /// The role of this end.
    fn role(&self) -> Role;

    /// The end that sends the message of a chunk.
    fn speaker(&self) -> Role;

    /// The process that drew the secrets from which this extension grows. A fork of that process
    /// may not grow the same OTs.
    fn process(&self) -> Process {
        Process::here()
    }

    /// The sender's Δ; `None` at the receiver.
    fn delta(&self) -> Option<Block>;

    /// The number of OTs in the next chunk, from 1 to `wanted`, when `wanted > 0` more are wanted.
    fn chunk_len(&self, wanted: usize) -> usize;

    /// The length in bytes of the next chunk's message, where `len` is [`Extension::chunk_len`]; 0
    /// if OTs are in stock.
    fn chunk_bytes(&self, len: usize) -> usize;

    /// Makes the next chunk into `blocks`: the sender's q, or the receiver's t with the choice bit
    /// as bit 0. The speaker writes its message to `said`, with `heard` empty; the other side reads
    /// it from `heard`, with `said` empty.
    ///
    /// # Errors
    /// The message is malformed.
    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError>;

    /// Announces, before the first chunk, that at most `count` OTs will be taken, in segments of at
    /// least one chunk each. What would serve only later OTs need not be made. AGREEMENT: both ends
    /// announce the same count, or neither does.
    fn limit(&mut self, _count: usize) {}

    /// Announces whether the blocks of coming chunks are for later, so that they may be written
    /// past the caches. LOCAL: no result depends on it.
    fn stream(&mut self, _on: bool) {}

    /// The messages of a check, in order; empty in semi-honest modes.
    fn check_steps(&self) -> &[CheckStep];

    /// Whether any chunk was made since the last [`Extension::close_segment`].
    fn is_open(&self) -> bool;

    /// Ends a segment. The next check covers all chunks since the segment before it.
    fn close_segment(&mut self);

    /// Runs step `step` of the check of the segment that was closed last. The step's sender writes
    /// its message to `said`, the other side reads it from `heard`. After the last step both sides
    /// may trust the segment.
    ///
    /// # Errors
    /// [`OtError::Abort`].
    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError>;
}
