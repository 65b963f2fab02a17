//! Reads the rows of a table's file. The suffix of its name tells whether a file is Parquet or
//! Arrow, which need the feature `parquet`. Any other file is CSV ([`crate::strict`]). Values of
//! Parquet and Arrow are read as the text that CSV would have for them.

use crate::{
    Dialect, FileError, FileFormat, FilePlace, check_input,
    dialect::{HeaderRow, Separator},
    encoding::{Decoded, Encoding},
    mark,
    named::{NameMatch, named},
    packed::unpacked,
    sniff,
    strict::{Deviation, DeviationKind, HEAD, Strict, broken, refused},
};
#[cfg(feature = "parquet")]
use crate::{
    arrow,
    parquet::{self, ParquetColumn},
};
#[cfg(feature = "parquet")]
use std::ops::Range;
use std::{
    fs::File,
    io::{self, Cursor, Read},
    path::{Path, PathBuf},
};

/// The records of a file. Its columns have names, and all records have one width. Several files
/// with the same columns may follow each other.
pub struct Rows<'a> {
    /// The file that is read.
    path: PathBuf,
    of: RowSource<'a>,
    dialect: Dialect,
    /// The columns' names in the first file.
    header: csv::ByteRecord,
    /// The file's first record, if it has no names and was not returned yet.
    first: Option<(csv::ByteRecord, Option<u64>)>,
    record: csv::ByteRecord,
    /// The fields of the record that are NULL, for Parquet and Arrow.
    nulls: Vec<bool>,
    place: Option<FilePlace>,
    /// The following files, with the next one last.
    more: Vec<PathBuf>,
    /// The rows to read, if only parts of Parquet files are read, in the same order.
    #[cfg(feature = "parquet")]
    ranges: Vec<Range<u64>>,
    /// For each column of the first file, its place in this one, if the order differs.
    order: Option<Vec<usize>>,
    chosen: Chosen,
    remarks: Vec<String>,
}

enum RowSource<'a> {
    Csv(Box<CsvSource<'a>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Rows>),
    #[cfg(feature = "parquet")]
    Arrow(Box<arrow::Rows>),
}

struct CsvSource<'a> {
    reader: csv::Reader<Strict<Box<dyn Read + 'a>>>,
    separator: u8,
    /// Whether the first record has names.
    named: bool,
    packed: bool,
}

/// The columns whose fields Parquet and Arrow decode.
enum Chosen {
    Default,
    Names(Vec<String>),
    All,
}

/// The form that was found for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundForm {
    /// Its format. The other fields apply to text.
    pub format: FileFormat,
    /// The separator of its fields.
    pub separator: char,
    /// Whether its first record has the columns' names.
    pub named: bool,
    /// Whether it is compressed.
    pub packed: bool,
}

impl Rows<'static> {
    /// Opens a file in the default dialect, and reads the names of its columns.
    ///
    /// # Errors
    /// The file cannot be read, or its first line violates RFC 4180. Or its name is that of a
    /// Parquet or Arrow file, and it is not one or this build supports neither.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        Self::open_all(&[path.to_owned()], &Dialect::default())
    }

    /// Opens files of a dialect as one table, in this order. All have the same columns.
    ///
    /// # Errors
    /// As [`Rows::open`], or there is no file, or formats are mixed.
    pub fn open_all(paths: &[PathBuf], dialect: &Dialect) -> Result<Self, FileError> {
        let Some((first, rest)) = paths.split_first() else {
            return Err(FileError::new(Path::new(""), None, "no file is named", "name one"));
        };
        if let Some(odd) = rest.iter().find(|path| FileFormat::of(path) != FileFormat::of(first)) {
            let cause = "the files of a table are all text, all Parquet or all Arrow";
            return Err(FileError::new(odd, None, cause, "write them in one format"));
        }
        check_input(first)?;
        let file = File::open(first).map_err(|e| refused(first, &e))?;
        let mut rows = Self::of_file(first, file, dialect)?;
        rows.more = rest.iter().rev().cloned().collect();
        // The first file with names determines them.
        while rows.header.is_empty() && !rows.more.is_empty() {
            let Some(next) = rows.more.pop() else { break };
            let more = std::mem::take(&mut rows.more);
            rows = Self { more, ..Self::open_all(&[next], dialect)? };
        }
        Ok(rows)
    }

    /// Reads an open file, in the format for the name in `path`. Errors name `path`.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn of_file(path: &Path, file: File, dialect: &Dialect) -> Result<Self, FileError> {
        check_input(path)?;
        #[cfg(feature = "parquet")]
        match FileFormat::of(path) {
            FileFormat::Text => {}
            FileFormat::Parquet => {
                let rows = Box::new(parquet::Rows::new(path, file)?);
                return Ok(Self::of_columns(path, RowSource::Parquet(rows), dialect));
            }
            FileFormat::Arrow => {
                let rows = Box::new(arrow::Rows::new(path, file)?);
                return Ok(Self::of_columns(path, RowSource::Arrow(rows), dialect));
            }
        }
        Rows::with(path, file, dialect)
    }
}

