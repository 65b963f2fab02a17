//! Checks CSV files against RFC 4180, with the separator and the quote of a dialect. A deviation is
//! refused with its place. The parser after this check accepts anything, and a stray quote would
//! join rows.
//!
//! ```text
//! file       record, line end, record, …, line end or not     line end: CR LF, or LF alone
//! field      "…" with quotes doubled, or text without quotes, CR, LF and separators
//! ```
//! An empty line holds no record. A record with its line end has at most [`RECORD`] bytes.
//! Otherwise an unclosed quote would read the rest of a file, of any length, into memory.

use crate::{FileError, FilePlace, zip};
use std::{
    collections::VecDeque,
    io::{self, Read},
    path::Path,
};

pub(crate) fn refused(path: &Path, e: &io::Error) -> FileError {
    if let Some(fault) = e.get_ref().and_then(|e| e.downcast_ref::<Deviation>()) {
        return FileError::new(path, fault.place, fault.kind.cause(), fault.kind.remedy());
    }
    FileError::io(path, e)
}

/// The remedy for a record whose width differs from the first line.
fn of_width(header: &csv::ByteRecord, record: &csv::ByteRecord) -> &'static str {
    let first = record.get(0).unwrap_or_default().trim_ascii();
    let begins = |words: &[&str]| {
        let text = String::from_utf8_lossy(first).to_lowercase();
        words.iter().any(|word| text.starts_with(word))
    };
    let title = header.get(0).unwrap_or_default().trim_ascii();
    match (header.len(), record.len()) {
        (1, 2..) if title.starts_with(b"#") || title.contains(&b' ') => {
            "if the lines before it are a title or comments, delete them: the first line must name the columns"
        }
        (wide, len) if len == wide + 1 && record.iter().next_back().is_some_and(<[u8]>::is_empty) => {
            "take away the separator at the end of lines, or end the first line with one, too"
        }
        (2.., 1) if first == [0x1a] => "delete the last character of the file, which marks its end",
        (2.., 1) if begins(&["#", "--", "//", "total", "sum", "gesamt", "summe", "end"]) => {
            "if it is a comment or a total, delete the line; put quotes around a field that has separators in it"
        }
        (wide, len) if len > wide && record.iter().any(|field| field.trim_ascii().starts_with(b"'")) => {
            "if its fields have ' around them, set `quote` to it; else put quotes around a field that has separators in it"
        }
        _ => "give it as many; put quotes around a field that has separators in it",
    }
}

/// The error of the parser for the record that begins at `line`. The first line of the file has the
/// fields of `header`.
pub(crate) fn broken(
    path: &Path,
    e: csv::Error,
    line: Option<u64>,
    (header, record): (&csv::ByteRecord, &csv::ByteRecord),
) -> FileError {
    let line = line.map(FilePlace::line);
    match e.into_kind() {
        csv::ErrorKind::Io(e) => refused(path, &e),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let s = if len == 1 { "" } else { "s" };
            let cause = format!("it has {len} field{s} where the first line has {expected_len}");
            FileError::new(path, line, cause, of_width(header, record))
        }
        _ => FileError::new(path, line, "it is not CSV", "save it as CSV with commas between columns"),
    }
}

/// The kind of a deviation from the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviationKind {
    /// A quote in a field that does not begin with one.
    Bare,
    /// A field continues after its closing quote.
    After,
    /// A quoted field that never ends.
    Unclosed,
    /// A carriage return that does not end a line.
    Return,
    /// A record longer than [`RECORD`].
    Long,
    /// The same, in a quoted field.
    LongField,
    /// UTF-16 with a byte order mark.
    Utf16,
    Parquet,
    /// gzip, zstd, bzip2, xz, LZ4, 7z, RAR or compress.
    Packed,
    /// A ZIP archive of an unknown kind.
    Zip,
    /// A spreadsheet: a ZIP archive, or a file of Excel before 2007.
    Spreadsheet,
    /// A ZIP archive of NumPy arrays.
    Npz,
    /// A NumPy array.
    Npy,
    /// HDF5, as written by `to_hdf` of pandas.
    Hdf,
    Sqlite,
    DuckDb,
    /// SPSS, Stata or SAS.
    Statistics,
    Avro,
    Pdf,
    Image,
    Xml,
    Json,
    /// A web page, which a download may give if it needs a login.
    Html,
    /// Apache Arrow's file format.
    Arrow,
    /// UTF-32 with a byte order mark.
    Utf32,
    /// UTF-16 without a byte order mark.
    Zeros,
    /// UTF-16 with half of a surrogate pair.
    BadUtf16,
    /// Compressed bytes that are damaged or incomplete.
    Damaged,
}

