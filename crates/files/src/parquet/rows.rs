//! Reads the rows of a file, one batch of each column at a time. Only chosen columns are decoded. A
//! panic of the decoder is caught and becomes an error that names the file.

use super::{
    ParquetColumn,
    fields::{self, Odd},
    kind::{self, TextForm},
};
use crate::{
    FileError, FilePlace,
    named::{NameMatch, named},
};
use parquet::{
    column::reader::{ColumnReader, ColumnReaderImpl},
    data_type::{ByteArray, DataType, FixedLenByteArray, Int96},
    errors::ParquetError as Decoder,
    file::reader::{FileReader, SerializedFileReader},
};
use std::{
    cell::Cell,
    fs::File,
    io,
    ops::Range,
    os::unix::fs::FileExt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

/// LOCAL: the rows of a column that are decoded at a time.
const BATCH: usize = 4096;

/// The fields of a row, in the order in which columns were chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    bytes: Vec<u8>,
    /// The end of each field, and whether the field is not NULL.
    ends: Vec<(usize, bool)>,
}

impl Record {
    /// The text of a field; `None` if it is NULL or there is no such field.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let (end, there) = *self.ends.get(at)?;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before].0);
        there.then(|| &self.bytes[begin..end])
    }

    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Drops all fields.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends a field. `text` appends its text to the bytes, or returns that it is NULL.
    pub(crate) fn put<E>(&mut self, text: impl FnOnce(&mut Vec<u8>) -> Result<bool, E>) -> Result<(), E> {
        let is_there = text(&mut self.bytes)?;
        self.ends.push((self.bytes.len(), is_there));
        Ok(())
    }

    /// Appends the fields of another record.
    pub(crate) fn append(&mut self, other: &Record) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|(end, is_there)| (before + end, *is_there)));
    }
}

/// The place of the column with this name among `columns`. Errors name `path`.
///
/// # Errors
/// There is no such column, there are two, or its type has no text here.
pub(crate) fn place(path: &Path, columns: &[ParquetColumn], name: &str) -> Result<usize, FileError> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let (cause, remedy) = match named(&names, name) {
        NameMatch::One(at) if columns[at].kind.is_some() => return Ok(at),
        NameMatch::One(_) => (
            format!("column {name} is of a type that is not read"),
            "save it as text, a number, a date or a timestamp",
        ),
        NameMatch::Several => (format!("two columns are called {name}"), "rename one of them"),
        NameMatch::None => {
            (format!("no column is called {name}; there are {}", names.join(", ")), "name one of these")
        }
    };
    Err(FileError::new(path, None, cause, remedy))
}

enum DecodedValues {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

/// A column of a row group, and its decoded part.
struct Chunk {
    reader: ColumnReader,
    form: TextForm,
    nullable: bool,
    levels: Vec<i16>,
    values: DecodedValues,
    /// The rows and values of the batch that were taken.
    row: usize,
    value: usize,
    rows: usize,
}

fn decoded<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    levels: Option<&mut Vec<i16>>,
) -> Result<(usize, Vec<T::T>), Decoder> {
    let mut values = Vec::with_capacity(BATCH);
    let (rows, ..) = reader.read_records(BATCH, levels, None, &mut values)?;
    Ok((rows, values))
}

impl Chunk {
    fn new(reader: ColumnReader, form: TextForm, nullable: bool) -> Self {
        let (levels, values) = (vec![], DecodedValues::Bool(vec![]));
        Self { reader, form, nullable, levels, values, row: 0, value: 0, rows: 0 }
    }

