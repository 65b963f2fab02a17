//! One end of an extension, with what its functionalities share.

use hushwire_block::Block;

use crate::{Context, Extension, Security, pads::Pads, verified::Epochs};

/// An extension, the number of its next OT, and how far its checks are.
pub(crate) struct End<S: Security> {
    pub(crate) extension: Box<dyn Extension<S>>,
    pub(crate) pads: Pads,
    pub(crate) epochs: Epochs,
    /// The next OT's number: the tweak of its hash.
    pub(crate) next: u64,
    /// Chunks since the last segment closed.
    pub(crate) in_segment: usize,
}

impl<S: Security> End<S> {
    pub(crate) fn new(context: &Context, extension: Box<dyn Extension<S>>) -> Self {
        let pads = Pads::new(context, &*extension);
        Self { extension, pads, epochs: Epochs::new(), next: 0, in_segment: 0 }
    }
}

/// OTs of one chunk, until they are delivered.
pub struct Made {
    /// The number of the first one: the tweak of its hash.
    pub(crate) first: u64,
    /// Its place in this call.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// The tick that made them.
    pub(crate) tick: u64,
    /// q or t, where the caller's buffer does not hold them.
    pub(crate) blocks: Vec<Block>,
    /// The receiver: what it sends to turn random choices into its own; for bit OT, then, its pads.
    pub(crate) bits: Vec<u8>,
}

impl Made {
    pub(crate) fn range(&self) -> core::ops::Range<usize> {
        self.start..self.start + self.len
    }
}
