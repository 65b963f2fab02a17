//! Half links, which move bytes in one direction without blocking or framing, and the means to wait
//! for them.
//!
//! A transport implements [`Tx`] and [`Rx`], and a [`Tap`] sees the messages of a channel. [`Wait`]
//! is the event to wait for before the next attempt. It is a descriptor, a counter of this process,
//! or a signal from another thread or process.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::BorrowedFd,
};

use crate::PartyId;

/// The sending half of a link.
pub trait Tx: Send {
    /// Takes bytes from the front of `out` and returns their number; 0 means that it would block.
    ///
    /// # Errors
    /// The link is gone: `BrokenPipe` or `ConnectionReset` if the peer closed it.
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize>;

    /// Sends bytes that were taken but are held back (TLS ciphertext). Returns true if none remain.
    ///
    /// # Errors
    /// The errors of [`Tx::try_send`].
    fn try_flush(&mut self) -> io::Result<bool>;

    /// Tells the peer that all bytes were sent and that this is the end, if the link has a message
    /// for that. Errors are ignored, and it is the last call. If a link is dropped without it, the
    /// peer takes the link for cut off.
    fn close(&mut self) {}

    /// The event to wait for before the next attempt.
    fn wait_on(&self) -> Wait<'_>;

    /// The counter behind [`Wait::Signal`], for a link that wraps this one and changes the same
    /// counter.
    fn signal(&self) -> Option<Arc<Signal>> {
        None
    }
}

/// The receiving half of a link.
pub trait Rx: Send {
    /// Fills the front of `into`, which is not empty, and returns the number of bytes; 0 means that
    /// it would block.
    ///
    /// # Errors
    /// The link is gone: `UnexpectedEof` if the peer closed it.
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// The event to wait for before the next attempt.
    fn wait_on(&self) -> Wait<'_>;
}

/// A tap sees every message of a channel in full, and may change its bytes but never its length.
///
/// The tap that was added last is closest to the wire. Outgoing messages pass the taps in the order
/// in which they were added, incoming messages in the reverse order. Empty messages are not shown
/// to taps.
pub trait Tap: Send {
    /// Sees an outgoing message. `Some` sends these bytes in its place; their number must be that
    /// of `msg`.
    fn outgoing(&mut self, to: PartyId, lane: u16, msg: &[u8]) -> Option<Vec<u8>>;

    /// Sees an incoming message that is complete.
    fn incoming(&mut self, from: PartyId, lane: u16, msg: &mut [u8]);

    /// Called when an exchange on `lane` in which at least one byte moved has ended.
    fn finished(&mut self, lane: u16) {
        let _ = lane;
    }
}

