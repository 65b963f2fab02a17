//! A party's rows. They are read once for their keys, and again for the result, so that they need
//! not be kept in memory.

use super::{CSV, PsiReveal};
use hushwire_block::Wiped;
use hushwire_files::{
    FileError, FileState, Rows, check_result, write_columns, write_flags, write_parquet,
    write_parquet_columns, write_rows,
};
use hushwire_psi::Beside;
use hushwire_session::{Dialect, Fault, InputPlace, NewFile, read_once, refuse_once};
use std::{
    fs,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

/// The rows, and the name of their file in messages.
pub(super) struct Table {
    /// The first file.
    path: PathBuf,
    rows: KeyOrigin,
    dialect: Dialect,
}

/// The reason why a result was not written.
pub(super) enum Refused {
    /// The disk refused the file.
    Disk(Fault),
    /// The rows cannot be in a result, or have changed since they were first read.
    Rows(FileError),
}

enum KeyOrigin {
    Files(Vec<(PathBuf, Stamp)>),
    Memory(Arc<Wiped<Vec<u8>>>),
}

/// The state of a file that is read for its keys, and again for the result. It differs if the file
/// has changed or was replaced.
#[derive(PartialEq, Eq)]
pub struct Stamp(Option<FileState>);

impl Stamp {
    /// The state of the file now.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self(fs::metadata(path).ok().map(|meta| FileState::of(&meta)))
    }

    /// The rows of the file in this state, read in a dialect.
    ///
    /// # Errors
    /// The file cannot be read, or has changed, so that its rows may be different ones.
    pub fn rows(&self, path: &Path, dialect: &Dialect) -> Result<Rows<'static>, FileError> {
        let rows = Rows::open_all(&[path.to_owned()], dialect)?;
        if *self == Self::of(path) {
            return Ok(rows);
        }
        Err(FileError::changed(path))
    }
}

impl Table {
    /// Rows that are read once, or `again` for a result. Their dialect is `base`, unless the place
    /// sets another.
    pub(super) fn new(place: &InputPlace, base: &Dialect, again: bool) -> Result<Self, Fault> {
        let (places, dialect) = place.as_table(base);
        if let [InputPlace::Memory(bytes)] = places[..] {
            let (path, rows) = (PathBuf::from(format!("input {CSV}")), KeyOrigin::Memory(bytes.clone()));
            return Ok(Self { path, rows, dialect });
        }
        let mut files = vec![];
        for place in places {
            let InputPlace::File(path) = place else {
                return Err(Fault::internal("reading inputs", "rows are text"));
            };
            if again && read_once(path) {
                return Err(refuse_once(path));
            }
            files.push((path.clone(), Stamp::of(path)));
        }
        let path = files.first().map(|(path, _)| path.clone()).unwrap_or_default();
        Ok(Self { path, rows: KeyOrigin::Files(files), dialect })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn open(&self) -> Result<Rows<'_>, FileError> {
        match &self.rows {
            KeyOrigin::Memory(bytes) => Rows::with(&self.path, &bytes[..], &self.dialect),
            KeyOrigin::Files(files) => {
                let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
                let rows = Rows::open_all(&paths, &self.dialect)?;
                self.unchanged().map(|()| rows)
            }
        }
    }

    /// Checks that all files are in the state in which they were first read.
    fn unchanged(&self) -> Result<(), FileError> {
        let KeyOrigin::Files(files) = &self.rows else { return Ok(()) };
        match files.iter().find(|(path, stamp)| *stamp != Stamp::of(path)) {
            Some((path, _)) => Err(FileError::changed(path)),
            None => Ok(()),
        }
    }

    /// Writes the rows whose flags are set, with columns of the other party if there are any. Or
    /// writes all rows with their flags.
    pub(super) fn write(
        &self,
        reveal: &PsiReveal,
        flags: &[bool],
        beside: Option<Beside<'_>>,
        out: impl Write,
    ) -> Result<(), FileError> {
        let mut rows = self.open()?;
        match (reveal, beside) {
            (PsiReveal::Flags, _) => write_flags(&self.path, &mut rows, flags, out),
            (_, Some(beside)) => write_columns(&self.path, &mut rows, flags, &beside, out),
            _ => write_rows(&self.path, &mut rows, flags, out),
        }?;
        // Later files were opened only when their turn came, so all of them are checked again.
        self.unchanged()
    }

    /// Checks before the run that all rows can be in a result. An error that depends on the common
    /// rows would reveal them.
    pub(super) fn check(&self, reveal: &PsiReveal, as_parquet: bool) -> Result<(), FileError> {
        check_result(&self.path, &mut self.open()?, *reveal == PsiReveal::Flags, as_parquet)
    }

    /// Like [`Table::write`], to a file that has no name yet, as Parquet if that is asked for.
    pub(super) fn write_file(
        &self,
        reveal: &PsiReveal,
        flags: &[bool],
        beside: Option<Beside<'_>>,
        file: &NewFile,
        as_parquet: bool,
    ) -> Result<(), Refused> {
        let writer = file.writer().map_err(Refused::Disk)?;
        let mut heard = Heard { file: BufWriter::with_capacity(1 << 18, writer), error: None };
        let written = match as_parquet {
            false => self.write(reveal, flags, beside, &mut heard),
            true => self.open().and_then(|mut rows| match beside {
                Some(beside) => write_parquet_columns(&self.path, &mut rows, flags, &beside, &mut heard),
                None => {
                    let all = *reveal == PsiReveal::Flags;
                    write_parquet(&self.path, &mut rows, flags, all, &mut heard)
                }
            }),
        };
        let written = written.and_then(|()| heard.flush().map_err(FileError::output));
        match (written, heard.error) {
            (Err(_), Some(e)) => Err(Refused::Disk(file.error(&e))),
            (Err(e), None) => Err(Refused::Rows(e)),
            (Ok(()), _) => Ok(()),
        }
    }
}

/// A file that records the error with which it refused bytes.
struct Heard<W> {
    file: W,
    error: Option<std::io::Error>,
}

impl<W> Heard<W> {
    fn note<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        result.inspect_err(|e| {
            let copy = e.raw_os_error().map_or_else(|| e.kind().into(), std::io::Error::from_raw_os_error);
            self.error = Some(copy);
        })
    }
}

impl<W: Write> Write for Heard<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.file.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let flushed = self.file.flush();
        self.note(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_takes_the_place_of_another_of_its_length_and_time_is_another() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let [first, second] = ["first.csv", "second.csv"].map(|name| dir.path().join(name));
        fs::write(&first, "k\n1\n").unwrap_or_else(|e| panic!("{e}"));
        fs::write(&second, "k\n2\n").unwrap_or_else(|e| panic!("{e}"));
        let stamp = Stamp::of(&first);
        let time = fs::metadata(&first).and_then(|meta| meta.modified()).unwrap_or_else(|e| panic!("{e}"));
        let set = fs::File::options().append(true).open(&second).and_then(|file| file.set_modified(time));
        set.unwrap_or_else(|e| panic!("{e}"));
        assert!(stamp.rows(&first, &Dialect::default()).is_ok());
        fs::rename(&second, &first).unwrap_or_else(|e| panic!("{e}"));
        let error = stamp.rows(&first, &Dialect::default()).err().map(|e| e.to_string());
        assert!(error.is_some_and(|e| e.contains("has changed")));
    }
}
