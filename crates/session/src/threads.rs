//! The threads of a computing member.
//!
//! Each thread runs its batches over lanes of its own. If one thread fails, the others end at their
//! next batch. The member's error is then the one that caused the others.

use crate::{
    Agreement, Fault,
    member_config::{Event, Observer, explain},
    run::{MemberSession, first_error},
};
use hushwire_machine::{
    NetError,
    drive::{Lane, Machine, Work, pipeline},
};
use hushwire_rep3::Role;
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    thread,
};

/// The step of computing, as errors name it.
pub const COMPUTE: &str = "computing";

/// An error that ends a thread.
pub enum Failed {
    /// The channel failed.
    Net(NetError),
    /// Any other error.
    Job(Fault),
}

impl Failed {
    /// The failure as an error of the job.
    #[must_use]
    pub fn explain(self, agreement: &Agreement) -> Fault {
        match self {
            Failed::Net(e) => explain(agreement, e),
            Failed::Job(e) => e,
        }
    }
}

impl From<NetError> for Failed {
    fn from(e: NetError) -> Self {
        Self::Net(e)
    }
}

impl From<Fault> for Failed {
    fn from(e: Fault) -> Self {
        Self::Job(e)
    }
}

/// Runs `work` for each of `parts` on a thread of its own. Results are in the order of the parts.
///
/// # Errors
/// The error that caused the others.
pub fn on_threads<P: Send, T: Send>(
    parts: Vec<P>,
    work: impl Fn(P) -> Result<T, Fault> + Sync,
) -> Result<Vec<T>, Fault> {
    let results: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let running: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let (mut finished, mut errors) = (vec![], vec![]);
    for result in results {
        match result {
            Ok(Ok(thread)) => finished.push(thread),
            Ok(Err(e)) => errors.push(e),
            Err(_) => errors.push(Fault::internal(COMPUTE, "a thread panicked")),
        }
    }
    first_error(errors)?;
    Ok(finished)
}

/// The progress of all threads, and whether one failed.
pub struct Progress {
    failed: AtomicBool,
    done: AtomicU64,
    whole: u64,
    observer: Observer,
}

impl Progress {
    /// Begins the progress of `whole` instances or bytes.
    pub fn new(whole: u64, observer: &Observer) -> Self {
        let (failed, done) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { failed, done, whole, observer: observer.clone() }
    }

    /// Makes the other threads end at their next batch.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::SeqCst);
    }

    /// Checks that the next batch may begin.
    ///
    /// # Errors
    /// Another thread failed.
    pub fn go_on(&self) -> Result<(), Fault> {
        if self.failed.load(Ordering::SeqCst) {
            let error = Fault::internal(COMPUTE, "another thread failed");
            return Err(error.following());
        }
        Ok(())
    }

    /// Adds `n` to the instances or bytes that are done.
    pub fn add(&self, n: u64) {
        let done = self.done.fetch_add(n, Ordering::SeqCst) + n;
        (self.observer)(Event::Progress(done, self.whole));
    }
}

/// Opens the lanes of thread `t` on the ring of products.
///
/// # Errors
/// A channel is not available.
pub fn lanes<M: Machine>(
    member: &mut MemberSession,
    role: Role,
    t: u16,
    lanes: u16,
) -> Result<Vec<Lane<M>>, Fault> {
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    (t * lanes..(t + 1) * lanes).map(|l| member.channel(0, l, left, right).map(Lane::new)).collect()
}

/// Runs a thread's work over its lanes, then `end`.
///
/// # Errors
/// The first error, after which the other threads end too.
pub fn drive<M: Machine, W: Work<M, Error = Failed>>(
    agreement: &Agreement,
    progress: &Progress,
    lanes: &mut [Lane<M>],
    work: &mut W,
    end: impl FnOnce(&mut W) -> Result<(), Failed>,
) -> Result<(), Fault> {
    pipeline(lanes, work).and_then(|()| end(work)).map_err(|e| {
        progress.fail();
        e.explain(agreement).during(COMPUTE)
    })
}