/// The event after which a half link may move again.
#[derive(Clone, Copy)]
pub enum Wait<'a> {
    /// The half link never blocks.
    Ready,
    /// A descriptor to poll: for output by a [`Tx`], for input by an [`Rx`].
    Fd(BorrowedFd<'a>),
    /// A counter that changes whenever an in-process queue changes.
    Signal(&'a Signal),
    /// Another thread or process, which signals only ends that declared that they sleep.
    Doze(&'a dyn Doze),
}

/// A half link whose other end signals it only while it sleeps.
pub trait Doze {
    /// Declares that this end is about to sleep. Returns false if the link may already move.
    fn doze(&self) -> bool;

    /// The descriptors whose input, or closing, ends the sleep.
    fn wakers(&self) -> [Option<BorrowedFd<'_>>; 2];

    /// Ends the sleep, if it began, for whatever reason.
    fn wake(&self);
}

impl<'a> Wait<'a> {
    /// The signal's count. It must be read before an attempt, so that no change between attempt and
    /// wait is missed.
    #[must_use]
    pub fn epoch(self) -> u64 {
        match self {
            Wait::Signal(signal) => signal.epoch(),
            Wait::Ready | Wait::Fd(_) | Wait::Doze(_) => 0,
        }
    }

    /// Blocks until the link may move for an event after `epoch`, or `limit` has passed. It may
    /// return early. It serves callers that have a link without a [`Channel`](crate::Channel),
    /// which waits for both of its links at once.
    ///
    /// # Errors
    /// The operating system cannot wait for the descriptor.
    pub fn wait(self, epoch: u64, flags: PollFlags, limit: Duration) -> io::Result<()> {
        wait_any(Some(self.after(epoch, flags)), None, limit)
    }

    /// Prepares to wait for anything after `epoch`.
    pub(crate) fn after(self, epoch: u64, flags: PollFlags) -> Armed<'a> {
        Armed { on: self, epoch, flags }
    }
}

/// A [`Wait`] and the count of its signal.
#[derive(Clone, Copy)]
pub(crate) struct Armed<'a> {
    on: Wait<'a>,
    epoch: u64,
    flags: PollFlags,
}

/// The interval at which two sources of different kinds are checked.
const MIXED_TICK: Duration = Duration::from_millis(1);

/// Blocks until one of the two may move, or `limit` has passed. It may return early.
pub(crate) fn wait_any(a: Option<Armed<'_>>, b: Option<Armed<'_>>, limit: Duration) -> io::Result<()> {
    let armed = [a, b];
    if armed.iter().flatten().any(|armed| matches!(armed.on, Wait::Ready)) {
        std::thread::yield_now();
        return Ok(());
    }
    let dozing = || {
        armed.iter().flatten().filter_map(|armed| match armed.on {
            Wait::Doze(link) => Some(link),
            _ => None,
        })
    };
    let asleep = dozing().all(Doze::doze);
    let waited = if asleep { sleep(armed, limit) } else { Ok(()) };
    dozing().for_each(Doze::wake);
    waited
}

fn sleep(armed: [Option<Armed<'_>>; 2], limit: Duration) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(4);
    let mut signals: [Option<(&Signal, u64)>; 2] = [None, None];
    for (i, armed) in armed.into_iter().flatten().enumerate() {
        match armed.on {
            Wait::Ready => return Ok(()),
            Wait::Fd(fd) => fds.push(PollFd::from_borrowed_fd(fd, armed.flags)),
            Wait::Doze(link) => {
                let wakers = link.wakers().into_iter().flatten();
                fds.extend(wakers.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
            }
            Wait::Signal(signal) => signals[i] = Some((signal, armed.epoch)),
        }
    }
    let (signal, seen, whole) = match signals {
        [Some((x, seen)), Some((y, seen_later))] => (x, seen.min(seen_later), std::ptr::eq(x, y)),
        [Some((x, seen)), None] | [None, Some((x, seen))] => (x, seen, true),
        [None, None] if fds.is_empty() => return Ok(()),
        [None, None] => return poll_fds(&mut fds, limit),
    };
    if !fds.is_empty() {
        return poll_fds(&mut fds, MIXED_TICK.min(limit));
    }
    signal.wait_past(seen, if whole { limit } else { MIXED_TICK.min(limit) });
    Ok(())
}

/// Polls. An interrupting signal counts as an early return.
///
/// # Errors
/// The operating system's error.
pub fn poll_fds(fds: &mut [PollFd<'_>], limit: Duration) -> io::Result<()> {
    // The limit is rounded up to whole milliseconds, so that the last wait before it does not
    // become a spin.
    let limit = limit.max(Duration::from_millis(1));
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().cast_signed().into(),
    };
    match poll(fds, Some(&limit)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// A counter that threads of one process wait on.
#[derive(Default)]
pub struct Signal {
    epoch: Mutex<u64>,
    moved: Condvar,
}

impl Signal {
    /// Counts one more change and wakes all waiting threads.
    pub fn bump(&self) {
        let mut epoch = self.lock();
        *epoch = epoch.wrapping_add(1);
        drop(epoch);
        self.moved.notify_all();
    }

    /// The counter's value.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        *self.lock()
    }

    /// Blocks until the counter differs from `seen`, or `limit` has passed.
    pub fn wait_past(&self, seen: u64, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut epoch = self.lock();
        while *epoch == seen {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            epoch = self.moved.wait_timeout(epoch, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.epoch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
