//! Links of a simulated network: a thread for each party releases bytes when they would arrive.
//!
//! ```text
//! caller ─ copy ─► queue of a link ─┐   due(bytes, now): one schedule for the party
//! caller ─ copy ─► queue of a link ─┴─► pacing thread ─ at its time ─► the real link
//! ```
//! A queue holds the bytes that a network and its socket buffers would hold, so that senders are
//! held back equally. As with a socket, a link's error comes with the next call. Dropping a shaped
//! link delivers its bytes.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use hushwire_machine::{Doze, Net, Process, Signal, Tx, Wait};

use crate::{
    Shape,
    pacer::{PacedLink, Pacer, PacerState, QueuedPiece},
    shape::Schedule,
    waker::Waker,
};

/// LOCAL: the quantum of release, as a time at the rate and in bytes. It is coarse, so that parties
/// that share cores do not wake for each packet.
const QUANTUM: Duration = Duration::from_micros(50);
const QUANTUM_BYTES: (usize, usize) = (4 << 10, 64 << 10);
/// LOCAL: the bytes of a queue in addition to those in flight: the socket buffers of both ends.
const BUFFERS_BYTES: u64 = 512 << 10;
/// LOCAL: the largest queue, and the queue without a rate.
const QUEUE_BYTES: (u64, u64) = (64 << 20, 16 << 20);
/// LOCAL: the time that a dropped shaped link waits for a peer that does not read.
const LINGER: Duration = Duration::from_secs(5);
/// LOCAL: the number of quanta that a call takes at a time, so that the thread gets the lock.
const QUANTA_PER_CALL: usize = 4;

impl Shape {
    /// Gives a network of this shape to the sending links of `net` that are not taken yet. The
    /// senders shape the bytes that come in. Control links are not shaped.
    ///
    /// Dropping a channel then waits until the network has delivered its bytes, at most a few
    /// seconds longer.
    pub fn apply(self, net: &mut Net) {
        if self != Self::NONE {
            net.send_through(|stall, links| shape_all(self, stall.min(LINGER), links));
        }
    }
}

/// Puts all links of one party behind the same network. Dropping a link waits until its bytes are
/// delivered, at most `linger` longer than the network takes.
fn shape_all(shape: Shape, linger: Duration, links: Vec<Box<dyn Tx>>) -> Vec<Box<dyn Tx>> {
    let queue = queue_bytes(shape);
    shape_with(shape, linger, links, queue)
}

fn shape_with(shape: Shape, linger: Duration, links: Vec<Box<dyn Tx>>, queue: usize) -> Vec<Box<dyn Tx>> {
    let shared = links.iter().map(|link| link.signal().map_or_else(Waker::new, Waker::Shared));
    let wakers: Vec<_> = shared.map(Arc::new).collect();
    let lines =
        links.into_iter().zip(&wakers).map(|(link, waker)| PacedLink::new(link, waker.clone())).collect();
    let state = PacerState { schedule: Schedule::new(shape), lines, pool: Vec::new(), asleep_until: None };
    let pacer = Arc::new(Pacer {
        quantum: quantum(shape),
        queue,
        linger,
        state: Mutex::new(state),
        due: Condvar::new(),
        done: Condvar::new(),
    });
    let paced = pacer.clone();
    if let Err(e) = thread::Builder::new().name("pacer".to_owned()).spawn(move || paced.run()) {
        for line in &mut pacer.lock().lines {
            line.fail(io::Error::new(e.kind(), format!("no thread to shape this link with: {e}")));
        }
    }
    let shaped = |(line, waker)| {
        Box::new(ShapedTx { pacer: pacer.clone(), line, waker, process: Process::here() }) as Box<dyn Tx>
    };
    wakers.into_iter().enumerate().map(shaped).collect()
}

fn queue_bytes(shape: Shape) -> usize {
    let bytes = match shape.bits_per_second {
        None => QUEUE_BYTES.1,
        Some(rate) => {
            let on_their_way = u128::from(rate / 8) * shape.rtt.as_nanos() / 1_000_000_000;
            u64::try_from(on_their_way).unwrap_or(u64::MAX).saturating_add(BUFFERS_BYTES).min(QUEUE_BYTES.0)
        }
    };
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn quantum(shape: Shape) -> usize {
    let bytes = shape
        .bits_per_second
        .map_or(u64::MAX, |rate| (rate / 8).saturating_mul(QUANTUM.as_micros() as u64) / 1_000_000);
    usize::try_from(bytes).unwrap_or(usize::MAX).clamp(QUANTUM_BYTES.0, QUANTUM_BYTES.1)
}

/// The caller's end of a shaped link.
struct ShapedTx {
    pacer: Arc<Pacer>,
    line: usize,
    waker: Arc<Waker>,
    process: Process,
}

impl Tx for ShapedTx {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        let mut guard = self.pacer.lock();
        let state = &mut *guard;
        let line = &mut state.lines[self.line];
        line.take_error()?;
        let quantum = self.pacer.quantum;
        let taken = out.len().min(self.pacer.queue - line.held).min(QUANTA_PER_CALL * quantum);
        let now = Instant::now();
        let mut wakes = false;
        for piece in out[..taken].chunks(quantum) {
            let pooled = if piece.len() == quantum { state.pool.pop() } else { None };
            let mut bytes = pooled.unwrap_or_default();
            bytes.extend_from_slice(piece);
            let due = state.schedule.due(piece.len(), now);
            wakes |= state.asleep_until.is_some_and(|until| due < until);
            line.pieces.push_back(QueuedPiece { due, bytes, sent: 0 });
        }
        line.held += taken;
        drop(guard);
        if wakes {
            self.pacer.due.notify_one();
        }
        Ok(taken)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        // As with a socket, bytes in the queue count as sent.
        self.pacer.lock().lines[self.line].take_error()?;
        Ok(true)
    }

    fn close(&mut self) {
        self.pacer.lock().lines[self.line].in_order = true;
    }

    fn wait_on(&self) -> Wait<'_> {
        match &*self.waker {
            Waker::Shared(signal) => Wait::Signal(signal),
            Waker::Socket(_) => Wait::Doze(self),
        }
    }

    fn signal(&self) -> Option<Arc<Signal>> {
        match &*self.waker {
            Waker::Shared(signal) => Some(signal.clone()),
            Waker::Socket(_) => None,
        }
    }
}

impl Doze for ShapedTx {
    fn doze(&self) -> bool {
        let state = self.pacer.lock();
        let line = &state.lines[self.line];
        if line.error.is_some() || line.held < self.pacer.queue {
            return false;
        }
        // The lock is held, so that any later release of space signals.
        self.waker.doze();
        true
    }

    fn wakers(&self) -> [Option<rustix::fd::BorrowedFd<'_>>; 2] {
        [self.waker.fd(), None]
    }

    fn wake(&self) {
        self.waker.wake();
    }
}

impl Drop for ShapedTx {
    fn drop(&mut self) {
        if !self.process.is_here() {
            // A fork does not have the pacing thread.
            return;
        }
        let mut state = self.pacer.lock();
        let line = &mut state.lines[self.line];
        line.closed = true;
        let last = line.pieces.back().map_or_else(Instant::now, |piece| piece.due);
        let deadline = last.max(Instant::now()) + self.pacer.linger;
        if line.is_done() {
            line.let_go();
        }
        self.pacer.due.notify_one();
        // A process that ends takes its threads along, while the bytes of a real socket would still
        // arrive.
        while !state.lines[self.line].is_done() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self.pacer.done.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
#[path = "shaped_tests.rs"]
mod tests;
