//! Blocks of OTs: cleared when they go, in memory that the next ones take.
//!
//! A piece of a step has some megabytes of them, several times over. Memory that goes back to the system comes again page by page, which took a third
//! of the time of comparisons.

use hushwire_block::{Block, Wipe, as_bytes_mut};
use std::{
    cell::RefCell,
    ops::{Deref, DerefMut},
};

/// LOCAL: vectors that a thread keeps, and the fewest and the most blocks of one that is kept.
const KEPT: usize = 24;
const LEAST: usize = 1 << 10;
const MOST: usize = 1 << 19;

thread_local! {
    static SPARE: RefCell<Vec<Vec<Block>>> = const { RefCell::new(vec![]) };
}

/// Blocks, cleared when they go.
#[derive(Default)]
pub(crate) struct Blocks(Vec<Block>);

impl Blocks {
    /// None, with room for so many.
    pub(crate) fn with_room(n: usize) -> Self {
        let spare = SPARE.with_borrow_mut(|spare| {
            // The one that fits best, unless it is far too large.
            let fits = |of: &Vec<Block>| (n..=n.max(LEAST) * 4).contains(&of.capacity());
            let best = (0..spare.len()).filter(|k| fits(&spare[*k])).min_by_key(|k| spare[*k].capacity());
            best.map(|k| spare.swap_remove(k))
        });
        Blocks(spare.unwrap_or_else(|| Vec::with_capacity(n)))
    }

    pub(crate) fn zeros(n: usize) -> Self {
        let mut blocks = Self::with_room(n);
        blocks.0.resize(n, Block::ZERO);
        blocks
    }

    pub(crate) fn copied(of: &[Block]) -> Self {
        let mut blocks = Self::with_room(of.len());
        blocks.0.extend_from_slice(of);
        blocks
    }

    /// As many as the iterator says that it has.
    pub(crate) fn collected(of: impl ExactSizeIterator<Item = Block>) -> Self {
        let mut blocks = Self::with_room(of.len());
        blocks.0.extend(of);
        blocks
    }
}

impl From<Vec<Block>> for Blocks {
    fn from(blocks: Vec<Block>) -> Self {
        Blocks(blocks)
    }
}

impl Deref for Blocks {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        &self.0
    }
}

impl DerefMut for Blocks {
    fn deref_mut(&mut self) -> &mut [Block] {
        &mut self.0
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // What was never filled has held nothing.
        as_bytes_mut(&mut self.0).wipe();
        self.0.clear();
        if (LEAST..=MOST).contains(&self.0.capacity()) {
            let own = std::mem::take(&mut self.0);
            // At the end of a thread there is no place to keep it.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < KEPT {
                    spare.push(own);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_cleared_and_comes_again() {
        let block = Block::from_u128(7);
        let first = Blocks::collected(std::iter::repeat_n(block, 3000));
        let place = first.as_ptr();
        drop(first);
        let mut again = Blocks::with_room(2500);
        assert_eq!(again.as_ptr(), place);
        again.0.resize(again.0.capacity(), Block::ZERO);
        assert!(!again.contains(&block));
        assert_ne!(Blocks::copied(&[block; 2000]).as_ptr(), place, "it is in use");
        assert_eq!(*Blocks::zeros(2), [Block::ZERO; 2]);
    }
}
