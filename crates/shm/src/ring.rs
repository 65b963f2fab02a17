//! The ring and its two ends.
//!
//! The two ends copy bytes to and from shared memory. They make system calls to sleep and to wake
//! the other end. Each end checks the other's index against its own.

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
    side::RingSide,
};

/// LOCAL: the capacities that are accepted in a ring from the other process.
const CAPACITIES: core::ops::RangeInclusive<usize> = 4096..=64 << 20;
/// LOCAL: a waiting writer is woken when one part in `WAKE_PART` is free.
const WAKE_PART: usize = 4;

/// A fault of the other process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum RingError {
    /// The other process closed its end, or ended. A reader gets this only after it has read all
    /// bytes.
    #[error("the other end is gone")]
    Gone,
    /// The other process claims an impossible position.
    #[error("the other process wrote position {theirs} into the ring, which cannot be while ours is {ours}")]
    Position {
        /// This end's position, in bytes since the start.
        ours: u64,
        /// The position that the other process wrote, in bytes since the start.
        theirs: u64,
    },
}

/// A ring without ends: the memory, and the two counters that wake its ends.
pub struct Ring {
    memory: OwnedFd,
    /// Signalled when bytes were written.
    bytes: OwnedFd,
    /// Signalled when space became free.
    room: OwnedFd,
    capacity: usize,
}

impl Ring {
    /// Makes a ring for `capacity` bytes, a power of two from 4 KiB to 64 MiB.
    ///
    /// # Errors
    /// `InvalidInput` for another capacity; otherwise the operating system's error.
    pub fn create(capacity: usize) -> io::Result<Self> {
        if !capacity.is_power_of_two() || !CAPACITIES.contains(&capacity) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let memory = memfd_create("hushwire-ring", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&memory, (DATA_AT + capacity) as u64)?;
        // The memory is allocated now, so that a lack of memory is an error and not a fault.
        fallocate(&memory, FallocateFlags::empty(), 0, (DATA_AT + capacity) as u64)?;
        fcntl_add_seals(&memory, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let counter = || eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self { memory, bytes: counter()?, room: counter()?, capacity })
    }

    /// Passes the ring to the process at the other end of `socket`. Returns false if that would
    /// block.
    ///
    /// # Errors
    /// The error of the system call that passes descriptors.
    pub fn give(&self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        pass::give(socket, [self.memory.as_fd(), self.bytes.as_fd(), self.room.as_fd()])
    }

    /// Takes the ring that the process at the other end of `socket` passes; `None` if it has not
    /// come yet.
    ///
    /// # Errors
    /// `InvalidData` if something other than a ring of sealed size came; `UnexpectedEof` if the
    /// socket has closed.
    pub fn take(socket: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        let Some([memory, bytes, room]) = pass::take(socket)? else { return Ok(None) };
        let bad = |what| Err(io::Error::new(ErrorKind::InvalidData, what));
        let sealed = SealFlags::SHRINK | SealFlags::GROW;
        if !fcntl_get_seals(&memory).is_ok_and(|seals| seals.contains(sealed)) {
            return bad("the other process passed memory whose size is not sealed");
        }
        // The size is read after the seals were checked, and cannot change any more.
        let size = usize::try_from(fstat(&memory)?.st_size).unwrap_or(usize::MAX);
        let capacity = size.saturating_sub(DATA_AT);
        if !capacity.is_power_of_two() || !CAPACITIES.contains(&capacity) {
            return bad("the other process passed memory of a size that no ring has");
        }
        Ok(Some(Self { memory, bytes, room, capacity }))
    }

    /// Makes the writing end; `lifeline` is the socket over which the ring was passed.
    ///
    /// # Errors
    /// The error of the system call that maps the memory or watches the socket.
    pub fn producer(self, lifeline: BorrowedFd<'_>) -> io::Result<Producer> {
        let map = Map::new(self.memory.as_fd(), self.capacity)?;
        let side = RingSide::new(map, self.room, self.bytes, lifeline)?;
        Ok(Producer { side, capacity: self.capacity as u64, head: 0, tail: 0 })
    }

