//! Files that appear under their names only when they are complete. If the file system supports it,
//! a file has no name while it is written. A claim ensures that only one run writes a path, and
//! that no other file is replaced.

use crate::{Claim, FileState};
use hushwire_fault::{Excuse, Fault, code};
use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

/// A file that is being written. It has no name until [`NewFile::commit`] if the file system
/// permits that, so even a killed process leaves nothing behind. Otherwise it has a hidden name,
/// which is removed on drop.
pub struct NewFile {
    target: PathBuf,
    dir: PathBuf,
    file: File,
    /// The hidden name, if there is one.
    named: Option<PathBuf>,
    /// The claim that prevents other runs from writing it.
    claim: Option<Claim>,
    /// The state of a file that may be replaced; `None` if any file may be.
    replaces: Option<Option<FileState>>,
}

impl NewFile {
    /// Starts a file that will become `target`. If `mode` gives others no access, the file has that
    /// mode regardless of any existing file. Any other `mode` is subject to the umask, and a
    /// replaced file passes its permissions on.
    ///
    /// The caller must know which files must not be replaced.
    ///
    /// # Errors
    /// The target is a directory or a device, or its directory cannot be written.
    pub fn create(target: &Path, mode: u32) -> Result<Self, Fault> {
        let fail = |e: io::Error| Fault::io("write", target, &e);
        // A link is followed: its target is replaced, not the link.
        let target = match fs::canonicalize(target) {
            Ok(real) => real,
            // The new file could not be put in place, because the link itself has the name.
            Err(_) if fs::symlink_metadata(target).is_ok_and(|there| there.is_symlink()) => {
                let cause = "it is a link that leads to no file";
                return Err(Fault::file("write", target, cause, "remove the link, or name the file itself"));
            }
            Err(_) => target.to_path_buf(),
        };
        let there = match fs::metadata(&target) {
            Ok(meta) if meta.is_dir() => return Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(meta) if !meta.is_file() => {
                let cause = "it is a device or a pipe, and the result is put in place at the end";
                return Err(Fault::file("write", &target, cause, "name a file"));
            }
            Ok(meta) => Some(meta.permissions()),
            Err(_) => None,
        };
        if target.file_name().is_none() {
            return Err(Fault::file("write", &target, "it has no file name", "name a file"));
        }
        let dir = match target.parent() {
            Some(dir) if dir != Path::new("") => dir.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let (file, named) = match unnamed(&dir, mode) {
            Some(file) => (file, None),
            None => {
                let path = hidden_name(&target)?;
                let file = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&path);
                (file.map_err(fail)?, Some(path))
            }
        };
        let new = Self { target, dir, file, named, claim: None, replaces: None };
        let private = (mode & 0o077 == 0).then(|| Permissions::from_mode(mode));
        if let Some(permissions) = private.or(there) {
            new.file.set_permissions(permissions).map_err(|e| new.error(&e))?;
        }
        Ok(new)
    }

