//! All parties in one process, with one directed queue for each ordered pair and lane.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{self, ErrorKind, Read},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{Net, PartyId, Rx, Signal, Tx, Wait};

/// Makes one net for each of `ids`, in their order, joined by queues of unlimited length.
#[must_use]
pub fn mesh(ids: &[PartyId], lanes: u16, stall: Duration) -> Vec<Net> {
    mesh_capped(ids, lanes, stall, usize::MAX)
}

/// As [`mesh`], with at most `capacity` bytes waiting in each queue, like a small socket buffer.
/// For tests.
#[must_use]
pub fn mesh_capped(ids: &[PartyId], lanes: u16, stall: Duration, capacity: usize) -> Vec<Net> {
    // There is one signal for each party and lane: both halves of a channel wait on the same one.
    let signals: BTreeMap<(PartyId, u16), Arc<Signal>> =
        ids.iter().flat_map(|&id| (0..lanes).map(move |lane| ((id, lane), Arc::default()))).collect();
    let mut nets: Vec<Net> = ids.iter().map(|&id| Net::new(id, lanes, stall)).collect();
    for (i, &from) in ids.iter().enumerate() {
        for (j, &to) in ids.iter().enumerate().filter(|&(j, _)| j != i) {
            for lane in 0..lanes {
                let (tx, rx) = pipe(capacity, signals[&(from, lane)].clone(), signals[&(to, lane)].clone());
                nets[i].add_tx(to, lane, Box::new(tx));
                nets[j].add_rx(from, lane, Box::new(rx));
            }
        }
    }
    nets
}

fn pipe(capacity: usize, writer: Arc<Signal>, reader: Arc<Signal>) -> (PipeTx, PipeRx) {
    let queue = Mutex::new(Queue { bytes: VecDeque::new(), closed: false });
    let pipe = Arc::new(Pipe { queue, capacity, writer, reader });
    (PipeTx(pipe.clone()), PipeRx(pipe))
}

struct Pipe {
    queue: Mutex<Queue>,
    capacity: usize,
    writer: Arc<Signal>,
    reader: Arc<Signal>,
}

struct Queue {
    bytes: VecDeque<u8>,
    /// Whether one end is gone. The reader still takes what the writer left.
    closed: bool,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct PipeTx(Arc<Pipe>);
struct PipeRx(Arc<Pipe>);

impl Tx for PipeTx {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        let mut queue = self.0.lock();
        if queue.closed {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let n = out.len().min(self.0.capacity.saturating_sub(queue.bytes.len()));
        queue.bytes.extend(&out[..n]);
        drop(queue);
        if n > 0 {
            self.0.reader.bump();
        }
        Ok(n)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Signal(&self.0.writer)
    }

    fn signal(&self) -> Option<Arc<Signal>> {
        Some(self.0.writer.clone())
    }
}

impl Rx for PipeRx {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut queue = self.0.lock();
        let mut n = 0;
        while n < into.len() && !queue.bytes.is_empty() {
            n += queue.bytes.read(&mut into[n..])?;
        }
        if n == 0 && queue.closed {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        drop(queue);
        // Only a limited queue has a waiting writer.
        if n > 0 && self.0.capacity < usize::MAX {
            self.0.writer.bump();
        }
        Ok(n)
    }

    fn wait_on(&self) -> Wait<'_> {
        Wait::Signal(&self.0.reader)
    }
}

impl Drop for PipeTx {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.reader.bump();
    }
}

impl Drop for PipeRx {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.writer.bump();
    }
}
