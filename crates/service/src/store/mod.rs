//! The store: one SQLite file, one thread that has it open.
//!
//! Every change goes through that thread, so nothing is ever "locked". It takes the requests that
//! wait, runs each in a savepoint of its own, and commits them together: one fsync serves all. A
//! caller hears of its success only after that commit. A second thread has a connection that can
//! only read: whoever reads waits for no fsync, and sees all that was committed before.

mod migrate;
mod place;

pub(crate) use migrate::{Upgrade, schema};

use crate::failpoint;
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, config::DbConfig};
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
/// LOCAL: statements that are read once.
const STATEMENTS: usize = 256;
/// LOCAL: pages of 4 KiB that are in the log before they go to their places. Pages that change
/// again and again go there once.
const CHECKPOINT: u32 = 4096;
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
type Work = Box<dyn FnOnce(Result<&Connection, Fault>) -> (bool, Answer) + Send>;

/// A request that waits.
struct Request {
    work: Work,
    /// Whether it is on the disk when its caller hears of it.
    synced: bool,
}

/// The store of a party; copies of it are the same store.
#[derive(Clone)]
pub(crate) struct Store {
    writes: SyncSender<Request>,
    reads: SyncSender<Request>,
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
        let reader = connect(path)?;
        reader.pragma_update(None, "query_only", true).map_err(|e| broken(&e))?;
        let start = |name: &str, connection: Connection, serve: fn(&Connection, &Receiver<Request>)| {
            let (requests, waiting) = mpsc::sync_channel(QUEUE);
            let thread = thread::Builder::new().name(name.to_owned());
            let started = thread.spawn(move || serve(&connection, &waiting));
            started.map(|_| requests).map_err(|e| Fault::internal("starting the store", e))
        };
        Ok(Self {
            writes: start("store", connection, serve)?,
            reads: start("reads", reader, answer_reads)?,
            path: Arc::new(path.to_path_buf()),
        })
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
        ask(&self.writes, true, name, request).await
    }

    /// As [`run`](Self::run), for a change that the party learns again after a power cut: it is on
    /// the disk with the next change that is synced. Later requests see it at once.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn run_unsynced<T: Send + 'static>(
        &self,
        name: &'static str,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        ask(&self.writes, false, name, request).await
    }

    /// Runs a request that changes nothing, and whose answer leaves this host as what the party
    /// stands for: everything that it sees is on the disk when this returns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn told<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        ask(&self.writes, true, "read", request).await
    }

    /// Runs a request that changes nothing.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        ask(&self.reads, true, "read", request).await
    }
}

/// Puts a request into the queue of a thread, and waits for its answer.
async fn ask<T: Send + 'static>(
    queue: &SyncSender<Request>,
    synced: bool,
    name: &'static str,
    request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
) -> Result<T, Fault> {
    let (tell, told) = oneshot::channel();
    let work: Work = Box::new(move |connection| {
        let done = connection.map_err(StoreError::Fault).and_then(|connection| {
            failpoint::pass(|| format!("store.before.{name}")).map_err(|e| disk(&e))?;
            request(connection)
        });
        let keep = done.is_ok();
        let answer: Answer = Box::new(move |committed| {
            let after = || failpoint::pass(|| format!("store.after.{name}")).map_err(|e| disk(&e));
            // The caller may have gone.
            drop(tell.send(
                done.map_err(Fault::from).and_then(|done| committed.and_then(|()| after()).map(|()| done)),
            ));
        });
        (keep, answer)
    });
    let gone = || Fault::internal("asking the store", "its thread has ended");
    // A full queue makes the caller wait, and nobody else.
    if let Err(mpsc::TrySendError::Full(request) | mpsc::TrySendError::Disconnected(request)) =
        queue.try_send(Request { work, synced })
    {
        let queue = queue.clone();
        let sent = tokio::task::spawn_blocking(move || queue.send(request)).await;
        sent.map_err(|_| gone())?.map_err(|_| gone())?;
    }
    told.await.map_err(|_| gone())?
}

