//! Random OTs that a larger machine owns until it goes on with them.

use hushwire_block::Block;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{Receiving, Sending, end::Made, pads::Pads, work::Work};

/// The sender's messages of random OTs.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct OwnedPairs {
    pub(crate) pairs: Vec<[Block; 2]>,
    chosen: bool,
}

/// The receiver's messages of random OTs, for choices of its own or drawn.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct OwnedKeys {
    pub(crate) choices: Vec<u8>,
    pub(crate) messages: Vec<Block>,
    chosen: bool,
}

impl OwnedPairs {
    pub(crate) fn new(count: usize, chosen: bool) -> Self {
        Self { pairs: vec![[Block::ZERO; 2]; count], chosen }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Sending<'_>) -> T) -> T {
        f(&mut Sending::Rot { pairs: &mut self.pairs, chosen: self.chosen })
    }
}

impl OwnedKeys {
    /// For choices that are drawn.
    pub(crate) fn random(count: usize) -> Self {
        Self { choices: vec![0; count.div_ceil(8)], messages: vec![Block::ZERO; count], chosen: false }
    }

    /// For these choices.
    pub(crate) fn chosen(choices: Vec<u8>, count: usize) -> Self {
        Self { choices, messages: vec![Block::ZERO; count], chosen: true }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Receiving<'_>) -> T) -> T {
        let (choices, messages) = (&mut self.choices[..], &mut self.messages[..]);
        if self.chosen {
            f(&mut Receiving::RotChosen { choices, messages })
        } else {
            f(&mut Receiving::Rot { choices, messages })
        }
    }
}

impl Work for OwnedPairs {
    fn count(&self) -> usize {
        self.pairs.len()
    }
    fn is_chosen(&self) -> bool {
        self.chosen
    }
    fn take(&mut self, pads: &mut Pads, chunk: &mut Made, fix: Option<&[u8]>) {
        self.with(|work| work.take(pads, chunk, fix));
    }
}

impl Work for OwnedKeys {
    fn count(&self) -> usize {
        self.messages.len()
    }
    fn is_chosen(&self) -> bool {
        self.chosen
    }
    fn take(&mut self, pads: &mut Pads, chunk: &mut Made, fix: Option<&[u8]>) {
        self.with(|work| work.take(pads, chunk, fix));
    }
}
