//! The registry's functions without the feature: they do nothing.

use crate::Block;

/// The record and the party for which a thread records.
#[derive(Clone, Copy, Debug)]
pub struct Here;

/// Restores the thread's former record on drop.
#[derive(Debug)]
pub struct Entered;

/// A record, which ends on drop.
#[derive(Debug)]
pub struct Watch;

/// Begins a record for this thread and the threads that it starts.
#[inline(always)]
#[must_use]
pub fn watch() -> Watch {
    Watch
}

impl Watch {
    /// The number of uses recorded so far.
    #[inline(always)]
    #[must_use]
    pub fn uses(&self) -> u64 {
        0
    }
}

/// The record of this thread, for threads that it starts.
#[inline(always)]
#[must_use]
pub fn here() -> Here {
    Here
}

impl Here {
    /// The same record, for the party `end`.
    #[inline(always)]
    #[must_use]
    pub fn end(self, _: usize) -> Here {
        self
    }

    /// Makes this thread record here.
    #[inline(always)]
    #[must_use]
    pub fn enter(&self) -> Entered {
        Entered
    }
}

/// Runs `f` as the party `end`.
#[inline(always)]
pub fn as_end<T>(_: usize, f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs `f`, which hashes a declared relative of another input under the same tweaks.
#[inline(always)]
pub fn strand<T>(_: u8, f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs `f`, which records uses, for records that take more than one call.
#[inline(always)]
pub fn note(_: impl FnOnce()) {}

/// Runs `f`, whose uses the caller has recorded.
#[inline(always)]
pub fn silent<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// Records `count` uses of a key, from number `first` on.
#[inline(always)]
pub fn used(_: &'static str, _: &[u8; 16], _: u128, _: usize) {}

/// Records secrets for a single use.
#[inline(always)]
pub fn once(_: &'static str, _: &[Block]) {}

/// Names a derived key, after `parent` if that has a name.
#[inline(always)]
pub fn named(_: &[u8], _: &[u8], _: &str, _: u64) {}
