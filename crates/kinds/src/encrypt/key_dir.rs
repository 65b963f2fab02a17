//! The directory of one key: three shares, the ledger of counters, and a lock.

use super::{ledger::Ledger, share_file};
use hushwire_session::{Fault, NewFile, Warning};
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// An open key directory. If it holds neither a key nor a ledger when this value is dropped, it is
/// left as it was before. A run that fails early therefore leaves nothing behind.
pub struct KeyDir {
    path: PathBuf,
    open_to_others: bool,
    /// Whether this value created the directory.
    made: bool,
}

/// Prevents other runs from choosing counters or a key at the same time.
pub struct Locked {
    _file: File,
}

/// The shares that a directory holds.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Holds {
    /// No share files.
    Nothing,
    /// All three share files: a key.
    Key,
}

/// LOCAL: the number of tries to make a directory or a lock that another, failing run removes at
/// the same time.
const TRIES: usize = 100;
/// The name of the lock's file.
const LOCK: &str = "lock";

/// Tests whether a path still leads to this file.
fn is_at(file: &File, path: &Path) -> bool {
    let of = |meta: io::Result<fs::Metadata>| meta.map(|meta| (meta.dev(), meta.ino())).ok();
    let ours = of(file.metadata());
    ours.is_some() && ours == of(fs::metadata(path))
}

impl Drop for KeyDir {
    fn drop(&mut self) {
        // A file that cannot be removed does no harm.
        let _ = self.tidy();
    }
}

impl KeyDir {
    /// Opens `path`, or creates it with mode 0700.
    ///
    /// # Errors
    /// It cannot be created, or is not a directory.
    pub fn create(path: &Path) -> Result<Self, Fault> {
        for _ in 0..TRIES {
            match DirBuilder::new().mode(0o700).create(path) {
                Ok(()) => return Ok(Self { path: path.to_path_buf(), open_to_others: false, made: true }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Fault::io("make the key directory", path, &e)),
            }
            match fs::metadata(path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                _ => break,
            }
        }
        Self::open(path)
    }

    /// Opens `path`.
    ///
    /// # Errors
    /// It does not exist, or is not a directory.
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let meta = fs::metadata(path).map_err(|e| Fault::io("open the key directory", path, &e))?;
        if !meta.is_dir() {
            let e = io::ErrorKind::NotADirectory.into();
            return Err(Fault::io("open the key directory", path, &e));
        }
        let open_to_others = meta.permissions().mode() & 0o077 != 0;
        Ok(Self { path: path.to_path_buf(), open_to_others, made: false })
    }

    /// The warning if other users can read the directory.
    #[must_use]
    pub fn warning(&self) -> Option<Warning> {
        let path = self.path.display();
        let (cause, remedy) =
            (format!("other users can look into {path}"), format!("run `chmod 700 {path}`"));
        self.open_to_others.then_some(Warning { cause, remedy })
    }

    /// Its path, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until no other run holds the lock.
    ///
    /// # Errors
    /// The file of the lock cannot be created.
    pub fn lock(&self) -> Result<Locked, Fault> {
        let path = self.path.join(LOCK);
        for _ in 0..TRIES {
            let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
            let file = match open {
                // A run that failed has just removed the directory, which was empty.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    match DirBuilder::new().mode(0o700).create(&self.path) {
                        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(Fault::io("make the key directory", &self.path, &e));
                        }
                        _ => continue,
                    }
                }
                open => open.and_then(|file| file.lock().map(|()| file)),
            };
            let file = file.map_err(|e| Fault::io("lock", &path, &e))?;
            // A failing run may have removed the file itself, and others then lock a new file of
            // that name.
            if is_at(&file, &path) {
                return Ok(Locked { _file: file });
            }
        }
        Err(Fault::file("lock", &path, "it comes and goes", "see what removes it"))
    }

    /// Removes the lock's file if the directory holds nothing else and nobody holds the lock, and
    /// the directory if it was created for this run.
    fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            if entry?.file_name() != LOCK {
                return Ok(());
            }
        }
        let path = self.path.join(LOCK);
        if let Ok(file) = OpenOptions::new().write(true).open(&path)
            && file.try_lock().is_ok()
            && is_at(&file, &path)
        {
            fs::remove_file(&path)?;
        }
        if self.made { fs::remove_dir(&self.path) } else { Ok(()) }
    }

    /// Tells whether all three shares exist, or none.
    ///
    /// # Errors
    /// Only some exist; the message names a missing one.
    pub fn holds(&self) -> Result<Holds, Fault> {
        let there = [0, 1, 2].map(|party| share_file::path(&self.path, party).exists());
        let Some(missing) = there.iter().position(|there| !there) else { return Ok(Holds::Key) };
        if there == [false; 3] {
            return Ok(Holds::Nothing);
        }
        Err(Fault::file(
            "use the key of",
            &self.path,
            format!("party {missing}'s share party-{missing}.share is missing while others are there"),
            "restore it from its backup, or move the directory away to begin with a new key",
        ))
    }

    /// The ledger, if there is one.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn ledger(&self) -> Result<Option<Ledger>, Fault> {
        let path = self.path.join("ledger.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Fault::io("read the ledger", &path, &e)),
        };
        serde_json::from_slice(&text).map(Some).map_err(|e| {
            let remedy = "restore it from a backup, or move the key directory away to begin with a new key";
            Fault::file("use the ledger", &path, e, remedy)
        })
    }

    /// Replaces the ledger, which is on the disk when this function returns. The caller must hold
    /// the lock.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_ledger(&self, ledger: &Ledger, _lock: &Locked) -> Result<(), Fault> {
        let mut text =
            serde_json::to_vec_pretty(ledger).map_err(|e| Fault::internal("writing the ledger", e))?;
        text.push(b'\n');
        NewFile::create(&self.path.join("ledger.json"), 0o600)?.write(&text)
    }
}
