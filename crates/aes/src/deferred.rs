//! A queue for jobs that arrive one at a time: run together when the queue is full or a result is referred to.

use crate::Backend;
use zeroize::Zeroize;

/// A job that a queue collects; it holds labels and keys, so that jobs and results can both be wiped.
pub trait Job: Zeroize {
    /// A result.
    type Out: Zeroize;
    /// Runs jobs together and appends their results to `out`, in order.
    fn run(backend: Backend, jobs: &[Self], out: &mut Vec<Self::Out>)
    where
        Self: Sized;
}

/// A job's place in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(usize);

/// The queue. Results stay until [`Deferred::clear`]; batches depend on who asks when, results do not. Jobs are wiped when
/// they have run, results when the queue is dropped.
pub struct Deferred<J: Job> {
    backend: Backend,
    pending: Vec<J>,
    done: Vec<J::Out>,
    width: usize,
    batches: usize,
}

impl<J: Job> Deferred<J> {
    /// An empty queue that runs `width` jobs at a time.
    ///
    /// # Panics
    /// If `width` is 0.
    #[must_use]
    pub fn new(backend: Backend, width: usize) -> Self {
        assert!(width > 0, "a batch holds at least one job");
        Deferred { backend, pending: Vec::with_capacity(width), done: Vec::new(), width, batches: 0 }
    }

    /// Adds a job; runs all that wait if that fills the queue.
    pub fn push(&mut self, job: J) -> Ticket {
        let ticket = Ticket(self.done.len() + self.pending.len());
        self.pending.push(job);
        if self.pending.len() == self.width {
            self.flush();
        }
        ticket
    }

    /// The result of a job; runs all that wait if it is among them.
    ///
    /// # Panics
    /// If the ticket is another queue's or from before a [`Deferred::clear`].
    pub fn get(&mut self, ticket: Ticket) -> &J::Out {
        if ticket.0 >= self.done.len() {
            self.flush();
        }
        &self.done[ticket.0]
    }

    /// Whether a job's result is there without running anything.
    #[must_use]
    pub fn is_ready(&self, ticket: Ticket) -> bool {
        ticket.0 < self.done.len()
    }

    /// Runs all that wait.
    ///
    /// # Panics
    /// If the job's `run` does not give one result per job.
    pub fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let want = self.done.len() + self.pending.len();
        if self.done.capacity() < want {
            // Not in place, which could leave a copy behind.
            let mut larger = Vec::with_capacity(want.next_power_of_two());
            larger.append(&mut self.done);
            self.done.zeroize();
            self.done = larger;
        }
        J::run(self.backend, &self.pending, &mut self.done);
        assert_eq!(self.done.len(), want, "one result per job");
        self.pending.zeroize();
        self.batches += 1;
    }

    /// Runs all that wait and takes every result in the order of its push; the queue is empty then.
    pub fn clear(&mut self) -> Vec<J::Out> {
        self.flush();
        std::mem::take(&mut self.done)
    }

    /// Batches run so far: what the queue gains is jobs per batch.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.batches
    }
}

impl<J: Job> Drop for Deferred<J> {
    fn drop(&mut self) {
        self.pending.zeroize();
        self.done.zeroize();
    }
}
