//! Byte buffers that start on a cache line, so that no vector load or store crosses two lines. Long
//! buffers use huge pages.

use crate::{Block, Wipe, from_bytes, from_bytes_mut};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use zeroize::Zeroize;

/// The number of bytes from which on a buffer starts at a huge page's boundary and requests huge
/// pages.
const LARGE: usize = 4 << 20;
/// The number of bytes of a huge page. Random access to a table in huge pages misses the TLB five
/// hundred times less often.
const HUGE: usize = 2 << 20;

#[repr(align(64))]
struct CacheLine;

/// A growable byte buffer, aligned to 64 bytes. It keeps its memory when it shrinks: fresh pages
/// cost more than a socket.
pub struct Buffer {
    start: NonNull<u8>,
    /// The number of allocated bytes; if it is 0, there is no allocation.
    capacity: usize,
    /// The number of initialised bytes from the start, `len ≤ ready ≤ capacity`.
    ready: usize,
    len: usize,
}

// SAFETY: a buffer owns its bytes alone and has no interior mutability.
unsafe impl Send for Buffer {}
// SAFETY: as above; a shared buffer can only be read.
unsafe impl Sync for Buffer {}

/// The layout of an allocation of `capacity` bytes.
fn layout(capacity: usize) -> Layout {
    let align = if capacity < LARGE { 64 } else { HUGE };
    Layout::from_size_align(capacity, align).expect("a buffer fits in memory")
}

impl Buffer {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Buffer { start: NonNull::<CacheLine>::dangling().cast(), capacity: 0, ready: 0, len: 0 }
    }

    /// Sets the length. Bytes that were never used are zero; others keep their last value.
    pub fn set_len(&mut self, len: usize) {
        if self.capacity < len {
            self.grow(len);
        }
        if self.ready < len {
            // SAFETY: `ready` to `len` is inside the allocation.
            unsafe { self.start.as_ptr().add(self.ready).write_bytes(0, len - self.ready) };
            self.ready = len;
        }
        self.len = len;
    }

    /// Makes the buffer at least `len` bytes long.
    pub fn reserve_len(&mut self, len: usize) {
        if self.len < len {
            self.set_len(len);
        }
    }

    /// The bytes as blocks.
    ///
    /// # Panics
    /// If the length is not a multiple of 16.
    #[inline]
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        from_bytes(self)
    }

    /// The bytes as blocks, writable.
    ///
    /// # Panics
    /// The same as for [`Buffer::blocks`].
    #[inline]
    pub fn blocks_mut(&mut self) -> &mut [Block] {
        from_bytes_mut(self)
    }

    /// Moves to an allocation of at least `len` bytes and at least twice the old one, so that
    /// growing in steps takes linear time.
    #[cold]
    fn grow(&mut self, len: usize) {
        let wanted = len.max(self.capacity.saturating_mul(2));
        let unit = if wanted < LARGE { 64 } else { HUGE };
        let capacity = wanted.checked_next_multiple_of(unit).expect("a buffer fits in memory");
        let layout = layout(capacity);
        // SAFETY: `capacity > 0`, because it exceeds the old one.
        let Some(start) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        if capacity >= LARGE {
            ask_for_huge_pages(start, capacity);
        }
        // SAFETY: both allocations hold `ready` bytes and do not overlap.
        unsafe { ptr::copy_nonoverlapping(self.start.as_ptr(), start.as_ptr(), self.ready) };
        self.release();
        (self.start, self.capacity) = (start, capacity);
    }

    /// Frees the memory; the caller must not use it again.
    fn release(&mut self) {
        if self.capacity > 0 {
            // SAFETY: `start` was allocated with this layout and is not used again.
            unsafe { dealloc(self.start.as_ptr(), layout(self.capacity)) };
        }
    }
}

/// Requests huge pages; it must be called before the first touch. If the system refuses, access is
/// only slower.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: NonNull<u8>, len: usize) {
    use rustix::mm::{Advice, madvise};
    // SAFETY: the range is a fresh allocation; this advice leaves its contents alone.
    let _ = unsafe { madvise(start.as_ptr().cast(), len, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_: NonNull<u8>, _: usize) {}

/// Clears all bytes that were ever used; the length stays.
impl Zeroize for Buffer {
    fn zeroize(&mut self) {
        let len = core::mem::replace(&mut self.len, self.ready);
        self[..].wipe();
        self.len = len;
    }
}

impl Default for Buffer {
    fn default() -> Self {
        Buffer::new()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.release();
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `len ≤ ready` bytes are initialised; for an empty buffer `start` is aligned and
        // dangling.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_zeroed_and_keeps_its_bytes() {
        let mut b = Buffer::new();
        assert!(b.is_empty() && b.blocks().is_empty());
        for len in [1, 63, 64, 65, 100_000] {
            b.set_len(len);
            assert_eq!(b.len(), len);
            assert_eq!(b.as_ptr().addr() % 64, 0);
        }
        assert!(b.iter().all(|&x| x == 0));
        b[99_999] = 7;
        b.set_len(10);
        b.reserve_len(5);
        assert_eq!(b.len(), 10);
        b.reserve_len(100_000);
        assert_eq!(b[99_999], 7);
    }

    #[test]
    fn grows_to_huge_pages_with_its_bytes() {
        let mut b = Buffer::new();
        b.set_len(1000);
        b.fill(9);
        for len in [LARGE - 64, LARGE, LARGE + 1, 5 * HUGE + 16] {
            b.set_len(len);
            assert_eq!(b.len(), len);
            assert!(b[..1000].iter().all(|&x| x == 9) && b[1000..].iter().all(|&x| x == 0));
        }
        assert_eq!(b.as_ptr().addr() % HUGE, 0);
        let moved = std::thread::spawn(move || b[999]).join();
        assert_eq!(moved.ok(), Some(9));
    }

    #[test]
    fn zeroing_reaches_bytes_that_are_not_in_use_now() {
        let mut b = Buffer::new();
        b.set_len(1000);
        b.fill(9);
        b.set_len(16);
        b.zeroize();
        assert_eq!(b.len(), 16);
        b.set_len(1000);
        assert!(b.iter().all(|&x| x == 0));
        Buffer::new().zeroize();
    }

    #[test]
    fn blocks_are_the_bytes() {
        let mut b = Buffer::default();
        b.set_len(48);
        b.blocks_mut()[1] = Block([5; 16]);
        assert_eq!(b[16..32], [5; 16]);
        assert_eq!(b.blocks(), [Block::ZERO, Block([5; 16]), Block::ZERO]);
    }

    #[test]
    #[should_panic(expected = "whole blocks")]
    fn half_a_block_is_refused() {
        let mut b = Buffer::new();
        b.set_len(24);
        let _ = b.blocks();
    }
}
