//! The pacing thread's way to wake a caller.

use std::{
    io::{Read, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hushwire_machine::Signal;
use rustix::fd::{AsFd, BorrowedFd};

use crate::bell::{self, Bell};

/// The handle that a caller waits on until its link has room.
pub(crate) enum Waker {
    /// The counter that the link behind moves too, so that one wait serves both halves of a channel.
    Shared(Arc<Signal>),
    /// A descriptor that can be polled beside another.
    Socket(Pair),
}

pub(crate) struct Pair {
    sleeps: AtomicBool,
    bell: Bell,
    ear: Bell,
}

impl Waker {
    /// One for a link that has no counter: a pair of sockets, or a counter where there are none left.
    pub(crate) fn new() -> Self {
        match bell::pair() {
            Ok((bell, ear)) => Self::Socket(Pair { sleeps: AtomicBool::new(false), bell, ear }),
            Err(_) => Self::Shared(Arc::default()),
        }
    }

    /// There is room, or an error to tell.
    pub(crate) fn signal(&self) {
        match self {
            Self::Shared(signal) => signal.bump(),
            Self::Socket(pair) => {
                if pair.sleeps.swap(false, Ordering::SeqCst) {
                    // Full: it is being woken already.
                    let _ = (&pair.bell).write(&[1]);
                }
            }
        }
    }

    pub(crate) fn doze(&self) {
        if let Self::Socket(pair) = self {
            pair.sleeps.store(true, Ordering::SeqCst);
        }
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Shared(_) => None,
            Self::Socket(pair) => Some(pair.ear.as_fd()),
        }
    }

    pub(crate) fn wake(&self) {
        if let Self::Socket(pair) = self
            && !pair.sleeps.swap(false, Ordering::SeqCst)
        {
            // Rung, unless it never slept: then there is nothing to read.
            let _ = (&pair.ear).read(&mut [0; 8]);
        }
    }
}
