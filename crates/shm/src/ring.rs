//! The two ends.

use std::{
    io::{self, ErrorKind},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::Ordering,
};

use rustix::{
    event::{EventfdFlags, eventfd},
    fs::{
        FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate,
        memfd_create,
    },
};
use thiserror::Error;

use crate::{
    map::{DATA_AT, Map},
    pass,
    side::Side,
};

/// LOCAL: what a ring that came from elsewhere may hold.
const CAPACITIES: core::ops::RangeInclusive<usize> = 4096..=64 << 20;
/// LOCAL: a writer that waits is woken when this part is free.
const WAKE_PART: usize = 4;

/// An offence of the other process against a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RingError {
    /// It closed its end, or it ended; a reader has read all that it left.
    #[error("the other end is gone")]
    Gone,
    /// It claims to have written or read what it cannot have.
    #[error("the other process wrote position {theirs} into the ring, which cannot be while ours is {ours}")]
    Position {
        /// The position of this side, in bytes since the start.
        ours: u64,
        /// The position that the other process wrote, in bytes since the start.
        theirs: u64,
    },
}

/// A ring that has no ends yet: memory and the two counters that wake its ends.
pub struct Ring {
    memory: OwnedFd,
    /// Signalled when bytes came.
    bytes: OwnedFd,
    /// Signalled when room came.
    room: OwnedFd,
    capacity: usize,
}

impl Ring {
    /// A ring for `capacity` bytes, a power of two from 4 KiB to 64 MiB.
    ///
    /// # Errors
    /// `InvalidInput` for another capacity; what the operating system answers.
    pub fn create(capacity: usize) -> io::Result<Self> {
        if !capacity.is_power_of_two() || !CAPACITIES.contains(&capacity) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let memory = memfd_create("hushwire-ring", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&memory, (DATA_AT + capacity) as u64)?;
        // Now, while a lack of memory is an error and not a fault.
        fallocate(&memory, FallocateFlags::empty(), 0, (DATA_AT + capacity) as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let counter = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self { memory, bytes: counter()?, room: counter()?, capacity })
    }

    /// Passes it to the process at the other end of `socket`; false when that would block.
    ///
    /// # Errors
    /// The error of the system call that passes descriptors.
    pub fn give(&self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        pass::give(socket, [self.memory.as_fd(), self.bytes.as_fd(), self.room.as_fd()])
    }

    /// The ring that the process at the other end of `socket` gives; `None` when it is not there yet.
    ///
    /// # Errors
    /// `InvalidData` when what came is not a ring whose size is sealed; `UnexpectedEof` when nothing will come.
    pub fn take(socket: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        let Some([memory, bytes, room]) = pass::take(socket)? else { return Ok(None) };
        let bad = |what| Err(io::Error::new(ErrorKind::InvalidData, what));
        let sealed = SealFlags::SHRINK | SealFlags::GROW;
        if !fcntl_get_seals(&memory).is_ok_and(|seals| seals.contains(sealed)) {
            return bad("the other process passed memory whose size is not sealed");
        }
        // After the seals: it cannot change any more.
        let size = usize::try_from(fstat(&memory)?.st_size).unwrap_or(usize::MAX);
        let capacity = size.saturating_sub(DATA_AT);
        if !capacity.is_power_of_two() || !CAPACITIES.contains(&capacity) {
            return bad("the other process passed memory of a size that no ring has");
        }
        Ok(Some(Self { memory, bytes, room, capacity }))
    }

    /// The end that writes; `lifeline` is the socket over which the ring was passed.
    ///
    /// # Errors
    /// The error of the system call that maps the memory or watches the socket.
    pub fn producer(self, lifeline: BorrowedFd<'_>) -> io::Result<Producer> {
        let map = Map::new(self.memory.as_fd(), self.capacity)?;
        let side = Side::new(map, self.room, self.bytes, lifeline)?;
        Ok(Producer { side, capacity: self.capacity as u64, head: 0, tail: 0 })
    }

    /// The end that reads; `lifeline` is the socket over which the ring was passed.
    ///
    /// # Errors
    /// The error of the system call that maps the memory or watches the socket.
    pub fn consumer(self, lifeline: BorrowedFd<'_>) -> io::Result<Consumer> {
        let map = Map::new(self.memory.as_fd(), self.capacity)?;
        let side = Side::new(map, self.bytes, self.room, lifeline)?;
        Ok(Consumer { side, capacity: self.capacity as u64, head: 0, tail: 0 })
    }
}

/// The bytes in a ring of `capacity`, or an error where that cannot be.
fn held(head: u64, tail: u64, capacity: u64, (ours, theirs): (u64, u64)) -> Result<u64, RingError> {
    let held = head.wrapping_sub(tail);
    if held <= capacity { Ok(held) } else { Err(RingError::Position { ours, theirs }) }
}

