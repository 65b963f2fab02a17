//! Chunks of any length from columns of 128 OTs.

use hushwire_block::Block;
use zeroize::Zeroize;

use super::kind::{FULL, STEP};

/// OTs that were made and not handed out yet.
#[derive(Default)]
pub(super) struct Stock {
    blocks: Vec<Block>,
    next: usize,
}

impl Drop for Stock {
    fn drop(&mut self) {
        self.blocks.zeroize();
    }
}

impl Stock {
    fn left(&self) -> usize {
        self.blocks.len() - self.next
    }

    /// OTs in the next chunk.
    pub(super) fn chunk_len(&self, wanted: usize) -> usize {
        wanted.min(if self.left() > 0 { self.left() } else { 128 * FULL })
    }

    /// Columns that a chunk of `len` OTs makes: none when they are in stock.
    pub(super) fn columns(&self, len: usize) -> usize {
        if self.left() > 0 { 0 } else { len.div_ceil(128).next_multiple_of(STEP) }
    }

    /// Hands out OTs in stock.
    pub(super) fn take(&mut self, blocks: &mut [Block]) {
        let end = self.next + blocks.len();
        blocks.copy_from_slice(&self.blocks[self.next..end]);
        self.next = end;
    }

    /// Where `columns` columns go that are to be `blocks` in the end: there, if they fit exactly.
    pub(super) fn place<'b>(&'b mut self, columns: usize, blocks: &'b mut [Block]) -> &'b mut [Block] {
        if blocks.len() == 128 * columns {
            return blocks;
        }
        self.blocks.resize(128 * columns, Block::ZERO);
        self.next = 0;
        &mut self.blocks
    }
}
