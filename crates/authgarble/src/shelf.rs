//! Stocks and garbled circuits on disk, each used once. This is the only part of the crate that
//! does I/O.
//!
//! ```text
//! DIR/NAME.stock     a sealed stock, of the function-independent phase
//! DIR/NAME.garbled   sealed garbled circuits of one run, of the function-dependent phase
//! DIR/.*.part        one that is being written; whoever opens the directory while nobody writes
//!                    removes what a crash left
//! DIR/used           names of what was taken, 32 bytes each, appended and synced before it is
//!                    handed out
//! ```
//!
//! A file is written under another name, synced, and linked to its name, so that it is either
//! complete or absent. A file whose name is in `used` is refused, even if it was copied back. A
//! process that is killed between two writes leaves a file that nobody has seen, or one that is
//! marked as used. `used` must be kept: without it a party forgets which files it has opened, and a
//! garbler that opens the labels of a circuit twice reveals everything to the evaluator.

use crate::{
    Garbled, Stock, Task,
    sealed::Unsealed,
    sealed_garbled::{self, Refused},
};
use hushwire_aes::Backend;
use hushwire_fault::{Fault, IntoText, Text, code};
use hushwire_machine::NetError;
use hushwire_prg::Seed;
use rustix::fs::{FlockOperation, flock};
use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

const NAME: usize = 32;

/// The endings of file names.
const STOCK: &str = "stock";
const GARBLED: &str = "garbled";

/// The reason why preprocessing cannot be stored or taken.
#[derive(Debug)]
pub enum ShelfError {
    /// The file's contents were used before.
    Used {
        /// The file.
        path: PathBuf,
    },
    /// This process is a fork of the one that made the preprocessing, which may still use it.
    Forked(NetError),
    /// There is no file of that name, or no longer.
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The file was sealed by another party, or was changed.
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by another version of this program.
    Version {
        /// The file.
        path: PathBuf,
    },
    /// The file holds circuits of another party, or of another number of parties.
    Party {
        /// The file.
        path: PathBuf,
        /// Party and number of parties in the file.
        found: [usize; 2],
        /// The requested party and number of parties.
        expected: [usize; 2],
    },
    /// The file holds another circuit, or the same circuit for other roles, another form or another
    /// number of instances.
    Circuit {
        /// The file.
        path: PathBuf,
    },
    /// The operating system's error.
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

impl ShelfError {
    /// The error's code, and the texts of the table.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let of = |code, path: &Path| Fault::of(code, &[("path", path.display().into_text())]);
        match self {
            Self::Used { path } => of(code::SHELF_USED, path),
            Self::Forked(e) => e.fault(),
            Self::Gone { path } => of(code::SHELF_GONE, path),
            Self::Foreign { path } => of(code::SHELF_FOREIGN, path),
            Self::Version { path } => of(code::SHELF_VERSION, path),
            Self::Party { path, found, expected } => {
                let place = |[party, n]: [usize; 2]| Text::from(format!("party {party} of {n}"));
                let path = path.display().into_text();
                Fault::of(
                    code::SHELF_PARTY,
                    &[("path", path), ("found", place(*found)), ("expected", place(*expected))],
                )
            }
            Self::Circuit { path } => of(code::SHELF_CIRCUIT, path),
            Self::Io { path, source } => Fault::of(
                code::SHELF_IO,
                &[("path", path.display().into_text()), ("cause", source.into_text())],
            ),
        }
    }
}

impl fmt::Display for ShelfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault().clauses())
    }
}

impl std::error::Error for ShelfError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A directory of one party's preprocessing.
pub struct Shelf {
    dir: PathBuf,
    key: Seed,
    /// The number of steps after which a test ends this process, as kill -9 would.
    #[cfg(test)]
    pub(crate) life: std::cell::Cell<usize>,
    /// A test's record of the operations on the disk, in order.
    #[cfg(test)]
    pub(crate) done: std::cell::RefCell<Vec<&'static str>>,
}

