//! The files of one run: those that it reads and those that it will write. All outputs of all
//! commands are created here.
//!
//! The path of an output is compared with the files that the run reads, with keys, and with the
//! other outputs. A file that another job wrote is replaced only if that is forced.

use crate::{
    Fault,
    keys::{holds_shares, is_of_a_key},
};
use hushwire_fault::{Excuse, code};
use hushwire_files::{Claim, NewFile};
use std::{
    fs::{self, File, Metadata},
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// LOCAL: a private key is recognized within this number of bytes.
const KEY_WITHIN: u64 = 64 << 10;

/// The rule for outputs. No output is a file that the run reads, a key, or another output, under
/// any name. An existing file is replaced only if the same job wrote it last, or if that is forced.
///
/// Inputs must be declared before the first output is created.
#[derive(Debug, Default)]
pub struct RunFiles {
    force: bool,
    reads: Vec<Known>,
    /// The directories of keys.
    keys: Vec<PathBuf>,
    writes: Vec<Known>,
}

/// A file of the run.
#[derive(Debug)]
struct Known {
    /// The file's role in messages.
    role: String,
    path: PathBuf,
    /// The device and inode, if the file exists.
    id: Option<(u64, u64)>,
}

impl Known {
    fn new(role: String, path: &Path) -> Self {
        let path = resolve(path);
        let id = fs::metadata(&path).ok().map(|meta| (meta.dev(), meta.ino()));
        Self { role, path, id }
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path || (self.id.is_some() && self.id == other.id)
    }
}

/// The path without links and relative parts, as far as it exists.
pub fn resolve(path: &Path) -> PathBuf {
    let beside = || {
        let parent = path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
        Some(fs::canonicalize(parent).ok()?.join(path.file_name()?))
    };
    let real = fs::canonicalize(path).ok().or_else(beside);
    real.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_path_buf())
}

/// Whether a file holds a private key, a share of a key, or the ledger of a key's counters.
fn holds_a_key(path: &Path) -> bool {
    if !path.is_file() {
        // Reading a pipe would take data from its other readers.
        return false;
    }
    let mut start = hushwire_block::Wiped::new(Vec::with_capacity(KEY_WITHIN as usize));
    let read = File::open(path).and_then(|file| file.take(KEY_WITHIN).read_to_end(&mut start));
    let pem = b"PRIVATE KEY-----";
    read.is_ok() && (is_of_a_key(&start) || start.windows(pem.len()).any(|part| part == pem))
}

fn refused(path: &Path, cause: String, remedy: String) -> Fault {
    Fault::new(code::TAKEN, format!("cannot write {}", path.display()), cause, remedy)
        .whole()
        .telling(Excuse::Writing)
}

impl RunFiles {
    /// The job of an output that no later run replaces without force.
    pub const ONCE: &str = "";

    /// Makes an empty set. With `force`, other files are replaced, but never keys or files that the
    /// run reads.
    #[must_use]
    pub fn new(force: bool) -> Self {
        Self { force, ..Self::default() }
    }

    /// Sets whether other files may be replaced.
    pub fn set_force(&mut self, force: bool) {
        self.force = force;
    }

    /// Protects a file that the run reads. `role` names it in messages, such as `the private key`.
    pub fn reads(&mut self, role: impl Into<String>, path: &Path) {
        self.reads.push(Known::new(role.into(), path));
    }

    /// Adds the files that `other` protects.
    pub fn protect(&mut self, other: Self) {
        self.reads.extend(other.reads);
        self.keys.extend(other.keys);
        self.writes.extend(other.writes);
    }

    /// Protects a directory of keys, which may still be empty: no output is put there. A directory
    /// that holds shares of a key is always protected.
    pub fn keys_in(&mut self, directory: &Path) {
        self.keys.push(resolve(directory));
    }

    /// Removes the record of a temporary output that no run will write again.
    pub fn forget(path: &Path) {
        Claim::forget(&resolve(path));
    }

    /// Checks that `job` may write to `path`, for another process that will write it. `option` is
    /// the user's option for it, such as `with --out`.
    ///
    /// # Errors
    /// The job may not write there; the message says why.
    pub fn check(&mut self, option: &str, path: &Path, job: &str) -> Result<(), Fault> {
        self.claim(option, path, job).map(drop)
    }

