//! The same functions without a record.

use crate::Block;

/// The record and the end of a thread.
#[derive(Clone, Copy, Debug)]
pub struct Here;

/// Until it is dropped, this thread records as set here.
#[derive(Debug)]
pub struct Entered;

/// A record, until it is dropped.
#[derive(Debug)]
pub struct Watch;

/// Begins a record for this thread and those that it starts.
#[inline(always)]
#[must_use]
pub fn watch() -> Watch {
    Watch
}

impl Watch {
    /// Uses that were recorded so far.
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
    /// The same record, as another end.
    #[inline(always)]
    #[must_use]
    pub fn end(self, _: usize) -> Here {
        self
    }

    /// This thread records there.
    #[inline(always)]
    #[must_use]
    pub fn enter(&self) -> Entered {
        Entered
    }
}

/// Runs `f` as an end.
#[inline(always)]
pub fn as_end<T>(_: usize, f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs `f`, which hashes a declared relative of another input under the same tweaks.
#[inline(always)]
pub fn strand<T>(_: u8, f: impl FnOnce() -> T) -> T {
    f()
}

/// Runs `f`, which records what follows from more than a line.
#[inline(always)]
pub fn note(_: impl FnOnce()) {}

/// Runs `f`, whose uses the caller has recorded.
#[inline(always)]
pub fn silent<T>(f: impl FnOnce() -> T) -> T {
    f()
}

/// `count` uses of a key, from number `first` on.
#[inline(always)]
pub fn used(_: &'static str, _: &[u8; 16], _: u128, _: usize) {}

/// Secrets that serve once.
#[inline(always)]
pub fn once(_: &'static str, _: &[Block]) {}

/// A key that was derived: from `parent` where that has a name.
#[inline(always)]
pub fn named(_: &[u8], _: &[u8], _: &str, _: u64) {}
