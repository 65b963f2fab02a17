//! One endpoint of an extension, with the state that its functionalities share: the number of the
//! next OT, the hash, the progress of checks, and buffers.

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

/// An extension, the number of its next OT, and the progress of its checks.
pub(crate) struct ExtensionEnd<S: Security> {
    pub(crate) extension: Box<dyn Extension<S>>,
    pub(crate) hasher: OtHasher,
    pub(crate) epochs: Epochs,
    /// The number of the next OT, which is the tweak of its hash.
    pub(crate) next: u64,
    /// The number of chunks since the last segment was closed.
    pub(crate) in_segment: usize,
    /// Whether a call is in progress. It stays true after an error, or after a call that was
    /// dropped.
    pub(crate) busy: bool,
    /// Buffers for the blocks of chunks, which are reused because fresh pages cost as much as an
    /// OT. They are wiped with the endpoint.
    pub(crate) spare: Vec<SecretBlocks>,
    /// The process that owns the endpoint: a fork would continue with the same rows and the same
    /// numbers of OTs.
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

/// The OTs of one chunk, until they are delivered.
#[derive(ZeroizeOnDrop)]
pub struct ChunkOts {
    /// The number of the first OT, which is the tweak of its hash.
    pub(crate) first: u64,
    /// The first OT's place in this call.
    pub(crate) start: usize,
    pub(crate) len: usize,
    /// The tick in which they were made.
    pub(crate) tick: u64,
    /// q or t, if the caller's buffer does not hold them.
    pub(crate) blocks: SecretBlocks,
    /// At the receiver: the correction bits that turn random choices into its own; for OTs of bits,
    /// later, its pads.
    pub(crate) bits: Vec<u8>,
}

impl ChunkOts {
    /// `blocks[i] ^= bits[i] · delta`.
    pub(crate) fn add_where(&mut self, backend: Backend, bits: &[u8], delta: Block) {
        add_where_here(backend, bits, delta, &mut self.blocks);
    }

    /// Turns the random choices in `bits` into d = b ⊕ r for the given choices, and bit 0 of t into
    /// b; the sender adds d(Δ ⊕ 1) to q.
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
