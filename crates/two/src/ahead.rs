//! OTs made ahead of their use, by a thread of their own.
//!
//! ```text
//! maker   lot 1, lot 2, lot 3 …  ─► shelf ─►  user   takes a lot, runs its pieces, takes the next
//!         over the channel of OTs              over the channel of steps
//! ```
//!
//! Both parties make the same lots in the order in which their plan uses them, so that no word is
//! needed about it. Both makers stop at the same lot, but for one that a party has taken before the
//! other: so neither waits much longer for the other than runs wait for each other.

use crate::{
    TwoError,
    distance::Distance,
    supply::{Lot, STEP, Supply},
    tally::Tally,
};
use hushwire_block::registry;
use hushwire_machine::{Channel, NetError, WaitCut};
use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// AGREEMENT: OTs, sent and received, that are made and not in use, of 16 bytes each: 16 MiB,
/// unless a single lot has more. With 64 MiB a run of SqueezeNet took some per cent more processor
/// time; over 100 Mbit/s and 40 ms neither 64 nor 512 MiB made that for CIFAR quicker.
pub(crate) const AHEAD: usize = 1 << 20;

/// The name of the thread that makes lots, as debuggers and `/proc` show it.
const MAKER: &str = "ots ahead";

/// The place between a thread that makes lots and the one that uses them.
#[derive(Default)]
pub(crate) struct Shelf {
    state: Mutex<ShelfState>,
    news: Condvar,
    /// Ends the waits of the channels of both threads.
    cut: WaitCut,
}

#[derive(Default)]
struct ShelfState {
    /// With the OTs of each.
    lots: VecDeque<(Lot, usize)>,
    /// OTs on the shelf, and of the lot that is being made.
    held: usize,
    /// One of the threads is done.
    over: bool,
    /// The maker's, where it was the first.
    failed: Option<TwoError>,
}

impl Shelf {
    /// Runs `user` beside a thread that makes the lots which it takes, those of `tallies` in order.
    pub(crate) fn beside<T>(
        supply: &mut Supply,
        channel: &mut Channel,
        distance: Distance,
        tallies: impl Iterator<Item = Vec<Tally>> + Send,
        user: impl FnOnce(&mut Channel, &Shelf) -> Result<T, TwoError>,
    ) -> Result<T, TwoError> {
        let shelf = Shelf::default();
        channel.until(Some(&shelf.cut));
        supply.channel.until(Some(&shelf.cut));
        let here = registry::here();
        let used = thread::scope(|scope| {
            let _end = EndsBoth(&shelf);
            let fill = || {
                let _here = here.enter();
                let _end = EndsBoth(&shelf);
                shelf.fill(supply, distance, tallies);
            };
            let maker = thread::Builder::new().name(MAKER.to_owned()).spawn_scoped(scope, fill);
            if let Err(source) = maker {
                return Err(NetError::Io { peer: None, step: STEP.to_owned(), source }.into());
            }
            let used = user(channel, &shelf);
            shelf.end(used.is_err());
            used
        });
        channel.until(None);
        supply.channel.until(None);
        let failed = shelf.lock().failed.take();
        used.map_err(|e| failed.unwrap_or(e))
    }

    fn fill(&self, supply: &mut Supply, distance: Distance, tallies: impl Iterator<Item = Vec<Tally>>) {
        for tallies in tallies {
            let ots = tallies.iter().map(Tally::ots).sum();
            if !self.room(ots) {
                return;
            }
            match supply.lot(distance, &tallies) {
                Ok(lot) => {
                    self.lock().lots.push_back((lot, ots));
                    self.news.notify_all();
                }
                Err(e) => {
                    let mut state = self.lock();
                    if !state.over {
                        state.failed = Some(e);
                    }
                    drop(state);
                    return self.end(true);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ShelfState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, ShelfState>) -> MutexGuard<'s, ShelfState> {
        self.news.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for a lot of `ots` OTs; false where nobody takes it.
    fn room(&self, ots: usize) -> bool {
        let mut state = self.lock();
        while !state.over && state.held > 0 && state.held + ots > AHEAD {
            state = self.wait(state);
        }
        state.held += ots;
        !state.over
    }

    /// The next lot.
    ///
    /// # Errors
    /// The maker has ended; its error is that of the run.
    pub(crate) fn take(&self) -> Result<Lot, TwoError> {
        let mut state = self.lock();
        loop {
            if let Some((lot, ots)) = state.lots.pop_front() {
                state.held -= ots;
                self.news.notify_all();
                return Ok(lot);
            }
            if state.over {
                return Err(TwoError::Lost);
            }
            state = self.wait(state);
        }
    }

    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.lock().held
    }

    /// One of the threads is done, or has failed: then the other one waits for nothing more.
    fn end(&self, failed: bool) {
        self.lock().over = true;
        if failed {
            self.cut.cut();
        }
        self.news.notify_all();
    }
}

/// Ends the other thread when one panics.
struct EndsBoth<'s>(&'s Shelf);

impl Drop for EndsBoth<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(true);
        }
    }
}
