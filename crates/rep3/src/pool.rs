//! A pool of vectors. Shares and intermediate values return to it when they are dropped, are wiped,
//! and are used again.
//!
//! Fresh pages take most of the time of an operation on a million rows: the system clears each page
//! before it hands it out, and a virtual machine must map it first. The pool is LOCAL: no message
//! depends on the memory in which a value lies.
//!
//! **Bounds.** The pool keeps at most [`MOST`] bytes in a process, at most [`IDLE`] after a
//! computation ([`trim`]), and none after the last session has ended. If no kept vector has the
//! length for a request, the pool frees as many kept bytes, once it keeps more than a slack. So
//! kept bytes and bytes in use together stay close to the most that was ever in use.
//! **Secrets.** A vector is wiped over its whole capacity when it enters the pool, just as a vector
//! without a pool is wiped before it is freed.

use hushwire_block::{Flat, Wipe};
use std::{
    ops::{Deref, DerefMut},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// LOCAL: the most bytes that are kept in a process.
pub const MOST: usize = 1 << 30;
/// LOCAL: the most bytes that stay when a computation has ended. A computation works on more memory
/// than opening its results needs, and more than the next computation needs unless that is as
/// large.
pub const IDLE: usize = 256 << 20;
/// LOCAL: if more bytes than these are kept, a new vector makes the pool free as many.
const SLACK: usize = 32 << 20;
/// LOCAL: the fewest bytes of a kept vector; below them the allocator is as fast.
const LEAST: usize = 32 << 10;

/// The bytes that all shelves keep.
static BYTES: AtomicUsize = AtomicUsize::new(0);
/// The number of open sessions.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// The kept vectors of one type, all of them zeros over their whole capacity.
pub struct Shelf<T>(Mutex<Vec<Vec<T>>>);

/// A type whose vectors the pool keeps.
pub trait Element: Flat + Send + 'static {
    /// The shelf of this type.
    #[doc(hidden)]
    fn shelf() -> &'static Shelf<Self>;
}

macro_rules! elements {
    ($($element:ty)*) => {$(
        impl Element for $element {
            fn shelf() -> &'static Shelf<Self> {
                static SHELF: Shelf<$element> = Shelf(Mutex::new(Vec::new()));
                &SHELF
            }
        }
    )*};
}

elements!(u8 u16 u32 u64 [u32; 2] [u64; 2]);

fn bytes<T>(vector: &Vec<T>) -> usize {
    vector.capacity() * size_of::<T>()
}

impl<T> Shelf<T> {
    fn vectors(&self) -> MutexGuard<'_, Vec<Vec<T>>> {
        // The contents are consistent even after a panic: every change is one call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A kept vector of at least this capacity and at most twice as much. A longer one would take
    /// too long to wipe.
    fn take(&self, len: usize) -> Option<Vec<T>> {
        let mut vectors = self.vectors();
        let fits = vectors.iter().enumerate().filter(|(_, v)| (len..=2 * len).contains(&v.capacity()));
        let best = fits.min_by_key(|(_, v)| v.capacity()).map(|(at, _)| at);
        let vector = vectors.swap_remove(best?);
        BYTES.fetch_sub(bytes(&vector), Ordering::Relaxed);
        Some(vector)
    }
}

/// A shelf of any type.
trait Shelved {
    /// Frees at least `bytes` bytes, or all if there are fewer, and returns the number freed.
    fn free(&self, bytes: usize) -> usize;
}

impl<T> Shelved for Shelf<T> {
    fn free(&self, most: usize) -> usize {
        let (mut vectors, mut freed) = (self.vectors(), 0);
        while freed < most {
            let Some(vector) = vectors.pop() else { break };
            freed += bytes(&vector);
        }
        BYTES.fetch_sub(freed, Ordering::Relaxed);
        freed
    }
}

/// Frees at least `most` bytes, or all if there are fewer, from the shelves of all types.
fn free(mut most: usize) {
    let [pairs, longer]: [&dyn Shelved; 2] = [<[u32; 2]>::shelf(), <[u64; 2]>::shelf()];
    let shelves: [&dyn Shelved; 6] = [u8::shelf(), u16::shelf(), u32::shelf(), u64::shelf(), pairs, longer];
    for shelf in shelves {
        most -= shelf.free(most).min(most);
    }
}

/// Frees the kept bytes beyond [`IDLE`], at the end of a computation.
pub fn trim() {
    trim_to(IDLE);
}

fn trim_to(most: usize) {
    free(BYTES.load(Ordering::Relaxed).saturating_sub(most));
}

/// A vector of `len` zeros.
#[must_use]
pub fn zeros<T: Element>(len: usize) -> Vec<T> {
    match taken(len) {
        Some(mut vector) => {
            vector.truncate(len);
            vector
        }
        None => vec![T::ZERO; len],
    }
}

/// An empty vector with room for `len` elements.
#[must_use]
pub fn room<T: Element>(len: usize) -> Vec<T> {
    match taken(len) {
        Some(mut vector) => {
            vector.clear();
            vector
        }
        None => Vec::with_capacity(len),
    }
}

fn taken<T: Element>(len: usize) -> Option<Vec<T>> {
    let bytes = len * size_of::<T>();
    if bytes < LEAST {
        return None;
    }
    let taken = T::shelf().take(len);
    if taken.is_none() && BYTES.load(Ordering::Relaxed) > SLACK {
        free(bytes);
    }
    taken
}

