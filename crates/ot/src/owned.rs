//! Random OTs that a larger machine owns until it goes on with them.

use hushwire_block::Block;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Receiving, Sending, end::Made, hasher::OtHasher, work::Work};

/// The sender's messages of random OTs, for choices of the receiver's own.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct OwnedPairs {
    pub(crate) pairs: Vec<[Block; 2]>,
}

/// The receiver's messages of random OTs, for choices of its own.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct OwnedKeys {
    pub(crate) choices: Vec<u8>,
    pub(crate) messages: Vec<Block>,
}

impl OwnedPairs {
    pub(crate) fn new(count: usize) -> Self {
        Self { pairs: vec![[Block::ZERO; 2]; count] }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Sending<'_>) -> T) -> T {
        f(&mut Sending::Rot { pairs: &mut self.pairs, chosen: true })
    }
}

impl OwnedKeys {
    /// A call for these choices, packed bits.
    pub(crate) fn chosen(choices: Vec<u8>, count: usize) -> Self {
        Self { choices, messages: vec![Block::ZERO; count] }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Receiving<'_>) -> T) -> T {
        f(&mut Receiving::RotChosen { choices: &self.choices, messages: &mut self.messages })
    }
}

impl Work for OwnedPairs {
    fn count(&self) -> usize {
        self.pairs.len()
    }
    fn is_chosen(&self) -> bool {
        true
    }
    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut Made, derandomize: Option<&[u8]>) {
        self.with(|work| work.take(hasher, chunk, derandomize));
    }
}

impl Work for OwnedKeys {
    fn count(&self) -> usize {
        self.messages.len()
    }
    fn is_chosen(&self) -> bool {
        true
    }
    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut Made, derandomize: Option<&[u8]>) {
        self.with(|work| work.take(hasher, chunk, derandomize));
    }
}