    /// Starts a file without a name, only for its owner, in `dir`. Others may also be able to write
    /// there: no existing file is opened, replaced or in the way.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn nameless(dir: &Path) -> Result<Self, Fault> {
        let fail = |e: &io::Error| Fault::io("write", dir, e);
        // Not even another process could give it a name.
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL;
        let file = match rustix::fs::open(dir, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => file.into(),
            Err(_) => named_and_removed(dir).map_err(|e| fail(&e))?,
        };
        let target = dir.to_path_buf();
        Ok(Self { target, dir: dir.to_path_buf(), file, named: None, claim: None, replaces: None })
    }

    /// Adds a claim. Unless `force` is set, only the file that exists now may be replaced.
    #[must_use]
    pub fn claimed(mut self, claim: Claim, force: bool) -> Self {
        self.claim = Some(claim);
        self.replaces = (!force).then(|| fs::metadata(&self.target).ok().map(|there| FileState::of(&there)));
        self
    }

    /// Reserves `bytes` on the disk now, so that a full disk is found before the work and not after
    /// it.
    ///
    /// # Errors
    /// The disk has no room.
    pub fn reserve(&self, bytes: u64) -> Result<(), Fault> {
        use rustix::io::Errno;
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, bytes.max(1)) {
            Err(e @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(self.error(&e.into())),
            // Not every file system can reserve space.
            _ => Ok(()),
        }
    }

    /// Returns another handle, for writing or for reading the written bytes.
    ///
    /// # Errors
    /// The operating system has no more handles.
    pub fn writer(&self) -> Result<File, Fault> {
        self.file.try_clone().map_err(|e| self.error(&e))
    }

    /// Waits until the written bytes are on the disk.
    ///
    /// # Errors
    /// The disk refused.
    pub fn sync(&self) -> Result<(), Fault> {
        self.file.sync_all().map_err(|e| self.error(&e))
    }

    /// Makes an error of writing this file.
    #[must_use]
    pub fn error(&self, e: &io::Error) -> Fault {
        Fault::io("write", &self.target, e)
    }

    /// Writes all bytes and commits.
    ///
    /// # Errors
    /// The disk refused. No file is left.
    pub fn write(mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.file.write_all(bytes).map_err(|e| self.error(&e))?;
        self.commit()
    }

    /// Puts the file on the disk, then under its name.
    ///
    /// # Errors
    /// The disk refused. No file is left.
    pub fn commit(mut self) -> Result<(), Fault> {
        if self.target == self.dir {
            return Err(Fault::internal("naming a file", "it was to have no name"));
        }
        if let Some(before) = self.replaces
            && before != fs::metadata(&self.target).ok().map(|there| FileState::of(&there))
        {
            return Err(self.changed());
        }
        match self.put() {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(self.changed()),
            put => put.map_err(|e| self.error(&e))?,
        }
        self.note();
        Ok(())
    }

    fn changed(&self) -> Fault {
        let step = format!("cannot write {}", self.target.display());
        let cause = "another file came there meanwhile, or that one was changed, and the result is lost";
        let fault = Fault::new(code::TAKEN, step, cause, "run again, and name another file");
        fault.whole().telling(Excuse::Writing)
    }

    /// Records the file, so that the same job may replace it.
    fn note(&mut self) {
        if let (Some(claim), Ok(placed)) = (self.claim.take(), self.file.metadata()) {
            claim.done(&placed);
        }
    }

    /// As [`NewFile::commit`], unless its name is taken by now. The result is then false, and no
    /// file is left.
    ///
    /// # Errors
    /// The disk refused. No file is left.
    pub fn commit_new(self) -> Result<bool, Fault> {
        let put = || -> io::Result<()> {
            self.file.sync_all()?;
            match &self.named {
                Some(named) => fs::hard_link(named, &self.target)?,
                None => {
                    let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                    rustix::fs::linkat(CWD, &own, CWD, &self.target, AtFlags::SYMLINK_FOLLOW)?;
                }
            }
            File::open(&self.dir)?.sync_all()
        };
        match put() {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            put => put.map(|()| true).map_err(|e| self.error(&e)),
        }
    }

    fn put(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.named.is_none() {
            let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let link = |to: &Path| rustix::fs::linkat(CWD, &own, CWD, to, AtFlags::SYMLINK_FOLLOW);
            match link(&self.target) {
                Ok(()) => return File::open(&self.dir)?.sync_all(),
                // If no file may be replaced, this is the end.
                Err(rustix::io::Errno::EXIST) if self.replaces != Some(None) => {}
                Err(e) => return Err(e.into()),
            }
            let hidden = hidden_name(&self.target).map_err(io::Error::other)?;
            link(&hidden)?;
            self.named = Some(hidden);
        }
        if let Some(named) = &self.named {
            // If no file may be replaced, a hard link is used: it fails if a file has appeared
            // meanwhile. The hidden name is removed at the end.
            let linked = (self.replaces == Some(None)).then(|| fs::hard_link(named, &self.target));
            match linked {
                Some(Ok(())) => {}
                Some(Err(e)) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
                // Some file systems have no hard links.
                Some(Err(_)) | None => {
                    fs::rename(named, &self.target)?;
                    self.named = None;
                }
            }
        }
        File::open(&self.dir)?.sync_all()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(named) = &self.named {
            // A failure here cannot be reported.
            let _ = fs::remove_file(named);
        }
    }
}

