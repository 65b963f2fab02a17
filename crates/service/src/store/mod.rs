//! The store: one SQLite file, one thread that has it open.
//!
//! Everything goes through that thread, so nothing is ever "locked". It takes the requests that
//! wait, runs each in a savepoint of its own, and commits them together: one fsync serves all. A
//! caller hears of its success only after that commit.

mod migrate;
mod place;

pub(crate) use migrate::{Upgrade, schema};

use crate::failpoint;
use hushwire_fault::{Fault, code};
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
};
use tokio::sync::oneshot;

/// LOCAL: requests that one commit serves.
const MOST_TOGETHER: usize = 64;
/// LOCAL: requests that may wait.
const QUEUE: usize = 1024;

/// An error of a request: the store's, or one that it gives itself.
pub(crate) enum StoreError {
    /// SQLite says so.
    Sql(rusqlite::Error),
    /// The request says so; nothing of it is kept.
    Fault(Fault),
}

impl From<rusqlite::Error> for StoreError {
    fn from(e: rusqlite::Error) -> Self {
        Self::Sql(e)
    }
}

impl From<Fault> for StoreError {
    fn from(e: Fault) -> Self {
        Self::Fault(e)
    }
}

impl From<StoreError> for Fault {
    fn from(e: StoreError) -> Self {
        match e {
            StoreError::Fault(fault) => fault,
            StoreError::Sql(e) => broken(&e),
        }
    }
}

/// The answer to a request to the store.
pub(crate) type Stored<T> = Result<T, StoreError>;

/// Says after the commit whether the request is kept.
type Answer = Box<dyn FnOnce(Result<(), Fault>) + Send>;
/// Runs a request, or hears why it cannot be run; whether it is kept comes with its answer.
type Request = Box<dyn FnOnce(Result<&Connection, Fault>) -> (bool, Answer) + Send>;

/// The store of a party; copies of it are the same store.
#[derive(Clone)]
pub(crate) struct Store {
    requests: SyncSender<Request>,
    path: Arc<PathBuf>,
}

impl Store {
    /// Opens the store at `path`, or makes it, and brings it to this release's schema.
    ///
    /// # Errors
    /// It is on a file system that does not do, is damaged, or is of a newer release.
    pub(crate) fn open(path: &Path, upgrade: Upgrade) -> Result<Self, Fault> {
        place::check(path)?;
        let is_new = !path.exists();
        let mut connection = connect(path)?;
        sound(&connection, path)?;
        match upgrade {
            Upgrade::Keep if !is_new => migrate::keep(&connection, path)?,
            _ => migrate::to_newest(&mut connection, path, migrate::MIGRATIONS)?,
        }
        let (requests, waiting) = mpsc::sync_channel(QUEUE);
        let serving =
            thread::Builder::new().name("store".to_owned()).spawn(move || serve(&connection, &waiting));
        serving.map_err(|e| Fault::internal("starting the store", e))?;
        Ok(Self { requests, path: Arc::new(path.to_path_buf()) })
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks whether the file is sound, beside requests.
    ///
    /// # Errors
    /// It is damaged.
    pub(crate) async fn check(&self) -> Result<(), Fault> {
        let path = self.path.clone();
        let checked = tokio::task::spawn_blocking(move || sound(&connect(&path)?, &path)).await;
        checked.map_err(|e| Fault::internal("checking the store", e))?
    }

    /// Runs a request, whose `name` is that of its failpoints. What it changes is on the disk when
    /// this returns, or nothing of it is.
    ///
    /// # Errors
    /// The request gives one, or the disk does not do.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        name: &'static str,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        let (tell, told) = oneshot::channel();
        let request: Request = Box::new(move |connection| {
            let done = connection.map_err(StoreError::Fault).and_then(|connection| {
                failpoint::pass(|| format!("store.before.{name}")).map_err(|e| disk(&e))?;
                request(connection)
            });
            let keep = done.is_ok();
            let answer: Answer = Box::new(move |committed| {
                let after = || failpoint::pass(|| format!("store.after.{name}")).map_err(|e| disk(&e));
                // The caller may have gone.
                drop(
                    tell.send(
                        done.map_err(Fault::from)
                            .and_then(|done| committed.and_then(|()| after()).map(|()| done)),
                    ),
                );
            });
            (keep, answer)
        });
        let gone = || Fault::internal("asking the store", "its thread has ended");
        // A full queue makes the caller wait, and nobody else.
        if let Err(mpsc::TrySendError::Full(request) | mpsc::TrySendError::Disconnected(request)) =
            self.requests.try_send(request)
        {
            let requests = self.requests.clone();
            let sent = tokio::task::spawn_blocking(move || requests.send(request)).await;
            sent.map_err(|_| gone())?.map_err(|_| gone())?;
        }
        told.await.map_err(|_| gone())?
    }
}

/// Opens the file with what every connection of ours has.
pub(crate) fn connect(path: &Path) -> Result<Connection, Fault> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        Ok(connection)
    };
    open().map_err(|e| broken(&e).within(path.display()))
}

/// A damaged store stops the daemon: going on would lose more.
pub(crate) fn sound(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let found: rusqlite::Result<String> = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    let cause = match found {
        Ok(found) if found == "ok" => return Ok(()),
        Ok(found) => found,
        Err(e) => e.to_string(),
    };
    let cause = format!("{} is damaged: {cause}", path.display());
    Err(Fault::new(code::STORE, "checking the store", cause, RESTORE))
}

