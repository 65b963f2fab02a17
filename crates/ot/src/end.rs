//! One end of an extension, with what its functionalities share.

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_machine::Process;
use zeroize::ZeroizeOnDrop;

use crate::{
    Context, Extension, Security,
    bits::{add_where_here, xor_range},
    hasher::OtHasher,
    secret::SecretBlocks,
    verified::Epochs,
};

/// An extension, the number of its next OT, and how far its checks are.
pub(crate) struct ExtensionEnd<S: Security> {
    pub(crate) extension: Box<dyn Extension<S>>,
    pub(crate) hasher: OtHasher,
    pub(crate) epochs: Epochs,
    /// The next OT's number: the tweak of its hash.
    pub(crate) next: u64,
    /// Chunks since the last segment closed.
    pub(crate) in_segment: usize,
    /// From the beginning of a call to its last step: after an error, or a call that was dropped,
    /// it stays.
    pub(crate) busy: bool,
    /// Buffers for blocks of chunks, kept for the next ones: fresh pages cost as much as an OT.
    /// Wiped with the end.
    pub(crate) spare: Vec<SecretBlocks>,
    /// A fork of it would go on with the same rows, and the same numbers of OTs.
    pub(crate) process: Process,
}

impl<S: Security> ExtensionEnd<S> {
    pub(crate) fn new(context: &Context, extension: Box<dyn Extension<S>>) -> Self {
        let (hasher, process) = (OtHasher::new(context, &*extension), extension.process());
        Self {
            extension,
            hasher,
            epochs: Epochs::new(),
            next: 0,
            in_segment: 0,
            busy: false,
            spare: Vec::new(),
            process,
        }
    }
}

/// OTs of one chunk, until they are delivered.
#[derive(ZeroizeOnDrop)]
pub struct ChunkOts {
    /// The number of the first one: the tweak of its hash.
    pub(crate) first: u64,
    /// The first OT's place in this call.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// The tick that made them.
    pub(crate) tick: u64,
    /// q or t, where the caller's buffer does not hold them.
    pub(crate) blocks: SecretBlocks,
    /// The receiver: what it sends to turn random choices into its own; for bit OT, then, its pads.
    pub(crate) bits: Vec<u8>,
}

impl ChunkOts {
    /// `blocks[i] ^= bits[i] · delta`.
    pub(crate) fn add_where(&mut self, backend: Backend, bits: &[u8], delta: Block) {
        add_where_here(backend, bits, delta, &mut self.blocks);
    }

    /// Turns the random choices in `bits` into d = b ⊕ r for these choices, and bit 0 of t into b;
    /// the sender adds d(Δ ⊕ 1) to q.
    pub(crate) fn choose(&mut self, backend: Backend, choices: &[u8]) {
        xor_range(choices, self.start, self.len, &mut self.bits);
        let bits = core::mem::take(&mut self.bits);
        self.add_where(backend, &bits, Block::from_u128(1));
        self.bits = bits;
    }

    pub(crate) fn range(&self) -> core::ops::Range<usize> {
        self.start..self.start + self.len
    }
}
