//! The progress that a worker reports to its daemon: what is new, at intervals. A short run reports
//! nothing, since each line wakes the daemon and whoever follows the job.

use crate::order::FromWorker;
use hushwire_session::{Event, Observer};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// LOCAL: how often progress is reported.
const REPORT: Duration = Duration::from_millis(100);

/// Sends a line to the daemon.
type Tell = fn(&FromWorker);

/// A worker's reports, shared by its threads.
#[derive(Clone)]
pub(crate) struct Reporter(Arc<Mutex<News>>, Tell);

/// News that was not reported yet.
struct News {
    last: Instant,
    phase: Option<String>,
    progress: Option<(u64, u64)>,
    traffic: Option<(u64, u64)>,
}

impl News {
    fn new() -> Self {
        Self { last: Instant::now(), phase: None, progress: None, traffic: None }
    }

    /// The news to report now; nothing if the last report was a moment ago.
    fn take(&mut self, now: Instant) -> Vec<FromWorker> {
        if now.duration_since(self.last) < REPORT {
            return vec![];
        }
        let phase = self.phase.take().map(FromWorker::Phase);
        let progress = self.progress.take().map(|(done, of)| FromWorker::Progress(done, of));
        let traffic = self.traffic.take().map(|(sent, received)| FromWorker::Traffic(sent, received));
        let told: Vec<_> = [phase, progress, traffic].into_iter().flatten().collect();
        if !told.is_empty() {
            self.last = now;
        }
        told
    }
}

impl Reporter {
    /// Reports through `tell`.
    pub(crate) fn new(tell: Tell) -> Self {
        Self(Arc::new(Mutex::new(News::new())), tell)
    }

    fn lock(&self) -> MutexGuard<'_, News> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins an attempt: drops news of the one before.
    pub(crate) fn begin(&self) {
        *self.lock() = News::new();
    }

    /// Reports what is new if it is time. This serves runs in which nothing happens for a while.
    pub(crate) fn look(&self) {
        // The lock is held while lines are sent, so that they stay in order.
        let mut news = self.lock();
        news.take(Instant::now()).iter().for_each(self.1);
    }

    /// The observer of a session, which reports its events.
    pub(crate) fn observer(&self) -> Observer {
        let reporter = self.clone();
        Arc::new(move |event| {
            let mut news = reporter.lock();
            match event {
                Event::Progress(done, of) => news.progress = Some((done, of)),
                Event::Phase(phase) => news.phase = Some(phase),
                Event::Traffic { sent, received } => news.traffic = Some((sent, received)),
                Event::Note(note) => (reporter.1)(&FromWorker::Note(note)),
                _ => return,
            }
            news.take(Instant::now()).iter().for_each(reporter.1);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_is_told_once_and_not_sooner_than_its_time() {
        let (begun, mut news) = (Instant::now(), News::new());
        let later = |ms| begun + REPORT + Duration::from_millis(ms);
        for n in 0..5 {
            news.phase = Some(format!("phase {n}"));
            news.progress = Some((n, 5));
            assert!(news.take(begun).is_empty(), "too soon");
        }
        let told = news.take(later(50));
        assert!(
            matches!(&told[..], [FromWorker::Phase(phase), FromWorker::Progress(4, 5)] if phase == "phase 4"),
            "{told:?}"
        );
        assert!(news.take(later(500)).is_empty(), "it was told");
        news.traffic = Some((7, 8));
        assert!(matches!(news.take(later(500))[..], [FromWorker::Traffic(7, 8)]));
        news.traffic = Some((9, 9));
        assert!(news.take(later(599)).is_empty() && !news.take(later(600)).is_empty());
    }
}