/// The end that writes.
pub struct Producer {
    side: Side,
    capacity: u64,
    /// Bytes ever written: our own count, never read back.
    head: u64,
    /// Bytes ever read, when last looked at.
    tail: u64,
}

impl Producer {
    /// Writes from the front of `out` what fits and answers how many bytes; 0 when the ring is full.
    ///
    /// # Errors
    /// [`RingError::Gone`] when nobody will read it, [`RingError::Position`] when the reader claims nonsense.
    pub fn write(&mut self, out: &[u8]) -> Result<usize, RingError> {
        let header = self.side.map.header();
        if self.side.ended.get() || header.reader_gone.0.load(Ordering::Relaxed) != 0 {
            return Err(RingError::Gone);
        }
        let mut room = self.capacity - self.held(self.tail)?;
        if room < out.len() as u64 {
            self.tail = Side::load(&header.tail.0);
            room = self.capacity - self.held(self.tail)?;
        }
        let taken = room.min(out.len() as u64);
        if taken > 0 {
            self.side.copy_in(self.head, &out[..taken as usize]);
            self.head = self.head.wrapping_add(taken);
            header.head.0.store(self.head, Ordering::Release);
            self.side.signal(&header.reader_sleeps.0);
        }
        Ok(taken as usize)
    }

    fn held(&self, tail: u64) -> Result<u64, RingError> {
        held(self.head, tail, self.capacity, (self.head, tail))
    }

    /// Says that this side is about to sleep on [`Producer::wakers`]; false when it may move already.
    #[must_use]
    pub fn doze(&self) -> bool {
        let header = self.side.map.header();
        self.side.doze(&header.writer_sleeps.0, || {
            // Nonsense is for `write` to tell.
            header.reader_gone.0.load(Ordering::Relaxed) != 0
                || self.held(Side::load(&header.tail.0)) != Ok(self.capacity)
        })
    }

    /// The sleep, if it began, is over.
    pub fn wake(&self) {
        self.side.wake(&self.side.map.header().writer_sleeps.0);
    }

    /// The descriptors whose input, or end, ends a sleep.
    #[must_use]
    pub fn wakers(&self) -> [BorrowedFd<'_>; 2] {
        self.side.wakers()
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        if self.side.is_own() {
            self.side.map.header().writer_gone.0.store(1, Ordering::Release);
            self.side.ring_bell();
        }
    }
}

/// The end that reads.
pub struct Consumer {
    side: Side,
    capacity: u64,
    /// Bytes ever written, when last looked at.
    head: u64,
    /// Bytes ever read: our own count, never read back.
    tail: u64,
}

impl Consumer {
    /// Fills the front of `into` with what is there and answers how many bytes; 0 when the ring is empty.
    ///
    /// # Errors
    /// [`RingError::Gone`] when the ring is empty and nobody will write, [`RingError::Position`] when the writer
    /// claims nonsense.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, RingError> {
        let header = self.side.map.header();
        let mut held = self.held(self.head)?;
        if held < into.len() as u64 {
            // Before the index: what it wrote before it left is read first.
            let gone = self.side.ended.get() || header.writer_gone.0.load(Ordering::Acquire) != 0;
            self.head = Side::load(&header.head.0);
            held = self.held(self.head)?;
            if gone && held == 0 {
                return Err(RingError::Gone);
            }
        }
        let taken = held.min(into.len() as u64);
        if taken > 0 {
            self.side.copy_out(self.tail, &mut into[..taken as usize]);
            self.tail = self.tail.wrapping_add(taken);
            header.tail.0.store(self.tail, Ordering::Release);
            // Not for every few bytes; but a reader that is about to wait has emptied the ring.
            let left = held - taken;
            if left == 0 || self.capacity - left >= self.capacity / WAKE_PART as u64 {
                self.side.signal(&header.writer_sleeps.0);
            }
        }
        Ok(taken as usize)
    }

    fn held(&self, head: u64) -> Result<u64, RingError> {
        held(head, self.tail, self.capacity, (self.tail, head))
    }

    /// Says that this side is about to sleep on [`Consumer::wakers`]; false when it may move already.
    #[must_use]
    pub fn doze(&self) -> bool {
        let header = self.side.map.header();
        self.side.doze(&header.reader_sleeps.0, || {
            // Nonsense is for `read` to tell.
            header.writer_gone.0.load(Ordering::Relaxed) != 0
                || self.held(Side::load(&header.head.0)) != Ok(0)
        })
    }

    /// The sleep, if it began, is over.
    pub fn wake(&self) {
        self.side.wake(&self.side.map.header().reader_sleeps.0);
    }

    /// The descriptors whose input, or end, ends a sleep.
    #[must_use]
    pub fn wakers(&self) -> [BorrowedFd<'_>; 2] {
        self.side.wakers()
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        if self.side.is_own() {
            self.side.map.header().reader_gone.0.store(1, Ordering::Release);
            self.side.ring_bell();
        }
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