impl DeviationKind {
    const fn cause(self) -> &'static str {
        match self {
            DeviationKind::Bare => "a quote stands in a field that does not begin with one",
            DeviationKind::After => "the field goes on after its closing quote",
            DeviationKind::Unclosed => "the quote that opens here is not closed",
            DeviationKind::Return => "a carriage return stands alone",
            DeviationKind::Long => "the record that begins here has more than 16 MiB",
            DeviationKind::LongField => "the quote that opens here makes a record of more than 16 MiB",
            DeviationKind::Utf16 => "it is UTF-16",
            DeviationKind::Parquet => "it is Parquet",
            DeviationKind::Packed => "it is compressed",
            DeviationKind::Zip => "it is a ZIP archive",
            DeviationKind::Spreadsheet => "it is a spreadsheet",
            DeviationKind::Npz => "it is an archive of NumPy arrays",
            DeviationKind::Npy => "it is a NumPy array",
            DeviationKind::Hdf => "it is an HDF5 file",
            DeviationKind::Sqlite => "it is an SQLite database",
            DeviationKind::DuckDb => "it is a DuckDB database",
            DeviationKind::Statistics => "it is a file of SPSS, Stata or SAS",
            DeviationKind::Avro => "it is an Avro file",
            DeviationKind::Pdf => "it is a PDF document",
            DeviationKind::Image => "it is an image",
            DeviationKind::Xml => "it is XML",
            DeviationKind::Json => "it is JSON",
            DeviationKind::Html => "it is a page of the web, perhaps one that asks to log in",
            DeviationKind::Arrow => "it is an Arrow file",
            DeviationKind::Utf32 => "it is UTF-32",
            DeviationKind::Zeros => {
                "it begins with zero bytes between letters, as UTF-16 without a mark does"
            }
            DeviationKind::BadUtf16 => "it is no good UTF-16: a character of it is cut",
            DeviationKind::Damaged => "its compressed bytes are damaged, or end early",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            DeviationKind::Bare | DeviationKind::After => {
                "put quotes around the whole field, without blanks outside them, and double those within it"
            }
            DeviationKind::Unclosed => "close it at the end of the field, and double quotes within the field",
            DeviationKind::Return => {
                "end lines with LF or CR LF, and put quotes around a field that holds a line end"
            }
            DeviationKind::Long => {
                "end records with a line end, and leave out fields that are no part of a table"
            }
            DeviationKind::LongField => {
                "close it at the end of the field, and leave out fields that are no part of a table"
            }
            DeviationKind::Utf16 => "leave the encoding to be found, or set utf-16le or utf-16be",
            DeviationKind::Parquet => "give it a name that ends in .parquet",
            DeviationKind::Packed => PACKED,
            DeviationKind::Zip => "unpack it, and name the table's file that is in it",
            DeviationKind::Spreadsheet => "open it, and save the sheet as CSV",
            DeviationKind::Npz | DeviationKind::Npy => {
                "write the array as CSV: numpy.savetxt(\"a.csv\", array, delimiter=\",\", header=\"x,y\", comments=\"\")"
            }
            DeviationKind::Hdf
            | DeviationKind::Sqlite
            | DeviationKind::DuckDb
            | DeviationKind::Statistics
            | DeviationKind::Avro
            | DeviationKind::Xml
            | DeviationKind::Json => "save the table as CSV",
            DeviationKind::Pdf | DeviationKind::Image => "export the table as CSV where it comes from",
            DeviationKind::Utf32 => "save it as UTF-8",
            DeviationKind::Html => "fetch the file anew, and look at it before you name it here",
            DeviationKind::Arrow => "give it a name that ends in .arrow",
            DeviationKind::Zeros => "set its encoding, utf-16le or utf-16be",
            DeviationKind::BadUtf16 => "fetch the file anew, or save it as UTF-8",
            DeviationKind::Damaged => "fetch the file anew, or compress it anew",
        }
    }

    /// The format of files that begin like this, if they cannot be text. `head` has [`HEAD`] bytes,
    /// or all bytes of a shorter file.
    fn of(head: &[u8]) -> Option<Self> {
        let begins = |with: &[u8]| head.starts_with(with);
        match () {
            // The four letters could name a column, but a binary header follows them.
            () if begins(b"PAR1\x15") => Some(DeviationKind::Parquet),
            () if begins(&[0xff, 0xfe]) || begins(&[0xfe, 0xff]) => Some(DeviationKind::Utf16),
            () if PACKINGS.iter().any(|with| begins(with)) => Some(DeviationKind::Packed),
            () if matches!(head, [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, ..]) => {
                Some(DeviationKind::Packed)
            }
            () if head.get(8..12) == Some(b"DUCK") && head.contains(&0) => Some(DeviationKind::DuckDb),
            () if begins(b"$FL2@(#)") || begins(b"$FL3@(#)") || begins(b"<stata_dta>") || begins(&SAS) => {
                Some(DeviationKind::Statistics)
            }
            () if begins(b"Obj\x01") => Some(DeviationKind::Avro),
            () if begins(b"%PDF-") => Some(DeviationKind::Pdf),
            () if begins(b"\x89PNG\r\n\x1a\n") || begins(&[0xff, 0xd8, 0xff]) => Some(DeviationKind::Image),
            () if begins(b"<?xml ") => Some(DeviationKind::Xml),
            () if begins(b"PK\x03\x04") => Some(Self::of_zip(head)),
            () if begins(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) => {
                Some(DeviationKind::Spreadsheet)
            }
            // A stream begins with the length of its schema, after four bytes.
            () if begins(b"ARROW1\0\0") || matches!(head, [0xff, 0xff, 0xff, 0xff, _, _, 0, 0, ..]) => {
                Some(DeviationKind::Arrow)
            }
            () if begins(b"\x93NUMPY") => Some(DeviationKind::Npy),
            () if begins(b"\x89HDF\r\n\x1a\n") => Some(DeviationKind::Hdf),
            () if begins(b"SQLite format 3\0") => Some(DeviationKind::Sqlite),
            // As CSV, these would have a quote within a field that does not begin with one.
            () if begins(b"{\"") || begins(b"[{\"") => Some(DeviationKind::Json),
            () if is_html(head) => Some(DeviationKind::Html),
            () if matches!(
                head,
                [b' '..=b'~', 0, b' '..=b'~', 0, ..] | [0, b' '..=b'~', 0, b' '..=b'~', ..]
            ) =>
            {
                Some(DeviationKind::Zeros)
            }
            () => None,
        }
    }
}

