//! The columns of a key.

use super::{Formed, Normal};
use hushwire_files::{Dialect, FileError, Rows};
use zeroize::Zeroizing;

/// One column of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// Its name in the file's header line.
    pub name: String,
    /// The normal form of its fields.
    pub normal: Normal,
}

/// The columns of a key, at least one, in the order that both parties use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySpec {
    columns: Vec<KeyColumn>,
}

impl KeySpec {
    /// A key with these columns, at least one.
    ///
    /// # Errors
    /// There is no column, or one is repeated; the message says which.
    pub fn new(columns: Vec<KeyColumn>) -> Result<Self, String> {
        let twice = columns.iter().enumerate().find_map(|(i, column)| {
            let before = columns[..i].iter().any(|c| c.name.trim() == column.name.trim());
            before.then_some(&column.name)
        });
        match (columns.len(), twice) {
            (0, _) => Err("it names no column".to_owned()),
            (_, Some(name)) => Err(format!("it names the column {name} twice")),
            _ => Ok(Self { columns }),
        }
    }

    /// A key of one column whose form only drops white space around fields.
    #[must_use]
    pub fn column(name: &str) -> Self {
        Self { columns: vec![KeyColumn { name: name.to_owned(), normal: Normal::default() }] }
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// The columns' indices in records of a table; no other columns are read.
    pub(super) fn places(&self, rows: &mut Rows<'_>) -> Result<Vec<usize>, FileError> {
        rows.select(self.columns.iter().map(|column| column.name.as_str()))
    }
}

/// A key under construction: its fields one after the other, each preceded by its length, so that
/// `ab, c` and `a, bc` differ.
///
/// ```text
/// field  length 4 (little endian), bytes
/// ```
#[derive(Default)]
pub(super) struct Encoded {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    field: Zeroizing<String>,
}

impl Encoded {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds a field as its owner's dialect reads it.
    pub(super) fn push(&mut self, normal: Normal, field: &str, dialect: &Dialect) -> Formed {
        let formed = normal.apply_to(field, dialect, &mut self.field);
        if formed == Formed::Text {
            self.bytes.extend_from_slice(&(self.field.len() as u32).to_le_bytes());
            self.bytes.extend_from_slice(self.field.as_bytes());
        }
        formed
    }
}

/// The fields of an encoded key.
pub(super) fn fields(mut key: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = key.split_first_chunk::<4>()?;
        let (field, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        key = rest;
        Some(field)
    })
}
