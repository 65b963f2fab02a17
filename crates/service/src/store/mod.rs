//! The store: one SQLite file that one thread writes.
//!
//! All changes go through that thread, so nothing is ever "locked". It takes the waiting requests,
//! runs each in its own savepoint, and commits them together: one fsync serves all. A caller hears
//! of its success only after that commit. Two more connections can only read: readers wait for no
//! fsync, and see all that was committed before. A look at a few rows happens on the caller's own
//! thread, since waking another one costs more than the look. Lists have a thread.

mod migrate;
mod place;

pub(crate) use migrate::{Upgrade, schema};

use crate::{durable, failpoint};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, config::DbConfig};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, TryLockError,
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
};
use tokio::sync::oneshot;

/// LOCAL: the most requests that one commit serves.
const MOST_TOGETHER: usize = 64;
/// LOCAL: the most statements that are kept parsed.
const STATEMENTS: usize = 256;
/// LOCAL: the most requests that may wait.
const QUEUE: usize = 1024;

/// An error of a request: from SQLite, or from the request itself.
pub(crate) enum StoreError {
    /// From SQLite.
    Sql(rusqlite::Error),
    /// From the request, whose changes are discarded.
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

/// Answers, after the commit, whether the request is kept.
type Answer = Box<dyn FnOnce(Result<(), Fault>) + Send>;
/// Runs a request, or tells it why it cannot run. Returns whether its changes are kept, and its
/// answer.
type Work = Box<dyn FnOnce(Result<&Connection, Fault>) -> (bool, Answer) + Send>;

/// A waiting request.
struct Request {
    work: Work,
    /// Whether its changes must be on the disk before its caller hears of them.
    synced: bool,
}

/// The store of a party. Clones share it.
#[derive(Clone)]
pub(crate) struct Store {
    writes: SyncSender<Request>,
    reads: SyncSender<Request>,
    /// The connection for looks on callers' threads.
    looks: Arc<Mutex<Connection>>,
    path: Arc<PathBuf>,
}

impl Store {
    /// Opens the store at `path`, or makes it, and brings it to this release's schema unless
    /// `upgrade` keeps it.
    ///
    /// # Errors
    /// If the file system is not suitable, or the store is damaged or of a newer release.
    pub(crate) fn open(path: &Path, upgrade: Upgrade) -> Result<Self, Fault> {
        place::check(path)?;
        let is_new = !path.exists();
        let mut connection = connect(path)?;
        sound(&connection, path)?;
        match upgrade {
            Upgrade::Keep if !is_new => migrate::keep(&connection, path)?,
            _ => migrate::to_newest(&mut connection, path, migrate::MIGRATIONS)?,
        }
        let reader = || {
            let reader = connect(path)?;
            reader.pragma_update(None, "query_only", true).map_err(|e| broken(&e))?;
            Ok::<Connection, Fault>(reader)
        };
        let start = |name: &str, connection: Connection, serve: fn(&Connection, &Receiver<Request>)| {
            let (requests, waiting) = mpsc::sync_channel(QUEUE);
            let thread = thread::Builder::new().name(name.to_owned());
            let started = thread.spawn(move || serve(&connection, &waiting));
            started.map(|_| requests).map_err(|e| Fault::internal("starting the store", e))
        };
        Ok(Self {
            writes: start("store", connection, serve)?,
            reads: start("reads", reader()?, answer_reads)?,
            looks: Arc::new(Mutex::new(reader()?)),
            path: Arc::new(path.to_path_buf()),
        })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the file is sound, while requests go on.
    ///
    /// # Errors
    /// If it is damaged.
    pub(crate) async fn check(&self) -> Result<(), Fault> {
        let path = self.path.clone();
        let checked = tokio::task::spawn_blocking(move || sound(&connect(&path)?, &path)).await;
        checked.map_err(|e| Fault::internal("checking the store", e))?
    }

    /// Runs a request. `name` is in the names of its failpoints. When this returns, all its changes
    /// are on the disk, or none is.
    ///
    /// # Errors
    /// If the request fails, or the disk does.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        name: &'static str,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        ask(&self.writes, true, name, request).await
    }

    /// As [`run`](Self::run), for a change that the party would learn again after a power cut: it
    /// is on the disk with the next synced change. Later requests see it at once.
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

    /// Runs a request that changes nothing, whose answer this party tells others and must not
    /// forget: everything that the request sees is on the disk when this returns.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn told<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        ask(&self.writes, true, "read", request).await
    }

