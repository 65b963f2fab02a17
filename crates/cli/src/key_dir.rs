//! The directory of one key: three shares, the ledger of counters, and a lock.

use crate::{
    error::Error,
    files::{NewFile, open_to_others},
    ledger::Ledger,
    log, share_file,
};
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// A key directory that is there.
pub(crate) struct KeyDir {
    path: PathBuf,
}

/// Keeps other runs from choosing counters, or a key, at the same time.
pub(crate) struct Locked {
    _file: File,
}

/// Which shares a directory holds.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Holds {
    Nothing,
    Key,
}

impl KeyDir {
    /// Opens `path`, made with mode 0700 when it is not there.
    pub(crate) fn create(path: &Path) -> Result<Self, Error> {
        match DirBuilder::new().mode(0o700).create(path) {
            Ok(()) => Ok(Self { path: path.to_path_buf() }),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Self::open(path),
            Err(e) => Err(Error::io("make the key directory", path, &e)),
        }
    }

    /// Opens `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let meta = fs::metadata(path).map_err(|e| Error::io("open the key directory", path, &e))?;
        if !meta.is_dir() {
            let e = io::ErrorKind::NotADirectory.into();
            return Err(Error::io("open the key directory", path, &e));
        }
        if open_to_others(&meta.permissions()) {
            log::warn(format_args!("other users can look into {}; run: chmod 700 {0}", path.display()));
        }
        Ok(Self { path: path.to_path_buf() })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Waits until no other run holds the lock.
    pub(crate) fn lock(&self) -> Result<Locked, Error> {
        let path = self.path.join("lock");
        let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let locked = open.and_then(|file| file.lock().map(|()| Locked { _file: file }));
        locked.map_err(|e| Error::io("lock", &path, &e))
    }

    /// Whether all three shares are there, or none.
    pub(crate) fn holds(&self) -> Result<Holds, Error> {
        let there = [0, 1, 2].map(|party| share_file::path(&self.path, party).exists());
        let Some(missing) = there.iter().position(|there| !there) else { return Ok(Holds::Key) };
        if there == [false; 3] {
            return Ok(Holds::Nothing);
        }
        Err(Error::file(
            "use the key of",
            &self.path,
            format!("party {missing}'s share party-{missing}.share is missing while others are there"),
            "restore it from its backup, or move the directory away to begin with a new key",
        ))
    }

    /// The ledger, if there is one.
    pub(crate) fn ledger(&self) -> Result<Option<Ledger>, Error> {
        let path = self.path.join("ledger.json");
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Error::io("read the ledger", &path, &e)),
        };
        serde_json::from_slice(&text).map(Some).map_err(|e| {
            let remedy = "restore it from a backup, or move the key directory away to begin with a new key";
            Error::file("use the ledger", &path, e, remedy)
        })
    }

    /// Replaces the ledger; it is on the disk when this returns. Only under the lock.
    pub(crate) fn write_ledger(&self, ledger: &Ledger, _lock: &Locked) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(ledger)
            .map_err(|e| Error::Internal { doing: "writing the ledger", cause: e.to_string() })?;
        text.push(b'\n');
        Ok(NewFile::create(&self.path.join("ledger.json"), 0o600)?.write(&text)?)
    }
}
