//! The thread that releases a shaped party's bytes at their times.
//!
//! All links of one party share the thread, as they would share a network card. Callers add pieces
//! to the queue of their link. The thread gives each piece to the real link at the time that the
//! schedule has set.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use hushwire_machine::Tx;

use crate::{shape::Schedule, waker::Waker};

/// LOCAL: a waiting sender wakes when one part in `WAKE_PART` of its queue is free.
const WAKE_PART: usize = 4;
/// LOCAL: the time that a thread without work sleeps.
const IDLE: Duration = Duration::from_secs(3600);
/// LOCAL: the time before a full link is tried again. It doubles up to the second value.
const RETRY: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));

/// The state that one party's links share with its pacing thread.
pub(crate) struct Pacer {
    /// The bytes of a piece, at most.
    pub(crate) quantum: usize,
    /// The bytes that one link holds, at most.
    pub(crate) queue: usize,
    /// The time that a dropped link waits longer than the network takes.
    pub(crate) linger: Duration,
    pub(crate) state: Mutex<PacerState>,
    /// Signalled when an idle thread gets work, or a link closes.
    pub(crate) due: Condvar,
    /// Signalled when a link has delivered all its bytes.
    pub(crate) done: Condvar,
}

pub(crate) struct PacerState {
    pub(crate) schedule: Schedule,
    /// All links of the party.
    pub(crate) lines: Vec<PacedLink>,
    /// Empty buffers for the next long pieces: fresh pages cost more than the copy.
    pub(crate) pool: Vec<Vec<u8>>,
    /// The time until which the thread sleeps; `None` while it works.
    pub(crate) asleep_until: Option<Instant>,
}

/// A link with its queue.
pub(crate) struct PacedLink {
    /// `None` while the thread sends on the link, and after it has failed or closed.
    pub(crate) link: Option<Box<dyn Tx>>,
    pub(crate) pieces: VecDeque<QueuedPiece>,
    /// The number of bytes in `pieces` and in the thread's hands.
    pub(crate) held: usize,
    /// Whether the link's last flush left bytes in it, or its last piece was too long for it.
    unflushed: bool,
    /// For a full link: the time before which it is not tried, and the delay after the next
    /// failure.
    retry: Option<(Instant, Duration)>,
    /// The link's error until it is reported; then only its kind.
    pub(crate) error: Option<Result<io::Error, ErrorKind>>,
    /// Whether the caller dropped its end.
    pub(crate) closed: bool,
    /// Whether the caller closed in good order. The link tells its peer so after it has delivered
    /// all bytes.
    pub(crate) in_order: bool,
    waker: Arc<Waker>,
}

pub(crate) struct QueuedPiece {
    /// The time at which the thread gives the piece to the link.
    pub(crate) due: Instant,
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes that the link has taken.
    pub(crate) sent: usize,
}

impl PacedLink {
    pub(crate) fn new(link: Box<dyn Tx>, waker: Arc<Waker>) -> Self {
        Self {
            link: Some(link),
            pieces: VecDeque::new(),
            held: 0,
            unflushed: false,
            retry: None,
            error: None,
            closed: false,
            in_order: false,
            waker,
        }
    }

    /// The time at which the thread next has work for this link.
    fn next(&self) -> Option<Instant> {
        let due = match self.pieces.front() {
            Some(piece) => piece.due,
            None => self.retry.filter(|_| self.unflushed)?.0,
        };
        Some(self.retry.map_or(due, |(at, _)| due.max(at)))
    }

    /// Whether the link has delivered all its bytes, or failed.
    pub(crate) fn is_done(&self) -> bool {
        self.error.is_some() || (self.held == 0 && !self.unflushed)
    }

    /// Drops the link, and tells its peer of the end if the caller closed in good order. All pieces
    /// must be delivered.
    pub(crate) fn let_go(&mut self) {
        if let (Some(mut link), true) = (self.link.take(), self.in_order) {
            link.close();
        }
    }

