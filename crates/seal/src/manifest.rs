//! The manifest of a data set, signed by its owner.
//!
//! It lists the columns, the number of rows and the expiry of a data set, and the BLAKE3 hashes of
//! all envelopes and parts. The owner signs its canonical JSON. Parties thus check every envelope
//! and part that they store against it.

use crate::{
    BlakeName, SealError, SignKey, Signature, VerifyKey, aead::TAG_BYTES, canonical, domain, from_canonical,
};
use hushwire_rep3::stored;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const FORMAT: &str = "hushwire data v1";
/// The manifest's name in errors.
const WHAT: &str = "the manifest";

/// AGREEMENT: the rows of each part but the last.
pub const PART_ROWS: u64 = 1 << 18;
/// The most rows of a data set.
const MOST_ROWS: u64 = 1 << 31;
/// The most stored columns of a data set.
const MOST_INPUTS: usize = 4096;
/// The most bits of an element of a stored column.
const MOST_BITS: u32 = 1 << 16;

/// The description of a data set. It has everything that a party may know of the data: all but the
/// values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The format, `hushwire data v1`.
    pub format: String,
    /// A random id, to which every envelope and part is bound.
    pub uid: BlakeName,
    /// The name for people.
    pub name: String,
    /// The line that versions of one data set share. Runs are counted for a line.
    pub line: BlakeName,
    /// The number of the version in its line, from 1.
    pub version: u64,
    /// The group of parties for which it is made.
    pub group: String,
    /// The key that signs it.
    pub owner: VerifyKey,
    /// The columns, as queries and people see them.
    pub schema: Vec<SchemaColumn>,
    /// Sets of columns whose values identify a row, as verified by the owner.
    pub keys: Vec<Vec<String>>,
    /// The columns that are stored, in order: values, and columns of one bit such as NULL flags.
    pub inputs: Vec<StoredColumn>,
    /// The number of rows. For arrays, it is the least length of a first axis.
    pub rows: u64,
    /// The number of stored rows, which may hide the number of rows.
    pub padded: u64,
    /// The names of the parties' envelopes, by party.
    pub envelopes: Vec<BlakeName>,
    /// The names of the parties' parts, by party and part.
    pub parts: Vec<Vec<BlakeName>>,
    /// The time of creation, in seconds since 1970.
    pub created: u64,
    /// The time from which it may not be used any more, in seconds since 1970.
    pub expires: Option<u64>,
}

/// A column of a data set, as queries see it. The owner has verified these properties.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaColumn {
    /// The column's name.
    pub name: String,
    /// The column's type, as a schema file writes it.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether values may be missing.
    pub nullable: bool,
    /// The least value, if one is guaranteed.
    pub min: Option<i64>,
    /// The greatest value, if one is guaranteed.
    pub max: Option<i64>,
    /// Whether texts contain only ASCII.
    pub ascii: bool,
}

/// A column as it is stored: `bits` bit planes of its elements, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredColumn {
    /// The name: that of a column, or of something that belongs to a column.
    pub name: String,
    /// The number of bits of an element.
    pub bits: u32,
    /// The lengths of the axes, which are empty for a single element. `None` for a column of a
    /// table, which has an element for each row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Vec<u64>>,
}

impl StoredColumn {
    /// Makes a column of a table.
    #[must_use]
    pub fn of_table(name: String, bits: u32) -> Self {
        Self { name, bits, lengths: None }
    }

    /// Makes an array whose axes have these lengths.
    #[must_use]
    pub fn array(name: String, bits: u32, lengths: Vec<u64>) -> Self {
        Self { name, bits, lengths: Some(lengths) }
    }

    /// The number of elements in a data set of `rows` rows.
    #[must_use]
    pub fn elements(&self, rows: u64) -> u64 {
        // `check_inputs` has refused numbers that overflow.
        let product = |lengths: &Vec<u64>| lengths.iter().fold(1, |all: u64, n| all.saturating_mul(*n));
        self.lengths.as_ref().map_or(rows, product)
    }

