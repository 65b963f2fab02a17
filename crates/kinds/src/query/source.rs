//! The rows of a table's files in text, Parquet or Arrow format, as text fields.

use crate::psi::of_file;
use hushwire_fault::code;
use hushwire_files::{FoundForm, Rows};
use hushwire_session::{Dialect, Fault, InputPlace};
use std::path::{Path, PathBuf};

pub(super) use hushwire_files::is_parquet;

/// Refuses a result file in a format that this build does not support.
///
/// # Errors
/// The file is named as Parquet, and this build has no Parquet.
pub fn check_output(path: &Path) -> Result<(), Fault> {
    hushwire_files::check_output(path).map_err(of_file)
}

/// The chosen columns of a table's files, row by row.
pub(super) struct TableFile<'a> {
    rows: Rows<'a>,
    places: Vec<usize>,
}

/// A row's fields.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    rows: &'a Rows<'a>,
    /// The places of the chosen columns.
    places: &'a [usize],
}

/// The name of the step that reads a file at a place, which begins with a comma.
fn step(path: &Path, place: &str) -> String {
    format!("cannot read {}{place}", path.display())
}

/// The name of the step that reads a row, by number from 1 on, of a file without lines.
#[cfg(feature = "parquet")]
pub(super) fn row_step((path, row): (&Path, u64)) -> String {
    step(path, &format!(", row {row}"))
}

impl<'a> Fields<'a> {
    /// The text of a chosen column. `None` if the file marks it as NULL, which a text file cannot.
    pub(super) fn get(&self, at: usize) -> Option<&'a [u8]> {
        let place = self.places[at];
        (!self.rows.is_null(place)).then(|| self.rows.last().get(place).unwrap_or_default())
    }

    /// Tests whether the file is text, in which empty fields and words of its dialect mean NULL.
    pub(super) fn is_text(&self) -> bool {
        self.rows.is_text()
    }

    /// The file, and the row in it as a line or a number.
    pub(super) fn step(&self) -> String {
        let place = self.rows.place().map_or_else(String::new, |place| format!(", {place}"));
        step(self.rows.path(), &place)
    }

    /// The file.
    pub(super) fn path(&self) -> &'a Path {
        self.rows.path()
    }

    /// The place of the row: its line or its number.
    pub(super) fn place(&self) -> String {
        self.rows.place().map_or_else(String::new, |place| place.to_string())
    }
}

impl<'a> TableFile<'a> {
    /// Opens the files of an input's place; `name` is the table's, and `base` is the dialect if the
    /// place sets none.
    pub(super) fn open(name: &str, place: &'a InputPlace, base: &Dialect) -> Result<Self, Fault> {
        let (places, dialect) = place.as_table(base);
        let rows = match &places[..] {
            [InputPlace::Memory(bytes)] => {
                Rows::with(&PathBuf::from(format!("table {name}")), &bytes[..], &dialect)
            }
            [InputPlace::Open(file, path)] => {
                let file = file.try_clone().map_err(|e| Fault::io("read", path, &e))?;
                Rows::of_file(path, file, &dialect)
            }
            places => {
                let file = |place: &&InputPlace| match place {
                    InputPlace::File(path) => Some(path.clone()),
                    _ => None,
                };
                let files: Option<Vec<PathBuf>> = places.iter().map(file).collect();
                let files = files.ok_or_else(|| {
                    let remedy = format!("write {name} = {{ file = \"{name}.csv\" }}");
                    let step = format!("reading table {name}");
                    Fault::new(code::QUERY, step, "it is no table's file", remedy)
                })?;
                Rows::open_all(&files, &dialect)
            }
        };
        Ok(Self { rows: rows.map_err(of_file)?, places: vec![] })
    }

    /// Takes rows that are already open.
    #[cfg(feature = "parquet")]
    pub(super) fn of_rows(rows: Rows<'a>) -> Self {
        Self { rows, places: vec![] }
    }

    /// The name in messages of the file that is being read.
    pub(super) fn path(&self) -> &Path {
        self.rows.path()
    }

    /// The dialect in which its text is read.
    pub(super) fn dialect(&self) -> &Dialect {
        self.rows.dialect()
    }

    /// Remarks for the owner on how the files are read.
    pub(super) fn remarks(&self) -> &[String] {
        self.rows.remarks()
    }

    /// The form that was found in the file.
    pub(super) fn found(&self) -> FoundForm {
        self.rows.found()
    }

    /// The names of columns whose types are read; empty if the file is empty.
    pub(super) fn names(&self) -> Vec<String> {
        self.rows.readable()
    }

    /// The names of columns whose types are not read, such as lists.
    pub(super) fn unread(&self) -> Vec<String> {
        let read = self.names();
        self.rows.names().into_iter().filter(|name| !read.contains(name)).collect()
    }

    /// Whether all names are text of the file's encoding.
    pub(super) fn names_are_text(&self) -> bool {
        self.rows.header().iter().all(|name| std::str::from_utf8(name).is_ok())
    }

    /// Tests whether the file has no contents, not even names.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.header().is_empty() && self.rows.is_text()
    }

    /// The types that the file declares for columns, as SQL. A string type has no length. Text
    /// files declare no types.
    pub(super) fn declared(&self, names: &[String]) -> Vec<Option<String>> {
        let declared = self.rows.declared();
        names.iter().map(|name| declared.get(self.rows.column(name).ok()?).cloned().flatten()).collect()
    }

    /// Chooses columns, by name.
    pub(super) fn choose<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<(), Fault> {
        if !self.is_empty() {
            self.places = self.rows.select(names).map_err(of_file)?;
        }
        Ok(())
    }

    /// The next row.
    pub(super) fn read(&mut self) -> Result<Option<Fields<'_>>, Fault> {
        let there = self.rows.read().map_err(of_file)?.is_some();
        Ok(there.then_some(Fields { rows: &self.rows, places: &self.places }))
    }
}
