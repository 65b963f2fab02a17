//! The stock that the function-independent phase leaves: triples and masks that serve once.

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

/// The use that a stock is made for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Need {
    /// Authenticated triples: one for every AND of every instance.
    pub triples: u64,
    /// Masks: one for every AND and every input bit of every instance.
    pub masks: u64,
}

impl Need {
    /// Whether there is as much of everything as `other` takes.
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

/// Moves shares out; what stays in their place is zero, or nothing where all are taken.
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
/// Whatever a circuit takes is gone at once, before the first message that it is used for.
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
    /// Circuits garbled so far: each has a session name of its own.
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

    /// LOCAL: the same stock, of a party with `threads` threads for its own work; a stock that a
    /// shelf gives has one thread.
    #[must_use]
    pub fn on_threads(mut self, threads: usize) -> Stock {
        self.threads = threads;
        self
    }

    /// This party.
    #[must_use]
    pub fn me(&self) -> usize {
        self.me
    }

    /// The name of what its parties made together: public, the same for all of them, and no other
    /// stock's.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        *self.context.child("authgarble stock id", 0).sid.0.first_chunk().expect("32 bytes hold 16")
    }

    /// Parties.
    #[must_use]
    pub fn parties(&self) -> usize {
        self.n
    }

    /// Triples and masks that are left.
    #[must_use]
    pub fn left(&self) -> Need {
        Need {
            triples: (self.triples.len() - self.used_triples) as u64,
            masks: (self.masks.len() - self.used_masks) as u64,
        }
    }

    /// The next triples and masks, which are gone then.
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
        // Lists that were moved out whole have nothing before their end.
        self.used_triples = self.used_triples.min(self.triples.len());
        self.used_masks = self.used_masks.min(self.masks.len());
        Ok(taken)
    }
}
