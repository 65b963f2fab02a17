//! Memory that is cleared on drop, at the full speed of memory writes.
//!
//! `zeroize` clears a vector element by element with volatile writes. On bytes that is one byte in
//! each cycle, which took longer than the protocols that made the shares. Here memory is filled in
//! the ordinary way, and a barrier that reads it keeps the compiler from dropping the write.

use core::ops::{Deref, DerefMut};
use zeroize::{Zeroize, Zeroizing, optimization_barrier};

/// A value whose cleared form is all zeros.
pub trait Flat: Copy {
    /// The cleared value.
    const ZERO: Self;
}

macro_rules! flat {
    ($($number:ty)*) => {$(
        impl Flat for $number {
            const ZERO: Self = 0;
        }
    )*};
}

flat!(u8 u16 u32 u64 u128);

impl<T: Flat, const N: usize> Flat for [T; N] {
    const ZERO: Self = [T::ZERO; N];
}

/// Contents that can be cleared for good.
pub trait Wipe {
    /// Overwrites the contents with zeros.
    fn wipe(&mut self);
}

impl<T: Flat> Wipe for [T] {
    fn wipe(&mut self) {
        self.fill(T::ZERO);
        optimization_barrier(self);
    }
}

impl<T: Flat, const N: usize> Wipe for [T; N] {
    fn wipe(&mut self) {
        self[..].wipe();
    }
}

/// Wipes the whole capacity: a vector that shrank may have held more.
impl<T: Flat> Wipe for Vec<T> {
    fn wipe(&mut self) {
        self.clear();
        self.resize(self.capacity(), T::ZERO);
        optimization_barrier(&self[..]);
        self.clear();
    }
}

impl Wipe for String {
    fn wipe(&mut self) {
        core::mem::take(self).into_bytes().wipe();
    }
}

/// Contents that are wiped on drop. Memory that a growing vector gives up is not wiped: reserve in
/// advance.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Wiped<T: Wipe>(T);

impl<T: Wipe> Wiped<T> {
    /// Takes over `contents`.
    pub fn new(contents: T) -> Self {
        Wiped(contents)
    }

    /// Gives the contents to an owner that wipes them itself.
    #[must_use]
    pub fn into_inner(mut self) -> T
    where
        T: Default,
    {
        core::mem::take(&mut self.0)
    }
}

impl<T: Wipe> From<T> for Wiped<T> {
    fn from(contents: T) -> Self {
        Wiped(contents)
    }
}

impl<T: Wipe + Zeroize + Default> From<Zeroizing<T>> for Wiped<T> {
    fn from(mut contents: Zeroizing<T>) -> Self {
        Wiped(core::mem::take(&mut *contents))
    }
}

/// Prints no contents, because they may be secret.
impl<T: Wipe> core::fmt::Debug for Wiped<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Wiped(..)")
    }
}

impl<T: Wipe> Deref for Wiped<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Wipe> DerefMut for Wiped<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Wipe> Drop for Wiped<T> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, rc::Rc};

    #[test]
    fn contents_are_zero_afterwards_and_a_vector_is_empty() {
        let mut words = [7u64; 9];
        words.wipe();
        assert_eq!(words, [0; 9]);
        let mut bytes = vec![1u8; 1000];
        bytes.truncate(3);
        let capacity = bytes.capacity();
        bytes.wipe();
        assert!(bytes.is_empty() && bytes.capacity() == capacity);
        // The same memory, since nothing was allocated in between.
        bytes.resize(capacity, 5);
        bytes[..].wipe();
        assert!(bytes.iter().all(|byte| *byte == 0));
    }

    #[test]
    fn dropping_wipes() {
        struct WipeCount(Rc<RefCell<u32>>);
        impl Wipe for WipeCount {
            fn wipe(&mut self) {
                *self.0.borrow_mut() += 1;
            }
        }
        let count = Rc::new(RefCell::new(0));
        drop(Wiped::new(WipeCount(count.clone())));
        assert_eq!(*count.borrow(), 1);
        let mut kept = Wiped::from(vec![3u16; 4]);
        kept[1] = 9;
        assert_eq!(**kept.clone(), [3, 9, 3, 3]);
    }
}