    /// Starts a file that is to become `path`, and locks it against other runs until it is there or
    /// dropped. The same `job` may replace it later. With a `mode` of 0600, the file gets that mode
    /// whatever was there. Any other mode is subject to the umask, and a replaced file keeps its
    /// own mode.
    ///
    /// # Errors
    /// `path` is a file that this run reads, a key, or another program's file, or another run
    /// writes it ([`Kind::Refused`](hushwire_fault::Kind::Refused)); or it cannot be written.
    pub fn create(&mut self, option: &str, path: &Path, job: &str, mode: u32) -> Result<NewFile, Fault> {
        let created = self
            .claim(option, path, job)
            .and_then(|claim| NewFile::create(path, mode).map(|file| file.claimed(claim, self.force)));
        created.map_err(|e| e.telling(Excuse::Writing))
    }

    /// Checks that a file that is made by other code, or a directory, may have this name.
    ///
    /// # Errors
    /// The path is a file that this run reads, a key, or in a directory of key shares.
    pub fn allows(&self, option: &str, path: &Path) -> Result<(), Fault> {
        self.output(option, path).map(drop)
    }

    /// Checks that an output may have this name at all, before a program does anything
    /// irreversible.
    ///
    /// # Errors
    /// The path is a file that this run reads, or a key; or it cannot be written.
    pub fn admits(&self, option: &str, path: &Path) -> Result<(), Fault> {
        self.output(option, path)?;
        NewFile::create(path, 0o600).map(drop)
    }

    /// The output, which must be no input, key or other output.
    fn output(&self, option: &str, path: &Path) -> Result<Known, Fault> {
        let refuse = |cause| Err(refused(path, cause, format!("name another file {option}")));
        let output = Known::new(format!("the output named {option}"), path);
        if let Some(read) = self.reads.iter().find(|read| read.is(&output)) {
            return refuse(format!("that would overwrite {}, which this run uses", read.role));
        }
        if let Some(other) = self.writes.iter().find(|other| other.is(&output)) {
            return refuse(format!("that would overwrite {}", other.role));
        }
        let own = self.keys.iter().any(|dir| output.path.starts_with(dir));
        if own || output.path.ancestors().skip(1).any(holds_shares) {
            return refuse("keys are kept in that directory, and nothing else".into());
        }
        if holds_a_key(&output.path) {
            return refuse(
                "that would overwrite a private key, a share of one, or the ledger of its counters".into(),
            );
        }
        Ok(output)
    }