    /// Looks at a few rows, on this thread unless another thread is looking now.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        request: impl FnOnce(&Connection) -> Stored<T> + Send + 'static,
    ) -> Result<T, Fault> {
        match self.try_look(request) {
            Ok(found) => found,
            Err(request) => self.read(request).await,
        }
    }

    /// Looks, or gives the request back if another thread is looking.
    fn try_look<T, F: FnOnce(&Connection) -> Stored<T>>(&self, request: F) -> Result<Result<T, Fault>, F> {
        let connection = match self.looks.try_lock() {
            Ok(connection) => connection,
            Err(TryLockError::WouldBlock) => return Err(request),
            Err(TryLockError::Poisoned(e)) => {
                // A look that panicked keeps the write-ahead log from being emptied until its
                // transaction ends.
                let connection = e.into_inner();
                let _ = connection.execute_batch("ROLLBACK");
                self.looks.clear_poison();
                connection
            }
        };
        let passed = failpoint::pass(|| "store.before.read".to_owned()).map_err(|e| disk(&e).into());
        Ok(passed.and_then(|()| at_one_moment(&connection, request)).map_err(Fault::from))
    }

    /// Runs a request that changes nothing and may take long.
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

/// Queues a request for a thread, and waits for its answer.
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
            // The caller may be gone.
            drop(tell.send(
                done.map_err(Fault::from).and_then(|done| committed.and_then(|()| after()).map(|()| done)),
            ));
        });
        (keep, answer)
    });
    let gone = || Fault::internal("asking the store", "its thread has ended");
    // A full queue makes only the caller wait.
    if let Err(mpsc::TrySendError::Full(request) | mpsc::TrySendError::Disconnected(request)) =
        queue.try_send(Request { work, synced })
    {
        let queue = queue.clone();
        let sent = tokio::task::spawn_blocking(move || queue.send(request)).await;
        sent.map_err(|_| gone())?.map_err(|_| gone())?;
    }
    told.await.map_err(|_| gone())?
}

/// Opens the file with the settings that all connections have.
pub(crate) fn connect(path: &Path) -> Result<Connection, Fault> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", durable::checkpoint())?;
        connection.busy_timeout(std::time::Duration::from_secs(5))?;
        // A statement is planned once, not again for each value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    };
    open().map_err(|e| broken(&e).within(path.display()))
}

/// Checks that a store is sound. A damaged store stops the daemon: going on would lose more.
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

/// An error of the disk, as the fault of a request.
pub(crate) fn disk(e: &std::io::Error) -> Fault {
    Fault::new(code::STORE, "writing the store", e, hushwire_fault::io_remedy(e))
}

/// An error of SQLite, as a fault.
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