/// Opens the file with what every connection of ours has.
pub(crate) fn connect(path: &Path) -> Result<Connection, Fault> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        // A statement is planned once, and not again for each value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
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

/// Runs a statement that is read once.
fn step(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Takes the requests that wait, beside the first one.
fn waiting_with(first: Request, waiting: &Receiver<Request>) -> Vec<Request> {
    let mut all = vec![first];
    while all.len() < MOST_TOGETHER
        && let Ok(next) = waiting.try_recv()
    {
        all.push(next);
    }
    all
}

/// Answers requests that change nothing, until nobody can ask any more.
fn answer_reads(connection: &Connection, waiting: &Receiver<Request>) {
    while let Ok(first) = waiting.recv() {
        // They see the store as it is at one moment.
        let begun = step(connection, "BEGIN");
        let all = waiting_with(first, waiting).into_iter();
        let seen = |request: Request| match &begun {
            Ok(()) => (request.work)(Ok(connection)).1,
            Err(e) => (request.work)(Err(broken(e))).1,
        };
        let answers: Vec<Answer> = all.map(seen).collect();
        let ended = step(connection, "COMMIT").map_err(|e| broken(&e));
        if ended.is_err() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        for answer in answers {
            answer(if begun.is_ok() { ended.clone() } else { Ok(()) });
        }
    }
}

/// Begins a transaction whose commit is synced, or is not.
fn begin(connection: &Connection, synced: bool, syncs: &mut bool) -> rusqlite::Result<()> {
    if synced != *syncs {
        step(connection, if synced { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" })?;
        *syncs = synced;
    }
    step(connection, "BEGIN IMMEDIATE")
}

/// A change that says nothing, with which those before it are synced.
const MARK: &str =
    "INSERT INTO meta(key, value) VALUES ('synced', '') ON CONFLICT(key) DO UPDATE SET value = ''";

/// Serves requests until nobody can ask any more.
fn serve(connection: &Connection, waiting: &Receiver<Request>) {
    // Whether the next commit is synced, and whether one before it was not.
    let (mut syncs, mut unsynced) = (true, false);
    while let Ok(first) = waiting.recv() {
        let mut answers: Vec<(bool, Answer)> = vec![];
        let all = waiting_with(first, waiting);
        let synced = all.iter().any(|request| request.synced);
        if let Err(e) = begin(connection, synced, &mut syncs) {
            for request in all {
                let (_, answer) = (request.work)(Err(broken(&e)));
                answer(Ok(()));
            }
            continue;
        }
        let (mut all, mut wrote) = (all.into_iter(), false);
        // One that came meanwhile is served, too, unless it wants a sync that this commit lacks.
        let more = || waiting.try_recv().ok();
        while let Some(request) = all.next().or_else(|| if synced { more() } else { None }) {
            let before = connection.total_changes();
            let (keep, answer) = in_savepoint(connection, request.work);
            wrote |= keep && connection.total_changes() > before;
            answers.push((keep, answer));
            if answers.len() >= MOST_TOGETHER && all.len() == 0 {
                break;
            }
        }
        // A commit without changes syncs nothing.
        let marked = if synced && unsynced && !wrote { step(connection, MARK) } else { Ok(()) };
        let committed = marked.and_then(|()| step(connection, "COMMIT")).map_err(|e| broken(&e));
        if committed.is_err() {
            let _ = connection.execute_batch("ROLLBACK");
        } else {
            unsynced = !synced && (unsynced || wrote);
        }
        for (_, answer) in answers {
            answer(committed.clone());
        }
    }
}

fn in_savepoint(connection: &Connection, work: Work) -> (bool, Answer) {
    let step = |sql: &str| step(connection, sql);
    let opened = step("SAVEPOINT request");
    let (keep, answer) = work(Ok(connection));
    let closed = opened.and_then(|()| {
        if !keep {
            step("ROLLBACK TO request")?;
        }
        step("RELEASE request")
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

    /// Whether commits are synced, as the thread has it.
    fn syncs(c: &Connection) -> Stored<i64> {
        Ok(c.query_row("PRAGMA synchronous", [], |row| row.get(0))?)
    }

    fn set(key: &'static str) -> impl FnOnce(&Connection) -> Stored<i64> + Send {
        move |c| {
            c.execute("INSERT INTO meta(key, value) VALUES (?1, 'x')", [key])?;
            syncs(c)
        }
    }

    fn has(key: &'static str) -> impl FnOnce(&Connection) -> Stored<bool> + Send {
        move |c| Ok(c.query_row("SELECT count(*) FROM meta WHERE key = ?1", [key], |row| row.get(0))?)
    }

    #[test]
    fn what_is_told_is_synced_and_what_can_be_learnt_again_waits_for_the_next_sync() {
        const FULL: i64 = 2;
        const NORMAL: i64 = 1;
        let dir = tempfile::tempdir().expect("a directory");
        let store =
            Store::open(&dir.path().join("store.db"), Upgrade::Newest).unwrap_or_else(|e| panic!("{e}"));
        let tried = runtime().block_on(async {
            assert_eq!(store.run("test", set("a")).await?, FULL);
            // Nothing waits for a sync, so that a read writes nothing.
            assert!(store.told(has("a")).await? && !store.read(has("synced")).await?);
            assert_eq!(store.run_unsynced("test", set("b")).await?, NORMAL);
            assert!(store.read(has("b")).await?, "whoever reads sees it");
            assert!(!store.read(has("synced")).await?);
            // A change that fails syncs nothing, and is no change.
            let failed = store.run("test", |c| {
                c.execute("INSERT INTO meta(key, value) VALUES ('c', 'x')", [])?;
                Err::<(), _>(Fault::usage("a", "b", "c").into())
            });
            assert!(failed.await.is_err() && store.read(has("synced")).await?, "it was synced all the same");
            store.run("test", |c| Ok(c.execute("DELETE FROM meta WHERE key = 'synced'", [])?)).await?;
            assert_eq!(store.run_unsynced("test", set("d")).await?, NORMAL);
            assert!(store.told(has("d")).await? && store.read(has("synced")).await?, "it was synced before");
            // A change that is synced serves those before it.
            store.run("test", |c| Ok(c.execute("DELETE FROM meta WHERE key = 'synced'", [])?)).await?;
            assert_eq!(store.run_unsynced("test", set("e")).await?, NORMAL);
            assert_eq!(store.run("test", set("f")).await?, FULL);
            assert!(store.told(has("f")).await? && !store.read(has("synced")).await?);
            // Who reads can change nothing.
            let error = store.read(set("g")).await.err().map(|e| e.code());
            assert_eq!(error, Some(code::STORE));
            assert!(!store.read(has("g")).await?);
            Ok::<_, Fault>(())
        });
        tried.unwrap_or_else(|e| panic!("{e}"));
    }

    /// Brings everything that was written from the log into the store's file. The store's threads
    /// close it some time after the last handle is gone.
    fn settled(path: &Path) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        let busy = || {
            let connection = Connection::open(path).ok()?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0)).ok()
        };
        while busy() != Some(0) {
            assert!(std::time::Instant::now() < until, "{} is still in use", path.display());
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// A page that is damaged while the service runs is found by the daily check.
    #[test]
    fn a_store_that_is_damaged_later_is_found_by_the_check() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store.db");
        drop(Store::open(&path, Upgrade::Newest).unwrap_or_else(|e| panic!("{e}")));
        settled(&path);
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
        settled(&path);
        let mut bytes = std::fs::read(&path).expect("a file");
        assert!(bytes.len() > 3 * 4096);
        bytes[4096..3 * 4096].fill(0x5a);
        std::fs::write(&path, bytes).expect("a file");
        let error = Store::open(&path, Upgrade::Newest).err().unwrap_or_else(|| panic!("it is damaged"));
        assert!(error.code() == code::STORE && error.remedy().contains("restore"), "{error}");
    }
}
