//! OTs that a thread of its own makes ahead of their use.
//!
//! ```text
//! maker   lot 1, lot 2, lot 3 …  ─► shelf ─►  user   takes a lot, runs its pieces, takes the next
//!         over the channel of OTs              over the channel of steps
//! ```
//!
//! Both parties make the same lots in the order in which their plan uses them, so they need no
//! message about it. Both makers stop at the same lot, or one lot apart if a party has taken a lot
//! before the other. So neither maker waits much longer for its peer than the runs wait for each
//! other.

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

/// AGREEMENT: the most OTs, sent and received, that are made and not in use. Each has 16 bytes, 16
/// MiB in all, unless a single lot has more. With 64 MiB, a run of SqueezeNet took a few percent
/// more processor time. Over 100 Mbit/s and 40 ms, neither 64 nor 512 MiB made CIFAR faster.
pub(crate) const AHEAD: usize = 1 << 20;

/// The name of the thread that makes lots, as debuggers and `/proc` show it.
const MAKER: &str = "ots ahead";

/// The lots between a thread that makes them and a thread that uses them.
#[derive(Default)]
pub(crate) struct Shelf {
    state: Mutex<ShelfState>,
    news: Condvar,
    /// Ends the waits of both threads on their channels.
    cut: WaitCut,
}

#[derive(Default)]
struct ShelfState {
    /// The lots, each with its number of OTs.
    lots: VecDeque<(Lot, usize)>,
    /// The OTs on the shelf and of the lot that is being made.
    held: usize,
    /// Whether one of the threads is done.
    over: bool,
    /// The error of the maker, if it was the first to fail.
    failed: Option<TwoError>,
}

impl Shelf {
    /// Runs `user` together with a thread that makes the lots that it takes. The lots are those of
    /// `tallies`, in order.
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

    /// Waits until there is room for a lot of `ots` OTs. Returns false if no lot will be taken any
    /// more.
    fn room(&self, ots: usize) -> bool {
        let mut state = self.lock();
        while !state.over && state.held > 0 && state.held + ots > AHEAD {
            state = self.wait(state);
        }
        state.held += ots;
        !state.over
    }

    /// Takes the next lot.
    ///
    /// # Errors
    /// The maker has ended; its error becomes that of the run.
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

    /// Records that one of the threads is done or has failed. The other thread then stops waiting.
    fn end(&self, failed: bool) {
        self.lock().over = true;
        if failed {
            self.cut.cut();
        }
        self.news.notify_all();
    }
}

/// Ends the other thread if one panics.
struct EndsBoth<'s>(&'s Shelf);

impl Drop for EndsBoth<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end(true);
        }
    }
}
