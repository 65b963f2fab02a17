//! The stock: triples and masks that the function-independent phase makes, each for a single use. A
//! circuit takes its part of the stock before its first message, so that nothing is used twice.

use crate::{
    AuthError,
    shares::{Shares, blocks},
};
use hushwire_block::{Block, Wipe, as_bytes_mut};
use hushwire_machine::Process;
use hushwire_ot::Context;
use hushwire_prg::Seed;
use std::ops::Range;
use zeroize::Zeroize;

/// The numbers of triples and masks that a computation takes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Need {
    /// Authenticated triples: one for every AND of every instance.
    pub triples: u64,
    /// Masks: one for every AND and every input bit of every instance.
    pub masks: u64,
}

impl Need {
    /// Whether this is at least as much of everything as `other`.
    #[must_use]
    pub fn covers(self, other: Need) -> bool {
        self.triples >= other.triples && self.masks >= other.masks
    }
}

/// Shares of a, b and c = a b.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Triples {
    pub(crate) a: Shares,
    pub(crate) b: Shares,
    pub(crate) c: Shares,
}

impl Triples {
    pub(crate) fn zeros(threads: usize, slots: usize, len: usize) -> Triples {
        let zeros = || Shares::zeros(threads, slots, len);
        Triples { a: zeros(), b: zeros(), c: zeros() }
    }

    pub(crate) fn len(&self) -> usize {
        self.a.len()
    }

    fn take(&mut self, range: Range<usize>) -> Triples {
        Triples { a: take(&mut self.a, &range), b: take(&mut self.b, &range), c: take(&mut self.c, &range) }
    }
}

/// Moves a range of shares out. Zeros take their place, or an empty list if all are taken.
fn take(shares: &mut Shares, range: &Range<usize>) -> Shares {
    let slots = shares.slots();
    if *range == (0..shares.len()) {
        return std::mem::replace(shares, Shares::zeros(1, slots, 0));
    }
    let mut taken = Shares { macs: Vec::with_capacity(slots), keys: Vec::with_capacity(slots) };
    let mut lists = shares.lists_mut().map(|list| {
        let mut out = blocks(range.len());
        out.copy_from_slice(&list[range.clone()]);
        as_bytes_mut(&mut list[range.clone()]).wipe();
        out
    });
    taken.macs.extend(lists.by_ref().take(slots));
    taken.keys.extend(lists);
    taken
}

/// One party's triples and masks, for one or several circuits, all under its Δ.
///
/// The shares that a circuit takes are removed at once, before the first message that uses them.
#[cfg_attr(test, derive(Clone))]
pub struct Stock {
    pub(crate) context: Context,
    pub(crate) me: usize,
    pub(crate) n: usize,
    pub(crate) threads: usize,
    pub(crate) delta: Block,
    pub(crate) seed: Seed,
    triples: Triples,
    masks: Shares,
    used_triples: usize,
    used_masks: usize,
    /// The number of circuits garbled so far; each has a session name of its own.
    pub(crate) runs: u64,
    pub(crate) process: Process,
}

impl Drop for Stock {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl Stock {
    /// The stock of party `me` among `n`, after `runs` circuits.
    pub(crate) fn with(
        context: Context,
        [me, n]: [usize; 2],
        delta: Block,
        seed: Seed,
        runs: u64,
        triples: Triples,
        masks: Shares,
    ) -> Stock {
        let (threads, used_triples, used_masks, process) = (1, 0, 0, Process::here());
        Stock {
            context,
            me,
            n,
            threads,
            delta,
            seed,
            triples,
            masks,
            used_triples,
            used_masks,
            runs,
            process,
        }
    }

    /// LOCAL: the same stock with `threads` threads for the party's own work; a stock from a shelf
    /// has one thread.
    #[must_use]
    pub fn on_threads(mut self, threads: usize) -> Stock {
        self.threads = threads;
        self
    }

    /// This party's number.
    #[must_use]
    pub fn me(&self) -> usize {
        self.me
    }

    /// The public name of what the parties made together: the same at all of them, and different
    /// for every stock.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        *self.context.child("authgarble stock id", 0).sid.0.first_chunk().expect("32 bytes hold 16")
    }

    /// The number of parties.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.n
    }

    /// The triples and masks that are left.
    #[must_use]
    pub fn left(&self) -> Need {
        Need {
            triples: (self.triples.len() - self.used_triples) as u64,
            masks: (self.masks.len() - self.used_masks) as u64,
        }
    }

    /// Takes the next triples and masks out of the stock.
    pub(crate) fn take(&mut self, triples: usize, masks: usize) -> Result<(Triples, Shares), AuthError> {
        self.process.check("taking triples")?;
        let left = self.left();
        for (what, found, expected) in [("triples", left.triples, triples), ("masks", left.masks, masks)] {
            if found < expected as u64 {
                return Err(AuthError::Short { what, found, expected: expected as u64 });
            }
        }
        let [t, m] = [self.used_triples, self.used_masks];
        self.used_triples += triples;
        self.used_masks += masks;
        let taken = (self.triples.take(t..t + triples), take(&mut self.masks, &(m..m + masks)));
        // A list that was moved out whole is empty.
        self.used_triples = self.used_triples.min(self.triples.len());
        self.used_masks = self.used_masks.min(self.masks.len());
        Ok(taken)
    }
}