    fn refill(&mut self) -> Result<(), Decoder> {
        self.levels.clear();
        let levels = self.nullable.then_some(&mut self.levels);
        macro_rules! all {
            ($($reader:ident => $values:ident),+) => {
                match &mut self.reader {
                    $(ColumnReader::$reader(reader) => {
                        let (rows, values) = decoded(reader, levels)?;
                        (rows, DecodedValues::$values(values))
                    })+
                }
            };
        }
        (self.rows, self.values) = all!(
            BoolColumnReader => Bool,
            Int32ColumnReader => Int32,
            Int64ColumnReader => Int64,
            Int96ColumnReader => Int96,
            FloatColumnReader => Float,
            DoubleColumnReader => Double,
            ByteArrayColumnReader => Bytes,
            FixedLenByteArrayColumnReader => Fixed
        );
        (self.row, self.value) = (0, 0);
        Ok(())
    }

    /// Skips unneeded rows. Returns how many there were.
    fn skip(&mut self, rows: usize) -> Result<usize, Decoder> {
        of_any_type!(&mut self.reader, reader => reader.skip_records(rows))
    }

    /// Appends the next field's text; `false` for NULL. `None` means that the end was reached.
    fn next(&mut self, out: &mut Vec<u8>) -> Result<Option<bool>, Fault> {
        if self.row == self.rows {
            self.refill().map_err(Fault::Decoder)?;
            if self.rows == 0 {
                return Ok(None);
            }
        }
        let row = self.row;
        self.row += 1;
        if self.nullable && self.levels.get(row).is_none_or(|level| *level == 0) {
            return Ok(Some(false));
        }
        let at = self.value;
        self.value += 1;
        let form = self.form;
        let missing = || Fault::Decoder(Decoder::General("a page has too few values".into()));
        macro_rules! at {
            ($values:expr) => {
                $values.get(at).ok_or_else(missing)?
            };
        }
        match &self.values {
            DecodedValues::Bool(v) => out.extend_from_slice(if *at!(v) { b"true" } else { b"false" }),
            DecodedValues::Int32(v) => fields::number((*at!(v)).into(), form, 32, out).map_err(Fault::Odd)?,
            DecodedValues::Int64(v) => fields::number(*at!(v), form, 64, out).map_err(Fault::Odd)?,
            DecodedValues::Int96(v) => fields::julian(at!(v), out).map_err(Fault::Odd)?,
            DecodedValues::Float(v) => out.extend_from_slice(at!(v).to_string().as_bytes()),
            DecodedValues::Double(v) => out.extend_from_slice(at!(v).to_string().as_bytes()),
            DecodedValues::Bytes(v) => fields::bytes(at!(v).data(), form, out).map_err(Fault::Odd)?,
            DecodedValues::Fixed(v) => fields::bytes(at!(v).data(), form, out).map_err(Fault::Odd)?,
        }
        Ok(Some(true))
    }
}

enum Fault {
    Decoder(Decoder),
    Odd(Odd),
}

/// The chosen columns of a file, row by row.
pub struct Rows {
    path: PathBuf,
    reader: SerializedFileReader<File>,
    columns: Vec<ParquetColumn>,
    forms: Vec<Option<TextForm>>,
    chosen: Vec<usize>,
    chunks: Vec<Chunk>,
    /// The row groups that were begun, and the remaining rows of the last one.
    group: usize,
    left: u64,
    count: u64,
    /// The rows that were read or skipped, and the first row that is no longer read.
    read: u64,
    end: u64,
    /// The rows of the next row group that are skipped.
    skip: u64,
    record: Record,
}

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in the decoder. A panic is then caught and becomes an error. Hooks that
/// end the process check this.
#[must_use]
pub fn is_decoding() -> bool {
    DECODING.get()
}

