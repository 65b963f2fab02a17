//! Makes chunks of any length from columns of 128 OTs. Rows are transposed to blocks, and OTs
//! beyond a chunk's length are kept for the next chunks.

use hushwire_aes::Backend;
use hushwire_block::{Block, transpose};
use hushwire_simd::clmul::Clmul;
use zeroize::ZeroizeOnDrop;

use crate::secret::refit;

use super::{
    RowKind, compress,
    kind::{FULL, STEP},
};

/// The OTs that were made and not delivered yet.
#[derive(Default, ZeroizeOnDrop)]
pub(crate) struct Stock {
    blocks: Vec<Block>,
    next: usize,
    /// Rows 128 to 191, transposed.
    high: Vec<u64>,
    /// Whether whole chunks are written past the caches.
    pub(super) streamed: bool,
}

impl Stock {
    fn left(&self) -> usize {
        self.blocks.len() - self.next
    }

    /// The number of OTs in the next chunk.
    pub(super) fn chunk_len(&self, wanted: usize) -> usize {
        wanted.min(if self.left() > 0 { self.left() } else { 128 * FULL })
    }

    /// The number of columns that a chunk of `len` OTs makes; 0 if OTs are in stock.
    pub(super) fn columns(&self, len: usize) -> usize {
        if self.left() > 0 { 0 } else { len.div_ceil(128).next_multiple_of(STEP) }
    }

    /// Delivers OTs from the stock.
    pub(super) fn take(&mut self, blocks: &mut [Block]) {
        let end = self.next + blocks.len();
        blocks.copy_from_slice(&self.blocks[self.next..end]);
        self.next = end;
    }

    /// Transposes the rows of new columns, [`Stock::columns`] of them, and fills `blocks` with the
    /// first OTs. Overwrites row 0 if there are 192 rows.
    pub(super) fn turn(
        &mut self,
        backend: Backend,
        clmul: Clmul,
        kind: RowKind,
        rows: &mut [Block],
        blocks: &mut [Block],
    ) {
        let made = 128 * (rows.len() / kind.rows());
        let whole = blocks.len() == made;
        let out = if whole {
            &mut *blocks
        } else {
            refit(&mut self.blocks, made);
            self.next = 0;
            &mut self.blocks
        };
        if kind == RowKind::Alsz {
            refit(&mut self.high, made);
            compress::rows192(backend, clmul, rows, &mut self.high, out);
        } else {
            let turn = if self.streamed { transpose::rows128_streamed } else { transpose::rows128 };
            turn(backend.tier(), backend.gfni(), rows, out);
        }
        if !whole {
            self.take(blocks);
        }
    }
}
