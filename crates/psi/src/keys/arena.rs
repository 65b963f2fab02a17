//! The keys of a table's rows, one after the other in blocks: ten million rows take as many bytes
//! as their keys have, instead of ten million strings.

use super::{
    Formed, KeySpec,
    spec::{Encoded, fields},
};
use hushwire_files::{Dialect, FileError, FilePlace, Rows};
use std::{io::Read, path::Path};
use zeroize::Zeroizing;

/// LOCAL: the bytes of a block; a longer key has a block of its own.
const BLOCK: usize = 1 << 20;
/// LOCAL: the number of keys that are shown to their owner.
const SAMPLES: usize = 3;
/// LOCAL: the largest number of rows of a table. Row numbers have 32 bits, and the last one means
/// no row.
const MOST_ROWS: usize = u32::MAX as usize - 1;

/// Rows without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of rows with an empty field in a key column.
    pub empty: usize,
    /// The number of rows with a malformed field in a key column.
    pub malformed: usize,
    /// The place of the first malformed field.
    pub first_malformed: Option<FilePlace>,
}

/// A key before and after its fields were normalized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The fields as in the table.
    pub before: Vec<String>,
    /// The fields as they are compared.
    pub after: Vec<String>,
}

/// The keys of a table, row by row.
///
/// ```text
/// record  length 4 (0: the row has no key), the key's encoding
/// ```
/// Blocks are wiped when dropped, and never grow. The buffers through which the file was read are
/// not wiped.
#[derive(Default)]
pub struct TableKeys {
    blocks: Vec<Zeroizing<Vec<u8>>>,
    rows: usize,
    keyed: usize,
    left_out: LeftOut,
    samples: Vec<Sample>,
}

impl TableKeys {
    /// Reads the keys of a file with columns, as [`Rows`] reads it.
    ///
    /// # Errors
    /// The file cannot be read or is not a table, a column is missing or repeated, or a field of a
    /// key is not UTF-8.
    pub fn read(path: &Path, spec: &KeySpec) -> Result<Self, FileError> {
        Self::from_rows(path, &mut Rows::open(path)?, spec)
    }

    /// [`TableKeys::read`] for CSV from any source; errors name `path`.
    ///
    /// # Errors
    /// As [`TableKeys::read`].
    pub fn from_csv(path: &Path, csv: impl Read, spec: &KeySpec) -> Result<Self, FileError> {
        Self::from_rows(path, &mut Rows::new(path, csv)?, spec)
    }

    /// [`TableKeys::read`] for rows, which are read to their end.
    ///
    /// # Errors
    /// As [`TableKeys::read`].
    pub fn from_rows(path: &Path, rows: &mut Rows<'_>, spec: &KeySpec) -> Result<Self, FileError> {
        let (places, mut keys, mut key) = (spec.places(rows)?, Self::default(), Encoded::default());
        while rows.read()?.is_some() {
            let (row, at, dialect) = (rows.last(), rows.place(), rows.dialect());
            key.clear();
            let mut whole = Formed::Text;
            for (place, column) in places.iter().zip(spec.columns()) {
                let field = std::str::from_utf8(row.get(*place).unwrap_or_default()).map_err(|_| {
                    let cause = format!("the key in column {} is not UTF-8", column.name.trim());
                    let remedy = "set the encoding of the file, as latin1, or save it as UTF-8";
                    FileError::new(rows.path(), at, cause, remedy)
                })?;
                let field = if dialect.is_null_word(field) { "" } else { field };
                whole = match (whole, key.push(column.normal, field, dialect)) {
                    (Formed::Malformed, _) | (_, Formed::Malformed) => Formed::Malformed,
                    (Formed::Empty, _) | (_, Formed::Empty) => Formed::Empty,
                    _ => Formed::Text,
                };
            }
            match whole {
                Formed::Text => {
                    if keys.samples.len() < SAMPLES {
                        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
                        let before = places.iter().map(|place| text(row.get(*place).unwrap_or_default()));
                        let after = fields(&key.bytes).map(text);
                        keys.samples.push(Sample { before: before.collect(), after: after.collect() });
                    }
                }
                Formed::Empty => {
                    key.clear();
                    keys.left_out.empty += 1;
                }
                Formed::Malformed => {
                    key.clear();
                    keys.left_out.malformed += 1;
                    keys.left_out.first_malformed = keys.left_out.first_malformed.or(at);
                }
            }
            if keys.rows == MOST_ROWS {
                let remedy =
                    "split the file by a first letter or another public rule, and intersect the parts";
                return Err(FileError::new(path, None, "it has more than four billion rows", remedy));
            }
            keys.push(&key.bytes);
        }
        Ok(keys)
    }

    /// Keys of one field each, without normalization.
    ///
    /// # Panics
    /// If a key is longer than four gigabytes, or there are more than four billion (the caller's
    /// bug).
    pub fn of(keys: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let (mut all, mut encoded) = (Self::default(), Encoded::default());
        let (exact, plain) = ("exact".parse().unwrap_or_default(), Dialect::default());
        for key in keys {
            encoded.clear();
            if encoded.push(exact, key.as_ref(), &plain) == Formed::Empty {
                all.left_out.empty += 1;
            }
            assert!(all.rows < MOST_ROWS, "more rows than there are numbers");
            all.push(&encoded.bytes);
        }
        all
    }

    /// Adds a row with that key; without a key if it is empty.
    fn push(&mut self, key: &[u8]) {
        let needed = 4 + key.len();
        if self.blocks.last().is_none_or(|block| block.capacity() - block.len() < needed) {
            self.blocks.push(Zeroizing::new(Vec::with_capacity(needed.max(BLOCK))));
        }
        let Some(block) = self.blocks.last_mut() else { return };
        block.extend_from_slice(&(key.len() as u32).to_le_bytes());
        block.extend_from_slice(key);
        self.rows += 1;
        self.keyed += usize::from(!key.is_empty());
    }

    /// The number of rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of rows that have a key.
    #[must_use]
    pub fn keyed(&self) -> usize {
        self.keyed
    }

    /// The rows that have no key.
    #[must_use]
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// The first keys, before and after normalization.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// The encoded key of each row; `None` if it has none.
    pub fn each(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.blocks.iter().flat_map(|block| KeyRecords(block))
    }

    /// Passes the encoded keys of rows to `take`, a block at a time, and frees a block when it is
    /// done.
    pub(super) fn drain(mut self, mut take: impl FnMut(&mut dyn Iterator<Item = Option<&[u8]>>)) {
        for block in std::mem::take(&mut self.blocks) {
            take(&mut KeyRecords(&block));
        }
    }

    /// The fields of an encoded key, as text.
    #[must_use]
    pub fn fields(key: &[u8]) -> Vec<String> {
        fields(key).map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }
}

/// The records of a block.
struct KeyRecords<'a>(&'a [u8]);

impl<'a> Iterator for KeyRecords<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first_chunk::<4>()?;
        let (key, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        Some((!key.is_empty()).then_some(key))
    }
}

impl Drop for TableKeys {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        for sample in &mut self.samples {
            sample.before.iter_mut().chain(&mut sample.after).for_each(Zeroize::zeroize);
        }
    }
}
