//! The rows of a table's file, CSV or Parquet, as text fields.

use crate::psi::of_file;
use hushwire_fault::code;
use hushwire_files::Rows;
#[cfg(feature = "parquet")]
use hushwire_files::parquet;
use hushwire_session::{Fault, InputPlace};
use std::path::{Path, PathBuf};

pub(super) use hushwire_files::is_parquet;

/// Refuses a file for a result in a format that this build does not have.
///
/// # Errors
/// It is called Parquet, and the build has none.
pub fn check_output(path: &Path) -> Result<(), Fault> {
    hushwire_files::check_output(path).map_err(of_file)
}

enum Of<'a> {
    Csv(Box<Rows<'a>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Rows>),
}

/// The chosen columns of a table's file, row by row.
pub(super) struct TableFile<'a> {
    path: PathBuf,
    of: Of<'a>,
    places: Vec<usize>,
}

/// A row's fields.
#[derive(Clone, Copy)]
pub(super) enum Fields<'a> {
    /// With its line, in a file whose columns are at these places.
    Csv(&'a csv::ByteRecord, &'a [usize]),
    /// With its number.
    #[cfg(feature = "parquet")]
    Parquet(&'a parquet::Record, u64),
}

impl Fields<'_> {
    /// The text of a chosen column; none where the file says NULL, which CSV cannot.
    pub(super) fn get(&self, at: usize) -> Option<&[u8]> {
        match self {
            Fields::Csv(record, places) => Some(record.get(places[at]).unwrap_or_default()),
            #[cfg(feature = "parquet")]
            Fields::Parquet(record, _) => record.get(at),
        }
    }

    /// Whether an empty text is how the file writes NULL.
    pub(super) fn empty_is_null(&self) -> bool {
        matches!(self, Fields::Csv(..))
    }

    /// The row in words: its line, or its number.
    pub(super) fn place(&self) -> String {
        match self {
            Fields::Csv(record, _) => format!("line {}", record.position().map_or(0, csv::Position::line)),
            #[cfg(feature = "parquet")]
            Fields::Parquet(_, row) => format!("row {row}"),
        }
    }
}

#[cfg(feature = "parquet")]
fn opened(path: &Path, file: Option<&std::fs::File>) -> Result<Of<'static>, Fault> {
    let rows = match file {
        Some(file) => {
            let file = file.try_clone().map_err(|e| Fault::io("read", path, &e))?;
            parquet::Rows::new(path, file)
        }
        None => parquet::Rows::open(path),
    };
    rows.map(|rows| Of::Parquet(Box::new(rows))).map_err(of_file)
}

#[cfg(not(feature = "parquet"))]
fn opened(path: &Path, _: Option<&std::fs::File>) -> Result<Of<'static>, Fault> {
    hushwire_files::check_input(path).map_err(of_file)?;
    Err(Fault::internal("reading a table", "a build without Parquet takes it for one with"))
}

impl TableFile<'static> {
    /// A file by its name.
    pub(super) fn file(path: &Path) -> Result<Self, Fault> {
        let of = if is_parquet(path) {
            opened(path, None)?
        } else {
            Of::Csv(Box::new(Rows::open(path).map_err(of_file)?))
        };
        Ok(Self { path: path.to_owned(), of, places: vec![] })
    }
}

impl<'a> TableFile<'a> {
    /// The file of an input's place; `name` is the table's.
    pub(super) fn open(name: &str, place: &'a InputPlace) -> Result<Self, Fault> {
        let csv = |path: PathBuf, rows: Result<Rows<'a>, _>| {
            Ok(Self { path, of: Of::Csv(Box::new(rows.map_err(of_file)?)), places: vec![] })
        };
        match place {
            InputPlace::File(path) => TableFile::file(path),
            InputPlace::Csv(of, _) => TableFile::open(name, of),
            InputPlace::Memory(bytes) => {
                let path = PathBuf::from(format!("table {name}"));
                csv(path.clone(), Rows::new(&path, &bytes[..]))
            }
            InputPlace::Open(file, path) if is_parquet(path) => {
                Ok(Self { path: path.clone(), of: opened(path, Some(file))?, places: vec![] })
            }
            InputPlace::Open(file, path) => csv(path.clone(), Rows::new(path, &**file)),
            InputPlace::Hex(_) | InputPlace::HexFile(_) | InputPlace::Values(_) => {
                let remedy = format!("write {name} = {{ file = \"{name}.csv\" }}");
                Err(Fault::new(code::QUERY, format!("reading table {name}"), "it is no table's file", remedy))
            }
        }
    }

    /// Its name in messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The names of columns whose types are read; none where the file is empty.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.of {
            Of::Csv(rows) => {
                rows.header().iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect()
            }
            #[cfg(feature = "parquet")]
            Of::Parquet(rows) => {
                let read = rows.columns().iter().filter(|column| column.kind.is_some());
                read.map(|column| column.name.clone()).collect()
            }
        }
    }

    /// The types of chosen columns that the file declares, as SQL; a string's has no length. A CSV
    /// file declares no type.
    pub(super) fn declared(&self) -> Vec<Option<String>> {
        match &self.of {
            Of::Csv(_) => vec![None; self.places.len()],
            #[cfg(feature = "parquet")]
            Of::Parquet(rows) => {
                let kind = |at: &usize| rows.columns()[*at].kind.map(|kind| kind.to_string());
                self.places.iter().map(kind).collect()
            }
        }
    }

    /// Chooses columns, by name.
    pub(super) fn choose<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<(), Fault> {
        match &mut self.of {
            Of::Csv(rows) => {
                self.places =
                    names.map(|name| rows.column(name)).collect::<Result<_, _>>().map_err(of_file)?;
            }
            #[cfg(feature = "parquet")]
            Of::Parquet(rows) => {
                let places: Result<Vec<_>, _> = names.map(|name| rows.place(name)).collect();
                self.places = places.map_err(of_file)?;
                rows.choose(&self.places).map_err(of_file)?;
            }
        }
        Ok(())
    }

    /// The next row.
    pub(super) fn read(&mut self) -> Result<Option<Fields<'_>>, Fault> {
        match &mut self.of {
            Of::Csv(rows) => {
                Ok(rows.read().map_err(of_file)?.map(|record| Fields::Csv(record, &self.places)))
            }
            #[cfg(feature = "parquet")]
            Of::Parquet(rows) => match rows.read().map_err(of_file)? {
                Some((record, number)) => Ok(Some(Fields::Parquet(record, number))),
                None => Ok(None),
            },
        }
    }
}
