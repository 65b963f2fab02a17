//! Workers that wait for another attempt of the job that they have served.
//!
//! A worker serves one scope: jobs of one tenant and one proposal, on the same data sets, with the
//! same parameters, for the same recipients. So a worker never holds anything new to whoever learns
//! the next result. Each run is still checked against the policies.

use crate::{order::MemoryLimit, records::jobs::JobRow, workers::Worker};
use hushwire_machine::lock;
use std::{
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

/// LOCAL: how long a worker waits for another attempt.
const WAITS: Duration = Duration::from_secs(30);
/// LOCAL: the most attempts of a worker.
const MOST: u32 = 1000;
/// LOCAL: a worker that used more memory, in bytes, does not wait: its start costs little beside
/// its job.
const SMALL: u64 = 128 << 20;

/// The jobs that a worker may serve one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerScope {
    digest: blake3::Hash,
    data: Vec<String>,
}

impl WorkerScope {
    /// The scope of a job.
    pub(crate) fn of(job: &JobRow) -> Self {
        let mut hash = blake3::Hasher::new_derive_key("hushwire service scope of a worker v1");
        let body = crate::records::packed(&job.body);
        for text in [&job.tenant, &job.proposal, &job.digest, &body] {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        Self { digest: hash.finalize(), data: job.body.data.values().cloned().collect() }
    }

    /// Whether the scope has the data set of these digits.
    fn has(&self, data: &str) -> bool {
        self.data.iter().any(|name| digits(name) == data)
    }
}

/// A worker that waits.
pub(crate) struct Parked {
    pub(crate) worker: Worker,
    pub(crate) scope: WorkerScope,
    pub(crate) limit: MemoryLimit,
    since: Instant,
}

/// The hexadecimal digits in a data set's name.
fn digits(name: &str) -> &str {
    name.trim_start_matches("blake3:")
}

/// The workers that wait.
pub(crate) struct WorkerPool {
    most: usize,
    waiting: Mutex<Vec<Parked>>,
    /// Data sets that were deleted recently.
    deleted: Mutex<Vec<(String, Instant)>>,
}

impl WorkerPool {
    /// A pool of at most this many workers.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, waiting: Mutex::default(), deleted: Mutex::default() }
    }

    /// Whether any worker may wait.
    pub(crate) fn keeps(&self) -> bool {
        self.most > 0
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Parked>> {
        lock(&self.waiting)
    }

    /// Takes a waiting worker of a scope: the worker of that team, or else the one that has waited
    /// for the shortest time.
    pub(crate) fn take(&self, scope: &WorkerScope, team: Option<&str>) -> Option<Parked> {
        let mut waiting = self.lock();
        loop {
            let of_team =
                waiting.iter().position(|parked| team.is_some_and(|team| parked.worker.team == team));
            let at = of_team.or_else(|| waiting.iter().rposition(|parked| parked.scope == *scope))?;
            let mut parked = waiting.remove(at);
            if parked.scope == *scope && parked.worker.runs() {
                return Some(parked);
            }
        }
    }

    /// Lets a worker wait. It ends instead if it has served often, has used much memory or has a
    /// deleted data set. If the pool is full, the worker that has waited longest ends.
    pub(crate) fn park(&self, worker: Worker, scope: WorkerScope, limit: MemoryLimit) {
        if worker.attempts >= MOST || worker.peak_memory.is_some_and(|peak| peak > SMALL) {
            return;
        }
        // A deletion takes both locks in this order, too, so one of the two sees the other.
        let deleted = lock(&self.deleted);
        if deleted.iter().any(|(name, _)| scope.has(name)) {
            return;
        }
        let mut waiting = self.lock();
        waiting.push(Parked { worker, scope, limit, since: Instant::now() });
        let over = waiting.len().saturating_sub(self.most);
        drop(waiting.drain(..over));
    }

    /// Puts back a worker that was taken and has served nothing.
    pub(crate) fn put_back(&self, parked: Option<Parked>) {
        if let Some(Parked { worker, scope, limit, .. }) = parked {
            self.park(worker, scope, limit);
        }
    }

    /// Ends workers that have a data set, because it is deleted.
    pub(crate) fn forget(&self, data: &str) {
        let mut deleted = lock(&self.deleted);
        deleted.retain(|(_, at)| at.elapsed() < 2 * WAITS);
        deleted.push((digits(data).to_owned(), Instant::now()));
        self.lock().retain(|parked| !parked.scope.has(digits(data)));
    }

    /// Ends workers that have waited for [`WAITS`], and forgets workers that have ended.
    pub(crate) fn expire(&self) {
        self.lock().retain_mut(|parked| parked.since.elapsed() < WAITS && parked.worker.runs());
    }

    /// Ends all waiting workers.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }
}
