//! Half links: non-blocking bytes one way, without framing, and how to wait for them.

use std::{
    io,
    os::fd::BorrowedFd,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::PartyId;

/// The sending half of a link.
pub trait Tx: Send {
    /// Takes bytes from the front of `out` and answers how many; 0 means that it would block.
    ///
    /// # Errors
    /// The link is gone: `BrokenPipe` or `ConnectionReset` when the peer closed it.
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize>;

    /// Pushes on what was taken but is still held back (TLS ciphertext); true when nothing is.
    ///
    /// # Errors
    /// As [`Tx::try_send`].
    fn try_flush(&mut self) -> io::Result<bool>;

    /// What to wait for before the next attempt.
    fn wait_on(&self) -> Wait<'_>;
}

/// The receiving half of a link.
pub trait Rx: Send {
    /// Fills the front of `into`, which is not empty, and answers how many bytes; 0 means that it would block.
    ///
    /// # Errors
    /// The link is gone: `UnexpectedEof` when the peer closed it.
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize>;

    /// What to wait for before the next attempt.
    fn wait_on(&self) -> Wait<'_>;
}

/// Sees every message of a channel, whole, and may change its bytes but never its length.
///
/// The tap that was added last is nearest the wire: outgoing messages pass the taps in the order in which they
/// were added, incoming messages in the reverse order. Empty messages pass unseen.
pub trait Tap: Send {
    /// A message that leaves; `Some` sends these bytes, as many as `msg` has, in its place.
    fn outgoing(&mut self, to: PartyId, lane: u16, msg: &[u8]) -> Option<Vec<u8>>;

    /// A message that has come whole.
    fn incoming(&mut self, from: PartyId, lane: u16, msg: &mut [u8]);

    /// An exchange on `lane` in which at least one byte moved has ended.
    fn finished(&mut self, lane: u16) {
        let _ = lane;
    }
}

/// What tells that a half link may move again.
#[derive(Clone, Copy)]
pub enum Wait<'a> {
    /// It never blocks.
    Ready,
    /// A descriptor to poll: for output by a [`Tx`], for input by an [`Rx`].
    Fd(BorrowedFd<'a>),
    /// A counter that moves whenever an in-process queue changes.
    Signal(&'a Signal),
}

impl<'a> Wait<'a> {
    /// Where the signal stands; to be read before an attempt, so that no change between attempt and wait is missed.
    pub(crate) fn epoch(self) -> u64 {
        match self {
            Wait::Signal(signal) => signal.epoch(),
            Wait::Ready | Wait::Fd(_) => 0,
        }
    }

    /// Ready to wait, for anything after `epoch`.
    pub(crate) fn after(self, epoch: u64, flags: PollFlags) -> Armed<'a> {
        Armed { on: self, epoch, flags }
    }
}

/// A [`Wait`] and what its signal stood at.
#[derive(Clone, Copy)]
pub(crate) struct Armed<'a> {
    on: Wait<'a>,
    epoch: u64,
    flags: PollFlags,
}

/// How often two sources of different kinds are looked at.
const MIXED_TICK: Duration = Duration::from_millis(1);

/// Blocks until one of the two may move, or `limit` has passed; may return early.
pub(crate) fn wait_any(a: Option<Armed<'_>>, b: Option<Armed<'_>>, limit: Duration) -> io::Result<()> {
    let mut fds: [Option<PollFd<'_>>; 2] = [None, None];
    let mut signals: [Option<(&Signal, u64)>; 2] = [None, None];
    for (i, armed) in [a, b].into_iter().enumerate() {
        match armed {
            None => {}
            Some(Armed { on: Wait::Ready, .. }) => {
                std::thread::yield_now();
                return Ok(());
            }
            Some(Armed { on: Wait::Fd(fd), flags, .. }) => fds[i] = Some(PollFd::from_borrowed_fd(fd, flags)),
            Some(Armed { on: Wait::Signal(signal), epoch, .. }) => signals[i] = Some((signal, epoch)),
        }
    }
    let signal = match signals {
        [Some((x, seen)), Some((y, seen_later))] => {
            Some((x, seen.min(seen_later), if std::ptr::eq(x, y) { limit } else { MIXED_TICK.min(limit) }))
        }
        [Some((x, seen)), None] | [None, Some((x, seen))] => Some((x, seen, limit)),
        [None, None] => None,
    };
    match (signal, fds) {
        (None, [Some(x), Some(y)]) => poll_fds(&mut [x, y], limit),
        (None, [Some(x), None] | [None, Some(x)]) => poll_fds(&mut [x], limit),
        (Some(_), [Some(x), None] | [None, Some(x)]) => poll_fds(&mut [x], MIXED_TICK.min(limit)),
        (Some((signal, seen, limit)), _) => {
            signal.wait_past(seen, limit);
            Ok(())
        }
        (None, [None, None]) => Ok(()),
    }
}

/// Polls; an interrupting signal counts as a return before the limit.
pub(crate) fn poll_fds(fds: &mut [PollFd<'_>], limit: Duration) -> io::Result<()> {
    // Whole milliseconds upwards, so that the last wait before a limit does not become a spin.
    let limit = limit.max(Duration::from_millis(1));
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: limit.subsec_nanos().into(),
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
    /// Counts one more change and wakes whoever waits.
    pub fn bump(&self) {
        let mut epoch = self.lock();
        *epoch = epoch.wrapping_add(1);
        drop(epoch);
        self.moved.notify_all();
    }

    /// Where the counter stands.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        *self.lock()
    }

    /// Blocks until the counter has left `seen`, or `limit` has passed.
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
