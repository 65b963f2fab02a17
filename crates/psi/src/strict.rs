//! CSV files as RFC 4180 has them: what deviates is refused with its place. The parser behind this accepts anything, and a
//! stray quote would join rows.
//!
//! ```text
//! file       record, line end, record, …, line end or not     line end: CR LF, or LF alone
//! field      "…" with quotes doubled, or text without quotes, CR, LF and commas
//! ```
//! An empty line holds no record.

use crate::{PsiError, error::Place};
use hushwire_circuit::mark;
use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The records of a file whose first one names the columns, each of one width.
pub struct Rows<'a> {
    path: PathBuf,
    reader: csv::Reader<Strict<Box<dyn Read + 'a>>>,
    header: csv::ByteRecord,
    record: csv::ByteRecord,
}

impl Rows<'static> {
    /// Opens a file, and reads the names of its columns.
    ///
    /// # Errors
    /// The file cannot be read, or its first line is not as RFC 4180 has it.
    pub fn open(path: &Path) -> Result<Self, PsiError> {
        let file = std::fs::File::open(path).map_err(|e| refused(path, &e))?;
        Rows::new(path, file)
    }
}

impl<'a> Rows<'a> {
    /// As [`Rows::open`], from anything; `path` is what errors name.
    ///
    /// # Errors
    /// As [`Rows::open`].
    pub fn new(path: &Path, csv: impl Read + 'a) -> Result<Self, PsiError> {
        let text = mark::strip_read(csv).map_err(|e| refused(path, &e))?;
        let mut reader = csv::ReaderBuilder::new().from_reader(Strict::new(Box::new(text) as Box<dyn Read>));
        let header = reader.byte_headers().map_err(|e| broken(path, e))?.clone();
        Ok(Self { path: path.to_owned(), reader, header, record: csv::ByteRecord::new() })
    }

    /// The columns' names; no fields where the file is empty.
    #[must_use]
    pub fn header(&self) -> &csv::ByteRecord {
        &self.header
    }

    /// The place in each record of the column called so, from 0.
    ///
    /// # Errors
    /// The file is empty, lacks the column, or has it twice.
    pub fn column(&self, name: &str) -> Result<usize, PsiError> {
        let path = &self.path;
        if self.header.is_empty() {
            let remedy = format!("its first line must name the columns, {name} among them");
            return Err(PsiError::file(path, None, "it is empty", remedy));
        }
        let names: Vec<String> =
            self.header.iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
        let mut places = names.iter().enumerate().filter(|(_, n)| *n == name.trim()).map(|(i, _)| i);
        match (places.next(), places.next()) {
            (Some(place), None) => Ok(place),
            (Some(_), Some(_)) => {
                let cause = format!("two columns are called {name}");
                Err(PsiError::file(path, Some(Place::line(1)), cause, "rename one of them"))
            }
            (None, _) => {
                let cause = format!("no column is called {name}; the first line names {}", names.join(", "));
                let one = names.len() == 1 && names[0].contains([';', '\t', '|']);
                let remedy = if one {
                    "save the file with commas between columns"
                } else {
                    "name one of these, or put a line with the columns' names first"
                };
                Err(PsiError::file(path, Some(Place::line(1)), cause, remedy))
            }
        }
    }

    /// The next record.
    ///
    /// # Errors
    /// The file cannot be read, deviates from RFC 4180, or a record is not as wide as the first.
    pub fn read(&mut self) -> Result<Option<&csv::ByteRecord>, PsiError> {
        let more = self.reader.read_byte_record(&mut self.record).map_err(|e| broken(&self.path, e))?;
        Ok(more.then_some(&self.record))
    }
}

pub(crate) fn refused(path: &Path, e: &io::Error) -> PsiError {
    use io::ErrorKind as K;
    if let Some(fault) = e.get_ref().and_then(|e| e.downcast_ref::<Fault>()) {
        return PsiError::file(path, fault.place, fault.kind.cause(), fault.kind.remedy());
    }
    let remedy = match e.kind() {
        K::NotFound => "check the spelling",
        K::PermissionDenied => "check its permissions",
        K::IsADirectory => "name a file in it",
        _ => "see the system's log about that file or device",
    };
    PsiError::file(path, None, e.to_string(), remedy)
}

