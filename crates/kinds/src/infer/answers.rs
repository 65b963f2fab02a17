//! The number of answers that each client of a served model has had, and the queue of runs.

use hushwire_fault::code;
use hushwire_session::{Fault, NewFile};
use std::{
    collections::{BTreeMap, VecDeque},
    fs, io,
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

/// The name in errors of the step that counts answers.
const COUNTING: &str = "counting answers";

/// The number of answers that each client has had, with an upper bound for each. A file keeps the
/// counts across restarts.
pub(super) struct Answers {
    most: Option<u64>,
    file: Option<PathBuf>,
    counts: Mutex<BTreeMap<String, u64>>,
}

/// Reads the counts of a file, a JSON object of clients and numbers. They are empty if there is no
/// file.
fn read(path: &Path) -> Result<BTreeMap<String, u64>, Fault> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(e) => return Err(Fault::io("read", path, &e)),
    };
    serde_json::from_slice(&bytes).map_err(|e| {
        let remedy = "put back the file that `hushwire serve-model` wrote; without it, clients begin anew";
        Fault::file("read", path, format!("it is no list of answers: {e}"), remedy)
    })
}

impl Answers {
    /// Starts with the counts of a file, or with none.
    pub(super) fn new(most: Option<u64>, file: Option<&Path>) -> Result<Self, Fault> {
        let counts = file.map_or(Ok(BTreeMap::new()), read)?;
        Ok(Self { most, file: file.map(Path::to_owned), counts: Mutex::new(counts) })
    }

    /// Counts answers for a client, on the disk before the client gets them. Returns false if it
    /// may not have that many more.
    pub(super) fn take(&self, client: &str, answers: u64) -> Result<bool, Fault> {
        let mut counts = self.lock();
        let had = counts.get(client).copied().unwrap_or(0);
        let all = had.saturating_add(answers);
        if self.most.is_some_and(|most| all > most) {
            return Ok(false);
        }
        counts.insert(client.to_owned(), all);
        let written = self.write(&counts);
        if written.is_err() {
            counts.insert(client.to_owned(), had);
        }
        written.map(|()| true)
    }

    /// Gives back answers that were counted and then refused by another member.
    pub(super) fn give_back(&self, client: &str, answers: u64) -> Result<(), Fault> {
        let mut counts = self.lock();
        if let Some(had) = counts.get_mut(client) {
            *had = had.saturating_sub(answers);
        }
        self.write(&counts)
    }

    fn write(&self, counts: &BTreeMap<String, u64>) -> Result<(), Fault> {
        let Some(path) = &self.file else { return Ok(()) };
        let text = serde_json::to_vec(counts).map_err(|e| Fault::internal(COUNTING, e))?;
        NewFile::create(path, 0o600)?.write(&text)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, u64>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The error for a client that has had all the answers it may have.
pub(super) fn spent(client: &str, answers: u64) -> Fault {
    let cause = format!("client {client} may have fewer than {answers} more answers of this model");
    let remedy = "ask those who serve the model for more (--answers)";
    Fault::new(code::NOT_ALLOWED, COUNTING, cause, remedy)
}

/// Admits a number of runs at a time, in the order of their requests.
pub(super) struct Queue {
    at_once: usize,
    state: Mutex<QueueState>,
    news: Condvar,
}

#[derive(Default)]
struct QueueState {
    running: usize,
    next: u64,
    waiting: VecDeque<u64>,
    closed: bool,
}

/// The right to run; dropping it lets the next one in.
pub(super) struct Permit<'q>(&'q Queue);

impl Queue {
    pub(super) fn new(at_once: usize) -> Self {
        Self { at_once: at_once.max(1), state: Mutex::default(), news: Condvar::new() }
    }

