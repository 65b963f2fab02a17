//! Claims on outputs. A small record for each output tells which process writes the file now, and
//! the state that was last written. It is kept apart from the output.
//!
//! A record is in the user's state directory: `$XDG_STATE_HOME/hushwire/outputs`, else
//! `~/.local/state/…`, else a directory of the user's own among temporary files. Its name is a hash
//! of the output's path. Its lock is the claim on the path. The operating system releases the lock
//! when the process ends, for any reason. A written file is identified by inode, length and time. A
//! hash of the content would reveal small secret outputs after they are deleted.

use hushwire_fault::{Excuse, Fault, code};
use serde::{Deserialize, Serialize};
use std::{
    env,
    fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// LOCAL: the largest length of a record. Paths have at most 4096 bytes.
const LONGEST: u64 = 64 << 10;

/// The content of a record.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    /// The output's path, for people who read the record.
    path: PathBuf,
    /// The process that holds the claim, or the last one that held it.
    process: u32,
    job: String,
    written: Option<Written>,
}

/// The state of a file when its writer finished.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Written {
    job: String,
    state: FileState,
}

/// The state by which a file is recognized, unless it was changed or replaced since.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileState {
    inode: u64,
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl FileState {
    /// Returns the state of the file with this metadata.
    #[must_use]
    pub fn of(meta: &Metadata) -> Self {
        let (seconds, nanoseconds) = (meta.mtime(), meta.mtime_nsec());
        Self { inode: meta.ino(), bytes: meta.len(), seconds, nanoseconds }
    }
}

/// The right to write a path, until it is dropped.
pub struct Claim {
    /// The record's file. It is locked while the claim exists.
    file: File,
    record: Record,
}

impl Claim {
    /// Claims `target`, a path without links, for `job`.
    ///
    /// # Errors
    /// Another run writes the path, or no directory can hold the record.
    pub fn take(target: &Path, job: &str) -> Result<Self, Fault> {
        Self::take_in(&directories(), target, job)
    }

    fn take_in(directories: &[PathBuf], target: &Path, job: &str) -> Result<Self, Fault> {
        let name = name(target);
        let mut refused = io::Error::from(io::ErrorKind::NotFound);
        for directory in directories {
            let locked =
                own(directory).map_err(TryLockError::Error).and_then(|()| lock(&directory.join(&name)));
            let (file, mut record) = match locked {
                Ok(mut file) => {
                    let record = read(&mut file);
                    (file, record)
                }
                Err(TryLockError::WouldBlock) => {
                    let record = File::open(directory.join(&name)).map(|mut file| read(&mut file));
                    return Err(taken(target, &record.unwrap_or_default()));
                }
                // The directory is not writable, or its file system has no locks.
                Err(TryLockError::Error(e)) => {
                    refused = e;
                    continue;
                }
            };
            record.path = target.to_path_buf();
            (record.process, record.job) = (std::process::id(), job.to_owned());
            let mut claim = Self { file, record };
            // The text only lets others name this run.
            let _ = claim.write();
            return Ok(claim);
        }
        let cause = format!("no directory can hold the note of who writes it ({refused})");
        let remedy = "set XDG_STATE_HOME to a directory that can be written";
        Err(Fault::file("write", target, cause, remedy))
    }

    /// Forgets a path that will never be written to again.
    pub fn forget(target: &Path) {
        // A record that remains does no harm.
        directories().iter().for_each(|directory| drop(fs::remove_file(directory.join(name(target)))));
    }

    /// Whether the existing file is the one that the same job wrote last.
    #[must_use]
    pub fn wrote(&self, there: &Metadata) -> bool {
        let ours = Written { job: self.record.job.clone(), state: FileState::of(there) };
        !self.record.job.is_empty() && self.record.written == Some(ours)
    }

    /// Records that the file is in place. If that fails, the next run asks before it replaces the
    /// file.
    pub fn done(mut self, placed: &Metadata) {
        let job = self.record.job.clone();
        self.record.written = Some(Written { job, state: FileState::of(placed) });
        let _ = self.write();
    }

    fn write(&mut self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.record)?;
        self.file.rewind()?;
        self.file.set_len(0)?;
        self.file.write_all(&text)
    }
}

/// Opens and locks the record's file. A missing file is created.
fn lock(path: &Path) -> Result<File, TryLockError> {
    loop {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = options.open(path).map_err(TryLockError::Error)?;
        file.try_lock()?;
        // If the record was forgotten in between, the lock is worthless: another run would create a
        // new record of its name. Then this run tries again.
        if file.metadata().map_err(TryLockError::Error)?.nlink() > 0 {
            return Ok(file);
        }
    }
}

/// The name of the record for a path.
fn name(target: &Path) -> String {
    let hash = blake3::hash(target.as_os_str().as_encoded_bytes()).to_hex();
    format!("{}.json", &hash[..32])
}

