//! The means by which the pacing thread wakes a caller.

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

/// The handle on which a caller waits until its link has space.
pub(crate) enum Waker {
    /// The counter that the inner link moves too, so that one wait serves both halves of a channel.
    Shared(Arc<Signal>),
    /// A descriptor that can be polled together with another.
    Socket(SocketPair),
}

pub(crate) struct SocketPair {
    sleeps: AtomicBool,
    bell: Bell,
    ear: Bell,
}

impl Waker {
    /// Makes a waker for a link without a counter: a pair of sockets, or a counter if no sockets
    /// are available.
    pub(crate) fn new() -> Self {
        match bell::pair() {
            Ok((bell, ear)) => Self::Socket(SocketPair { sleeps: AtomicBool::new(false), bell, ear }),
            Err(_) => Self::Shared(Arc::default()),
        }
    }

    /// Signals space, or an error to report.
    pub(crate) fn signal(&self) {
        match self {
            Self::Shared(signal) => signal.bump(),
            Self::Socket(pair) => {
                if pair.sleeps.swap(false, Ordering::SeqCst) {
                    // A full socket means that the caller is already being woken.
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
            // If the caller never slept, there is nothing to read.
            let _ = (&pair.ear).read(&mut [0; 8]);
        }
    }
}
