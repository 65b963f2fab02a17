//! Files that appear under their names only when they are whole, and what paths lead to.

use crate::error::Error;
use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// A file under way, as [`hushwire_job::NewFile`] has it, with this program's errors.
pub(crate) struct NewFile(hushwire_job::NewFile);

impl NewFile {
    /// Starts a file that is to become `target`; `mode` is subject to the umask.
    pub(crate) fn create(target: &Path, mode: u32) -> Result<Self, Error> {
        Ok(Self(hushwire_job::NewFile::create(target, mode)?))
    }

    /// Asks the disk for `bytes` now, so that a full one shows before the work and not after it.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), Error> {
        Ok(self.0.reserve(bytes)?)
    }

    /// Another handle to write through.
    pub(crate) fn writer(&self) -> Result<File, Error> {
        Ok(self.0.writer()?)
    }

    /// An error of writing this file.
    pub(crate) fn error(&self, e: &io::Error) -> Error {
        self.0.error(e).into()
    }

    /// Writes everything and commits.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<(), Error> {
        Ok(self.0.write(bytes)?)
    }

    /// Puts the file on the disk, then under its name.
    pub(crate) fn commit(self) -> Result<(), Error> {
        Ok(self.0.commit()?)
    }
}

/// `path` with `suffix` after its name.
pub(crate) fn appended(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether both names lead to one file now.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    a == b || (id(a).is_some() && id(a) == id(b))
}

/// `path` as it is called from anywhere: what a ledger remembers.
pub(crate) fn absolute(path: &Path) -> String {
    let resolved = fs::canonicalize(path).or_else(|_| {
        let dir = path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
        fs::canonicalize(dir).map(|dir| dir.join(path.file_name().unwrap_or_default()))
    });
    resolved.unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

/// Whether others than the owner may look into `path`.
pub(crate) fn open_to_others(permissions: &Permissions) -> bool {
    permissions.mode() & 0o077 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_under_two_names() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        assert!(!same_file(&a, &b) && same_file(&a, &a));
        fs::write(&a, "").and_then(|()| std::os::unix::fs::symlink(&a, &b)).unwrap_or_else(|e| panic!("{e}"));
        assert!(same_file(&a, &b));
        assert_eq!(absolute(&a), absolute(&b));
    }
}