/// The first bytes of compressed files: gzip, zstd, xz, LZ4, 7z, RAR and compress.
const PACKINGS: [&[u8]; 7] = [
    &[0x1f, 0x8b],
    &[0x28, 0xb5, 0x2f, 0xfd],
    &[0xfd, b'7', b'z', b'X', b'Z', 0],
    &[0x04, 0x22, 0x4d, 0x18],
    &[b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c],
    b"Rar!\x1a\x07",
    &[0x1f, 0x9d],
];

/// The first bytes of a SAS data set.
const SAS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc2, 0xea, 0x81, 0x60];

/// Whether a file begins like HTML, with a complete tag that cannot name a column.
fn is_html(head: &[u8]) -> bool {
    let head = head.trim_ascii_start().to_ascii_lowercase();
    [&b"<!doctype html"[..], b"<html>", b"<html "].iter().any(|tag| head.starts_with(tag))
}

/// The bytes at a file's beginning that identify its format. For a ZIP archive they include the
/// name of its first file.
pub(crate) const HEAD: usize = 64;

impl DeviationKind {
    /// The kind of a ZIP archive, by the name of its first file.
    fn of_zip(head: &[u8]) -> Self {
        let name = zip::first_name(head).unwrap_or_default();
        let begins = |with: &[u8]| name.starts_with(with);
        match () {
            () if name.ends_with(b".npy") => DeviationKind::Npz,
            () if begins(b"[Content_Types].xml") || begins(b"_rels/") || begins(b"xl/") => {
                DeviationKind::Spreadsheet
            }
            // OpenDocument stores its type, uncompressed, in a file of that name.
            () if name == b"mimetype" => DeviationKind::Spreadsheet,
            () => DeviationKind::Zip,
        }
    }
}

