//! Bytes that start on a cache line, so that no vector load or store straddles two.

use std::ops::{Deref, DerefMut};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A growable byte buffer aligned to 64 bytes. It keeps its memory when it shrinks: fresh pages cost more than a socket.
#[derive(Default)]
pub struct Buffer {
    lines: Vec<Line>,
    len: usize,
}

impl Buffer {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Buffer { lines: Vec::new(), len: 0 }
    }

    /// Sets the length. Bytes that were never in use are zero; others keep what they last held.
    pub fn set_len(&mut self, len: usize) {
        let lines = len.div_ceil(64);
        if self.lines.len() < lines {
            self.lines.resize(lines, Line([0; 64]));
        }
        self.len = len;
    }

    /// Makes the buffer at least `len` bytes long.
    pub fn reserve_len(&mut self, len: usize) {
        if self.len < len {
            self.set_len(len);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `Line` is 64 plain bytes without padding, `lines` are contiguous, and `len ≤ 64 · lines.len()`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_zeroed_and_keeps_its_bytes() {
        let mut b = Buffer::new();
        assert!(b.is_empty());
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
}
