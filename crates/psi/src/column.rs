//! A column of a CSV file as a set of keys.

use crate::{PsiError, Rows, error::Place};
use std::{collections::HashMap, io::Read, path::Path};
use zeroize::{Zeroize, Zeroizing};

/// The keys of a column: what they are, and which of them each row has.
///
/// Keys are text without the white space around it; nothing else is changed, so that `Ann` and `ann` differ. A row whose
/// key is empty has none. Wiped when dropped; the buffers in which the file was read are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Each key once, in the order in which they come first.
    pub keys: Zeroizing<Vec<String>>,
    /// For each row of the file, the place of its key in `keys`.
    pub rows: Zeroizing<Vec<Option<u32>>>,
}

/// The place of each key that came; wiped when dropped.
#[derive(Default)]
struct Known(HashMap<String, u32>);

impl Drop for Known {
    fn drop(&mut self) {
        self.0.drain().for_each(|(mut key, _)| key.zeroize());
    }
}

impl Column {
    /// The column called `name` of a file whose first line names its columns.
    ///
    /// # Errors
    /// The file cannot be read, is no CSV of one width as RFC 4180 has it, lacks the column or has it twice, or a key is
    /// not UTF-8.
    pub fn read(path: &Path, name: &str) -> Result<Column, PsiError> {
        Column::from_rows(path, Rows::open(path)?, name)
    }

    /// As [`Column::read`], from anything; `path` is what errors name.
    ///
    /// # Errors
    /// As [`Column::read`].
    pub fn from_csv(path: &Path, csv: impl Read, name: &str) -> Result<Column, PsiError> {
        Column::from_rows(path, Rows::new(path, csv)?, name)
    }

    fn from_rows(path: &Path, mut rows: Rows<'_>, name: &str) -> Result<Column, PsiError> {
        let place = rows.column(name)?;
        let (mut column, mut known) = (Column::default(), Known::default());
        while let Some(row) = rows.read()? {
            let key = std::str::from_utf8(row.get(place).unwrap_or_default()).map_err(|_| {
                let line = row.position().map(|p| Place::line(p.line()));
                let cause = format!("the key in column {name} is not UTF-8");
                PsiError::file(path, line, cause, "save the file as UTF-8 at both parties")
            })?;
            match key.trim() {
                "" => column.rows.push(None),
                key => column.add(&mut known, key),
            }
        }
        Ok(column)
    }

    /// A set of keys, one a row.
    pub fn of(keys: impl IntoIterator<Item = impl AsRef<str>>) -> Column {
        let (mut column, mut known) = (Column::default(), Known::default());
        keys.into_iter().for_each(|key| column.add(&mut known, key.as_ref()));
        column
    }

    /// A row with a key.
    fn add(&mut self, known: &mut Known, key: &str) {
        let at = known.0.get(key).copied().unwrap_or_else(|| {
            let next = self.keys.len() as u32;
            known.0.insert(key.to_owned(), next);
            self.keys.push(key.to_owned());
            next
        });
        self.rows.push(Some(at));
    }

    /// Whether each row's key is among those found, row by row; false where a row has no key.
    #[must_use]
    pub fn by_row(&self, found: &[bool]) -> Vec<bool> {
        self.rows.iter().map(|row| row.is_some_and(|key| found[key as usize])).collect()
    }
}
