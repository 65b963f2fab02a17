//! A column of a CSV file as a set of keys.

use crate::PsiError;
use std::{
    collections::HashMap,
    io::Read,
    path::{Path, PathBuf},
};

/// The keys of a column: what they are, and which of them each row has.
///
/// Keys are text without the white space around it; nothing else is changed, so that `Ann` and `ann` differ. A row whose
/// key is empty has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Each key once, in the order in which they come first.
    pub keys: Vec<String>,
    /// For each row of the file, the place of its key in `keys`.
    pub rows: Vec<Option<u32>>,
}

impl Column {
    /// The column called `name` of a file whose first line names its columns.
    ///
    /// # Errors
    /// The file cannot be read, is no CSV of one width, lacks the column or has it twice, or a key is not UTF-8.
    pub fn read(path: &Path, name: &str) -> Result<Column, PsiError> {
        let file = std::fs::File::open(path).map_err(|e| refused(path, &e))?;
        Column::from_csv(path, file, name)
    }

    /// As [`Column::read`], from anything; `path` is what errors name.
    ///
    /// # Errors
    /// As [`Column::read`].
    pub fn from_csv(path: &Path, csv: impl Read, name: &str) -> Result<Column, PsiError> {
        let mut reader = csv::ReaderBuilder::new().from_reader(csv);
        let header = reader.byte_headers().map_err(|e| broken(path, e))?.clone();
        if header.is_empty() {
            let remedy = format!("its first line must name the columns, {name} among them");
            return Err(PsiError::file(path, None, "it is empty", remedy));
        }
        let place = place(path, &header, name)?;
        let mut column = Column::default();
        let mut known = HashMap::new();
        let mut record = csv::ByteRecord::new();
        while reader.read_byte_record(&mut record).map_err(|e| broken(path, e))? {
            let line = record.position().map(csv::Position::line);
            let key = std::str::from_utf8(record.get(place).unwrap_or_default()).map_err(|_| {
                let cause = format!("the key in column {name} is not UTF-8");
                PsiError::file(path, line, cause, "save the file as UTF-8 at both parties")
            })?;
            let key = key.trim();
            if key.is_empty() {
                column.rows.push(None);
                continue;
            }
            let next = known.len() as u32;
            let at = *known.entry(key.to_owned()).or_insert(next);
            if at == next {
                column.keys.push(key.to_owned());
            }
            column.rows.push(Some(at));
        }
        Ok(column)
    }

    /// A set of keys, one a row.
    pub fn of(keys: impl IntoIterator<Item = impl Into<String>>) -> Column {
        let mut column = Column::default();
        let mut known = HashMap::new();
        for key in keys {
            let key: String = key.into();
            let next = known.len() as u32;
            let at = *known.entry(key.clone()).or_insert(next);
            if at == next {
                column.keys.push(key);
            }
            column.rows.push(Some(at));
        }
        column
    }

    /// What `found` says of each key, row by row; false where a row has no key.
    #[must_use]
    pub fn by_row(&self, found: &[bool]) -> Vec<bool> {
        self.rows.iter().map(|row| row.is_some_and(|key| found[key as usize])).collect()
    }
}

/// Where the column is.
fn place(path: &Path, header: &csv::ByteRecord, name: &str) -> Result<usize, PsiError> {
    let names: Vec<String> = header
        .iter()
        // Some programs begin UTF-8 files with a mark.
        .map(|n| String::from_utf8_lossy(n).trim_start_matches('\u{feff}').trim().to_owned())
        .collect();
    let mut places = names.iter().enumerate().filter(|(_, n)| *n == name.trim()).map(|(i, _)| i);
    match (places.next(), places.next()) {
        (Some(place), None) => Ok(place),
        (Some(_), Some(_)) => {
            let cause = format!("two columns are called {name}");
            Err(PsiError::file(path, Some(1), cause, "rename one of them"))
        }
        (None, _) => {
            let cause = format!("no column is called {name}; the first line names {}", names.join(", "));
            let one = names.len() == 1 && names[0].contains([';', '\t', '|']);
            let remedy = if one {
                "save the file with commas between columns"
            } else {
                "name one of these, or put a line with the columns' names first"
            };
            Err(PsiError::file(path, Some(1), cause, remedy))
        }
    }
}

pub(crate) fn refused(path: &Path, e: &std::io::Error) -> PsiError {
    use std::io::ErrorKind as K;
    let remedy = match e.kind() {
        K::NotFound => "check the spelling",
        K::PermissionDenied => "check its permissions",
        K::IsADirectory => "name a file in it",
        _ => "see what the system says about that disk",
    };
    PsiError::file(path, None, e.to_string(), remedy)
}

pub(crate) fn broken(path: &Path, e: csv::Error) -> PsiError {
    let path = PathBuf::from(path);
    let line = e.position().map(csv::Position::line);
    match e.into_kind() {
        csv::ErrorKind::Io(e) => refused(&path, &e),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let cause = format!("it has {len} fields where the first line has {expected_len}");
            PsiError::file(
                &path,
                line,
                cause,
                "give it as many; put quotes around a field that has commas in it",
            )
        }
        _ => PsiError::file(&path, line, "it is not CSV", "save it as CSV with commas between columns"),
    }
}