/// Turns an error of the decoder, or its panic, into an error about the file.
pub(crate) fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, Decoder>) -> Result<T, FileError> {
    let remedy = "write it anew from its source, or save the table as CSV";
    // A decoder that fails an assertion has found a broken file.
    let before = DECODING.replace(true);
    let ended = catch_unwind(AssertUnwindSafe(work));
    DECODING.set(before);
    match ended {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(Decoder::External(e))) => match e.downcast::<io::Error>() {
            Ok(e) => Err(FileError::new(path, None, e.to_string(), "see the system's log about that file")),
            Err(e) => Err(FileError::new(path, None, format!("it is no good Parquet: {e}"), remedy)),
        },
        Ok(Err(e)) => {
            let text = e.to_string();
            Err(match text.split_once("Disabled feature at compile time: ") {
                Some((_, codec)) => {
                    let remedy = "write it with Snappy, gzip, Zstandard or LZ4, or save the table as CSV";
                    FileError::new(
                        path,
                        None,
                        format!("it is compressed by {codec}, which is not read"),
                        remedy,
                    )
                }
                None => FileError::new(path, None, format!("it is no good Parquet: {text}"), remedy),
            })
        }
        Err(_) => Err(FileError::new(path, None, "it is no good Parquet: its decoder gave up", remedy)),
    }
}