/// The remedy for compressions that this build does not support: bzip2 and others in every build,
/// zstd without Parquet.
const PACKED: &str = if cfg!(feature = "parquet") {
    "unpack it, or compress it with gzip or zstd"
} else {
    "unpack it, or compress it with gzip; zstd is unpacked by builds with the feature parquet"
};

/// A deviation and its place.
#[derive(Debug)]
pub(crate) struct Deviation {
    pub(crate) kind: DeviationKind,
    pub(crate) place: Option<FilePlace>,
}

impl std::fmt::Display for Deviation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind.cause())
    }
}

impl std::error::Error for Deviation {}

/// LOCAL: the most bytes of a record, including the first one with the columns' names.
pub(crate) const RECORD: usize = 16 << 20;
/// LOCAL: the bytes that are scanned together.
const CHUNK: usize = 128;

/// The state of the scanner within a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before a field.
    Field,
    /// In a field without quotes.
    Plain,
    /// After the quote that opens a field.
    Quoted,
    /// After a quote in a quoted field: the first of two, or the closing one.
    Quote,
    /// After a carriage return that must end the line.
    Return,
}

/// A place: a line, and a character in it, counted in UTF-8.
#[derive(Clone, Copy)]
struct Spot {
    line: u64,
    column: u64,
}

impl From<Spot> for FilePlace {
    fn from(Spot { line, column }: Spot) -> Self {
        FilePlace::Line { line, column: Some(column) }
    }
}

/// The beginning of a record, and whether it has quotes. The parser removes them.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    /// The line in which it begins.
    pub(crate) line: u64,
    /// Whether a field of it has quotes.
    pub(crate) is_quoted: bool,
}

/// A reader that passes bytes on while they follow the grammar.
pub(crate) struct Strict<R> {
    inner: R,
    at: At,
    /// The place of the next byte.
    place: Spot,
    /// The beginning of a quoted field or of a line end.
    begun: Spot,
    /// The beginning of the record, and the number of its bytes so far.
    record: Spot,
    length: usize,
    /// The first bytes, until there are [`HEAD`] of them.
    head: Vec<u8>,
    separator: u8,
    /// The character around fields, if there is one.
    quote: Option<u8>,
    /// The records that were passed on and not yet asked for. The parser counts lines differently:
    /// it assigns empty lines, and the line feed after a carriage return, to the following record.
    begins: VecDeque<Begun>,
}

impl<R: Read> Strict<R> {
    pub(crate) fn new(inner: R, separator: u8, quote: Option<u8>) -> Self {
        let start = Spot { line: 1, column: 1 };
        Self {
            inner,
            at: At::Field,
            place: start,
            begun: start,
            record: start,
            length: 0,
            head: vec![],
            separator,
            quote,
            begins: VecDeque::new(),
        }
    }

    /// The reader of a text that begins after this many lines.
    pub(crate) fn behind(self, lines: u64) -> Self {
        let start = Spot { line: lines + 1, column: 1 };
        Self { place: start, begun: start, record: start, ..self }
    }

    /// The next record. It is called once for each record that the parser has found.
    pub(crate) fn next_record(&mut self) -> Option<Begun> {
        self.begins.pop_front()
    }

