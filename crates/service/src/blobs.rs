//! Sealed parts and results as files, each named by the BLAKE3 of its bytes.
//!
//! A blob is written under a temporary name, synced and renamed, and then its directory is synced.
//! The sweep at the start removes blobs that no row of the store names.

use crate::{durable, failpoint};
use hushwire_fault::{Fault, code};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, IoSlice, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
};

/// The directory of blobs. Clones share it.
#[derive(Clone)]
pub(crate) struct Blobs {
    dir: Arc<PathBuf>,
}

/// A blob that is being written. It is removed unless [`NewBlob::keep`] is called.
pub(crate) struct NewBlob {
    file: tempfile::NamedTempFile,
    hash: blake3::Hasher,
    bytes: u64,
    /// Bytes whose sync has not begun.
    unsynced: u64,
    /// The thread that syncs what was written so far, while more is written.
    syncs: Option<JoinHandle<io::Result<()>>>,
    dir: PathBuf,
}

/// LOCAL: the number of bytes after which a sync begins, while more of the blob is written.
const SYNCS: u64 = 2 << 20;

/// The prefix of files that are being written.
const UNDER_WAY: &str = "tmp-";
/// The prefix of directories in which workers leave their results.
const ATTEMPT: &str = "attempt-";

impl Blobs {
    /// Opens the directory, or makes it.
    pub(crate) fn open(dir: &Path) -> Result<Self, Fault> {
        fs::create_dir_all(dir).map_err(|e| Fault::io("make the directory", dir, &e))?;
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
            .map_err(|e| Fault::io("close to others the directory", dir, &e))?;
        Ok(Self { dir: Arc::new(dir.to_path_buf()) })
    }

    /// The path of a blob.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Begins a blob.
    pub(crate) fn begin(&self) -> io::Result<NewBlob> {
        let file = tempfile::Builder::new().prefix(UNDER_WAY).tempfile_in(&*self.dir)?;
        Ok(NewBlob {
            file,
            hash: blake3::Hasher::new(),
            bytes: 0,
            unsynced: 0,
            syncs: None,
            dir: self.dir.to_path_buf(),
        })
    }

    /// Keeps a file that a worker has written. The file is copied, so that the hash is of the bytes
    /// that are kept. Returns name and length.
    pub(crate) fn adopt(&self, path: &Path) -> io::Result<(String, u64)> {
        let mut from = File::open(path)?;
        let mut blob = self.begin()?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer)? {
                0 => return blob.keep(),
                n => blob.write(&[&buffer[..n]])?,
            }
        }
    }

    /// The bytes of a blob, checked against its name.
    pub(crate) fn read(&self, name: &str) -> Result<Vec<u8>, Fault> {
        let path = self.path(name);
        let bytes = fs::read(&path).map_err(|e| Fault::io("read", &path, &e))?;
        self.compared(name, bytes)
    }

    /// Checks the bytes of a blob against its name, wherever they were read.
    pub(crate) fn compared(&self, name: &str, bytes: Vec<u8>) -> Result<Vec<u8>, Fault> {
        if blake3::hash(&bytes).to_hex().as_str() == name {
            return Ok(bytes);
        }
        let path = self.path(name);
        let cause = "its bytes are not those that were stored";
        let remedy = "restore it from a backup, and see the system's log about that disk";
        Err(Fault::file("read", &path, cause, remedy).coded(code::STORE))
    }

    /// Removes a blob that no row names any more.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        failpoint::pass(|| "blob.erase".to_owned())?;
        match fs::remove_file(self.path(name)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// The directory in which the worker of an attempt leaves results that are not small. The
    /// worker makes it.
    pub(crate) fn attempt(&self, job: &str, k: u32) -> PathBuf {
        self.dir.join(format!("{ATTEMPT}{job}-{k}"))
    }

    /// Keeps bytes as a blob. Returns name and length.
    pub(crate) fn put(&self, bytes: &[u8]) -> io::Result<(String, u64)> {
        let mut blob = self.begin()?;
        blob.write(&[bytes])?;
        blob.keep()
    }

    /// Removes all files and attempts' directories that are not in `known`. Returns their number.
    pub(crate) fn sweep(&self, known: &BTreeSet<String>) -> io::Result<usize> {
        let mut removed = 0;
        for entry in fs::read_dir(&*self.dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if known.contains(&*name.to_string_lossy()) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                if name.to_string_lossy().starts_with(ATTEMPT) {
                    fs::remove_dir_all(entry.path())?;
                    removed += 1;
                }
                continue;
            }
            fs::remove_file(entry.path())?;
            removed += 1;
        }
        Ok(removed)
    }

    /// The free bytes of the disk.
    pub(crate) fn free(&self) -> io::Result<u64> {
        Self::free_in(&self.dir)
    }

    /// The bytes that are free on the disk of a directory.
    pub(crate) fn free_in(dir: &Path) -> io::Result<u64> {
        let found = rustix::fs::statvfs(dir)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }
}

