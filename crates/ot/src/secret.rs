//! Buffers for secrets that leave no copies behind.

use core::ops::{Deref, DerefMut};

use hushwire_block::{Block, Buffer};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Blocks that start on a cache line, so that no vector crosses two; wiped on drop.
#[derive(Default)]
pub(crate) struct SecretBlocks {
    buffer: Buffer,
    /// The number of blocks that may hold data.
    used: usize,
}

impl SecretBlocks {
    /// Resizes to `len` blocks, as [`refit`] does; blocks that were never used are zero.
    pub(crate) fn refit(&mut self, len: usize) {
        if self.used < len {
            self.zeroize();
            (self.buffer, self.used) = (Buffer::new(), len);
        }
        self.buffer.set_len(16 * len);
    }
}

impl Zeroize for SecretBlocks {
    fn zeroize(&mut self) {
        self.buffer.set_len(16 * self.used);
        self.buffer.zeroize();
        self.buffer.set_len(0);
    }
}

impl Drop for SecretBlocks {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl ZeroizeOnDrop for SecretBlocks {}

impl Deref for SecretBlocks {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        self.buffer.blocks()
    }
}

impl DerefMut for SecretBlocks {
    fn deref_mut(&mut self) -> &mut [Block] {
        self.buffer.blocks_mut()
    }
}

/// Makes `buffer` `len` long. Growing in place may move the buffer and leave a copy of its
/// contents. This function wipes the contents before it makes the larger buffer, which holds zeros.
pub(crate) fn refit<T: Zeroize + Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.capacity() < len {
        buffer.zeroize();
        *buffer = Vec::with_capacity(len);
    }
    buffer.resize(len, T::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_that_moves_takes_nothing_along() {
        let mut buffer = vec![7u8; 10];
        refit(&mut buffer, 4);
        assert_eq!(buffer, [7; 4], "it had room");
        refit(&mut buffer, 1 << 20);
        assert!(buffer.len() == 1 << 20 && buffer.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn blocks_are_aligned_and_take_nothing_along() {
        let mut blocks = SecretBlocks::default();
        blocks.refit(5);
        assert!(blocks.len() == 5 && blocks.as_ptr().addr() % 64 == 0);
        blocks.fill(Block::ONES);
        blocks.refit(2);
        assert_eq!(*blocks, [Block::ONES; 2], "it had room");
        blocks.refit(5);
        assert_eq!(*blocks, [Block::ONES; 5], "nothing was lost");
        // Blocks beyond the length are wiped, too.
        blocks.refit(1);
        blocks.zeroize();
        blocks.refit(5);
        assert_eq!(*blocks, [Block::ZERO; 5]);
        blocks.fill(Block::ONES);
        blocks.refit(1 << 16);
        assert!(blocks.len() == 1 << 16 && blocks.iter().all(|block| *block == Block::ZERO));
    }

    /// Checks that every type for pads, choices, Δ or correlated blocks is wiped on drop.
    #[test]
    fn secrets_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>() {}
        wiped::<SecretBlocks>();
        wiped::<crate::end::ChunkOts>();
        wiped::<crate::hasher::OtHasher>();
        wiped::<crate::BitTriples>();
        wiped::<crate::rows::Stock>();
        wiped::<crate::rows::Delta>();
        wiped::<crate::rows::Closed>();
        wiped::<crate::rows::Path>();
        wiped::<crate::base::BaseSender<crate::Full>>();
        wiped::<crate::base::BaseReceiver<crate::Full>>();
        wiped::<crate::base::CswSender>();
        wiped::<crate::base::CswReceiver>();
        wiped::<crate::base::PassiveSender<crate::base::NaorPinkas>>();
        wiped::<crate::base::PassiveReceiver<crate::base::NaorPinkas>>();
    }
}