    /// The number of bytes of its planes in a part. A table's column has `rows` rows in total.
    #[must_use]
    pub fn bytes(&self, rows: u64, part: u64) -> u64 {
        u64::from(self.bits) * elements_of(self.elements(rows), part).div_ceil(8)
    }
}

/// The number of elements in a part, if there are this many in total.
fn elements_of(all: u64, part: u64) -> u64 {
    all.saturating_sub(part.saturating_mul(PART_ROWS)).min(PART_ROWS)
}

/// The number of elements of the longest column of a data set of `rows` rows.
pub(crate) fn longest(inputs: &[StoredColumn], rows: u64) -> u64 {
    inputs.iter().map(|column| column.elements(rows)).max().unwrap_or(rows)
}

/// The number of rows of a data set whose columns are arrays. It is the least length of a first
/// axis, where a single element counts as 1. `None` for a table.
#[must_use]
pub(crate) fn array_rows(inputs: &[StoredColumn]) -> Option<u64> {
    let first = |column: &StoredColumn| Some(column.lengths.as_ref()?.first().copied().unwrap_or(1));
    inputs.iter().filter_map(first).min()
}

/// Whether a party stores an input's full share, which has the index `e = part + input` modulo 3.
/// It does if `e` is its own index or the next.
pub(crate) fn holds_full(party: usize, part: u64, input: usize) -> bool {
    let e = ((part % 3) as usize + input) % 3;
    e == party || e == (party + 1) % 3
}

impl Manifest {
    pub(crate) fn format() -> String {
        FORMAT.to_owned()
    }

    /// The number of parts at each party.
    #[must_use]
    pub fn part_count(&self) -> u64 {
        longest(&self.inputs, self.padded).div_ceil(PART_ROWS)
    }

    /// The columns, in the form that runs take.
    #[must_use]
    pub fn columns(&self) -> Vec<stored::StoredColumn> {
        let column = |column: &StoredColumn| stored::StoredColumn {
            name: column.name.clone(),
            bits: column.bits,
            lengths: column.lengths.clone().unwrap_or_else(|| vec![self.padded]),
        };
        self.inputs.iter().map(column).collect()
    }

    /// The number of bytes of a party's part as it is sent and stored.
    #[must_use]
    pub fn part_bytes(&self, party: usize, part: u64) -> u64 {
        self.plain_bytes(party, part) + TAG_BYTES as u64
    }

    /// The number of bytes of the shares in a part.
    pub(crate) fn plain_bytes(&self, party: usize, part: u64) -> u64 {
        let held = self.inputs.iter().enumerate().filter(|(input, _)| holds_full(party, part, *input));
        held.map(|(_, column)| column.bytes(self.padded, part)).sum()
    }

    /// The name of the stored columns, to which parts are bound.
    pub(crate) fn layout(inputs: &[StoredColumn]) -> Result<BlakeName, SealError> {
        canonical(&inputs).map(|text| BlakeName::of(text.as_bytes()))
    }

    /// Checks that the manifest describes a data set.
    ///
    /// # Errors
    /// It does not.
    pub fn check(&self) -> Result<(), SealError> {
        let wrong = |cause: String| Err(SealError::format(WHAT, cause));
        if self.format != FORMAT {
            return wrong(format!("its format is {:?} and not {FORMAT:?}", self.format));
        }
        check_inputs(&self.inputs)?;
        check_name("the name of a data set", &self.name)?;
        let mut names = BTreeSet::new();
        for column in &self.schema {
            check_name("the name of a column", &column.name)?;
            if !names.insert(&column.name) {
                return wrong(format!("it has the column {:?} twice", column.name));
            }
            if let (Some(min), Some(max)) = (column.min, column.max)
                && min > max
            {
                return wrong(format!("the column {:?} has the empty range {min} to {max}", column.name));
            }
        }
        if let Some(lost) = self.keys.iter().flatten().find(|name| !names.contains(name)) {
            return wrong(format!("a key names the column {lost:?}, which it does not have"));
        }
        if self.version == 0 {
            return wrong("versions count from 1".to_owned());
        }
        if self.rows > self.padded || !(1..=MOST_ROWS).contains(&self.padded) {
            return wrong(format!("it has {} rows, of which {} are stored", self.rows, self.padded));
        }
        if array_rows(&self.inputs).is_some_and(|rows| rows != self.rows || rows != self.padded) {
            let cause = format!("it says that it has {} rows, and its arrays have others", self.rows);
            return wrong(cause);
        }
        let parties = self.envelopes.len();
        if parties != 3 || self.parts.len() != parties {
            return wrong(format!("it is for {parties} parties, and data sets are for three"));
        }
        let count = self.part_count();
        if let Some(parts) = self.parts.iter().find(|parts| parts.len() as u64 != count) {
            return wrong(format!("a party has {} parts of {count}", parts.len()));
        }
        if self.expires.is_some_and(|expires| expires <= self.created) {
            return wrong("it expires before it was made".to_owned());
        }
        Ok(())
    }
}

