//! The rows of a table's file: CSV ([`crate::strict`]), or with the feature `parquet` files that are called so, whose values are read as the
//! text that CSV would have for them.

#[cfg(feature = "parquet")]
use crate::parquet;
use crate::{
    Access, FileError, FilePlace, mark,
    strict::{Strict, broken, refused},
};
use std::{
    io::Read,
    path::{Path, PathBuf},
};

/// Whether a file's name says that it is Parquet.
#[must_use]
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// Whether a file's name says that it is Parquet, and this build has none.
fn lacks(path: &Path) -> bool {
    !cfg!(feature = "parquet") && is_parquet(path)
}

const BUILD: &str =
    "build it with `cargo build --release -p hushwire-cli --features parquet`, or take CSV instead";

/// Refuses a file for a result in a format that this build does not have.
///
/// # Errors
/// It is called Parquet, and the build has none.
pub fn check_output(path: &Path) -> Result<(), FileError> {
    if !lacks(path) {
        return Ok(());
    }
    let cause = "it would be Parquet, and this hushwire was built without it";
    Err(FileError { access: Access::Write, ..FileError::new(path, None, cause, BUILD) })
}

/// The same of a file that is read.
///
/// # Errors
/// As [`check_output`].
pub fn check_input(path: &Path) -> Result<(), FileError> {
    if !lacks(path) {
        return Ok(());
    }
    Err(FileError::new(path, None, "it is Parquet, and this hushwire was built without it", BUILD))
}

/// The records of a file whose columns have names, each of one width.
pub struct Rows<'a> {
    path: PathBuf,
    of: RowSource<'a>,
    /// The columns' names.
    header: csv::ByteRecord,
    record: csv::ByteRecord,
    place: Option<FilePlace>,
}

enum RowSource<'a> {
    Csv(Box<csv::Reader<Strict<Box<dyn Read + 'a>>>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Rows>),
}

impl Rows<'static> {
    /// Opens a file, and reads the names of its columns.
    ///
    /// # Errors
    /// The file cannot be read; its first line is not as RFC 4180 has it; or it is called Parquet and is none, or this build reads none.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        check_input(path)?;
        #[cfg(feature = "parquet")]
        if is_parquet(path) {
            let rows = parquet::Rows::open(path)?;
            let header = rows.columns().iter().map(|column| &column.name).collect();
            let of = RowSource::Parquet(Box::new(rows));
            return Ok(Self {
                path: path.to_owned(),
                of,
                header,
                record: csv::ByteRecord::new(),
                place: None,
            });
        }
        let file = std::fs::File::open(path).map_err(|e| refused(path, &e))?;
        Rows::new(path, file)
    }
}

