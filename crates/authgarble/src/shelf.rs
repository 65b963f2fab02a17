//! Stocks on disk, each used once: the only part of this crate that does I/O.
//!
//! ```text
//! DIR/NAME.stock     a sealed stock; written beside, synced, and linked to its name, so that it is whole or not there
//! DIR/.*.part        one that is being written; whoever opens the directory while nobody writes removes what a crash left
//! DIR/used           names of stocks that were taken, 32 bytes each, appended and synced before the stock is handed out
//! ```
//!
//! A stock whose name is in `used` is refused, copied back or not. Whatever is killed between two writes leaves either a stock that nobody
//! has seen, or one that is used. `used` must stay: with it a party forgets what it has opened.

use crate::Stock;
use hushwire_aes::Backend;
use hushwire_prg::Seed;
use rustix::fs::{FlockOperation, flock};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};
use thiserror::Error;

const NAME: usize = 32;

/// The reason why a stock cannot be kept or taken.
#[derive(Debug, Error)]
pub enum ShelfError {
    /// The file was read, and its triples were used before.
    #[error("{path}: this preprocessing was used before, and may not be used again; delete that file")]
    Used {
        /// The file.
        path: PathBuf,
    },
    /// The file is none of this party's stocks, or was changed.
    #[error(
        "{path}: this is no preprocessing under this key, or it was changed; delete that file, or put back the private key under which it was made"
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The operating system's error.
    #[error("{path}: {source}; look after the directory of preprocessings, which must be writable")]
    Io {
        /// The file.
        path: PathBuf,
        /// Its reason.
        source: io::Error,
    },
}

/// A directory of one party's stocks.
pub struct Shelf {
    dir: PathBuf,
    key: Seed,
    /// Steps until a test ends this process' life, as kill -9 would.
    #[cfg(test)]
    pub(crate) life: std::cell::Cell<usize>,
}