    /// Makes the reading end; `lifeline` is the socket over which the ring was passed.
    ///
    /// # Errors
    /// The error of the system call that maps the memory or watches the socket.
    pub fn consumer(self, lifeline: BorrowedFd<'_>) -> io::Result<Consumer> {
        let map = Map::new(self.memory.as_fd(), self.capacity)?;
        let side = RingSide::new(map, self.bytes, self.room, lifeline)?;
        Ok(Consumer { side, capacity: self.capacity as u64, head: 0, tail: 0 })
    }
}

/// The number of bytes in a ring of `capacity`; an error if the positions are impossible.
fn held(head: u64, tail: u64, capacity: u64, (ours, theirs): (u64, u64)) -> Result<u64, RingError> {
    let held = head.wrapping_sub(tail);
    if held <= capacity { Ok(held) } else { Err(RingError::Position { ours, theirs }) }
}

/// The writing end.
pub struct Producer {
    side: RingSide,
    capacity: u64,
    /// The number of bytes ever written. This is the end's own count, which is never read back from
    /// memory.
    head: u64,
    /// The number of bytes ever read, when this end last checked.
    tail: u64,
}

impl Producer {
    /// Writes bytes from the front of `out` while there is space. Returns their number, 0 if the
    /// ring is full.
    ///
    /// # Errors
    /// [`RingError::Gone`] if the reader is gone; [`RingError::Position`] if the reader claims an
    /// impossible position.
    pub fn write(&mut self, out: &[u8]) -> Result<usize, RingError> {
        let header = self.side.map.header();
        if self.side.ended.get() || header.reader_gone.0.load(Ordering::Relaxed) != 0 {
            return Err(RingError::Gone);
        }
        let mut room = self.capacity - self.held(self.tail)?;
        if room < out.len() as u64 {
            self.tail = RingSide::load(&header.tail.0);
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

    /// Announces that this end is about to sleep on [`Producer::wakers`]. Returns false if it need
    /// not sleep.
    #[must_use]
    pub fn doze(&self) -> bool {
        let header = self.side.map.header();
        self.side.doze(&header.writer_sleeps.0, || {
            // An impossible position ends the sleep: `write` reports it.
            header.reader_gone.0.load(Ordering::Relaxed) != 0
                || self.held(RingSide::load(&header.tail.0)) != Ok(self.capacity)
        })
    }

    /// Ends the sleep, if one was announced.
    pub fn wake(&self) {
        self.side.wake(&self.side.map.header().writer_sleeps.0);
    }

    /// The descriptors to sleep on. Input or end of file on either one ends the sleep.
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

/// The reading end.
pub struct Consumer {
    side: RingSide,
    capacity: u64,
    /// The number of bytes ever written, when this end last checked.
    head: u64,
    /// The number of bytes ever read. This is the end's own count, which is never read back from
    /// memory.
    tail: u64,
}

impl Consumer {
    /// Reads available bytes to the front of `into`. Returns their number, 0 if the ring is empty.
    ///
    /// # Errors
    /// [`RingError::Gone`] if the ring is empty and the writer is gone; [`RingError::Position`] if
    /// the writer claims an impossible position.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, RingError> {
        let header = self.side.map.header();
        let mut held = self.held(self.head)?;
        if held < into.len() as u64 {
            // The flag is loaded before the index, so that bytes from before the writer left are
            // read first.
            let gone = self.side.ended.get() || header.writer_gone.0.load(Ordering::Acquire) != 0;
            self.head = RingSide::load(&header.head.0);
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
            // The writer is not signalled for every few bytes, but always when the ring is empty,
            // since the reader may be about to wait.
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

    /// Announces that this end is about to sleep on [`Consumer::wakers`]. Returns false if it need
    /// not sleep.
    #[must_use]
    pub fn doze(&self) -> bool {
        let header = self.side.map.header();
        self.side.doze(&header.reader_sleeps.0, || {
            // An impossible position ends the sleep: `read` reports it.
            header.writer_gone.0.load(Ordering::Relaxed) != 0
                || self.held(RingSide::load(&header.head.0)) != Ok(0)
        })
    }

    /// Ends the sleep, if one was announced.
    pub fn wake(&self) {
        self.side.wake(&self.side.map.header().reader_sleeps.0);
    }

    /// The descriptors to sleep on. Input or end of file on either one ends the sleep.
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