impl Rows {
    /// Opens a file, and reads its columns. All columns with a type are chosen.
    ///
    /// # Errors
    /// The file cannot be read, or is not Parquet.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::new(path, File::open(path).map_err(|e| FileError::io(path, &e))?)
    }

    /// As [`Rows::open`], for an open file. Errors name `path`.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn new(path: &Path, file: File) -> Result<Self, FileError> {
        let mut begin = [0; 4];
        // The decoder reports all other defects, also those of a shorter file or one that cannot be
        // read at an offset.
        if file.read_exact_at(&mut begin, 0).is_ok() && !matches!(&begin, b"PAR1" | b"PARE") {
            let cause = "it is no good Parquet: it does not begin as Parquet does";
            let remedy =
                "if it is CSV, give it a name that ends in .csv; otherwise write it anew from its source";
            return Err(FileError::new(path, None, cause, remedy));
        }
        let reader = guarded(path, || SerializedFileReader::new(file))?;
        let meta = reader.metadata().file_metadata();
        let (mut columns, mut forms) = (vec![], vec![]);
        for column in meta.schema_descr().columns() {
            let of = kind::of(column);
            let nullable = column.max_def_level() > 0;
            columns.push(ParquetColumn {
                name: column.path().string(),
                kind: of.map(|(kind, _)| kind),
                nullable,
            });
            forms.push(of.map(|(_, form)| form));
        }
        let groups = reader.metadata().row_groups();
        let rows = |n: i64| u64::try_from(n).ok();
        let all: Option<u64> =
            groups.iter().try_fold(0u64, |sum, group| sum.checked_add(rows(group.num_rows())?));
        let count = rows(meta.num_rows()).filter(|n| Some(*n) == all).ok_or_else(|| {
            let cause = "it is no good Parquet: row groups have other rows than the file says";
            FileError::new(path, None, cause, "write it anew from its source")
        })?;
        let chosen = (0..columns.len()).filter(|at| forms[*at].is_some()).collect();
        let path = path.to_owned();
        let (chunks, record) = (vec![], Record::default());
        Ok(Self {
            path,
            reader,
            columns,
            forms,
            chosen,
            chunks,
            group: 0,
            left: 0,
            count,
            read: 0,
            end: count,
            skip: 0,
            record,
        })
    }

    /// Returns the columns of the file.
    #[must_use]
    pub fn columns(&self) -> &[ParquetColumn] {
        &self.columns
    }

    /// The path that errors name.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn reader(&self) -> &SerializedFileReader<File> {
        &self.reader
    }

    /// Returns the number of rows of the file.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the place of the column with this name.
    ///
    /// # Errors
    /// There is no such column, there are two, or its type has no text here.
    pub fn place(&self, name: &str) -> Result<usize, FileError> {
        place(&self.path, &self.columns, name)
    }

    /// Chooses the columns of records, by their places, before the first record is read. Other
    /// columns are not decoded.
    ///
    /// # Errors
    /// One of the columns has no type here.
    pub fn choose(&mut self, places: &[usize]) -> Result<(), FileError> {
        for at in places {
            let name = self.columns.get(*at).map_or("", |column| &column.name);
            self.place(name)?;
        }
        self.chosen = places.to_vec();
        self.chunks.clear();
        Ok(())
    }

    /// Restricts the rows to this range, counted from 0, before the first row is read. Row groups
    /// outside of the range are not touched. In the first row group of the range, no row before it
    /// is decoded.
    pub fn within(&mut self, rows: Range<u64>) {
        let begin = rows.start.min(self.count);
        (self.read, self.end, self.skip) = (begin, rows.end.clamp(begin, self.count), begin);
        let groups = self.reader.metadata().row_groups();
        (self.group, self.left) = (0, 0);
        self.chunks.clear();
        while let Some(group) = groups.get(self.group) {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            if rows > self.skip {
                break;
            }
            (self.group, self.skip) = (self.group + 1, self.skip - rows);
        }
    }

    /// Reads the next row, and its number, counted from 1.
    ///
    /// # Errors
    /// The file cannot be decoded, or one of its values has no text. The error names the row.
    pub fn read(&mut self) -> Result<Option<(&Record, u64)>, FileError> {
        if self.read == self.end {
            return Ok(None);
        }
        while self.left == 0 {
            if self.group == self.reader.num_row_groups() {
                return Ok(None);
            }
            self.begin()?;
        }
        (self.left, self.read) = (self.left - 1, self.read + 1);
        let (record, chunks) = (&mut self.record, &mut self.chunks);
        record.clear();
        for (chunk, at) in chunks.iter_mut().zip(&self.chosen) {
            let mut odd = None;
            let next = guarded(&self.path, || match chunk.next(&mut record.bytes) {
                Ok(there) => Ok(there),
                Err(Fault::Decoder(e)) => Err(e),
                Err(Fault::Odd(why)) => {
                    odd = Some(why);
                    Ok(None)
                }
            });
            let name = &self.columns[*at].name;
            if let Some((cause, remedy)) = odd {
                let cause = format!("column {name}: {cause}");
                let place = Some(FilePlace::Row(self.read));
                return Err(FileError::new(&self.path, place, cause, remedy));
            }
            let Some(there) = next? else {
                return Err(short(&self.path, &self.columns[*at].name));
            };
            record.ends.push((record.bytes.len(), there));
        }
        Ok(Some((&self.record, self.read)))
    }

    /// Begins the next row group.
    fn begin(&mut self) -> Result<(), FileError> {
        let (reader, at) = (&self.reader, self.group);
        let (chosen, forms, columns) = (&self.chosen, &self.forms, &self.columns);
        let (rows, chunks) = guarded(&self.path, || {
            let group = reader.get_row_group(at)?;
            let chunk = |at: &usize| {
                let form = forms[*at].unwrap_or(TextForm::Plain);
                Ok(Chunk::new(group.get_column_reader(*at)?, form, columns[*at].nullable))
            };
            let chunks = chosen.iter().map(chunk).collect::<Result<Vec<_>, Decoder>>()?;
            Ok((group.metadata().num_rows(), chunks))
        })?;
        self.chunks = chunks;
        self.group += 1;
        let skip = std::mem::take(&mut self.skip);
        if skip > 0 {
            for (chunk, at) in self.chunks.iter_mut().zip(&self.chosen) {
                if guarded(&self.path, || chunk.skip(skip as usize))? as u64 != skip {
                    return Err(short(&self.path, &self.columns[*at].name));
                }
            }
        }
        self.left = u64::try_from(rows).unwrap_or(0).saturating_sub(skip);
        Ok(())
    }
}

/// The error of a column that has fewer rows than its row group.
fn short(path: &Path, column: &str) -> FileError {
    let cause = format!("it is no good Parquet: column {column} ends before the others");
    FileError::new(path, None, cause, "write it anew from its source")
}
