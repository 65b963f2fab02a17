//! The handling of files that all commands have in common, and of paths.

use crate::{error::Error, out};
use clap::Args;
use hushwire::job::{InputPlace, open_input, read_once, refuse_once};
use hushwire_block::Wiped;
use std::{
    fmt::Display,
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Read},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) use hushwire::job::{NewFile, RunFiles};

/// Makes a file that reaches the limit of sizes an error of the write, as a full disk is. Otherwise
/// the process would die of SIGXFSZ.
pub(crate) fn outlive_the_largest() {
    // With any handler, the system returns EFBIG. If the handler cannot be set, nothing changes.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// The options of every command that writes files.
#[derive(Args)]
pub(crate) struct Replace {
    /// Replace files that are there already, although this job did not write them; never one that
    /// it reads, or a key
    #[arg(long)]
    pub(crate) force: bool,
}

/// Creates the file of `--json`, if its argument is a file. Runs with the same `job` may replace
/// each other's report.
pub(crate) fn json_file(
    files: &mut RunFiles,
    path: Option<&Path>,
    job: &str,
    mode: u32,
) -> Result<Option<NewFile>, Error> {
    let path = path.filter(|path| *path != Path::new("-"));
    Ok(path.map(|path| files.create("with --json", path, &format!("report of {job}"), mode)).transpose()?)
}

/// Returns whether a path means standard input or output.
pub(crate) fn is_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Creates a temporary file without a name. It holds standard input until the length is known, or
/// the output for standard output until it is complete.
pub(crate) fn unnamed() -> Result<NewFile, Error> {
    Ok(NewFile::nameless(&std::env::temp_dir())?)
}

/// Reads all of standard input, as the place of an input.
pub(crate) fn stream() -> Result<InputPlace, Error> {
    let mut bytes = Wiped::new(vec![]);
    let read = io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| Error::io("read", Path::new("standard input"), &e))?;
    Ok(InputPlace::Memory(Arc::new(bytes)))
}

/// The place of an input that another process reads as well. Standard input is kept in memory.
pub(crate) fn input(path: &Path) -> Result<InputPlace, Error> {
    match is_stream(path) {
        true => stream(),
        false if read_once(path) => Err(refuse_once(path).into()),
        false => Ok(InputPlace::File(path.to_owned())),
    }
}

/// Returns the text of a file, or of standard input.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    open_input(path).and_then(io::read_to_string).map_err(|e| Error::io("read", path, &e))
}

/// Checks a query that was written on the command line: the name of a file is refused.
pub(crate) fn query(text: &str) -> Result<String, Error> {
    let name = text.trim();
    if !name.contains(char::is_whitespace) && name.to_ascii_lowercase().ends_with(".sql") {
        return Err(Error::Usage(format!("--sql takes the query itself: write --sql-file {name}")));
    }
    Ok(text.to_owned())
}

/// Protects a file that the run reads. Standard input needs no protection.
pub(crate) fn reads(run: &mut RunFiles, role: impl Into<String>, path: &Path) {
    if !is_stream(path) {
        run.reads(role, path);
    }
}

/// Refuses one stream for two files. `all` are options and their paths, and `stream` is "standard
/// input" or "standard output".
pub(crate) fn one_stream<'a, N: Display>(
    stream: &str,
    all: impl IntoIterator<Item = (N, Option<&'a Path>)>,
) -> Result<(), Error> {
    let mut streams = all.into_iter().filter(|(_, path)| path.is_some_and(is_stream));
    match (streams.next(), streams.next()) {
        (Some((one, _)), Some((other, _))) => {
            Err(Error::Usage(format!("{one} and {other} are both {stream}; give one of them a file")))
        }
        _ => Ok(()),
    }
}

/// A file that another process writes and that then goes to standard output. It is removed when
/// this is dropped.
pub(crate) struct Passing {
    dir: PathBuf,
    name: &'static str,
}

impl Passing {
    pub(crate) fn new() -> Result<Self, Error> {
        Self::called("output")
    }

    /// Makes a place for the file that will be at `path`. The writer knows the format by the ending
    /// of the name.
    pub(crate) fn of(path: &Path) -> Result<Self, Error> {
        Self::called(if hushwire_files::is_parquet(path) { "output.parquet" } else { "output" })
    }

    fn called(name: &'static str) -> Result<Self, Error> {
        // The name of the directory is not secret.
        let random: [u8; 8] = hushwire::job::aes_ctr::draw("naming a directory")?;
        let dir = std::env::temp_dir().join(format!("hushwire-{}", hex::encode(random)));
        let made = DirBuilder::new().mode(0o700).create(&dir);
        made.map(|()| Self { dir: dir.clone(), name }).map_err(|e| Error::io("make the directory", &dir, &e))
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.dir.join(self.name)
    }

    /// Opens the file and removes its name. If this process ends while it reads the file, nothing
    /// is left behind.
    pub(crate) fn open(self) -> Result<File, Error> {
        File::open(self.file()).map_err(|e| Error::io("read", &self.file(), &e))
    }

    /// Writes the file to standard output.
    pub(crate) fn show(self) -> Result<(), Error> {
        let mut file = self.open()?;
        out::with(|to| io::copy(&mut file, to).map(drop))
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        RunFiles::forget(&self.file());
        // There is no place to report a failure here.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// The extension of the files with members' cards.
pub(crate) const CARD: &str = "card";

/// Returns `path` with `suffix` appended to its name.
pub(crate) fn appended(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the absolute form of `path`, as a ledger records it.
pub(crate) fn absolute(path: &Path) -> String {
    let resolved = fs::canonicalize(path).or_else(|_| {
        let dir = path.parent().filter(|dir| *dir != Path::new("")).unwrap_or(Path::new("."));
        fs::canonicalize(dir).map(|dir| dir.join(path.file_name().unwrap_or_default()))
    });
    resolved.unwrap_or_else(|_| path.to_path_buf()).to_string_lossy().into_owned()
}

/// Returns whether other users than the owner can open `path`.
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
        fs::write(&a, "").and_then(|()| std::os::unix::fs::symlink(&a, &b)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(absolute(&a), absolute(&b));
    }
}
