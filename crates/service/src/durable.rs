//! A record, for tests, of what is certainly on the disk: what a power cut cannot take.
//!
//! In the profile of tests, or with the feature `failpoints`, the variable `HUSHWIRE_SYNCED` names
//! a file. It gets a line after each sync, before anybody hears of what was synced: `log SALT
//! FRAMES` for the store's write-ahead log, as its index has them, and `blob NAME`. A test kills
//! the process, destroys everything else in the write-ahead log and among the blobs, and starts the
//! process again. `HUSHWIRE_CHECKPOINT` sets the number of pages in the log at which a checkpoint
//! moves them to the database. In an optimised build without the feature nothing is recorded, and
//! the variables are not read.

use rusqlite::Connection;
use std::path::Path;

/// LOCAL: the number of pages of 4 KiB in the write-ahead log at which a checkpoint begins. A page
/// that changes often is moved once for many changes.
const CHECKPOINT: u32 = 4096;

/// Records that the store at a path has committed.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub(crate) fn committed(_connection: &Connection, _store: &Path) {}

/// Records that a blob is on the disk under its name.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub(crate) fn kept(_blob: &str) {}

/// The number of pages in the log at which a checkpoint begins.
#[cfg(not(any(feature = "failpoints", debug_assertions)))]
#[inline]
pub(crate) fn checkpoint() -> u32 {
    CHECKPOINT
}

#[cfg(any(feature = "failpoints", debug_assertions))]
pub(crate) use recorded::{checkpoint, committed, kept};

#[cfg(any(feature = "failpoints", debug_assertions))]
mod recorded {
    use super::{Connection, Path};
    use std::{
        fs::File,
        io::Write,
        os::unix::fs::FileExt,
        sync::{Mutex, OnceLock, PoisonError},
    };

    /// The end of the log at the last commit: its salt and its number of frames.
    static END: Mutex<(Vec<u8>, Vec<u8>)> = Mutex::new((vec![], vec![]));

    /// The level of `PRAGMA synchronous` at which each commit is synced.
    const FULL: i64 = 2;

    fn record() -> Option<&'static File> {
        static RECORD: OnceLock<Option<File>> = OnceLock::new();
        let open = || {
            let path = std::env::var_os("HUSHWIRE_SYNCED")?;
            // Without a record the test fails, so the error need not be kept.
            File::options().create(true).append(true).open(path).ok()
        };
        RECORD.get_or_init(open).as_ref()
    }

    fn write(line: &str) {
        if let Some(mut record) = record() {
            // Likewise, the test fails without this line.
            let _ = record.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// The index of the log. It stays open: when a process closes any handle of a file, it loses
    /// all its locks on that file, SQLite's included.
    fn opened(store: &Path) -> Option<&'static File> {
        static INDEX: OnceLock<Option<File>> = OnceLock::new();
        let open = || {
            let mut path = store.as_os_str().to_owned();
            path.push("-shm");
            File::open(path).ok()
        };
        INDEX.get_or_init(open).as_ref()
    }

    pub(crate) fn committed(connection: &Connection, store: &Path) {
        if record().is_none() {
            return;
        }
        // SQLite's index of its log has the number of frames and the salt of this log.
        let mut index = [0; 40];
        if opened(store).and_then(|file| file.read_exact_at(&mut index, 0).ok()).is_none() {
            return;
        }
        let (frames, salt) = (index[16..20].to_vec(), index[32..40].to_vec());
        let mut end = END.lock().unwrap_or_else(PoisonError::into_inner);
        // A commit without changes syncs nothing.
        let grew = *end != (salt.clone(), frames.clone());
        *end = (salt, frames);
        let level: rusqlite::Result<i64> = connection.query_row("PRAGMA synchronous", [], |row| row.get(0));
        if grew && matches!(level, Ok(FULL)) {
            write(&format!("log {} {}", hex::encode(&end.0), hex::encode(&end.1)));
        }
    }

    pub(crate) fn kept(blob: &str) {
        write(&format!("blob {blob}"));
    }

    pub(crate) fn checkpoint() -> u32 {
        let asked = std::env::var("HUSHWIRE_CHECKPOINT").ok().and_then(|text| text.parse().ok());
        asked.unwrap_or(super::CHECKPOINT)
    }
}