/// A file without a name in `dir`, if the operating system supports such files and can name them
/// later.
fn unnamed(dir: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(dir, flags, Mode::from_raw_mode(mode)).ok()?.into();
    Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())).exists().then_some(file)
}

/// A file in a directory that only this user can access. Both lose their names at once.
fn named_and_removed(dir: &Path) -> io::Result<File> {
    let mut drawn = [0; 16];
    getrandom::fill(&mut drawn).map_err(io::Error::other)?;
    let own = dir.join(format!("hushwire-{}", hex::encode(drawn)));
    // This fails if the name exists, even as a link.
    DirBuilder::new().mode(0o700).create(&own)?;
    let path = own.join("stream");
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let removed = if file.is_ok() { fs::remove_file(&path) } else { Ok(()) };
    fs::remove_dir(&own)?;
    removed.and(file)
}

fn hidden_name(target: &Path) -> Result<PathBuf, Fault> {
    let mut name = OsString::from(".");
    name.push(target.file_name().unwrap_or_default());
    let mut drawn = [0; 6];
    getrandom::fill(&mut drawn).map_err(|e| Fault::internal("naming a file", e))?;
    name.push(format!(".{}.part", hex::encode(drawn)));
    Ok(target.with_file_name(name))
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
        assert_eq!(begin().commit_new().ok(), Some(false), "a name that is taken stays");
        assert_eq!(fs::read(&path).ok().as_deref(), Some(&b"two"[..]));
        let mode_of = |path: &Path| fs::metadata(path).map_or(0, |m| m.permissions().mode() & 0o777);
        let mode = Some(mode_of(&path));
        assert_eq!(mode, Some(0o600), "what is for its owner alone takes no permissions over");
        NewFile::create(&path, 0o644).and_then(|new| new.write(b"two")).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(mode_of(&path), 0o600, "anything else keeps those of the file that it replaces");
        assert_eq!(names(dir.path()), ["x"]);
    }

    /// Others may have put files of any name into a directory for temporary files.
    #[test]
    fn nameless_files_meet_no_name() {
        use std::io::{Read, Seek};
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        type Make = fn(&Path) -> Result<File, Fault>;
        let made: [Make; 2] = [
            |dir| NewFile::nameless(dir).and_then(|new| new.writer()),
            |dir| named_and_removed(dir).map_err(|e| Fault::io("write", dir, &e)),
        ];
        for make in made {
            let mut file = make(dir.path()).unwrap_or_else(|e| panic!("{e}"));
            assert!(names(dir.path()).is_empty());
            assert_eq!(file.metadata().map_or(0, |meta| meta.permissions().mode() & 0o777), 0o600);
            let mut back = String::new();
            let kept = file.write_all(b"secret").and_then(|()| file.rewind());
            kept.and_then(|()| file.read_to_string(&mut back)).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(back, "secret");
            let error = make(&dir.path().join("none")).err().unwrap_or_else(|| panic!("no directory"));
            assert!(error.to_string().contains("none: No such file"), "{error}");
        }
        let named = NewFile::nameless(dir.path()).and_then(NewFile::commit);
        assert!(named.is_err() && names(dir.path()).is_empty());
    }

    #[test]
    fn what_cannot_be_replaced_is_named() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        for path in [dir.path(), Path::new("/dev/null"), &dir.path().join("no/such")] {
            let error = NewFile::create(path, 0o600).err().unwrap_or_else(|| panic!("{path:?}")).to_string();
            assert!(error.contains(&path.display().to_string()) && error.contains("; "), "{error}");
        }
        // These links once made whole runs fail at their ends.
        for (name, leads) in [("nowhere", "none"), ("round", "round")] {
            let path = dir.path().join(name);
            std::os::unix::fs::symlink(leads, &path).unwrap_or_else(|e| panic!("{e}"));
            let error = NewFile::create(&path, 0o600).err().unwrap_or_else(|| panic!("{path:?}")).to_string();
            assert!(error.contains("a link that leads to no file"), "{error}");
        }
    }
}