    /// Drops the link and its pieces. The caller's next call reports the error.
    pub(crate) fn fail(&mut self, e: io::Error) {
        self.link = None;
        self.pieces.clear();
        self.held = 0;
        self.unflushed = false;
        self.error = Some(Ok(e));
        self.waker.signal();
    }

    /// Reports the link's error, in each call.
    pub(crate) fn take_error(&mut self) -> io::Result<()> {
        let Some(error) = self.error.take() else { return Ok(()) };
        let error = error.unwrap_or_else(io::Error::from);
        self.error = Some(Err(error.kind()));
        Err(error)
    }
}

impl Pacer {
    pub(crate) fn lock(&self) -> MutexGuard<'_, PacerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The pacing thread. It ends when every link has closed and delivered, or failed.
    pub(crate) fn run(&self) {
        // The kernel may end sleeps late by the timer slack, and a local network's delay is short.
        #[cfg(target_os = "linux")]
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1000));
        let mut state = self.lock();
        loop {
            state.asleep_until = None;
            let now = Instant::now();
            let next = state.lines.iter().enumerate().filter_map(|(i, line)| Some((line.next()?, i))).min();
            state = match next {
                Some((due, i)) if due <= now => self.release(state, i, now),
                Some((due, _)) => self.sleep(state, now, due - now),
                None => {
                    state.lines.iter_mut().filter(|line| line.closed).for_each(PacedLink::let_go);
                    self.done.notify_all();
                    if state.lines.iter().all(|line| line.closed) {
                        return;
                    }
                    self.sleep(state, now, IDLE)
                }
            };
        }
    }

    fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, PacerState>,
        now: Instant,
        time: Duration,
    ) -> MutexGuard<'a, PacerState> {
        state.asleep_until = Some(now + time);
        self.due.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Gives the first piece of line `i` to its link, or flushes the link if there is none. The
    /// lock is not held meanwhile, so that callers can continue.
    fn release<'a>(
        &'a self,
        mut state: MutexGuard<'a, PacerState>,
        i: usize,
        now: Instant,
    ) -> MutexGuard<'a, PacerState> {
        let line = &mut state.lines[i];
        let Some(mut link) = line.link.take() else {
            line.fail(ErrorKind::BrokenPipe.into());
            return state;
        };
        let mut piece = line.pieces.pop_front();
        drop(state);
        let attempt = (|| {
            let mut moved = 0;
            if let Some(piece) = &mut piece {
                moved = link.try_send(&piece.bytes[piece.sent..])?;
                piece.sent += moved;
                if piece.sent < piece.bytes.len() {
                    return Ok((moved, false));
                }
            }
            Ok((moved, link.try_flush()?))
        })();
        state = self.lock();
        let PacerState { lines, pool, .. } = &mut *state;
        let line = &mut lines[i];
        match attempt {
            Err(e) => line.fail(e),
            Ok((moved, flushed)) => {
                line.link = Some(link);
                line.held -= moved;
                line.unflushed = !flushed;
                match piece {
                    Some(piece) if piece.sent < piece.bytes.len() => line.pieces.push_front(piece),
                    Some(mut piece) if piece.sent == self.quantum => {
                        piece.bytes.clear();
                        pool.push(piece.bytes);
                    }
                    _ => {}
                }
                line.retry = match (flushed, line.retry) {
                    (true, _) => None,
                    (false, Some((_, pause))) if moved == 0 => Some((now + pause, (pause * 2).min(RETRY.1))),
                    (false, _) => Some((now + RETRY.0, RETRY.0 * 2)),
                };
                if moved > 0 && self.queue - line.held >= self.queue / WAKE_PART {
                    line.waker.signal();
                }
            }
        }
        if line.closed && line.is_done() {
            // The peer sees the end only now.
            line.let_go();
            self.done.notify_all();
        }
        state
    }
}