/// A copy of a slice.
#[must_use]
pub fn copy<T: Element>(of: &[T]) -> Vec<T> {
    let mut vector = room(of.len());
    vector.extend_from_slice(of);
    vector
}

/// A vector of the elements of an iterator.
#[must_use]
pub fn collect<T: Element>(of: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut vector = room(of.len());
    vector.extend(of);
    vector
}

/// Sets a vector's length. New elements are zero. The others keep their values, or are zero if the
/// vector had to grow its capacity.
pub fn set_len<T: Element>(vector: &mut Vec<T>, len: usize) {
    if vector.capacity() < len {
        give(std::mem::replace(vector, zeros(len)));
    }
    vector.resize(len, T::ZERO);
}

/// Wipes a vector, and keeps its memory unless the pool is full.
pub fn give<T: Element>(mut vector: Vec<T>) {
    let bytes = bytes(&vector);
    if bytes < LEAST || SESSIONS.load(Ordering::Relaxed) == 0 {
        return vector.wipe();
    }
    if BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST {
        BYTES.fetch_sub(bytes, Ordering::Relaxed);
        return vector.wipe();
    }
    vector.clear();
    vector.resize(vector.capacity(), T::ZERO);
    T::shelf().vectors().push(vector);
}

/// A token of a session: the pool keeps vectors as long as one exists.
pub(crate) struct Open(());

impl Open {
    pub(crate) fn new() -> Open {
        SESSIONS.fetch_add(1, Ordering::Relaxed);
        Open(())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if SESSIONS.fetch_sub(1, Ordering::Relaxed) == 1 {
            free(usize::MAX);
        }
    }
}

/// Memory that returns to the pool when it is dropped.
pub trait Pooled: Wipe {
    /// Wipes the contents and leaves an empty value.
    fn go(&mut self);
}

impl<T: Element> Pooled for Vec<T> {
    fn go(&mut self) {
        give(std::mem::take(self));
    }
}

/// A vector of secrets that are not shares; it is wiped and kept as shares are.
#[derive(Default)]
pub struct Scratch<T: Element>(Vec<T>);

impl<T: Element> Scratch<T> {
    /// Takes these contents.
    #[must_use]
    pub fn new(contents: Vec<T>) -> Self {
        Scratch(contents)
    }

    /// Scratch memory of `len` zeros.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        Scratch(zeros(len))
    }

    /// Empty scratch memory with room for `len` elements.
    #[must_use]
    pub fn room(len: usize) -> Self {
        Scratch(room(len))
    }

    /// Sets the length, as [`set_len`] does.
    pub fn set_len(&mut self, len: usize) {
        set_len(&mut self.0, len);
    }
}

impl<T: Element> Deref for Scratch<T> {
    type Target = Vec<T>;
    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Element> AsRef<[T]> for Scratch<T> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Element> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: Element> Drop for Scratch<T> {
    fn drop(&mut self) {
        self.0.go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests of this crate share the pool, so one test may take a vector that another gave. No
    /// other test uses this length.
    const LEN: usize = 123_457;

    #[test]
    fn vectors_come_back_wiped() {
        let _open = Open::new();
        let mut vector = zeros::<u16>(LEN);
        vector.fill(7);
        let place = vector.as_ptr();
        give(vector);
        let again = zeros::<u16>(LEN - 1);
        assert!(again.as_ptr() == place && again.len() == LEN - 1 && again.iter().all(|word| *word == 0));
        give(again);
        let room = room::<u16>(LEN);
        assert!(room.as_ptr() == place && room.is_empty() && room.capacity() >= LEN);
        assert_eq!(copy(&[1u16, 2]), [1, 2]);
        assert_eq!(collect((0..3u8).map(|x| x + 1)), [1, 2, 3]);
    }

    #[test]
    fn vectors_of_another_length_do_not_fit() {
        let _open = Open::new();
        let shelf: Shelf<u64> = Shelf(Mutex::new(vec![]));
        for len in [100, 300, 250] {
            shelf.vectors().push(vec![0; len]);
            BYTES.fetch_add(8 * len, Ordering::Relaxed);
        }
        assert_eq!(shelf.take(200).map(|v| v.capacity()), Some(250), "the best of two");
        assert!(shelf.take(149).is_none(), "the longest is more than twice as long");
        assert_eq!(shelf.free(1), 8 * 300, "whole vectors go");
        assert_eq!(shelf.free(usize::MAX), 8 * 100);
        assert_eq!(shelf.free(1), 0);
    }

    #[test]
    fn what_is_kept_is_freed_down_to_a_bound() {
        // Another length that no other test uses.
        const OTHER: usize = 234_567;
        let _open = Open::new();
        give(vec![0u16; OTHER]);
        trim_to(0);
        assert!(u16::shelf().vectors().iter().all(|vector| vector.capacity() != OTHER));
    }

    #[test]
    fn scratch_is_zero_where_it_grows() {
        let mut scratch = Scratch::<u32>::new(vec![5; 3]);
        scratch.set_len(2);
        scratch.set_len(3);
        assert_eq!(*scratch, [5, 5, 0]);
        scratch.set_len(LEN);
        assert!(scratch.len() == LEN && scratch.iter().all(|word| *word == 0));
    }
}