#[cfg(feature = "parquet")]
impl RowSource<'_> {
    /// The columns of a file that declares them; `None` for text.
    fn columns(&self) -> Option<&[ParquetColumn]> {
        match self {
            RowSource::Csv(_) => None,
            RowSource::Parquet(rows) => Some(rows.columns()),
            RowSource::Arrow(rows) => Some(rows.columns()),
        }
    }
}

impl<'a> Rows<'a> {
    #[cfg(feature = "parquet")]
    fn of_columns(path: &Path, of: RowSource<'a>, dialect: &Dialect) -> Self {
        let header = of.columns().unwrap_or_default().iter().map(|column| &column.name).collect();
        Self::begun(path, of, dialect, header)
    }

    /// Reads text of the default dialect from any source. Errors name `path`.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn new(path: &Path, csv: impl Read + 'a) -> Result<Self, FileError> {
        Self::with(path, csv, &Dialect::default())
    }

    /// Reads text of a dialect from any source. Errors name `path`.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn with(path: &Path, text: impl Read + 'a, dialect: &Dialect) -> Result<Self, FileError> {
        let (mut source, first, line) = CsvSource::new(path, text, dialect)?;
        let values = sniff::values(&first);
        source.named = match dialect.header() {
            Some(HeaderRow::No) => false,
            Some(HeaderRow::Auto) => values == 0,
            Some(HeaderRow::Yes) | None => true,
        };
        let header = match source.named {
            true => first.clone(),
            false => (1..=first.len()).map(|at| format!("c{at}")).collect(),
        };
        let named = source.named;
        let mut rows = Self::begun(path, RowSource::Csv(Box::new(source)), dialect, header);
        if named && values > 0 && dialect.header().is_none() {
            let (path, n) = (path.display(), first.len());
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            rows.remarks.push(format!(
                "{path}{place} is read as the names of columns, and {values} of its {n} fields are numbers or dates; \
                 if it is a row, set `header` to no"
            ));
        }
        if let Some(at) = first.iter().position(|name| std::str::from_utf8(name).is_err()).filter(|_| named) {
            let (path, line) =
                (path.display(), line.map_or_else(String::new, |line| format!(", line {line}")));
            rows.remarks.push(format!(
                "{path}{line}: the name of column {} is not UTF-8; set `encoding` to latin1, or windows-1252, which \
                 Excel on Windows writes",
                at + 1
            ));
        }
        let blanks = |name: &[u8]| name.trim_ascii().windows(2).any(|two| two == b"  ");
        if first.len() == 1 && blanks(&first[0]) && matches!(dialect.separator(), Separator::Auto) {
            let path = path.display();
            rows.remarks.push(format!(
                "{path} is read as one column; if its fields are aligned by blanks, save it as CSV, or with tabs between them"
            ));
        }
        rows.first = (!named).then_some((first, line));
        Ok(rows)
    }

    fn begun(path: &Path, of: RowSource<'a>, dialect: &Dialect, header: csv::ByteRecord) -> Self {
        Self {
            path: path.to_owned(),
            of,
            dialect: dialect.clone(),
            header,
            first: None,
            record: csv::ByteRecord::new(),
            nulls: vec![],
            place: None,
            more: vec![],
            #[cfg(feature = "parquet")]
            ranges: vec![],
            order: None,
            chosen: Chosen::Default,
            remarks: vec![],
        }
    }

    /// Returns the columns' names as the file has them. There are no fields if the file is empty.
    #[must_use]
    pub fn header(&self) -> &csv::ByteRecord {
        &self.header
    }

    /// Returns the columns' names without surrounding blanks and zero-width characters. A column
    /// without a name is called by its number, such as c3.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let name = |(at, name): (usize, &[u8])| {
            let is_unseen = |c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}');
            let name = String::from_utf8_lossy(name).trim_matches(is_unseen).to_owned();
            if name.is_empty() { format!("c{}", at + 1) } else { name }
        };
        self.header.iter().enumerate().map(name).collect()
    }

    /// The file that is read, as errors name it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The dialect of its text.
    #[must_use]
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Returns notes for the owner about the way in which the file is read.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Returns the form that was found for the file.
    #[must_use]
    pub fn found(&self) -> FoundForm {
        match &self.of {
            RowSource::Csv(source) => FoundForm {
                format: FileFormat::Text,
                separator: char::from(source.separator),
                named: source.named,
                packed: source.packed,
            },
            #[cfg(feature = "parquet")]
            RowSource::Parquet(_) | RowSource::Arrow(_) => {
                let format = FileFormat::of(&self.path);
                FoundForm { format, separator: ',', named: true, packed: false }
            }
        }
    }

    /// Whether the file is text. Its NULLs are empty fields and words of its dialect.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.of, RowSource::Csv(_))
    }

    /// Returns the types that a file declares for its columns, as SQL. A string's type has no
    /// length. Text declares no type, and a column of an unsupported type has none.
    #[must_use]
    pub fn declared(&self) -> Vec<Option<String>> {
        #[cfg(feature = "parquet")]
        if let Some(columns) = self.of.columns() {
            return columns.iter().map(|column| column.kind.as_ref().map(ToString::to_string)).collect();
        }
        vec![None; self.header.len()]
    }

    /// Returns the names of the columns whose types are supported.
    #[must_use]
    pub fn readable(&self) -> Vec<String> {
        #[cfg(feature = "parquet")]
        if let Some(columns) = self.of.columns() {
            let read = columns.iter().filter(|column| column.kind.is_some());
            return read.map(|column| column.name.clone()).collect();
        }
        self.names()
    }

    /// Returns the place of the column with this name, counted from 0. A name that no column has is
    /// looked for in other capital letters, as in SQL: owners of one table write `id` and `ID`.
    ///
    /// # Errors
    /// The file is empty, lacks the column, has it twice, or has values there that have no text.
    pub fn column(&self, name: &str) -> Result<usize, FileError> {
        #[cfg(feature = "parquet")]
        if let Some(columns) = self.of.columns() {
            return parquet::place(&self.path, columns, name);
        }
        let path = &self.path;
        if self.header.is_empty() {
            let remedy = format!("its first line must name the columns, {name} among them");
            return Err(FileError::new(path, None, "it is empty", remedy));
        }
        let names = self.names();
        let (cause, remedy) = match named(&names, name) {
            NameMatch::One(place) => return Ok(place),
            NameMatch::Several => (format!("two columns are called {name}"), "rename one of them"),
            NameMatch::None => {
                let cause = format!("no column is called {name}; the first line names {}", names.join(", "));
                let others =
                    "name one of these; if the first line is a row, set `header` to no: columns are c1, c2 …";
                let one = names.len() == 1 && names[0].contains([',', ';', '\t', '|']);
                (cause, if one { "set the separator that the file has" } else { others })
            }
        };
        Err(FileError::new(path, Some(FilePlace::line(1)), cause, remedy))
    }

    /// Chooses the columns of the following records. Returns their places in these records.
    ///
    /// # Errors
    /// As [`Rows::column`], for each column.
    pub fn select<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<Vec<usize>, FileError> {
        let names: Vec<&str> = names.into_iter().collect();
        let places = names.iter().map(|name| self.column(name)).collect::<Result<Vec<_>, _>>()?;
        self.chosen = Chosen::Names(names.into_iter().map(str::to_owned).collect());
        #[cfg(feature = "parquet")]
        if self.of.columns().is_some() {
            // Other columns are not even decoded.
            self.choose(&places)?;
            return Ok((0..places.len()).collect());
        }
        Ok(places)
    }

    /// Chooses all columns for the following records. For CSV this is the default.
    ///
    /// # Errors
    /// A column has values that have no text.
    pub fn select_all(&mut self) -> Result<(), FileError> {
        self.chosen = Chosen::All;
        #[cfg(feature = "parquet")]
        if let Some(columns) = self.of.columns() {
            if let Some(column) = columns.iter().find(|column| column.kind.is_none()) {
                let cause = format!("column {} is of a type that CSV cannot have", column.name);
                let remedy = match self.of {
                    RowSource::Parquet(_) => {
                        "name a file for the result that ends in .parquet, or leave the column out"
                    }
                    _ => "write the table without it, or bring it as Parquet",
                };
                return Err(FileError::new(&self.path, None, cause, remedy));
            }
            self.choose(&(0..self.header.len()).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Chooses columns that have types.
    #[cfg(feature = "parquet")]
    fn choose(&mut self, places: &[usize]) -> Result<(), FileError> {
        match &mut self.of {
            RowSource::Csv(_) => {}
            RowSource::Parquet(rows) => rows.choose(places)?,
            RowSource::Arrow(rows) => rows.choose(places),
        }
        Ok(())
    }

    /// Reads the next record. At the end of a file it continues with the next file.
    ///
    /// # Errors
    /// The file cannot be read, violates its format, or has a record whose width differs from the
    /// first. Or the next file has other columns.
    pub fn read(&mut self) -> Result<Option<&csv::ByteRecord>, FileError> {
        loop {
            if self.read_here()? {
                if let Some(order) = &self.order {
                    let fields = order.iter().map(|at| self.record.get(*at).unwrap_or_default());
                    let mut record: csv::ByteRecord = fields.collect();
                    record.set_position(self.record.position().cloned());
                    self.record = record;
                }
                return Ok(Some(&self.record));
            }
            let Some(next) = self.more.pop() else { return Ok(None) };
            self.go_on(&next)?;
        }
    }

    /// Reads the next record of this file. Returns `false` at its end.
    fn read_here(&mut self) -> Result<bool, FileError> {
        let more = match &mut self.of {
            RowSource::Csv(source) => {
                let (more, line) = match self.first.take() {
                    Some((first, line)) => {
                        self.record = first;
                        (!self.record.is_empty(), line)
                    }
                    None => loop {
                        let more = source.reader.read_byte_record(&mut self.record);
                        let begun = source.reader.get_mut().next_record();
                        let line = begun.map(|begun| begun.line);
                        let is_blank = self.dialect.trims()
                            && begun.is_some_and(|begun| !begun.is_quoted)
                            && self.record.len() == 1
                            && self.record[0].trim_ascii().is_empty();
                        match more {
                            // A line of blanks is not a row, as an empty line is not.
                            Err(e)
                                if is_blank && matches!(e.kind(), csv::ErrorKind::UnequalLengths { .. }) => {}
                            Err(e) => return Err(broken(&self.path, e, line, (&self.header, &self.record))),
                            Ok(more) => break (more, line),
                        }
                    },
                };
                if let (Some(line), Some(mut at)) = (line, self.record.position().cloned()) {
                    at.set_line(line);
                    self.place = Some(FilePlace::line(line));
                    self.record.set_position(Some(at));
                }
                more
            }
            #[cfg(feature = "parquet")]
            RowSource::Parquet(_) | RowSource::Arrow(_) => {
                self.record.clear();
                self.nulls.clear();
                let row = match &mut self.of {
                    RowSource::Csv(_) => None,
                    RowSource::Parquet(rows) => rows.read()?,
                    RowSource::Arrow(rows) => rows.read()?,
                };
                if let Some((row, number)) = row {
                    for at in 0..row.len() {
                        // NULL is not a key, as an empty field is not.
                        self.record.push_field(row.get(at).unwrap_or_default());
                        self.nulls.push(row.get(at).is_none());
                    }
                    self.place = Some(FilePlace::Row(number));
                }
                row.is_some()
            }
        };
        Ok(more)
    }

    /// Opens the next file of the table.
    fn go_on(&mut self, path: &Path) -> Result<(), FileError> {
        let mut next = Rows::open_all(&[path.to_owned()], &self.dialect)?;
        let (wanted, there) = (self.names(), next.names());
        if next.header.is_empty() {
            // An empty file has no rows.
            (self.path, self.of, self.first) = (next.path, next.of, None);
            return Ok(());
        }
        let only =
            |these: &[String], those: &[String]| these.iter().find(|name| !those.contains(name)).cloned();
        if let Some(name) = only(&wanted, &there).or_else(|| only(&there, &wanted)) {
            let cause = format!("column {name} is not in all files of the table");
            let remedy = "give all files the same columns, or bring them as tables of their own";
            return Err(FileError::new(path, None, cause, remedy));
        }
        match &self.chosen {
            Chosen::Default => {}
            Chosen::All => next.select_all()?,
            Chosen::Names(names) => drop(next.select(names.iter().map(String::as_str))?),
        }
        #[cfg(feature = "parquet")]
        if let (Some(range), RowSource::Parquet(rows)) = (self.ranges.pop(), &mut next.of) {
            rows.within(range);
        }
        let is_text = next.is_text();
        let order = || wanted.iter().map(|name| next.column(name)).collect::<Result<Vec<_>, _>>();
        self.order = if is_text && wanted != there { Some(order()?) } else { None };
        (self.path, self.of, self.first) = (next.path, next.of, next.first);
        self.remarks.append(&mut next.remarks);
        Ok(())
    }

    /// Whether a field of the record that was read last is NULL in the file. Fields of text never
    /// are: their dialect defines which fields mean NULL.
    #[must_use]
    pub fn is_null(&self, at: usize) -> bool {
        self.nulls.get(at).copied().unwrap_or(false)
    }

    /// Returns the record that was read last.
    #[must_use]
    pub fn last(&self) -> &csv::ByteRecord {
        &self.record
    }

    /// Returns the place of the record that was read last.
    #[must_use]
    pub fn place(&self) -> Option<FilePlace> {
        self.place
    }

    /// Restricts each of its Parquet files to these rows, in the order of files, before any record
    /// is read.
    #[cfg(feature = "parquet")]
    pub(crate) fn within(&mut self, mut ranges: Vec<Range<u64>>) {
        ranges.reverse();
        if let (Some(range), RowSource::Parquet(rows)) = (ranges.pop(), &mut self.of) {
            rows.within(range);
        }
        self.ranges = ranges;
    }

    /// The types of the columns of a file that declares them.
    #[cfg(feature = "parquet")]
    pub(crate) fn columns(&self) -> Option<&[ParquetColumn]> {
        self.of.columns()
    }

    /// The file, if it is Parquet.
    #[cfg(feature = "parquet")]
    pub(crate) fn parquet(&self) -> Option<&parquet::Rows> {
        match &self.of {
            RowSource::Parquet(rows) => Some(rows),
            RowSource::Csv(_) | RowSource::Arrow(_) => None,
        }
    }
}

impl<'a> CsvSource<'a> {
    /// Opens text in any compression and encoding, with its first record and the line of that
    /// record.
    fn new(
        path: &Path,
        text: impl Read + 'a,
        dialect: &Dialect,
    ) -> Result<(Self, csv::ByteRecord, Option<u64>), FileError> {
        let of = |e: io::Error| refused(path, &e);
        let (head, text) = peeked(Box::new(text), 4).map_err(of)?;
        let (text, packed) = unpacked(&head, text).map_err(of)?;
        let (head, text) = peeked(text, 4).map_err(of)?;
        if matches!(head[..], [0xff, 0xfe, 0, 0] | [0, 0, 0xfe, 0xff]) {
            return Err(refused(
                path,
                &io::Error::other(Deviation { kind: DeviationKind::Utf32, place: None }),
            ));
        }
        let encoding = dialect.encoding().or_else(|| Encoding::of(&head));
        let text: Box<dyn Read + 'a> = match encoding {
            None | Some(Encoding::Utf8) => text,
            Some(encoding) => Box::new(Decoded::new(text, encoding)),
        };
        let text: Box<dyn Read + 'a> = Box::new(mark::strip_read(text).map_err(of)?);
        let quote = dialect.quote();
        let (separator, text, lines) = match dialect.separator() {
            // The first bytes are read together, because they identify formats.
            Separator::Byte(byte) => (byte, peeked(text, HEAD).map_err(of)?.1, 0),
            Separator::Auto => {
                let (sample, mut text) = peeked(text, sniff::SAMPLE).map_err(of)?;
                let is_whole = sample.len() < sniff::SAMPLE;
                match sniff::declared(&sample) {
                    Some((separator, length)) => {
                        io::copy(&mut text.by_ref().take(length as u64), &mut io::sink()).map_err(of)?;
                        (separator, peeked(text, HEAD).map_err(of)?.1, 1)
                    }
                    None => {
                        let comma_is_decimal = dialect.decimal_mark() == ',';
                        (sniff::separator(&sample, quote, is_whole, comma_is_decimal), text, 0)
                    }
                }
            }
        };
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).delimiter(separator);
        match quote {
            Some(quote) => builder.quote(quote),
            None => builder.quoting(false),
        };
        let mut reader = builder.from_reader(Strict::new(text, separator, quote).behind(lines));
        let mut first = csv::ByteRecord::new();
        let read = reader.read_byte_record(&mut first);
        let line = reader.get_mut().next_record().map(|begun| begun.line);
        read.map_err(|e| broken(path, e, None, (&first, &first)))?;
        Ok((Self { reader, separator, named: true, packed }, first, line))
    }
}

/// The first bytes of `text`, up to `most`, and the text including them.
fn peeked<'a>(mut text: Box<dyn Read + 'a>, most: usize) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = vec![];
    text.by_ref().take(most as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(text))))
}