impl NewBlob {
    /// Appends pieces to the blob.
    pub(crate) fn write(&mut self, pieces: &[impl AsRef<[u8]>]) -> io::Result<()> {
        failpoint::pass(|| "blob.write".to_owned())?;
        for piece in pieces {
            self.hash.update(piece.as_ref());
            self.bytes += piece.as_ref().len() as u64;
            self.unsynced += piece.as_ref().len() as u64;
        }
        let mut left: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece.as_ref())).collect();
        let mut left = &mut left[..];
        while left.iter().any(|piece| !piece.is_empty()) {
            match self.file.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => IoSlice::advance_slices(&mut left, n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if self.unsynced >= SYNCS && self.syncs.as_ref().is_none_or(JoinHandle::is_finished) {
            self.synced()?;
            let file = self.file.as_file().try_clone()?;
            self.syncs = Some(thread::spawn(move || file.sync_data()));
            self.unsynced = 0;
        }
        Ok(())
    }

    /// Waits for the sync that was begun, if any.
    fn synced(&mut self) -> io::Result<()> {
        let Some(syncs) = self.syncs.take() else { return Ok(()) };
        syncs.join().map_err(|_| io::Error::other("a thread panicked"))?
    }

    /// The name of a blob with the bytes so far.
    pub(crate) fn name(&self) -> String {
        self.hash.finalize().to_hex().to_string()
    }

    /// Keeps the blob: when this returns, it is on the disk under its name. Returns name and
    /// length.
    pub(crate) fn keep(mut self) -> io::Result<(String, u64)> {
        let name = self.name();
        failpoint::pass(|| "blob.fsync".to_owned())?;
        // A failed disk may report its error only once, so the thread's result is checked.
        self.synced()?;
        self.file.as_file().sync_all()?;
        failpoint::pass(|| "blob.rename".to_owned())?;
        self.file.persist(self.dir.join(&name)).map_err(|e| e.error)?;
        File::open(&self.dir)?.sync_all()?;
        durable::kept(&name);
        Ok((name, self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_has_the_name_of_its_bytes_and_the_sweep_leaves_what_is_known() {
        let dir = tempfile::tempdir().expect("a directory");
        let blobs = Blobs::open(dir.path()).unwrap_or_else(|e| panic!("{e}"));
        let keep = |bytes: &[u8]| {
            let mut blob = blobs.begin().expect("a file");
            blob.write(&[bytes]).expect("room");
            blob.keep().expect("room")
        };
        let (one, two) = (keep(b"one"), keep(b"two"));
        // Some pieces are empty, and there are more than one system call takes.
        let mut many = blobs.begin().expect("a file");
        let pieces: Vec<Vec<u8>> = (0..3000_usize).map(|n| vec![n as u8; n * 7 % 9001]).collect();
        pieces.chunks(1500).for_each(|some| many.write(some).expect("room"));
        let (whole, (name, bytes)) = (pieces.concat(), many.keep().expect("room"));
        assert!(bytes == whole.len() as u64 && bytes > SYNCS, "{bytes}");
        assert!(blobs.read(&name).is_ok_and(|read| read == whole));
        blobs.remove(&name).expect("it is there");
        assert_eq!(one, (blake3::hash(b"one").to_hex().to_string(), 3));
        assert_eq!(blobs.read(&one.0).unwrap_or_else(|e| panic!("{e}")), b"one");
        let mut half = blobs.begin().expect("a file");
        half.write(&["half"]).expect("room");
        let left = half.file.into_temp_path().keep().expect("a crash leaves it");
        fs::create_dir(blobs.attempt("ab", 1)).expect("a directory");
        assert_eq!(blobs.sweep(&BTreeSet::from([one.0.clone()])).expect("a directory"), 3);
        assert!(!left.exists() && blobs.read(&two.0).is_err() && blobs.read(&one.0).is_ok());
        fs::write(blobs.path(&one.0), b"0ne").expect("room");
        assert!(blobs.read(&one.0).is_err_and(|e| e.code() == code::STORE));
    }
}
