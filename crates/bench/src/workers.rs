//! Runs threads that start together, and times them.

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use crate::{
    BoxError,
    net::{joined, span},
};

/// A worker that repeats its part of the work.
pub(crate) trait Worker: Send {
    /// Runs the work once.
    fn repeat(&mut self) -> Result<(), BoxError>;
    /// Called after an error. Closes everything on which others wait.
    fn abandon(&mut self);
}

/// The time of `n` repetitions of every worker, each on a thread of its own, from the first one's
/// start to the last one's end.
pub(crate) fn time<W: Worker>(workers: &mut [W], n: u64) -> Result<Duration, BoxError> {
    let barrier = Barrier::new(workers.len());
    let spans = thread::scope(|scope| {
        let running: Vec<_> = workers
            .iter_mut()
            .map(|worker| {
                let barrier = &barrier;
                scope.spawn(move || -> Result<(Instant, Instant), BoxError> {
                    barrier.wait();
                    let begin = Instant::now();
                    let ran = (0..n).try_for_each(|_| worker.repeat());
                    let end = Instant::now();
                    if ran.is_err() {
                        worker.abandon();
                    }
                    ran.map(|()| (begin, end))
                })
            })
            .collect();
        let ended = running.into_iter().map(|thread| joined(thread.join()).flatten());
        ended.collect::<Result<Vec<_>, BoxError>>()
    })?;
    Ok(span(spans.into_iter()))
}