    fn claim(&mut self, option: &str, path: &Path, job: &str) -> Result<Claim, Fault> {
        let output = self.output(option, path)?;
        let claim = Claim::take(&output.path, job)?;
        let there = fs::metadata(&output.path).ok().filter(Metadata::is_file);
        if !self.force && there.is_some_and(|there| !claim.wrote(&there)) {
            let cause = "it is there already, and is not the file that this job wrote last";
            let remedy = format!("move it away, name another file {option}, or add --force to replace it");
            return Err(refused(path, cause.into(), remedy));
        }
        self.writes.push(output);
        Ok(claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct TestDir(tempfile::TempDir);

    impl TestDir {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().unwrap_or_else(|e| panic!("{e}")));
            fs::write(place.at("in"), "input").unwrap_or_else(|e| panic!("{e}"));
            place
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn files(&self, force: bool) -> RunFiles {
            let mut files = RunFiles::new(force);
            files.reads("the input", &self.at("in"));
            files.keys_in(&self.at("keys"));
            files
        }

        fn refused(&self, force: bool, name: &str, word: &str) {
            let error = self.files(force).create("with --out", &self.at(name), "job", 0o600).err();
            let error = error.unwrap_or_else(|| panic!("{name} was taken"));
            assert_eq!(error.code(), code::TAKEN, "{error}");
            let text = error.to_string();
            assert!(text.contains(word) && text.contains("with --out"), "{name}: {text}");
        }
    }

    #[test]
    fn no_output_is_an_input_or_a_key_under_any_name() {
        let place = TestDir::new();
        fs::hard_link(place.at("in"), place.at("hard")).unwrap_or_else(|e| panic!("{e}"));
        symlink(place.at("in"), place.at("soft")).unwrap_or_else(|e| panic!("{e}"));
        symlink(".", place.at("here")).unwrap_or_else(|e| panic!("{e}"));
        fs::create_dir(place.at("keys")).unwrap_or_else(|e| panic!("{e}"));
        fs::write(place.at("key.pem"), "…\n-----BEGIN PRIVATE KEY-----\n").unwrap_or_else(|e| panic!("{e}"));
        fs::write(place.at("share"), "HWSHARE1…").unwrap_or_else(|e| panic!("{e}"));
        for force in [false, true] {
            for name in ["in", "./in", "hard", "soft", "here/in"] {
                place.refused(force, name, "the input");
            }
            place.refused(force, "keys/party-0.share", "keys are kept");
            place.refused(force, "here/keys/new", "keys are kept");
            place.refused(force, "key.pem", "a private key");
            place.refused(force, "share", "a private key");
        }
        // Shares and ledgers of other runs are protected, wherever they are.
        fs::create_dir_all(place.at("k/below")).unwrap_or_else(|e| panic!("{e}"));
        fs::write(place.at("k/party-1.share"), "HWSHARE1…").unwrap_or_else(|e| panic!("{e}"));
        let ledger = "{\n  \"key_id\": null,\n  \"ranges\": []\n}";
        fs::write(place.at("ledger"), ledger).unwrap_or_else(|e| panic!("{e}"));
        for force in [false, true] {
            place.refused(force, "k/ledger.json", "keys are kept");
            place.refused(force, "k/below/new", "keys are kept");
            place.refused(force, "ledger", "the ledger");
        }
        // A file that does not exist yet is protected by its name.
        let mut files = RunFiles::new(true);
        files.reads("the key", &place.at("later"));
        assert!(files.create("with --out", &place.at("here/later"), "job", 0o600).is_err());
    }

    #[test]
    fn two_outputs_are_two_files() {
        let place = TestDir::new();
        let mut files = place.files(true);
        let first = files.create("with --out", &place.at("x"), "job", 0o600);
        assert!(first.is_ok());
        let error = files.create("with --json", &place.at("./x"), "job", 0o600).err();
        assert!(error.is_some_and(|e| e.to_string().contains("the output named with --out")));
    }

    #[test]
    fn only_a_former_output_of_the_same_job_is_replaced() {
        let place = TestDir::new();
        let path = place.at("x");
        let write = |force, job: &str, text: &str| {
            place.files(force).create("with --out", &path, job, 0o600)?.write(text.as_bytes())
        };
        let read = || fs::read_to_string(&path).unwrap_or_default();
        write(false, "job", "one").unwrap_or_else(|e| panic!("{e}"));
        write(false, "job", "two").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read(), "two");
        assert!(write(false, "another", "three").is_err());
        fs::write(&path, "mine").unwrap_or_else(|e| panic!("{e}"));
        assert!(write(false, "job", "three").is_err());
        assert_eq!(read(), "mine");
        write(true, "another", "four").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read(), "four");
    }

    #[test]
    fn what_comes_to_be_there_meanwhile_stays() {
        let place = TestDir::new();
        let path = place.at("x");
        let begin = || place.files(false).create("with --out", &path, "job", 0o600);
        let new = begin().unwrap_or_else(|e| panic!("{e}"));
        fs::write(&path, "mine").unwrap_or_else(|e| panic!("{e}"));
        let error = new.write(b"ours").err().unwrap_or_else(|| panic!("replaced"));
        assert!(error.code() == code::TAKEN && error.to_string().contains("meanwhile"), "{error}");
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("mine"));
        fs::remove_file(&path).unwrap_or_else(|e| panic!("{e}"));
        begin().and_then(|new| new.write(b"ours")).unwrap_or_else(|e| panic!("{e}"));
        let new = begin().unwrap_or_else(|e| panic!("{e}"));
        fs::write(&path, "changed").unwrap_or_else(|e| panic!("{e}"));
        assert!(new.write(b"ours again").is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("changed"));
    }
}