/// Runs a statement that is parsed once.
fn step(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Takes the waiting requests together with the first one.
fn waiting_with(first: Request, waiting: &Receiver<Request>) -> Vec<Request> {
    let mut all = vec![first];
    while all.len() < MOST_TOGETHER
        && let Ok(next) = waiting.try_recv()
    {
        all.push(next);
    }
    all
}

/// Runs a request that sees the store at one moment.
fn at_one_moment<T>(connection: &Connection, request: impl FnOnce(&Connection) -> Stored<T>) -> Stored<T> {
    step(connection, "BEGIN")?;
    let found = request(connection);
    if let Err(e) = step(connection, "COMMIT") {
        let _ = connection.execute_batch("ROLLBACK");
        return found.and(Err(e.into()));
    }
    found
}

/// Answers requests that change nothing, until all handles are dropped.
fn answer_reads(connection: &Connection, waiting: &Receiver<Request>) {
    while let Ok(first) = waiting.recv() {
        // They see the store at one moment.
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

/// Begins a transaction whose commit is synced, or not.
fn begin(connection: &Connection, synced: bool, syncs: &mut bool) -> rusqlite::Result<()> {
    if synced != *syncs {
        step(connection, if synced { "PRAGMA synchronous = FULL" } else { "PRAGMA synchronous = NORMAL" })?;
        *syncs = synced;
    }
    step(connection, "BEGIN IMMEDIATE")
}

/// A change without meaning, which lets the changes before it be synced.
const MARK: &str =
    "INSERT INTO meta(key, value) VALUES ('synced', '') ON CONFLICT(key) DO UPDATE SET value = ''";

/// Serves requests until all handles are dropped.
fn serve(connection: &Connection, waiting: &Receiver<Request>) {
    let path = connection.path().map(PathBuf::from).unwrap_or_default();
    // Whether the next commit is synced, and whether a commit before it was not.
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
        // A request that is alone needs no savepoint, since it has the transaction to itself.
        let mut alone = all.len() == 1;
        // Requests that came meanwhile are served, too, unless this commit is not synced.
        let more = || waiting.try_recv().ok();
        while let Some(request) = all.next().or_else(|| if synced { more() } else { None }) {
            let before = connection.total_changes();
            let (keep, answer) = if std::mem::take(&mut alone) {
                in_transaction(connection, request.work)
            } else {
                in_savepoint(connection, request.work)
            };
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
            durable::committed(connection, &path);
        }
        for (_, answer) in answers {
            answer(committed.clone());
        }
    }
}

/// Runs a request that has the transaction to itself. If it fails, a new transaction without
/// changes is open.
fn in_transaction(connection: &Connection, work: Work) -> (bool, Answer) {
    let (keep, answer) = work(Ok(connection));
    if !keep {
        // If this fails, the commit fails, too.
        let _ = step(connection, "ROLLBACK").and_then(|()| step(connection, "BEGIN IMMEDIATE"));
    }
    (keep, answer)
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
        // Another connection sees what was committed.
        let other = connect(&path).unwrap_or_else(|e| panic!("{e}"));
        let kept: i64 = other
            .query_row("SELECT count(*) FROM meta WHERE value = 'x'", [], |row| row.get(0))
            .expect("a row");
        assert_eq!(kept, 133);
    }

    /// Whether commits are synced, as SQLite reports it on this connection.
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
            // Nothing waits for a sync, so a read writes nothing.
            assert!(store.told(has("a")).await? && !store.read(has("synced")).await?);
            assert_eq!(store.run_unsynced("test", set("b")).await?, NORMAL);
            assert!(store.read(has("b")).await?, "whoever reads sees it");
            assert!(!store.read(has("synced")).await?);
            // A change that fails is rolled back, but earlier changes are synced.
            let failed = store.run("test", |c| {
                c.execute("INSERT INTO meta(key, value) VALUES ('c', 'x')", [])?;
                Err::<(), _>(Fault::usage("a", "b", "c").into())
            });
            assert!(failed.await.is_err() && store.read(has("synced")).await?, "it was synced all the same");
            store.run("test", |c| Ok(c.execute("DELETE FROM meta WHERE key = 'synced'", [])?)).await?;
            assert_eq!(store.run_unsynced("test", set("d")).await?, NORMAL);
            assert!(store.told(has("d")).await? && store.read(has("synced")).await?, "it was synced before");
            // A synced change also syncs the changes before it.
            store.run("test", |c| Ok(c.execute("DELETE FROM meta WHERE key = 'synced'", [])?)).await?;
            assert_eq!(store.run_unsynced("test", set("e")).await?, NORMAL);
            assert_eq!(store.run("test", set("f")).await?, FULL);
            assert!(store.told(has("f")).await? && !store.read(has("synced")).await?);
            // A reader cannot change anything.
            let error = store.read(set("g")).await.err().map(|e| e.code());
            assert_eq!(error, Some(code::STORE));
            let error = store.look(set("g")).await.err().map(|e| e.code());
            assert_eq!(error, Some(code::STORE));
            assert!(!store.read(has("g")).await? && !store.look(has("g")).await?);
            // The failed change was alone in its transaction, which kept none of it.
            assert!(!store.read(has("c")).await? && store.look(has("f")).await?);
            Ok::<_, Fault>(())
        });
        tried.unwrap_or_else(|e| panic!("{e}"));
    }

    /// Otherwise the log could never be emptied, and would grow for ever.
    #[test]
    fn a_look_that_panics_holds_nothing_back_and_one_that_is_in_the_way_is_no_obstacle() {
        let dir = tempfile::tempdir().expect("a directory");
        let store =
            Store::open(&dir.path().join("store.db"), Upgrade::Newest).unwrap_or_else(|e| panic!("{e}"));
        let gone = store.clone();
        let gone = thread::spawn(move || {
            let look = gone.look(|c| -> Stored<i64> {
                has("a")(c)?;
                panic!("a test's own");
            });
            runtime().block_on(look).is_ok()
        });
        assert!(gone.join().is_err());
        let all = runtime().block_on(async {
            store.run("test", set("a")).await?;
            let seen = store.look(has("a")).await?;
            // This thread does not wait while another one looks.
            let (begins, begun) = mpsc::channel();
            let (ends, end) = mpsc::channel::<()>();
            let other = store.clone();
            let other = thread::spawn(move || {
                let look = other.look(move |_| {
                    begins.send(()).expect("somebody waits");
                    end.recv().expect("somebody tells");
                    Ok(())
                });
                runtime().block_on(look)
            });
            begun.recv().expect("it looks");
            let beside = store.look(has("a")).await?;
            ends.send(()).expect("it looks");
            other.join().expect("no panic")?;
            Ok::<_, Fault>(seen && beside)
        });
        assert!(all.unwrap_or_else(|e| panic!("{e}")));
        drop(store);
        settled(&dir.path().join("store.db"));
    }

    /// Moves everything from the log into the store's file. The store's threads close it some time
    /// after the last handle is dropped.
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

    /// The daily check finds a page that is damaged while the service runs.
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
