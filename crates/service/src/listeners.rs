//! Tells whoever follows a job that it has changed or ended.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// LOCAL: the time after a change in which further changes are reported with it, unless the job
/// ends.
const GATHERING: Duration = Duration::from_millis(50);

/// The changes of a job since its first listener came.
#[derive(Clone, Copy, Default)]
struct Changes {
    number: u64,
    ended: bool,
}

/// The jobs that are followed.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<String, watch::Sender<Changes>>>);

/// Hears of one job's changes until it is dropped.
pub(crate) struct Listener<'a> {
    all: &'a Listeners,
    job: String,
    changes: watch::Receiver<Changes>,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Changes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the listeners of a job that it has changed, and whether it has ended.
    pub(crate) fn tell(&self, job: &str, ended: bool) {
        if let Some(sender) = self.lock().get(job) {
            sender.send_modify(|changes| {
                changes.number += 1;
                changes.ended |= ended;
            });
        }
    }

    /// Follows a job from now on.
    pub(crate) fn follow(&self, job: &str) -> Listener<'_> {
        let changes = self.lock().entry(job.to_owned()).or_default().subscribe();
        Listener { all: self, job: job.to_owned(), changes }
    }
}

impl Listener<'_> {
    /// Waits at most `most` for a change since the last call, and for the changes shortly after it.
    /// Returns whether there was a change.
    pub(crate) async fn change(&mut self, most: Duration) -> bool {
        if !matches!(timeout(most, self.changes.changed()).await, Ok(Ok(()))) {
            return false;
        }
        let _ = timeout(GATHERING, self.changes.wait_for(|changes| changes.ended)).await;
        self.changes.mark_unchanged();
        true
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        // The receiver goes while the lock is held: of listeners that go at the same time, the last
        // one then finds no other receiver.
        self.changes = watch::Sender::default().subscribe();
        if all.get(&self.job).is_some_and(|sender| sender.receiver_count() == 0) {
            all.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        hint,
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn changes_are_told_together_and_an_end_at_once() {
        let all = Listeners::default();
        // There is no listener yet.
        all.tell("a", false);
        let (mut one, mut two) = (all.follow("a"), all.follow("a"));
        for _ in 0..3 {
            all.tell("a", false);
        }
        all.tell("b", false);
        assert!(one.change(LONG).await && two.change(LONG).await);
        assert!(!one.change(Duration::from_millis(1)).await, "three changes are one");
        all.tell("a", true);
        // Every listener hears of the end.
        assert!(one.change(LONG).await && two.change(LONG).await);
        drop(one);
        assert_eq!(all.lock().len(), 1);
        drop(two);
        assert!(all.lock().is_empty());
    }

    #[test]
    fn listeners_that_go_at_the_same_time_leave_nothing() {
        let all = Listeners::default();
        for round in 0..1_000 {
            let ready = AtomicUsize::new(0);
            thread::scope(|scope| {
                for listener in [all.follow("a"), all.follow("a")] {
                    let ready = &ready;
                    scope.spawn(move || {
                        ready.fetch_add(1, Ordering::SeqCst);
                        while ready.load(Ordering::SeqCst) < 2 {
                            hint::spin_loop();
                        }
                        drop(listener);
                    });
                }
            });
            assert!(all.lock().is_empty(), "round {round}");
        }
    }
}