const RESTORE: &str =
    "restore the last backup with `hushwire-service restore`, and see the system's log about that disk";

/// The refusal of the disk, in a request's place.
pub(crate) fn disk(e: &std::io::Error) -> Fault {
    Fault::new(code::STORE, "writing the store", e, hushwire_fault::io_remedy(e))
}

/// SQLite's own error.
fn broken(e: &rusqlite::Error) -> Fault {
    use rusqlite::ErrorCode as E;
    let (cause, remedy) = match e.sqlite_error_code() {
        Some(E::DiskFull) => ("its disk is full".to_owned(), "free space on that disk; nothing was lost"),
        Some(E::DatabaseBusy | E::DatabaseLocked) => {
            ("another process has it locked".to_owned(), "end the other process; a store is one daemon's")
        }
        Some(E::DatabaseCorrupt | E::NotADatabase) => (e.to_string(), RESTORE),
        Some(E::CannotOpen | E::PermissionDenied | E::ReadOnly) => {
            (e.to_string(), "check the permissions of it and of its directory")
        }
        _ => (e.to_string(), "see the system's log about that disk"),
    };
    Fault::new(code::STORE, "using the store", cause, remedy)
}

/// Serves requests until nobody can ask any more.
fn serve(connection: &Connection, waiting: &Receiver<Request>) {
    while let Ok(first) = waiting.recv() {
        let mut answers: Vec<(bool, Answer)> = vec![];
        if let Err(e) = connection.execute_batch("BEGIN IMMEDIATE") {
            let (_, answer) = first(Err(broken(&e)));
            answer(Ok(()));
            continue;
        }
        let mut next = Some(first);
        while let Some(request) = next {
            answers.push(in_savepoint(connection, request));
            next = (answers.len() < MOST_TOGETHER).then(|| waiting.try_recv().ok()).flatten();
        }
        let committed = connection.execute_batch("COMMIT").map_err(|e| broken(&e));
        if committed.is_err() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        for (_, answer) in answers {
            answer(committed.clone());
        }
    }
}

fn in_savepoint(connection: &Connection, request: Request) -> (bool, Answer) {
    let opened = connection.execute_batch("SAVEPOINT request");
    let (keep, answer) = request(Ok(connection));
    let closed = opened.and_then(|()| {
        let end = if keep { "RELEASE request" } else { "ROLLBACK TO request; RELEASE request" };
        connection.execute_batch(end)
    });
    match closed {
        Ok(()) => (keep, answer),
        Err(e) => {
            let fault = broken(&e);
            (false, Box::new(move |_| answer(Err(fault))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
    }

    #[test]
    fn a_request_that_fails_leaves_nothing_and_its_neighbours_everything() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store.db");
        let store = Store::open(&path, Upgrade::Newest).unwrap_or_else(|e| panic!("{e}"));
        let put = |n: i64, good: bool| {
            let store = store.clone();
            async move {
                store
                    .run("test", move |c| {
                        c.execute("INSERT INTO meta(key, value) VALUES (?1, 'x')", [n.to_string()])?;
                        if good { Ok(n) } else { Err(Fault::usage("a", "b", "c").into()) }
                    })
                    .await
            }
        };
        runtime().block_on(async {
            let all: Vec<_> = (0..200).map(|n| tokio::spawn(put(n, n % 3 != 0))).collect();
            for (n, task) in all.into_iter().enumerate() {
                assert_eq!(task.await.expect("no panic").is_ok(), n % 3 != 0, "{n}");
            }
        });
        // Another connection sees what is on the disk.
        let other = connect(&path).unwrap_or_else(|e| panic!("{e}"));
        let kept: i64 = other
            .query_row("SELECT count(*) FROM meta WHERE value = 'x'", [], |row| row.get(0))
            .expect("a row");
        assert_eq!(kept, 133);
    }

    /// A page that is damaged while the service runs is found by the daily check.
    #[test]
    fn a_store_that_is_damaged_later_is_found_by_the_check() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store.db");
        drop(Store::open(&path, Upgrade::Newest).unwrap_or_else(|e| panic!("{e}")));
        // The thread closes the file after the last handle is gone.
        thread::sleep(std::time::Duration::from_millis(200));
        let store = Store::open(&path, Upgrade::Newest).unwrap_or_else(|e| panic!("{e}"));
        runtime().block_on(async {
            store.check().await.unwrap_or_else(|e| panic!("{e}"));
            let file = std::fs::File::options().write(true).open(&path).expect("a file");
            std::os::unix::fs::FileExt::write_all_at(&file, &[0x5a; 8192], 4096).expect("room");
            let error = store.check().await.err().unwrap_or_else(|| panic!("it is damaged"));
            assert_eq!(error.code(), code::STORE, "{error}");
        });
    }

    #[test]
    fn a_damaged_store_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store.db");
        drop(Store::open(&path, Upgrade::Newest).unwrap_or_else(|e| panic!("{e}")));
        // The thread closes the file after the last handle is gone; what is written then is damage.
        thread::sleep(std::time::Duration::from_millis(200));
        let mut bytes = std::fs::read(&path).expect("a file");
        assert!(bytes.len() > 3 * 4096);
        bytes[4096..3 * 4096].fill(0x5a);
        std::fs::write(&path, bytes).expect("a file");
        let error = Store::open(&path, Upgrade::Newest).err().unwrap_or_else(|| panic!("it is damaged"));
        assert!(error.code() == code::STORE && error.remedy().contains("restore"), "{error}");
    }
}
