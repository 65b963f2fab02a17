//! Memory for wires that leaves no label behind when it grows.

use std::ops::{Deref, DerefMut};
use zeroize::{Zeroize, Zeroizing};

/// Makes `wires` exactly `len` long; the contents are then meaningless. Memory that is outgrown is
/// wiped first, while [`Zeroizing`] alone would wipe only the last allocation.
#[inline]
pub(crate) fn resize<W: Copy + Default + Zeroize>(wires: &mut Zeroizing<Vec<W>>, len: usize) {
    if len > wires.capacity() {
        let room = len.max(2 * wires.capacity());
        wires.zeroize();
        **wires = vec![];
        wires.reserve_exact(room);
    }
    wires.resize(len, W::default());
}

/// The number of bytes of a cache line, and of the longest vector.
const LINE: usize = 64;

/// Wires that begin at a multiple of [`LINE`] bytes, if their allocation allows it. A vector of
/// labels that crosses a cache line costs more, above all if a part of it is read at once.
pub(crate) struct Room<W: Zeroize> {
    wires: Zeroizing<Vec<W>>,
    /// The number of unused wires before the first.
    skipped: usize,
}

impl<W: Copy + Default + Zeroize> Room<W> {
    /// An empty list of wires.
    pub(crate) fn new() -> Self {
        Room { wires: Zeroizing::new(vec![]), skipped: 0 }
    }

    /// See [`resize`].
    #[inline]
    pub(crate) fn resize(&mut self, len: usize) {
        if self.skipped + len > self.wires.capacity() {
            resize(&mut self.wires, len + LINE / size_of::<W>());
            self.skipped = self.wires.as_ptr().addr().wrapping_neg() % LINE / size_of::<W>();
        }
        self.wires.resize(self.skipped + len, W::default());
    }
}

impl<W: Zeroize> Deref for Room<W> {
    type Target = [W];

    #[inline]
    fn deref(&self) -> &[W] {
        &self.wires[self.skipped..]
    }
}

impl<W: Zeroize> DerefMut for Room<W> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [W] {
        &mut self.wires[self.skipped..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local!(static WIPED: Cell<usize> = const { Cell::new(0) });

    #[derive(Clone, Copy, Default)]
    struct Counted {
        _label: u8,
    }

    impl Zeroize for Counted {
        fn zeroize(&mut self) {
            WIPED.set(WIPED.get() + 1);
        }
    }

    #[test]
    fn what_is_grown_out_of_is_wiped() {
        let mut wires = Zeroizing::new(Vec::<Counted>::new());
        let mut wiped = 0;
        for len in [5, 3, 5, 6, 1000] {
            let (held, grows) = (wires.len(), len > wires.capacity());
            resize(&mut wires, len);
            wiped += if grows { held } else { 0 };
            assert_eq!((wires.len(), WIPED.get()), (len, wiped));
        }
        assert_eq!(wiped, 5 + 6, "it grew twice when it held something");
    }

    #[test]
    fn wires_begin_with_a_line() {
        let mut wires = Room::<u128>::new();
        for len in [1, 100, 7, 10_000] {
            wires.resize(len);
            assert_eq!((wires.len(), wires.as_ptr().addr() % LINE), (len, 0));
        }
    }
}
