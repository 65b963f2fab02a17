//! Columns of one party's table that the other party learns for common keys: converts fields to
//! payloads and back.
//!
//! ```text
//! payload  for each column its length, 1 byte (2 if a row may have more than 255 bytes),
//!          and its text; zeros up to the agreed length
//! ```

use crate::{
    PsiError, Set, TableKeys,
    plain::{Digester, Payloads},
    random,
};
use hushwire_aes::Backend;
use hushwire_files::{FileError, FilePlace, MoreColumns, Rows};
use hushwire_ot::Sid;
use std::path::Path;
use zeroize::Zeroizing;

/// The largest number of bytes of text in a row's columns.
pub const MOST_PAYLOAD_BYTES: usize = 4096;
/// The largest number of columns.
const MOST_COLUMNS: usize = 64;

/// The columns that one party brings for the other, and the largest number of bytes of text that a
/// row has in them. AGREEMENT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    names: Vec<String>,
    bytes: usize,
}

impl Carried {
    /// Columns with these names; a row has at most `bytes` bytes of text.
    ///
    /// # Errors
    /// If there is no column, there are too many, or one is repeated; or if there are no bytes, or
    /// too many. The message names the reason.
    pub fn new(names: &[String], bytes: usize) -> Result<Self, String> {
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        if let Some((_, twice)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(format!("the column {twice} is named twice"));
        }
        if names.is_empty() || names.iter().any(String::is_empty) {
            return Err("no column is named".to_owned());
        }
        if names.len() > MOST_COLUMNS {
            return Err(format!("{} columns are named, and {MOST_COLUMNS} are the most", names.len()));
        }
        if !(1..=MOST_PAYLOAD_BYTES).contains(&bytes) {
            return Err(format!("{bytes} bytes of text a row are not between 1 and {MOST_PAYLOAD_BYTES}"));
        }
        Ok(Self { names, bytes })
    }

    /// The columns' names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The largest number of bytes of text that a row has in the columns.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of bytes of a length.
    fn prefix(&self) -> usize {
        if self.bytes < 256 { 1 } else { 2 }
    }

