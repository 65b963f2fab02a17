//! Blocks of OTs. They are cleared when they are dropped, and their memory is used again.
//!
//! A piece of a step has some megabytes of them, several times over. Memory that goes back to the
//! operating system returns page by page, which took a third of the time of comparisons.

use hushwire_block::{Block, Wipe, as_bytes_mut};
use std::{
    cell::RefCell,
    ops::{Deref, DerefMut, Range},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// LOCAL: the most vectors that are kept in one place, and the fewest blocks of a kept vector. The
/// last constant is the most blocks of a kept vector: in a thread's own place, and in one that
/// other threads return memory to.
const KEPT: usize = 32;
const LEAST: usize = 1 << 10;
const MOST: [usize; 2] = [1 << 19, 1 << 21];

/// Memory for the next blocks. Each vector has zeros up to its length.
#[derive(Default)]
struct Spare(Vec<Vec<Block>>);

impl Spare {
    /// The vector that fits `n` blocks best, unless it is far too large.
    fn take(&mut self, n: usize) -> Option<Vec<Block>> {
        let fits = |of: &Vec<Block>| (n..=n.max(LEAST) * 4).contains(&of.capacity());
        let best = (0..self.0.len()).filter(|k| fits(&self.0[*k])).min_by_key(|k| self.0[*k].capacity());
        best.map(|k| self.0.swap_remove(k))
    }

    /// Returns zeros. Zeros of a kept vector are not written again.
    fn zeros(&mut self, n: usize) -> Vec<Block> {
        let mut own = self.take(n).unwrap_or_else(|| Vec::with_capacity(n));
        own.resize(n, Block::ZERO);
        own
    }

    fn keep(&mut self, cleared: Vec<Block>, most: usize) {
        if self.0.len() < KEPT && (LEAST..=most).contains(&cleared.capacity()) {
            self.0.push(cleared);
        }
    }
}

thread_local! {
    static SPARE: RefCell<Spare> = const { RefCell::new(Spare(vec![])) };
}

/// A place to which blocks return if one thread fills and another thread drops them.
#[derive(Clone, Default)]
pub(crate) struct Home(Arc<Mutex<Spare>>);

impl Home {
    fn lock(&self) -> MutexGuard<'_, Spare> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Zeros in memory of this place.
    pub(crate) fn zeros(&self, n: usize) -> WipedBlocks {
        WipedBlocks { own: self.lock().zeros(n), home: Some(self.clone()) }
    }
}

/// Blocks that are cleared when they are dropped.
#[derive(Default)]
pub(crate) struct WipedBlocks {
    own: Vec<Block>,
    /// `None` if they return to the thread that drops them.
    home: Option<Home>,
}

impl WipedBlocks {
    pub(crate) fn zeros(n: usize) -> Self {
        SPARE.with_borrow_mut(|spare| spare.zeros(n)).into()
    }
}

impl From<Vec<Block>> for WipedBlocks {
    fn from(own: Vec<Block>) -> Self {
        WipedBlocks { own, home: None }
    }
}

impl Deref for WipedBlocks {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        &self.own
    }
}

impl DerefMut for WipedBlocks {
    fn deref_mut(&mut self) -> &mut [Block] {
        &mut self.own
    }
}

impl Drop for WipedBlocks {
    fn drop(&mut self) {
        // Memory that was never filled needs no clearing.
        as_bytes_mut(&mut self.own).wipe();
        let own = std::mem::take(&mut self.own);
        match &self.home {
            Some(home) => home.lock().keep(own, MOST[1]),
            // At the end of a thread, its place no longer exists.
            None => drop(SPARE.try_with(|spare| spare.borrow_mut().keep(own, MOST[0]))),
        }
    }
}

/// Some of an allotment's blocks. They are cleared when the last part is dropped.
#[derive(Clone)]
pub(crate) struct BlocksPart {
    all: Arc<WipedBlocks>,
    range: Range<usize>,
}

impl BlocksPart {
    /// The blocks at these places of it.
    pub(crate) fn part(&self, range: Range<usize>) -> BlocksPart {
        let from = self.range.start;
        assert!(range.start <= range.end && range.end <= self.range.len(), "blocks that were allotted");
        BlocksPart { all: self.all.clone(), range: from + range.start..from + range.end }
    }
}

impl From<WipedBlocks> for BlocksPart {
    fn from(all: WipedBlocks) -> Self {
        let range = 0..all.len();
        BlocksPart { all: Arc::new(all), range }
    }
}

impl From<Vec<Block>> for BlocksPart {
    fn from(all: Vec<Block>) -> Self {
        WipedBlocks::from(all).into()
    }
}

impl Deref for BlocksPart {
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
        let mut first = WipedBlocks::zeros(3000);
        first.fill(block);
        let place = first.as_ptr();
        drop(first);
        let mut again = WipedBlocks::zeros(2500);
        assert_eq!(again.as_ptr(), place);
        again.own.resize(again.own.capacity(), Block::ZERO);
        assert!(!again.contains(&block));
        assert_ne!(WipedBlocks::zeros(2000).as_ptr(), place, "it is in use");
        assert_eq!(*WipedBlocks::zeros(2), [Block::ZERO; 2]);
    }

    #[test]
    fn what_another_thread_drops_comes_again() {
        let home = Home::default();
        let mut first = home.zeros(5000);
        let place = first.as_ptr() as usize;
        first[7] = Block::from_u128(7);
        std::thread::spawn(move || drop(first)).join().expect("no panic");
        assert_ne!(WipedBlocks::zeros(5000).as_ptr() as usize, place, "it has a place of its own");
        let again = home.zeros(5000);
        assert_eq!(again.as_ptr() as usize, place);
        assert!(again.iter().all(|block| *block == Block::ZERO));
    }

    /// Vectors shorter and longer than a kept one, and ones that were filled beyond their zeros.
    #[test]
    fn zeros_are_zeros_whatever_was_there() {
        let block = Block::from_u128(7);
        for (filled, n) in [(3000, 2500), (2500, 3000), (3000, 3000), (2000, 4000), (4000, 2000)] {
            WipedBlocks::zeros(filled).fill(block);
            let mut zeros = WipedBlocks::zeros(n);
            assert!(zeros.len() == n && zeros.iter().all(|block| *block == Block::ZERO), "{filled} {n}");
            zeros.fill(block);
        }
    }

    #[test]
    fn parts_are_where_they_were() {
        let all: BlocksPart = (0..9).map(Block::from_u128).collect::<Vec<_>>().into();
        let inner = all.part(2..8).part(1..4);
        assert_eq!(*inner, [3, 4, 5].map(Block::from_u128));
        drop(all);
        assert_eq!(inner.len(), 3);
        assert!(std::panic::catch_unwind(|| inner.part(1..4).len()).is_err(), "none of a neighbour's");
    }
}