fn read(file: &mut File) -> Record {
    let mut text = vec![];
    let read = file.take(LONGEST).read_to_end(&mut text);
    // A record that a crash cut short counts as empty: the next run asks.
    read.ok().and_then(|_| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn taken(target: &Path, record: &Record) -> Fault {
    let (path, Record { process, job, .. }) = (target.display(), record);
    let cause = match process {
        0 => "another run writes it now".to_owned(),
        _ if job.is_empty() => format!("process {process} writes it now"),
        _ => format!("process {process} writes it now ({job})"),
    };
    let remedy = "wait until that run has ended, or name another file";
    Fault::new(code::TAKEN, format!("cannot write {path}"), cause, remedy).whole().telling(Excuse::Writing)
}

/// The directories that may have records, the best first.
fn directories() -> Vec<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let user = rustix::process::geteuid().as_raw();
    let temporary = env::temp_dir().join(format!("hushwire-{user}"));
    state
        .map(|state| state.join("hushwire"))
        .into_iter()
        .chain([temporary])
        .map(|dir| dir.join("outputs"))
        .collect()
}

/// Creates a directory that only this user can write, or checks that an existing one is such.
fn own(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let user = rustix::process::geteuid().as_raw();
    for directory in [Some(directory), directory.parent()].into_iter().flatten() {
        let meta = fs::symlink_metadata(directory)?;
        if !meta.is_dir() || meta.uid() != user || meta.mode() & 0o022 != 0 {
            return Err(io::Error::other(format!("others can write to {}", directory.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there(path: &Path) -> Metadata {
        fs::metadata(path).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn one_run_claims_a_path_and_is_named_to_the_next() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let (state, path) = ([dir.path().join("hushwire/outputs")], dir.path().join("x"));
        let take = |job| Claim::take_in(&state, &path, job);
        let first = take("one").unwrap_or_else(|e| panic!("{e}"));
        let error = take("two").err().unwrap_or_else(|| panic!("claimed twice"));
        assert_eq!(error.code(), code::TAKEN);
        let (own, text) = (format!("process {} ", std::process::id()), error.to_string());
        assert!(text.contains(&own) && text.contains("(one)"), "{text}");
        assert!(Claim::take_in(&state, &dir.path().join("y"), "two").is_ok(), "another path is free");
        drop(first);
        assert!(take("two").is_ok());
    }

    #[test]
    fn a_record_that_is_forgotten_meanwhile_claims_nothing() {
        use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let (state, path) = ([dir.path().join("hushwire/outputs")], dir.path().join("x"));
        let (record, held) = (state[0].join(name(&path)), AtomicBool::new(false));
        let mut claims = 0;
        let attempt = || match Claim::take_in(&state, &path, "one") {
            Ok(claim) => {
                assert!(!held.swap(true, SeqCst), "two claims on one path");
                std::thread::sleep(std::time::Duration::from_micros(50));
                held.store(false, SeqCst);
                // Others may have opened the record, and lock it when this claim is dropped.
                let _ = fs::remove_file(&record);
                drop(claim);
                1
            }
            Err(e) => {
                assert_eq!(e.code(), code::TAKEN, "{e}");
                0
            }
        };
        std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(|| (0..3000).map(|_| attempt()).sum::<u32>()));
            claims = threads.into_iter().map(|t| t.join().unwrap_or_else(|_| panic!("it panicked"))).sum();
        });
        assert!(claims > 0);
    }

    #[test]
    fn a_file_is_known_again_until_it_is_touched_or_the_job_is_another() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let (state, path) = ([dir.path().join("hushwire/outputs")], dir.path().join("x"));
        let take = |job| Claim::take_in(&state, &path, job).unwrap_or_else(|e| panic!("{e}"));
        fs::write(&path, "1").unwrap_or_else(|e| panic!("{e}"));
        assert!(!take("one").wrote(&there(&path)));
        take("one").done(&there(&path));
        assert!(take("one").wrote(&there(&path)));
        assert!(!take("two").wrote(&there(&path)));
        assert!(take("one").wrote(&there(&path)), "a look changes nothing");
        fs::write(&path, "22").unwrap_or_else(|e| panic!("{e}"));
        assert!(!take("one").wrote(&there(&path)));
    }

    #[test]
    fn records_lie_where_nobody_else_can_write() {
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let (bad, good) = (dir.path().join("bad/outputs"), dir.path().join("good/outputs"));
        fs::create_dir_all(&bad).unwrap_or_else(|e| panic!("{e}"));
        fs::set_permissions(&bad, Permissions::from_mode(0o777)).unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("x");
        let error = Claim::take_in(std::slice::from_ref(&bad), &path, "one").err();
        assert!(error.is_some_and(|e| e.code() == code::WRITE && e.to_string().contains("XDG_STATE_HOME")));
        let claim = Claim::take_in(&[bad.clone(), good.clone()], &path, "one");
        assert!(claim.is_ok());
        let count = |dir: &Path| fs::read_dir(dir).map_or(0, Iterator::count);
        assert_eq!((count(&bad), count(&good)), (0, 1));
        assert_eq!(there(&good).mode() & 0o777, 0o700);
    }
}