    /// The number of bytes of a payload.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.bytes + self.names.len() * self.prefix()
    }

    /// The payloads of a table's different keys, in the order of their first occurrence. `keys` are
    /// the table's keys; `open` opens the table again.
    ///
    /// # Errors
    /// If the table cannot be read, lacks a column or has other rows than `keys`. If, in a row with
    /// a key, a field is not UTF-8, or there are more bytes than agreed. If rows with one key have
    /// different fields.
    pub fn read<'r>(
        &self,
        path: &Path,
        open: impl Fn() -> Result<Rows<'r>, FileError>,
        keys: &TableKeys,
    ) -> Result<Payloads, PsiError> {
        let set = different(keys)?;
        let mut rows = open()?;
        let places = rows.select(self.names.iter().map(String::as_str))?;
        let mut payloads = Payloads::new(self.payload_bytes(), set.count());
        let (mut payload, mut widest, mut wide) = (Zeroizing::new(vec![]), 0, None);
        for item in set.by_row() {
            if rows.read()?.is_none() {
                return Err(FileError::changed(path).into());
            }
            let Some(item) = item else { continue };
            payload.clear();
            let mut text = 0;
            for (place, name) in places.iter().zip(&self.names) {
                let field = rows.last().get(*place).unwrap_or_default();
                if std::str::from_utf8(field).is_err() {
                    let remedy =
                        "set the encoding of the file, as latin1, save it as UTF-8, or leave the column out";
                    let cause = format!("column {name} is not UTF-8");
                    return Err(FileError::new(rows.path(), rows.place(), cause, remedy).into());
                }
                payload.extend_from_slice(&(field.len() as u16).to_le_bytes()[..self.prefix()]);
                payload.extend_from_slice(field);
                text += field.len();
            }
            if text > self.bytes {
                wide = wide.or(rows.place().map(|place| (place, text)));
                widest = widest.max(text);
                payload.clear();
            }
            payload.resize(self.payload_bytes(), 0);
            if item == payloads.count() {
                payloads.push(&payload);
            } else if wide.is_none() && payloads.get(item) != payload.as_slice() {
                let first = first_place(open()?, &set, item)?;
                return Err(self.differs(first, &rows, &places, payloads.get(item)).into());
            }
        }
        if rows.read()?.is_some() {
            return Err(FileError::changed(path).into());
        }
        match wide {
            None => Ok(payloads),
            Some((place, text)) => {
                let (names, agreed) = (self.names.join(", "), self.bytes);
                let cause =
                    format!("it has {text} bytes of text in {names}, and {agreed} are agreed for a row");
                let remedy = if widest <= MOST_PAYLOAD_BYTES {
                    format!(
                        "agree on {widest} payload bytes or more, as the widest row has, or name fewer columns"
                    )
                } else {
                    format!(
                        "name columns with shorter fields: the widest row has {widest} bytes, and {MOST_PAYLOAD_BYTES} are the most"
                    )
                };
                Err(FileError::new(path, Some(place), cause, remedy).into())
            }
        }
    }

    /// The error of the last row read, whose key came before with other fields.
    fn differs(
        &self,
        first: Option<FilePlace>,
        rows: &Rows<'_>,
        places: &[usize],
        before: &[u8],
    ) -> FileError {
        let before = self.fields(before).unwrap_or_default();
        let names = self.names.iter().zip(places).zip(before);
        let odd = names.filter(|((_, place), before)| rows.last().get(**place) != Some(before.as_bytes()));
        let odd: Vec<_> = odd.map(|((name, _), _)| name.as_str()).collect();
        let first = first.map_or_else(|| "an earlier row".to_owned(), |place| place.to_string());
        let cause = format!("its key is that of {first}, with another field in {}", odd.join(", "));
        let remedy = "leave one row for each key, or name columns that are the same in all rows of a key";
        FileError::new(rows.path(), rows.place(), cause, remedy)
    }

    /// The fields of a payload; `None` if it is malformed.
    #[must_use]
    pub fn fields<'p>(&self, payload: &'p [u8]) -> Option<Vec<&'p str>> {
        let mut rest = payload;
        let mut field = || {
            let (length, text) = rest.split_at_checked(self.prefix())?;
            let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
            let (text, more) = text.split_at_checked(length)?;
            rest = more;
            std::str::from_utf8(text).ok()
        };
        let fields = self.names.iter().map(|_| field()).collect::<Option<Vec<_>>>()?;
        (payload.len() == self.payload_bytes() && rest.iter().all(|byte| *byte == 0)).then_some(fields)
    }

    /// Refuses a table that has a column with one of these names, since the result would have it
    /// twice.
    ///
    /// # Errors
    /// If the table has such a column.
    pub fn check_result(&self, path: &Path, rows: &Rows<'_>) -> Result<(), FileError> {
        let own: Vec<_> = rows.header().iter().map(|name| String::from_utf8_lossy(name)).collect();
        match self.names.iter().find(|name| own.iter().any(|own| own.trim() == name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let cause =
                    format!("it has a column {name} already, as the other party's would be called beside it");
                Err(FileError::new(path, None, cause, "rename one of them"))
            }
        }
    }
}

/// Columns of the other party, to be written next to the rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    /// The columns.
    pub carried: &'a Carried,
    /// The payload of each common key.
    pub payloads: &'a Payloads,
    /// Each row's common key, as an index into them; `None` for a row without one.
    pub of_row: &'a [Option<u32>],
}

impl MoreColumns for Beside<'_> {
    fn names(&self) -> &[String] {
        self.carried.names()
    }

    /// The fields of the other party. They are empty if the row has no common key, or its payload
    /// is missing.
    fn fields(&self, row: usize) -> Vec<&str> {
        let common = self.of_row.get(row).copied().flatten().map(|common| common as usize);
        let payload = common.filter(|common| *common < self.payloads.count()).map(|c| self.payloads.get(c));
        let fields = payload.and_then(|payload| self.carried.fields(payload));
        fields.unwrap_or_else(|| vec![""; self.carried.names.len()])
    }
}

/// The different keys, as digests that do not leave this machine.
fn different(keys: &TableKeys) -> Result<Set<[u8; 32]>, PsiError> {
    let mut secret = Sid([0; 32]);
    random::fill(&mut secret.0)?;
    let digester = Digester::new(&secret);
    Ok(Set::of_by(keys, |keys, out| digester.digest_into(Backend::best(), keys, out)))
}

/// The place of the first row with that key, in rows that are read again.
fn first_place(mut rows: Rows<'_>, set: &Set<[u8; 32]>, item: usize) -> Result<Option<FilePlace>, FileError> {
    for other in set.by_row() {
        if rows.read()?.is_none() || other == Some(item) {
            break;
        }
    }
    Ok(rows.place())
}
