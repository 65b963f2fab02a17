//! The code that both ends share: the map, sleeping, signalling, and detecting that the other end
//! is gone.

use core::{
    cell::Cell,
    sync::atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    io::{Errno, read, write},
    net::{RecvFlags, recv},
};

use crate::map::Map;

/// One end of a ring.
pub(crate) struct RingSide {
    pub(crate) map: Map,
    /// The counter of the other end's signals.
    pub(crate) ear: OwnedFd,
    /// The counter that signals the other end.
    pub(crate) bell: OwnedFd,
    /// The socket that closes when the other process ends.
    pub(crate) lifeline: OwnedFd,
    /// Whether the lifeline has closed.
    pub(crate) ended: Cell<bool>,
    /// Whether a sleep is announced.
    dozes: Cell<bool>,
    /// The process that opened this end.
    process: u32,
}

impl RingSide {
    pub(crate) fn new(map: Map, ear: OwnedFd, bell: OwnedFd, lifeline: BorrowedFd<'_>) -> io::Result<Self> {
        let lifeline = lifeline.try_clone_to_owned()?;
        let (ended, dozes, process) = (Cell::new(false), Cell::new(false), std::process::id());
        Ok(Self { map, ear, bell, lifeline, ended, dozes, process })
    }

    /// Whether this process opened the end. A fork of that process shares its map.
    pub(crate) fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// Announces in `flag` that this end is about to sleep, unless `moves` then finds that it need
    /// not.
    pub(crate) fn doze(&self, flag: &AtomicU32, moves: impl FnOnce() -> bool) -> bool {
        flag.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let sleeps = !self.ended.get() && !moves();
        if !sleeps {
            flag.store(0, Ordering::Relaxed);
        }
        self.dozes.set(sleeps);
        sleeps
    }

    /// Signals the other end if `flag` says that it sleeps. It must be called after an index has
    /// moved.
    pub(crate) fn signal(&self, flag: &AtomicU32) {
        fence(Ordering::SeqCst);
        if flag.load(Ordering::Relaxed) != 0 && flag.swap(0, Ordering::Relaxed) != 0 {
            self.ring_bell();
        }
    }

    pub(crate) fn ring_bell(&self) {
        // A full counter has already woken the other end.
        let _ = write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Ends the sleep that `flag` announces, if it announces one.
    pub(crate) fn wake(&self, flag: &AtomicU32) {
        if !self.dozes.replace(false) {
            return;
        }
        flag.store(0, Ordering::Relaxed);
        // A signal that comes after this read ends the next sleep early, and is read then.
        let signalled = read(&self.ear, &mut [0u8; 8]).is_ok();
        if !signalled && self.has_ended() {
            self.ended.set(true);
        }
    }

    fn has_ended(&self) -> bool {
        let mut byte = [0u8; 1];
        match recv(&self.lifeline, byte.as_mut_slice(), RecvFlags::DONTWAIT | RecvFlags::PEEK) {
            Err(Errno::AGAIN | Errno::INTR) => false,
            // The socket has closed, or has bytes that do not belong there.
            Ok(_) | Err(_) => true,
        }
    }

    pub(crate) fn wakers(&self) -> [BorrowedFd<'_>; 2] {
        [self.ear.as_fd(), self.lifeline.as_fd()]
    }

    /// Copies `from` to the positions from `at` on. Only the producer calls it, and only for free
    /// positions.
    pub(crate) fn copy_in(&self, at: u64, from: &[u8]) {
        let words = self.map.words();
        let (first, second) = split(at, from.len(), words.len() * WORD);
        let (front, back) = from.split_at(first.1);
        copy_in(words, first.0, front);
        copy_in(words, second.0, back);
    }

    /// Copies the bytes from position `at` on to `into`.
    pub(crate) fn copy_out(&self, at: u64, into: &mut [u8]) {
        let words = self.map.words();
        let (first, second) = split(at, into.len(), words.len() * WORD);
        let (front, back) = into.split_at_mut(first.1);
        copy_out(words, first.0, front);
        copy_out(words, second.0, back);
    }

    /// Loads the other end's index.
    pub(crate) fn load(index: &AtomicU64) -> u64 {
        index.load(Ordering::Acquire)
    }
}

const WORD: usize = size_of::<u64>();

/// The offsets and lengths of the two parts of `bytes` bytes at position `at` in a ring of
/// `capacity`.
fn split(at: u64, bytes: usize, capacity: usize) -> ((usize, usize), (usize, usize)) {
    let start = (at % capacity as u64) as usize;
    let first = bytes.min(capacity - start);
    ((start, first), (0, bytes - first))
}

/// Splits `start..start + bytes` into bytes of a first word, whole words, and bytes of a last word:
/// the lengths of the first two.
fn edges(start: usize, bytes: usize) -> (usize, usize) {
    let first = bytes.min(start.next_multiple_of(WORD) - start);
    (first, (bytes - first) / WORD * WORD)
}

fn copy_in(words: &[AtomicU64], start: usize, from: &[u8]) {
    let (first, whole) = edges(start, from.len());
    store_part(words, start, &from[..first]);
    let at = (start + first) / WORD;
    for (word, bytes) in words[at..].iter().zip(from[first..first + whole].as_chunks::<WORD>().0) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    store_part(words, start + first + whole, &from[first + whole..]);
}

/// Stores some bytes of one word and leaves the others unchanged.
fn store_part(words: &[AtomicU64], start: usize, from: &[u8]) {
    if from.is_empty() {
        return;
    }
    let word = &words[start / WORD];
    let mut bytes = word.load(Ordering::Relaxed).to_ne_bytes();
    bytes[start % WORD..][..from.len()].copy_from_slice(from);
    word.store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
}

fn copy_out(words: &[AtomicU64], start: usize, into: &mut [u8]) {
    let (first, whole) = edges(start, into.len());
    load_part(words, start, &mut into[..first]);
    let at = (start + first) / WORD;
    for (word, bytes) in words[at..].iter().zip(into[first..first + whole].as_chunks_mut::<WORD>().0) {
        *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
    }
    load_part(words, start + first + whole, &mut into[first + whole..]);
}

fn load_part(words: &[AtomicU64], start: usize, into: &mut [u8]) {
    if into.is_empty() {
        return;
    }
    let bytes = words[start / WORD].load(Ordering::Relaxed).to_ne_bytes();
    into.copy_from_slice(&bytes[start % WORD..][..into.len()]);
}