    /// Waits for the right to run. `None` if the queue is closed before that.
    pub(super) fn enter(&self) -> Option<Permit<'_>> {
        let mut state = self.lock();
        let ticket = state.next;
        state.next += 1;
        state.waiting.push_back(ticket);
        while !state.closed && (state.running >= self.at_once || state.waiting.front() != Some(&ticket)) {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.retain(|other| *other != ticket);
        if state.closed {
            return None;
        }
        state.running += 1;
        drop(state);
        // The next one may be admitted at the same time.
        self.news.notify_all();
        Some(Permit(self))
    }

    /// Admits no more runs.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
        self.0.news.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
        time::Duration,
    };

    #[test]
    fn answers_are_counted_for_each_client_and_kept_in_a_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("answers.json");
        let open = || Answers::new(Some(10), Some(&path)).unwrap_or_else(|e| panic!("{e}"));
        let answers = open();
        let take = |answers: &Answers, who, n| answers.take(who, n).unwrap_or_else(|e| panic!("{e}"));
        assert!(take(&answers, "ann", 8));
        assert!(!take(&answers, "ann", 3), "11 of 10");
        assert!(take(&answers, "bob", 10));
        answers.give_back("bob", 4).unwrap_or_else(|e| panic!("{e}"));
        drop(answers);
        let answers = open();
        assert!(!take(&answers, "ann", 3), "those of the process before count");
        assert!(take(&answers, "ann", 2) && take(&answers, "bob", 4));
        assert!(!take(&answers, "ann", 1) && !take(&answers, "bob", 1));
        assert!(!take(&answers, "ann", u64::MAX));
        fs::write(&path, "[1").expect("a file");
        let error = Answers::new(None, Some(&path)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("answers.json") && error.contains("no list of answers"), "{error}");
    }

    #[test]
    fn answers_without_a_limit_are_unlimited() {
        let answers = Answers::new(None, None).unwrap_or_else(|e| panic!("{e}"));
        assert!((0..3).all(|_| answers.take("ann", u64::MAX).is_ok_and(|taken| taken)));
    }

    #[test]
    fn answers_are_not_given_where_they_cannot_be_written() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("gone/answers.json");
        let answers = Answers::new(Some(1), Some(&path)).unwrap_or_else(|e| panic!("{e}"));
        assert!(answers.take("ann", 1).is_err());
        fs::create_dir(dir.path().join("gone")).expect("a directory");
        assert!(answers.take("ann", 1).is_ok_and(|taken| taken), "the one that failed was not counted");
    }

    #[test]
    fn a_queue_lets_as_many_in_as_it_may() {
        for at_once in [1, 3] {
            let (queue, inside, most) = (Queue::new(at_once), AtomicUsize::new(0), AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| {
                        for _ in 0..20 {
                            let permit = queue.enter().expect("it is open");
                            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            thread::yield_now();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            drop(permit);
                        }
                    });
                }
            });
            assert!(most.load(Ordering::SeqCst) <= at_once);
        }
    }

    #[test]
    fn a_queue_is_in_order_and_ends_for_those_who_wait() {
        let (queue, order) = (Queue::new(1), Mutex::new(vec![]));
        let first = queue.enter().expect("it is open");
        thread::scope(|scope| {
            for i in 0..4u64 {
                let (queue, order) = (&queue, &order);
                scope.spawn(move || {
                    let permit = queue.enter();
                    order.lock().expect("no panic").push((i, permit.is_some()));
                });
                while queue.lock().waiting.len() as u64 <= i {
                    thread::sleep(Duration::from_millis(1));
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock().expect("no panic"), [0, 1, 2, 3].map(|i| (i, true)));
        let last = queue.enter().expect("it is open");
        thread::scope(|scope| {
            let waits = scope.spawn(|| queue.enter().is_none());
            while queue.lock().waiting.is_empty() {
                thread::sleep(Duration::from_millis(1));
            }
            queue.close();
            assert!(waits.join().expect("no panic"));
        });
        drop(last);
        assert!(queue.enter().is_none());
    }
}