impl Shelf {
    /// Opens the directory, and makes it if it does not exist; `key` is this party's secret.
    ///
    /// # Errors
    /// The directory cannot be made.
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
            #[cfg(test)]
            done: std::cell::RefCell::default(),
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
            // Nothing of this process runs after the kill: no destructor, no flush.
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)?;
        }
        Err(io::Error::other("killed"))
    }

    #[cfg(not(test))]
    #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "a test's step may fail")]
    fn step(&self) -> io::Result<()> {
        Ok(())
    }

    /// Passes on the result of a disk operation; a test records it.
    #[cfg_attr(not(test), allow(clippy::unused_self, reason = "a test listens"))]
    fn done<T>(&self, _what: &'static str, result: io::Result<T>) -> io::Result<T> {
        #[cfg(test)]
        if result.is_ok() {
            self.done.borrow_mut().push(_what);
        }
        result
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Stores a stock under a name. It is an error if a stock of that name exists.
    ///
    /// # Errors
    /// The file cannot be written, or this process is a fork of the one that made the stock.
    pub fn put(&self, name: &str, stock: Stock) -> Result<(), ShelfError> {
        stock.process.check("keeping preprocessing").map_err(ShelfError::Forked)?;
        self.keep(&format!("{name}.{STOCK}"), stock.seal(&self.key))
    }

    /// Stores the garbled circuits of one run, in the order in which the run takes them, under a
    /// name that no garbled circuits have yet.
    ///
    /// # Errors
    /// The file cannot be written, or this process is a fork of the one that garbled.
    ///
    /// # Panics
    /// If there is no circuit, or the circuits belong to several parties (the caller's bug).
    pub fn put_garbled(&self, name: &str, circuits: Vec<Garbled>) -> Result<(), ShelfError> {
        for circuit in &circuits {
            circuit.process.check("keeping preprocessing").map_err(ShelfError::Forked)?;
        }
        let sealed = sealed_garbled::seal(&circuits, &self.key);
        // From here on the circuits exist on the disk or nowhere.
        drop(circuits);
        self.keep(&format!("{name}.{GARBLED}"), sealed)
    }

    fn keep(&self, file: &str, (id, sealed): ([u8; NAME], Vec<u8>)) -> Result<(), ShelfError> {
        let path = self.path(file);
        let beside = self.path(&format!(".{}.part", hex(&id[..8])));
        let write = || {
            // The lock is held while the file exists, so that no other process takes the file for
            // the rest of a crash.
            let dir = File::open(&self.dir)?;
            flock(&dir, FlockOperation::LockShared)?;
            self.step()?;
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
            let (head, tail) = sealed.split_at(sealed.len() / 2);
            self.step()?;
            self.done("write", file.write_all(head))?;
            self.step()?;
            self.done("write", file.write_all(tail))?;
            self.step()?;
            self.done("sync", file.sync_all())?;
            self.step()?;
            self.done("link", fs::hard_link(&beside, &path))?;
            self.step()?;
            fs::remove_file(&beside)?;
            self.step()?;
            self.done("sync directory", dir.sync_all())
        };
        write().map_err(|source| ShelfError::Io { path: path.clone(), source })
    }

    /// The names of the stocks in the directory, in order. Used stocks that were copied back are
    /// among them.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn names(&self) -> Result<Vec<String>, ShelfError> {
        self.ending(STOCK)
    }

    /// The names of the garbled circuits in the directory, in order. Used ones that were copied
    /// back are among them.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn garbled_names(&self) -> Result<Vec<String>, ShelfError> {
        self.ending(GARBLED)
    }

    fn ending(&self, end: &str) -> Result<Vec<String>, ShelfError> {
        let io = |source| ShelfError::Io { path: self.dir.clone(), source };
        let mut names = vec![];
        for entry in fs::read_dir(&self.dir).map_err(io)? {
            let file = entry.map_err(io)?.file_name();
            let name = file.to_str().and_then(|name| name.strip_suffix(end)?.strip_suffix('.'));
            names.extend(name.map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Takes a stock. Before this returns, the stock is marked as used and its file is removed.
    ///
    /// # Errors
    /// The stock was used before, is missing or has another key, or a file cannot be read or
    /// written.
    pub fn take(&self, backend: Backend, name: &str) -> Result<Stock, ShelfError> {
        self.hand_out(&format!("{name}.{STOCK}"), |sealed| {
            Stock::unseal(backend, &self.key, sealed).map_err(Refused::Bytes)
        })
    }

    /// Takes the garbled circuits of these tasks as party `me` among `n`. Before this returns, they
    /// are marked as used and their file is removed. A file that is refused is neither marked nor
    /// removed.
    ///
    /// # Errors
    /// The circuits were used before, are missing or have another key, party or task, or a file
    /// cannot be read or written.
    pub fn take_garbled(
        &self,
        backend: Backend,
        name: &str,
        [me, n]: [usize; 2],
        tasks: &[Task],
    ) -> Result<Vec<Garbled>, ShelfError> {
        self.hand_out(&format!("{name}.{GARBLED}"), |sealed| {
            sealed_garbled::unseal(backend, &self.key, sealed, [me, n], tasks)
        })
    }

    fn hand_out<T>(
        &self,
        file: &str,
        unseal: impl FnOnce(Vec<u8>) -> Result<([u8; NAME], T), Refused>,
    ) -> Result<T, ShelfError> {
        let path = self.path(file);
        let io = |source| ShelfError::Io { path: path.clone(), source };
        self.step().map_err(io)?;
        let sealed = match fs::read(&path) {
            Ok(sealed) => sealed,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(ShelfError::Gone { path }),
            Err(e) => return Err(io(e)),
        };
        let (id, contents) = match unseal(sealed) {
            Ok(unsealed) => unsealed,
            Err(Refused::Bytes(Unsealed::Foreign)) => return Err(ShelfError::Foreign { path }),
            Err(Refused::Bytes(Unsealed::Version)) => return Err(ShelfError::Version { path }),
            Err(Refused::Party([found, expected])) => {
                return Err(ShelfError::Party { path, found, expected });
            }
            Err(Refused::Circuit) => return Err(ShelfError::Circuit { path }),
        };
        if !self.mark(&id).map_err(io)? {
            return Err(ShelfError::Used { path });
        }
        self.step().map_err(io)?;
        self.done("remove", fs::remove_file(&path)).map_err(io)?;
        Ok(contents)
    }

    /// Marks a name as used; returns false if it was marked before.
    fn mark(&self, id: &[u8; NAME]) -> io::Result<bool> {
        self.step()?;
        let path = self.path("used");
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        // The lock is held until the file is closed: a second process waits, and then sees the mark
        // of the first.
        flock(&file, FlockOperation::LockExclusive)?;
        self.step()?;
        let mut used = Vec::new();
        file.read_to_end(&mut used)?;
        if used.chunks_exact(NAME).any(|old| old == id) {
            return Ok(false);
        }
        // A name that a crash cut off was never handed out.
        let whole = used.len() - used.len() % NAME;
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::Start(whole as u64))?;
        let (head, tail) = id.split_at(NAME / 2);
        self.step()?;
        self.done("mark", file.write_all(head))?;
        self.step()?;
        self.done("mark", file.write_all(tail))?;
        self.step()?;
        self.done("sync marks", file.sync_all())?;
        self.step()?;
        self.done("sync directory", File::open(&self.dir)?.sync_all())?;
        Ok(true)
    }
}

/// Removes partial files whose writers are gone: those that exist while nobody holds the
/// directory's lock.
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
mod tests;