    fn take(&mut self, byte: u8) -> Result<(), Deviation> {
        let here = self.place;
        let fault = |kind, place: Spot| Err(Deviation { kind, place: Some(place.into()) });
        let is_quote = Some(byte) == self.quote;
        self.at = match (self.at, byte) {
            (At::Return, b'\n') => At::Field,
            (At::Return, _) => return fault(DeviationKind::Return, self.begun),
            (At::Quoted, _) if is_quote => At::Quote,
            (At::Field, _) if is_quote => {
                self.begun = here;
                At::Quoted
            }
            (At::Quoted, _) => At::Quoted,
            (At::Quote, _) if is_quote => At::Quoted,
            (At::Plain, _) if is_quote => return fault(DeviationKind::Bare, here),
            (_, b'\n') => At::Field,
            (_, byte) if byte == self.separator => At::Field,
            (_, b'\r') => {
                self.begun = here;
                At::Return
            }
            (At::Quote, _) => return fault(DeviationKind::After, here),
            (At::Field | At::Plain, _) => At::Plain,
        };
        if self.length == 0 && !matches!(byte, b'\r' | b'\n') {
            self.begins.push_back(Begun { line: here.line, is_quoted: false });
        }
        if let (true, Some(record)) = (is_quote, self.begins.back_mut()) {
            record.is_quoted = true;
        }
        self.length += 1;
        if self.length > RECORD {
            let is_quoted = matches!(self.at, At::Quoted | At::Quote);
            let (kind, place) = if is_quoted {
                (DeviationKind::LongField, self.begun)
            } else {
                (DeviationKind::Long, self.record)
            };
            return fault(kind, place);
        }
        if byte == b'\n' {
            self.place = Spot { line: here.line + 1, column: 1 };
            if self.at == At::Field {
                (self.record, self.length) = (self.place, 0);
            }
        } else if byte & 0xc0 != 0x80 {
            // Continuation bytes of a character do not count: they are at the place of its first
            // byte.
            self.place.column = here.column + 1;
        }
        Ok(())
    }

    /// Passes bytes without a quote and a carriage return, outside of quoted fields. They cannot
    /// deviate.
    fn pass(&mut self, chunk: &[u8]) {
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.length == 0 && line != b"\n" {
                self.begins.push_back(Begun { line: self.place.line, is_quoted: false });
            }
            if line.ends_with(b"\n") {
                self.place = Spot { line: self.place.line + 1, column: 1 };
                (self.record, self.length) = (self.place, 0);
            } else {
                self.length += line.len();
                self.place.column += line.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64;
            }
        }
        let is_end = chunk.ends_with(&[self.separator]) || chunk.ends_with(b"\n");
        self.at = if is_end { At::Field } else { At::Plain };
    }

    fn end(&self) -> Result<(), Deviation> {
        match self.at {
            At::Quoted => Err(Deviation { kind: DeviationKind::Unclosed, place: Some(self.begun.into()) }),
            At::Return => Err(Deviation { kind: DeviationKind::Return, place: Some(self.begun.into()) }),
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
        if self.head.len() < HEAD {
            self.head.extend(bytes.iter().take(HEAD - self.head.len()));
            if let Some(kind) = DeviationKind::of(&self.head) {
                return Err(io::Error::other(Deviation { kind, place: None }));
            }
        }
        for chunk in bytes.chunks(CHUNK) {
            // The loop covers the whole chunk, without a branch for each byte.
            let quote = self.quote.unwrap_or(b'\r');
            let odd = chunk.iter().fold(false, |odd, byte| odd | (*byte == quote) | (*byte == b'\r'));
            // A record that may be too long is also scanned byte by byte.
            if odd || !matches!(self.at, At::Field | At::Plain) || self.length > RECORD - CHUNK {
                chunk.iter().try_for_each(|byte| self.take(*byte)).map_err(io::Error::other)?;
            } else {
                self.pass(chunk);
            }
        }
        Ok(read)
    }
}