/// Checks that these columns can be stored.
pub(crate) fn check_inputs(inputs: &[StoredColumn]) -> Result<(), SealError> {
    const REMEDY: &str = "split the data set";
    if inputs.is_empty() || inputs.len() > MOST_INPUTS {
        let cause = format!("a data set stores 1 to {MOST_INPUTS} columns, and not {}", inputs.len());
        return Err(SealError::data(cause, REMEDY));
    }
    for column in inputs {
        check_name("the name of a stored column", &column.name)?;
        if !(1..=MOST_BITS).contains(&column.bits) {
            let cause = format!("a column stores 1 to {MOST_BITS} bits, and not {}", column.bits);
            return Err(SealError::data(cause, REMEDY));
        }
        let product = |lengths: &Vec<u64>| lengths.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
        let elements = column.lengths.as_ref().map(product);
        if elements.is_some_and(|all| !all.is_some_and(|all| (1..=MOST_ROWS).contains(&all))) {
            let cause = format!("the array {:?} has other than 1 to 2^31 elements", column.name);
            return Err(SealError::data(cause, REMEDY));
        }
    }
    if inputs.iter().any(|column| column.lengths.is_some() != inputs[0].lengths.is_some()) {
        let cause = "some of its columns are arrays, and others a table's";
        return Err(SealError::data(cause, "put the table and the arrays as two data sets"));
    }
    Ok(())
}

pub(crate) fn check_name(what: &str, name: &str) -> Result<(), SealError> {
    if (1..=256).contains(&name.len()) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let cause = format!("{what} has 1 to 256 bytes without control characters");
    Err(SealError::data(cause, "choose another name"))
}

/// A manifest, the text that was signed, and the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedManifest {
    manifest: Manifest,
    text: String,
    signature: Signature,
}

impl SignedManifest {
    /// Signs a manifest.
    ///
    /// # Errors
    /// The manifest is invalid, or names another key as the owner's.
    pub fn sign(manifest: Manifest, key: &SignKey) -> Result<Self, SealError> {
        manifest.check()?;
        let text = canonical(&manifest)?;
        let signature = key.sign(domain::DATA, text.as_bytes());
        manifest.owner.verify(WHAT, domain::DATA, text.as_bytes(), &signature)?;
        Ok(Self { manifest, text, signature })
    }

    /// Reads a manifest with its signature.
    ///
    /// # Errors
    /// The manifest is not canonical, is invalid, or is not signed by the owner that it names.
    pub fn read(text: &[u8], signature: Signature) -> Result<Self, SealError> {
        let manifest: Manifest = from_canonical(WHAT, text)?;
        manifest.owner.verify(WHAT, domain::DATA, text, &signature)?;
        manifest.check()?;
        let text = String::from_utf8(text.to_vec()).map_err(|e| SealError::format(WHAT, e))?;
        Ok(Self { manifest, text, signature })
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The signed text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The owner's signature.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The id of the data set: the hash of the text.
    #[must_use]
    pub fn id(&self) -> BlakeName {
        BlakeName::of(self.text.as_bytes())
    }
}
