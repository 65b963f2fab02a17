//! The memory mapping, the only `unsafe` code of this crate. It gives out atomics only, because the
//! other process may write any byte at any time.

use core::{
    ptr::{self, NonNull},
    slice,
    sync::atomic::{AtomicU32, AtomicU64},
};
use std::{io, os::fd::BorrowedFd};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// AGREEMENT: the offset of the ring's bytes, one page, so that they are page-aligned.
pub(crate) const DATA_AT: usize = 4096;

/// A value on its own pair of cache lines (processors fetch pairs), so that the two ends do not
/// slow each other down.
#[repr(C, align(128))]
pub(crate) struct OwnLines<T>(pub(crate) T);

/// AGREEMENT: the layout of the memory's first bytes.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) head: OwnLines<AtomicU64>,
    pub(crate) reader_sleeps: OwnLines<AtomicU32>,
    pub(crate) tail: OwnLines<AtomicU64>,
    pub(crate) writer_sleeps: OwnLines<AtomicU32>,
    pub(crate) writer_gone: OwnLines<AtomicU32>,
    pub(crate) reader_gone: OwnLines<AtomicU32>,
}

const _: () = assert!(size_of::<Header>() <= DATA_AT);

/// A mapping of `DATA_AT + capacity` bytes, unmapped on drop.
pub(crate) struct Map {
    base: NonNull<u8>,
    capacity: usize,
}

// SAFETY: a map owns its mapping, which is valid in every thread, and gives out only atomics.
unsafe impl Send for Map {}

impl Map {
    /// Maps `memory`. The caller has checked that it is `DATA_AT + capacity` bytes long and sealed
    /// against shrinking.
    pub(crate) fn new(memory: BorrowedFd<'_>, capacity: usize) -> io::Result<Self> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let base = unsafe { mmap(ptr::null_mut(), DATA_AT + capacity, access, flags, memory, 0) }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, capacity })
    }

    pub(crate) fn header(&self) -> &Header {
        // SAFETY: the mapping is page-aligned, longer than a header and lives as long as `self`.
        // Every field is an atomic, for which any bytes are a valid value and which others may
        // write at any time.
        unsafe { self.base.cast().as_ref() }
    }

    /// The ring's bytes.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `capacity` bytes follow `DATA_AT`, which is a multiple of a word's alignment. The
        // mapping lives as long as `self`. As for the header, others may write atomics at any time.
        unsafe {
            slice::from_raw_parts(self.base.add(DATA_AT).cast().as_ptr(), self.capacity / size_of::<u64>())
        }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: this process alone owns the mapping, and no borrow outlives `self`. After a
        // failure the memory stays mapped.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), DATA_AT + self.capacity) };
    }
}