fn broken(path: &Path, e: csv::Error) -> PsiError {
    let line = e.position().map(|p| Place::line(p.line()));
    match e.into_kind() {
        csv::ErrorKind::Io(e) => refused(path, &e),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let cause = format!("it has {len} fields where the first line has {expected_len}");
            let remedy = "give it as many; put quotes around a field that has commas in it";
            PsiError::file(path, line, cause, remedy)
        }
        _ => PsiError::file(path, line, "it is not CSV", "save it as CSV with commas between columns"),
    }
}

/// The deviation of a file from the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A quote in a field that does not begin with one.
    Bare,
    /// A field goes on after its closing quote.
    After,
    /// A quoted field that never ends.
    Unclosed,
    /// A carriage return that ends no line.
    Return,
    /// Text of two bytes a character.
    Utf16,
}

impl Kind {
    const fn cause(self) -> &'static str {
        match self {
            Kind::Bare => "a quote stands in a field that does not begin with one",
            Kind::After => "the field goes on after its closing quote",
            Kind::Unclosed => "the quote that opens here is not closed",
            Kind::Return => "a carriage return stands alone",
            Kind::Utf16 => "it is UTF-16",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Kind::Bare | Kind::After => {
                "put quotes around the whole field, without blanks outside them, and double those within it"
            }
            Kind::Unclosed => "close it at the end of the field, and double quotes within the field",
            Kind::Return => "end lines with LF or CR LF, and put quotes around a field that holds a line end",
            Kind::Utf16 => "save the file as UTF-8 at both parties",
        }
    }
}

/// A deviation and where it is.
#[derive(Debug)]
struct Fault {
    kind: Kind,
    place: Option<Place>,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.cause())
    }
}

impl std::error::Error for Fault {}

/// The scanner's place in a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before a field.
    Field,
    /// In one without quotes.
    Plain,
    /// Behind the quote that opens one.
    Quoted,
    /// Behind a quote in one: the first of two, or the closing one.
    Quote,
    /// Behind a carriage return that is to end the line.
    Return,
}

/// Hands bytes on as long as they are as they should be.
struct Strict<R> {
    inner: R,
    at: At,
    /// Of the next byte; a column is a character of UTF-8.
    place: Place,
    /// The beginning of a quoted field, or of a line end.
    begun: Place,
    /// True until a byte was read.
    fresh: bool,
}

impl<R: Read> Strict<R> {
    fn new(inner: R) -> Self {
        let start = Place { line: 1, column: Some(1) };
        Self { inner, at: At::Field, place: start, begun: start, fresh: true }
    }

    fn take(&mut self, byte: u8) -> Result<(), Fault> {
        let here = self.place;
        let fault = |kind, place| Err(Fault { kind, place: Some(place) });
        self.at = match (self.at, byte) {
            (At::Return, b'\n') => At::Field,
            (At::Return, _) => return fault(Kind::Return, self.begun),
            (At::Quoted, b'"') => At::Quote,
            (At::Field, b'"') => {
                self.begun = here;
                At::Quoted
            }
            (At::Quoted, _) | (At::Quote, b'"') => At::Quoted,
            (At::Plain, b'"') => return fault(Kind::Bare, here),
            (_, b',' | b'\n') => At::Field,
            (_, b'\r') => {
                self.begun = here;
                At::Return
            }
            (At::Quote, _) => return fault(Kind::After, here),
            (At::Field | At::Plain, _) => At::Plain,
        };
        if byte == b'\n' {
            self.place = Place { line: here.line + 1, column: Some(1) };
        } else if byte & 0xc0 != 0x80 {
            // Not the first byte of a character that goes on: those are where their first one is.
            self.place.column = here.column.map(|c| c + 1);
        }
        Ok(())
    }

    fn end(&self) -> Result<(), Fault> {
        match self.at {
            At::Quoted => Err(Fault { kind: Kind::Unclosed, place: Some(self.begun) }),
            At::Return => Err(Fault { kind: Kind::Return, place: Some(self.begun) }),
            At::Field | At::Plain | At::Quote => Ok(()),
        }
    }
}

impl<R: Read> Read for Strict<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if read == 0 && !buffer.is_empty() {
            self.end().map_err(io::Error::other)?;
        }
        let bytes = &buffer[..read];
        let start = self.fresh;
        self.fresh &= read == 0;
        // Its mark; the reader before this gives two bytes at once where there are two.
        if start && (bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])) {
            return Err(io::Error::other(Fault { kind: Kind::Utf16, place: None }));
        }
        bytes.iter().try_for_each(|byte| self.take(*byte)).map_err(io::Error::other)?;
        Ok(read)
    }
}
