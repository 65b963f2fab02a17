//! Tells whoever follows a job that it has changed or ended.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::watch, time::timeout};

/// LOCAL: changes within this time are reported together, unless the job has ended.
const GATHERS: Duration = Duration::from_millis(50);

/// The changes of a job so far.
#[derive(Clone, Copy, Default)]
struct Changes {
    number: u64,
    ended: bool,
}

/// The jobs that are followed.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<HashMap<String, watch::Sender<Changes>>>);

/// One follower of a job.
pub(crate) struct Listener<'a> {
    of: &'a Listeners,
    job: String,
    changes: watch::Receiver<Changes>,
}

impl Listeners {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<Changes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the followers of a job that it has changed, and whether it has ended.
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
        Listener { of: self, job: job.to_owned(), changes }
    }
}

impl Listener<'_> {
    /// Waits for changes since the last call. Returns false if there was none within `most`.
    pub(crate) async fn change(&mut self, most: Duration) -> bool {
        if !matches!(timeout(most, self.changes.changed()).await, Ok(Ok(()))) {
            return false;
        }
        let _ = timeout(GATHERS, self.changes.wait_for(|changes| changes.ended)).await;
        self.changes.mark_unchanged();
        true
    }
}

impl Drop for Listener<'_> {
    fn drop(&mut self) {
        let mut all = self.of.lock();
        // The count still includes this listener.
        if all.get(&self.job).is_some_and(|sender| sender.receiver_count() <= 1) {
            all.remove(&self.job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // A listener that has not looked since gets the end later.
        assert!(one.change(LONG).await && two.change(LONG).await);
        drop(one);
        assert_eq!(all.lock().len(), 1);
        drop(two);
        assert!(all.lock().is_empty());
    }
}
