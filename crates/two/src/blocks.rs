//! Blocks of OTs: cleared when they go, in memory that the next ones take.
//!
//! A piece of a step has some megabytes of them, several times over. Memory that goes back to the system comes again page by page, which took a third
//! of the time of comparisons.

use hushwire_block::{Block, Wipe, as_bytes_mut};
use std::{
    cell::RefCell,
    ops::{Deref, DerefMut, Range},
    sync::Arc,
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

/// Some of an allotment's blocks, which are cleared when the last part goes.
#[derive(Clone)]
pub(crate) struct Part {
    all: Arc<Blocks>,
    range: Range<usize>,
}

impl Part {
    /// Those at these places of it.
    pub(crate) fn part(&self, range: Range<usize>) -> Part {
        let from = self.range.start;
        assert!(range.start <= range.end && range.end <= self.range.len(), "blocks that were allotted");
        Part { all: self.all.clone(), range: from + range.start..from + range.end }
    }
}

impl From<Blocks> for Part {
    fn from(all: Blocks) -> Self {
        let range = 0..all.len();
        Part { all: Arc::new(all), range }
    }
}

impl From<Vec<Block>> for Part {
    fn from(all: Vec<Block>) -> Self {
        Blocks::from(all).into()
    }
}

impl Deref for Part {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        &self.all[self.range.clone()]
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
        assert_ne!(Blocks::collected([block; 2000].into_iter()).as_ptr(), place, "it is in use");
        assert_eq!(*Blocks::zeros(2), [Block::ZERO; 2]);
    }

    #[test]
    fn parts_are_where_they_were() {
        let all: Part = (0..9).map(Block::from_u128).collect::<Vec<_>>().into();
        let inner = all.part(2..8).part(1..4);
        assert_eq!(*inner, [3, 4, 5].map(Block::from_u128));
        drop(all);
        assert_eq!(inner.len(), 3);
        assert!(std::panic::catch_unwind(|| inner.part(1..4).len()).is_err(), "none of a neighbour's");
    }
}