impl Shelf {
    /// The directory, made if it is not there; `key` is this party's secret.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(dir: &Path, key: Seed) -> Result<Shelf, ShelfError> {
        let ready = || {
            fs::create_dir_all(dir)?;
            sweep(dir)
        };
        ready().map_err(|source| ShelfError::Io { path: dir.to_owned(), source })?;
        Ok(Shelf {
            dir: dir.to_owned(),
            key,
            #[cfg(test)]
            life: std::cell::Cell::new(usize::MAX),
        })
    }

    #[cfg(test)]
    fn step(&self) -> io::Result<()> {
        let left = self.life.get();
        self.life.set(left.saturating_sub(1));
        if left > 0 {
            return Ok(());
        }
        if std::env::var_os(tests::CHILD).is_some() {
            // Nothing of this process runs after it: no destructor, no flush.
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
        }
        Err(io::Error::other("killed"))
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "a test's step may fail")]
    fn step(&self) -> io::Result<()> {
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Keeps a stock under a name; where there is one of that name already, that is an error.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put(&self, name: &str, stock: Stock) -> Result<(), ShelfError> {
        let path = self.path(&format!("{name}.stock"));
        let (id, sealed) = stock.seal(&self.key);
        let beside = self.path(&format!(".{}.part", hex(&id[..8])));
        let write = || {
            // Held while the file is there, so that nobody takes it for what a crash left.
            let dir = File::open(&self.dir)?;
            flock(&dir, FlockOperation::LockShared)?;
            self.step()?;
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
            let (head, tail) = sealed.split_at(sealed.len() / 2);
            self.step()?;
            file.write_all(head)?;
            self.step()?;
            file.write_all(tail)?;
            self.step()?;
            file.sync_all()?;
            self.step()?;
            fs::hard_link(&beside, &path)?;
            self.step()?;
            fs::remove_file(&beside)?;
            self.step()?;
            dir.sync_all()
        };
        write().map_err(|source| ShelfError::Io { path: path.clone(), source })
    }

    /// Names of the stocks that are there, used ones that somebody copied back among them, in order.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn names(&self) -> Result<Vec<String>, ShelfError> {
        let io = |source| ShelfError::Io { path: self.dir.clone(), source };
        let mut names = vec![];
        for entry in fs::read_dir(&self.dir).map_err(io)? {
            let file = entry.map_err(io)?.file_name();
            names.extend(file.to_str().and_then(|name| name.strip_suffix(".stock")).map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Takes a stock: it is marked as used before this returns, and its file is removed.
    ///
    /// # Errors
    /// It was used before, it is of another key, or a file cannot be read or written.
    pub fn take(&self, backend: Backend, name: &str) -> Result<Stock, ShelfError> {
        let path = self.path(&format!("{name}.stock"));
        let io = |source| ShelfError::Io { path: path.clone(), source };
        self.step().map_err(io)?;
        let sealed = fs::read(&path).map_err(io)?;
        let Some((id, stock)) = Stock::unseal(backend, &self.key, sealed) else {
            return Err(ShelfError::Foreign { path });
        };
        if !self.mark(&id).map_err(io)? {
            return Err(ShelfError::Used { path });
        }
        self.step().map_err(io)?;
        fs::remove_file(&path).map_err(io)?;
        Ok(stock)
    }

    /// Marks a name as used; false where it is already.
    fn mark(&self, id: &[u8; NAME]) -> io::Result<bool> {
        self.step()?;
        let path = self.path("used");
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        // Until the file is closed, so that of two processes one waits for what the other marks.
        flock(&file, FlockOperation::LockExclusive)?;
        self.step()?;
        let mut used = Vec::new();
        file.read_to_end(&mut used)?;
        if used.chunks_exact(NAME).any(|old| old == id) {
            return Ok(false);
        }
        // A name that was cut off by a crash was never handed out.
        let whole = used.len() - used.len() % NAME;
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::Start(whole as u64))?;
        let (head, tail) = id.split_at(NAME / 2);
        self.step()?;
        file.write_all(head)?;
        self.step()?;
        file.write_all(tail)?;
        self.step()?;
        file.sync_all()?;
        self.step()?;
        File::open(&self.dir)?.sync_all()?;
        Ok(true)
    }
}

/// Removes the parts of stocks whose writers are gone: those that are there while nobody holds the directory's lock.
fn sweep(dir: &Path) -> io::Result<()> {
    let lock = File::open(dir)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(()),
        Err(e) => return Err(e.into()),
    }
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') && name.ends_with(".part") {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Form, Need,
        rig::{World, random_circuit, run, seed, stocks},
    };
    use hushwire_prg::Prg;

    /// Tells a process of the tests what to do, in which directory, and after how many steps it is killed.
    pub(super) const CHILD: &str = "HUSHWIRE_SHELF_CHILD";

    /// The work of a process that [`killed_processes_hand_out_nothing_twice`] kills.
    #[test]
    fn child() {
        let Ok(told) = std::env::var(CHILD) else { return };
        let mut told = told.splitn(3, ':');
        let mut next = || told.next().expect("three words").to_owned();
        let (what, life, dir) = (next(), next().parse().expect("a number"), next());
        let shelf = shelf(Path::new(&dir), 0);
        shelf.life.set(life);
        if what == "put" {
            let stock = stocks(91, 2, Need { triples: 0, masks: 20 }).remove(0);
            shelf.put("a", stock).expect("it is kept");
        } else {
            shelf.take(Backend::best(), "a").expect("it is there");
            fs::write(Path::new(&dir).join("handed"), "").expect("a file");
        }
    }

    /// A process with these orders, killed or not.
    fn run_child(dir: &Path, what: &str, life: usize) -> bool {
        use std::os::unix::process::ExitStatusExt;
        let this = std::env::current_exe().expect("this test");
        let ran = std::process::Command::new(this)
            .args(["--exact", "shelf::tests::child", "--test-threads=1"])
            .env(CHILD, format!("{what}:{life}:{}", dir.display()))
            .output()
            .expect("a process");
        assert!(ran.status.success() || ran.status.signal() == Some(9), "{ran:?}");
        ran.status.success()
    }

    /// The same with processes, which are killed between any two writes by a signal that they cannot see.
    #[test]
    fn killed_processes_hand_out_nothing_twice() {
        let all = tempfile::tempdir().expect("a directory");
        let life = |what: &str, life: usize| {
            let dir = all.path().join(format!("{what}{life}"));
            let ended = run_child(&dir, what, life);
            (dir, ended)
        };
        let mut kept = 0;
        for steps in 0.. {
            let (dir, ended) = life("put", steps);
            let taken = shelf(&dir, 0).take(Backend::best(), "a");
            assert!(!ended || taken.is_ok(), "whole when it was kept");
            assert!(taken.is_ok() || matches!(taken, Err(ShelfError::Io { .. })), "whole or not there");
            kept += usize::from(taken.is_ok());
            if ended {
                assert!(steps >= 7, "killed between all writes");
                break;
            }
        }
        assert!(kept >= 2);
        let (mut handed, mut refused) = (0, 0);
        for steps in 0.. {
            let dir = all.path().join(format!("take{steps}"));
            assert!(run_child(&dir, "put", usize::MAX));
            let path = dir.join("0").join("a.stock");
            let copy = fs::read(&path).expect("it is there");
            let ended = run_child(&dir, "take", steps);
            assert_eq!(ended, dir.join("handed").exists());
            handed += usize::from(ended);
            // Put back by whoever repairs what a crash has left.
            fs::write(&path, &copy).expect("copied back");
            let again = shelf(&dir, 0).take(Backend::best(), "a");
            assert!(!(ended && again.is_ok()), "handed out twice after {steps} steps");
            refused += usize::from(matches!(again, Err(ShelfError::Used { .. })));
            fs::write(&path, &copy).expect("copied back");
            let again = shelf(&dir, 0).take(Backend::best(), "a");
            assert!(matches!(again, Err(ShelfError::Used { .. })), "used by then, whoever used it");
            if ended {
                assert!(steps >= 8, "killed between all writes");
                break;
            }
        }
        assert!(handed == 1 && refused >= 3, "marked before it is handed out: {refused}");
    }

    fn parts(dir: &Path) -> usize {
        let names = fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".part")).count()
    }

    /// Parts that somebody writes stay; those that a crash left go.
    #[test]
    fn only_parts_that_nobody_writes_are_removed() {
        let all = tempfile::tempdir().expect("a directory");
        drop(shelf(all.path(), 0));
        let dir = all.path().join("0");
        fs::write(dir.join(".00ff.part"), "a piece").expect("a file");
        let writing = File::open(&dir).expect("the directory");
        flock(&writing, FlockOperation::LockShared).expect("a lock");
        drop(shelf(all.path(), 0));
        assert_eq!(parts(&dir), 1, "somebody writes it");
        drop(writing);
        drop(shelf(all.path(), 0));
        assert_eq!(parts(&dir), 0, "nobody writes it");
    }

    fn shelf(dir: &Path, party: usize) -> Shelf {
        Shelf::open(&dir.join(party.to_string()), seed(3, party)).expect("a directory")
    }

    /// Preprocessing that waited on disk serves as well as any, once.
    #[test]
    fn stocks_from_disk_run_once() {
        let mut prg = Prg::new(Backend::best(), &seed(3, 9), "shelf");
        let program = random_circuit(&mut prg);
        let world = World::new(&mut prg, &program, 3, 2, Form::Rows);
        let dir = tempfile::tempdir().expect("a directory");
        for (p, stock) in stocks(90, 3, world.task.need()).into_iter().enumerate() {
            shelf(dir.path(), p).put("a", stock).expect("it is kept");
        }
        let file = |p: usize| dir.path().join(p.to_string()).join("a.stock");
        assert_eq!(shelf(dir.path(), 1).names().expect("a directory"), ["a"]);
        let copy = fs::read(file(1)).expect("it is there");
        let mut all: Vec<_> =
            (0..3).map(|p| shelf(dir.path(), p).take(Backend::best(), "a").expect("it is there")).collect();
        let garbled = run(all.iter_mut().map(|stock| stock.garble(&world.task)).collect()).expect("honest");
        assert!(world.evaluate(garbled).expect("honest") == world.outputs);
        assert!(matches!(shelf(dir.path(), 1).take(Backend::best(), "a"), Err(ShelfError::Io { .. })));
        assert!(shelf(dir.path(), 1).names().expect("a directory").is_empty());
        // Copied back, it is known; changed or under another key, it is nobody's.
        fs::write(file(1), &copy).expect("a file");
        assert!(matches!(shelf(dir.path(), 1).take(Backend::best(), "a"), Err(ShelfError::Used { .. })));
        for place in [0, 30, 60, copy.len() / 2, copy.len() - 1] {
            let mut changed = copy.clone();
            changed[place] ^= 1;
            fs::write(file(1), &changed).expect("a file");
            let taken = shelf(dir.path(), 1).take(Backend::best(), "a");
            assert!(matches!(taken, Err(ShelfError::Foreign { .. })), "{place}");
        }
        fs::write(file(2), &copy).expect("a file");
        assert!(matches!(shelf(dir.path(), 2).take(Backend::best(), "a"), Err(ShelfError::Foreign { .. })));
    }

    /// Killed after any step of a write, a stock is whole or not there; after any of a take, it is handed out once at most.
    #[test]
    fn whoever_is_killed_hands_out_nothing_twice() {
        let need = Need { triples: 0, masks: 20 };
        for life in 0..8 {
            let dir = tempfile::tempdir().expect("a directory");
            let first = shelf(dir.path(), 0);
            first.life.set(life);
            let stock = stocks(91, 2, need).remove(0);
            let kept = first.put("a", stock).is_ok();
            assert_eq!(kept, life >= 7);
            let taken = shelf(dir.path(), 0).take(Backend::best(), "a");
            assert_eq!(taken.is_ok(), life >= 5, "linked, and so whole, from the fifth step on");
            assert_eq!(parts(&dir.path().join("0")), 0, "nothing is left over after {life} steps");
        }
        let mut refused = 0;
        for life in 0..9 {
            let dir = tempfile::tempdir().expect("a directory");
            let stock = stocks(91, 2, need).remove(0);
            shelf(dir.path(), 0).put("a", stock).expect("it is kept");
            let path = dir.path().join("0").join("a.stock");
            let copy = fs::read(&path).expect("it is there");
            let killed = shelf(dir.path(), 0);
            killed.life.set(life);
            let handed = killed.take(Backend::best(), "a").is_ok();
            fs::write(&path, &copy).expect("copied back");
            let again = shelf(dir.path(), 0).take(Backend::best(), "a");
            assert!(!(handed && again.is_ok()), "handed out twice after {life} steps");
            refused += usize::from(matches!(again, Err(ShelfError::Used { .. })));
            // Once more, whatever happened before.
            fs::write(&path, &copy).expect("copied back");
            assert!(matches!(shelf(dir.path(), 0).take(Backend::best(), "a"), Err(ShelfError::Used { .. })));
        }
        assert!(refused >= 3, "marked before it is handed out");
    }
}
