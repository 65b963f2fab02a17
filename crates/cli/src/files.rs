//! Files that appear under their names only when they are whole.

use crate::{error::Error, key};
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// A file under way. Where the file system can, it has no name until [`NewFile::commit`], so that not even a killed
/// process leaves anything behind; elsewhere it has a hidden one, removed on drop.
pub(crate) struct NewFile {
    target: PathBuf,
    dir: PathBuf,
    file: File,
    /// The hidden name, if there is one.
    named: Option<PathBuf>,
}

impl NewFile {
    /// Starts a file that is to become `target`; `mode` is subject to the umask. A file that is there now keeps its
    /// permissions when it is replaced.
    pub(crate) fn create(target: &Path, mode: u32) -> Result<Self, Error> {
        let fail = |e: io::Error| Error::io("write", target, &e);
        // A link is followed: what it names is replaced, not the link.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_path_buf());
        let there = match fs::metadata(&target) {
            Ok(meta) if meta.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(meta) if !meta.is_file() => {
                let cause = "it is a device or a pipe, and the result is put in place at the end";
                return Err(Error::file("write", &target, cause, "name a file"));
            }
            Ok(meta) => Some(meta.permissions()),
            Err(_) => None,
        };
        if target.file_name().is_none() {
            return Err(Error::file("write", &target, "it has no file name", "name a file"));
        }
        let dir = match target.parent() {
            Some(dir) if dir != Path::new("") => dir.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let (file, named) = match unnamed(&dir, mode) {
            Some(file) => (file, None),
            None => {
                let path = hidden_name(&target)?;
                let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
                (file.map_err(fail)?, Some(path))
            }
        };
        let new = Self { target, dir, file, named };
        if let Some(permissions) = there {
            new.file.set_permissions(permissions).map_err(|e| new.error(&e))?;
        }
        Ok(new)
    }

    /// Asks the disk for `bytes` now, so that a full one shows before the work and not after it.
    pub(crate) fn reserve(&self, bytes: u64) -> Result<(), Error> {
        use rustix::io::Errno;
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, bytes.max(1)) {
            Err(e @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(self.error(&e.into())),
            // Not every file system can.
            _ => Ok(()),
        }
    }

    /// Another handle to write through.
    pub(crate) fn writer(&self) -> Result<File, Error> {
        self.file.try_clone().map_err(|e| self.error(&e))
    }

    /// An error of writing this file.
    pub(crate) fn error(&self, e: &io::Error) -> Error {
        Error::io("write", &self.target, e)
    }

    /// Writes everything and commits.
    pub(crate) fn write(mut self, bytes: &[u8]) -> Result<(), Error> {
        self.file.write_all(bytes).map_err(|e| self.error(&e))?;
        self.commit()
    }

    /// Puts the file on the disk, then under its name.
    pub(crate) fn commit(mut self) -> Result<(), Error> {
        self.put().map_err(|e| self.error(&e))
    }

    fn put(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.named.is_none() {
            let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let link = |to: &Path| rustix::fs::linkat(CWD, &own, CWD, to, AtFlags::SYMLINK_FOLLOW);
            match link(&self.target) {
                Ok(()) => return File::open(&self.dir)?.sync_all(),
                Err(rustix::io::Errno::EXIST) => {}
                Err(e) => return Err(e.into()),
            }
            let hidden = hidden_name(&self.target).map_err(io::Error::other)?;
            link(&hidden)?;
            self.named = Some(hidden);
        }
        if let Some(named) = &self.named {
            fs::rename(named, &self.target)?;
            self.named = None;
        }
        File::open(&self.dir)?.sync_all()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(named) = &self.named {
            // Nothing is left to tell of a failure here.
            let _ = fs::remove_file(named);
        }
    }
}

/// A file without a name in `dir`, where the system has such and can name it later.
fn unnamed(dir: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(dir, flags, Mode::from_raw_mode(mode)).ok()?.into();
    Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())).exists().then_some(file)
}

fn hidden_name(target: &Path) -> Result<PathBuf, Error> {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    name.push(format!(".{}.part", hex::encode(key::draw::<6>("naming a file")?)));
    Ok(target.with_file_name(name))
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

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap_or_else(|e| panic!("{e}"));
        let mut names: Vec<_> =
            entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("x");
        let begin = || NewFile::create(&path, 0o600).unwrap_or_else(|e| panic!("{e}"));
        let new = begin();
        new.writer()
            .and_then(|mut f| f.write_all(b"half").map_err(|e| new.error(&e)))
            .unwrap_or_else(|e| panic!("{e}"));
        assert!(!path.exists());
        drop(new);
        assert!(names(dir.path()).is_empty());
        begin().write(b"one").unwrap_or_else(|e| panic!("{e}"));
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap_or_else(|e| panic!("{e}"));
        begin().write(b"two").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fs::read(&path).ok().as_deref(), Some(&b"two"[..]));
        let mode = fs::metadata(&path).map(|m| m.permissions().mode() & 0o777).ok();
        assert_eq!(mode, Some(0o640), "a replaced file keeps its permissions");
        assert_eq!(names(dir.path()), ["x"]);
    }

    #[test]
    fn what_cannot_be_replaced_is_named() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        for path in [dir.path(), Path::new("/dev/null"), &dir.path().join("no/such")] {
            let error = NewFile::create(path, 0o600).err().unwrap_or_else(|| panic!("{path:?}")).to_string();
            assert!(error.contains(&path.display().to_string()) && error.contains("; "), "{error}");
        }
    }

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
