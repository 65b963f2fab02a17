//! The interface of every OT extension: random correlated OTs, one chunk at a time.

use core::fmt;

use hushwire_block::Block;
use hushwire_machine::Process;

use crate::{OtError, Security};

/// A party's role in the OTs. The roles may be reversed in the base OTs of an extension.
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
    /// The name of the step in errors.
    pub name: &'static str,
    /// The role that sends it.
    pub from: Role,
    /// The length of the message in bytes.
    pub bytes: usize,
}

/// One endpoint of a random correlated OT extension. Both endpoints make the same chunks, close the
/// same segments in the same order, and run the same steps of checks.
///
/// A chunk takes one message, always from the same role ([`Extension::speaker`]). In malicious
/// modes chunks are gathered in a segment until [`Extension::close_segment`]. The check of that
/// segment ([`Extension::check`], step by step) may run while chunks of the next segment are made,
/// and the endpoints may interleave them differently. The check must end before the next segment
/// closes.
pub trait Extension<S: Security>: Send {
    /// The role of this endpoint.
    fn role(&self) -> Role;

    /// The role that sends the message of a chunk.
    fn speaker(&self) -> Role;

    /// The process that drew the secrets of this extension. A fork of that process must not extend
    /// the same OTs.
    fn process(&self) -> Process;

    /// The sender's Δ; `None` at the receiver.
    fn delta(&self) -> Option<Block>;

    /// The number of OTs in the next chunk, from 1 to `wanted`, where `wanted > 0` is how many more
    /// are needed.
    fn chunk_len(&self, wanted: usize) -> usize;

    /// The number of bytes of the next chunk's message, if `len` is [`Extension::chunk_len`]; 0 if
    /// OTs are in stock.
    fn chunk_bytes(&self, len: usize) -> usize;

    /// Writes the next chunk into `blocks`: the sender's q, or the receiver's t with the choice bit
    /// as bit 0. The speaker writes its message to `said`, with `heard` empty. The other role reads
    /// it from `heard`, with `said` empty.
    ///
    /// # Errors
    /// The message is malformed, or an earlier check failed.
    fn chunk(&mut self, heard: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError>;

    /// Announces, before the first chunk, that at most `count` OTs will be taken, in segments of at
    /// least one chunk each. Correlations that only later OTs would use need not be made.
    /// AGREEMENT: both endpoints announce the same count, or neither does.
    fn limit(&mut self, _count: usize) {}

    /// Announces whether the blocks of coming chunks are needed only later, so that writes may
    /// bypass the caches. LOCAL: no result depends on it.
    fn stream(&mut self, _on: bool) {}

    /// The messages of a check, in order; empty in semi-honest modes.
    fn check_steps(&self) -> &[CheckStep];

    /// Whether any chunk was made since the last [`Extension::close_segment`].
    fn is_open(&self) -> bool;

    /// Ends a segment. The next check covers all chunks since the segment before it.
    fn close_segment(&mut self);

    /// Runs step `step` of the check of the segment that was closed last. The step's sender writes
    /// its message to `said`, and the other role reads it from `heard`. After the last step both
    /// roles may trust the segment.
    ///
    /// # Errors
    /// [`OtError::Abort`] if the check fails.
    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError>;
}