impl<'a> Rows<'a> {
    /// As [`Rows::open`], of CSV from anything; `path` is what errors name.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn new(path: &Path, csv: impl Read + 'a) -> Result<Self, FileError> {
        let text = mark::strip_read(csv).map_err(|e| refused(path, &e))?;
        let mut reader = csv::ReaderBuilder::new().from_reader(Strict::new(Box::new(text) as Box<dyn Read>));
        let header = reader.byte_headers().map_err(|e| broken(path, e, None))?.clone();
        reader.get_mut().next_record();
        let (of, record) = (RowSource::Csv(Box::new(reader)), csv::ByteRecord::new());
        Ok(Self { path: path.to_owned(), of, header, record, place: None })
    }

    /// The columns' names; no fields where the file is empty.
    #[must_use]
    pub fn header(&self) -> &csv::ByteRecord {
        &self.header
    }

    /// The place of the column called so, from 0.
    ///
    /// # Errors
    /// The file is empty, lacks the column, has it twice, or has values there that have no text.
    pub fn column(&self, name: &str) -> Result<usize, FileError> {
        #[cfg(feature = "parquet")]
        if let RowSource::Parquet(rows) = &self.of {
            return rows.place(name);
        }
        let path = &self.path;
        if self.header.is_empty() {
            let remedy = format!("its first line must name the columns, {name} among them");
            return Err(FileError::new(path, None, "it is empty", remedy));
        }
        let names: Vec<String> =
            self.header.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
        let mut places = names.iter().enumerate().filter(|(_, n)| *n == name.trim()).map(|(i, _)| i);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => {
                let cause = format!("two columns are called {name}");
                Err(FileError::new(path, Some(FilePlace::line(1)), cause, "rename one of them"))
            }
            (None, _) => {
                let cause = format!("no column is called {name}; the first line names {}", names.join(", "));
                let one = names.len() == 1 && names[0].contains([';', '\t', '|']);
                let remedy = if one {
                    "save the file with commas between columns"
                } else {
                    "name one of these, or put a line with the columns' names first"
                };
                Err(FileError::new(path, Some(FilePlace::line(1)), cause, remedy))
            }
        }
    }

    /// Says which columns are wanted of the records that follow, and gives their places in these.
    ///
    /// # Errors
    /// As [`Rows::column`], of each.
    pub fn select<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<usize>, FileError> {
        let places = names.into_iter().map(|name| self.column(name)).collect::<Result<Vec<_>, _>>()?;
        #[cfg(feature = "parquet")]
        if let RowSource::Parquet(rows) = &mut self.of {
            // Others are not even decoded.
            rows.choose(&places)?;
            return Ok((0..places.len()).collect());
        }
        Ok(places)
    }

    /// Says that all columns are wanted of the records that follow, which is so of CSV without a word.
    ///
    /// # Errors
    /// A column has values that have no text.
    pub fn select_all(&mut self) -> Result<(), FileError> {
        #[cfg(feature = "parquet")]
        if let RowSource::Parquet(rows) = &mut self.of {
            if let Some(column) = rows.columns().iter().find(|column| column.kind.is_none()) {
                let cause = format!("column {} is of a type that CSV cannot have", column.name);
                let remedy = "name a file for the result that ends in .parquet, or leave the column out";
                return Err(FileError::new(&self.path, None, cause, remedy));
            }
            rows.choose(&(0..self.header.len()).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// The next record.
    ///
    /// # Errors
    /// The file cannot be read, deviates from its format, or a record is not as wide as the first.
    pub fn read(&mut self) -> Result<Option<&csv::ByteRecord>, FileError> {
        let more = match &mut self.of {
            RowSource::Csv(reader) => {
                let more = reader.read_byte_record(&mut self.record);
                let line = reader.get_mut().next_record();
                let more = more.map_err(|e| broken(&self.path, e, line))?;
                if let (Some(line), Some(mut at)) = (line, self.record.position().cloned()) {
                    at.set_line(line);
                    self.place = Some(FilePlace::line(line));
                    self.record.set_position(Some(at));
                }
                more
            }
            #[cfg(feature = "parquet")]
            RowSource::Parquet(rows) => {
                self.record.clear();
                let row = rows.read()?;
                if let Some((row, number)) = row {
                    // What is NULL is no key, as an empty field is none.
                    (0..row.len()).for_each(|at| self.record.push_field(row.get(at).unwrap_or_default()));
                    self.place = Some(FilePlace::Row(number));
                }
                row.is_some()
            }
        };
        Ok(more.then_some(&self.record))
    }

    /// The record that was read last.
    #[must_use]
    pub fn last(&self) -> &csv::ByteRecord {
        &self.record
    }

    /// Its place.
    #[must_use]
    pub fn place(&self) -> Option<FilePlace> {
        self.place
    }

    /// The file, if it is Parquet.
    #[cfg(feature = "parquet")]
    pub(crate) fn parquet(&self) -> Option<&parquet::Rows> {
        match &self.of {
            RowSource::Parquet(rows) => Some(rows),
            RowSource::Csv(_) => None,
        }
    }
}
