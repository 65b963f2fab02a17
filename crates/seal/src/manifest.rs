//! The manifest of a data set, signed by its owner.

use crate::{
    BlakeName, SealError, SignKey, Signature, VerifyKey, aead::TAG_BYTES, canonical, domain, from_canonical,
};
use hushwire_rep3::stored;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const FORMAT: &str = "hushwire data v1";
/// Its name in errors.
const WHAT: &str = "the manifest";

/// AGREEMENT: rows of each part but the last.
pub const PART_ROWS: u64 = 1 << 18;
/// Rows of a data set, at most.
const MOST_ROWS: u64 = 1 << 31;
/// Stored columns of a data set, at most.
const MOST_INPUTS: usize = 4096;
/// Bits of a stored column, at most.
const MOST_BITS: u32 = 1 << 16;

/// The description of a data set. What a party may know of it is here: all but the values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `hushwire data v1`.
    pub format: String,
    /// A drawn number, to which every envelope and part is bound.
    pub uid: BlakeName,
    /// The name that people give it.
    pub name: String,
    /// The line that versions of one data set share: runs are counted for a line.
    pub line: BlakeName,
    /// The number of the version in its line, from 1.
    pub version: u64,
    /// The group of parties that it is for.
    pub group: String,
    /// The key that signs it.
    pub owner: VerifyKey,
    /// The columns, as queries and people see them.
    pub schema: Vec<SchemaColumn>,
    /// Sets of columns whose values identify a row, as its owner checked.
    pub keys: Vec<Vec<String>>,
    /// The columns that are stored, in order: values, and columns of one bit such as NULL flags.
    pub inputs: Vec<StoredColumn>,
    /// Its rows; of arrays, the least length of a first axis.
    pub rows: u64,
    /// The rows that are stored, which may hide how many there are.
    pub padded: u64,
    /// Names of the parties' envelopes, by party.
    pub envelopes: Vec<BlakeName>,
    /// Names of the parties' parts, by party and part.
    pub parts: Vec<Vec<BlakeName>>,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// When it may not be used any more, in seconds since 1970.
    pub expires: Option<u64>,
}

/// A column of a data set, as queries see it. Its owner has checked what it promises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemaColumn {
    /// Its name.
    pub name: String,
    /// Its type, as a schema file has it.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether values may be missing.
    pub nullable: bool,
    /// The least value, where one is promised.
    pub min: Option<i64>,
    /// The greatest value, where one is promised.
    pub max: Option<i64>,
    /// Whether texts have ASCII alone.
    pub ascii: bool,
}

/// A column as it is stored: `bits` bit planes of its elements, the lowest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredColumn {
    /// Its name: a column's, or what belongs to one.
    pub name: String,
    /// Its bits.
    pub bits: u32,
    /// Lengths of its axes, none for a single element; `None` for a column of a table, which has
    /// an element for each row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Vec<u64>>,
}

impl StoredColumn {
    /// A column of a table.
    #[must_use]
    pub fn of_table(name: String, bits: u32) -> Self {
        Self { name, bits, lengths: None }
    }

    /// An array of axes of these lengths.
    #[must_use]
    pub fn array(name: String, bits: u32, lengths: Vec<u64>) -> Self {
        Self { name, bits, lengths: Some(lengths) }
    }

    /// The number of its elements in a data set of `rows` rows.
    #[must_use]
    pub fn elements(&self, rows: u64) -> u64 {
        // `check_inputs` has refused what overflows.
        let product = |lengths: &Vec<u64>| lengths.iter().fold(1, |all: u64, n| all.saturating_mul(*n));
        self.lengths.as_ref().map_or(rows, product)
    }

    /// Bytes of its planes in a part, where a table's column has `rows` rows in all.
    #[must_use]
    pub fn bytes(&self, rows: u64, part: u64) -> u64 {
        u64::from(self.bits) * elements_of(self.elements(rows), part).div_ceil(8)
    }
}

/// Elements in a part, of this many in all.
fn elements_of(all: u64, part: u64) -> u64 {
    all.saturating_sub(part.saturating_mul(PART_ROWS)).min(PART_ROWS)
}

/// The number of elements of the longest column of a data set of `rows` rows.
pub(crate) fn longest(inputs: &[StoredColumn], rows: u64) -> u64 {
    inputs.iter().map(|column| column.elements(rows)).max().unwrap_or(rows)
}

/// The number of rows of a data set whose columns are arrays: the least length of a first axis,
/// where a single element counts as 1. `None` for a table.
#[must_use]
pub(crate) fn array_rows(inputs: &[StoredColumn]) -> Option<u64> {
    let first = |column: &StoredColumn| Some(column.lengths.as_ref()?.first().copied().unwrap_or(1));
    inputs.iter().filter_map(first).min()
}

/// Whether a party is given the share of an input that comes in full: the share `e = part + input`
/// modulo 3 is its own or the next.
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

    /// The columns, as runs take them.
    #[must_use]
    pub fn columns(&self) -> Vec<stored::StoredColumn> {
        let column = |column: &StoredColumn| stored::StoredColumn {
            name: column.name.clone(),
            bits: column.bits,
            lengths: column.lengths.clone().unwrap_or_else(|| vec![self.padded]),
        };
        self.inputs.iter().map(column).collect()
    }

    /// Bytes of a party's part as it is sent and kept.
    #[must_use]
    pub fn part_bytes(&self, party: usize, part: u64) -> u64 {
        self.plain_bytes(party, part) + TAG_BYTES as u64
    }

    /// Bytes of the shares in a part.
    pub(crate) fn plain_bytes(&self, party: usize, part: u64) -> u64 {
        let held = self.inputs.iter().enumerate().filter(|(input, _)| holds_full(party, part, *input));
        held.map(|(_, column)| column.bytes(self.padded, part)).sum()
    }

    /// The name of what is stored, to which parts are bound.
    pub(crate) fn layout(inputs: &[StoredColumn]) -> Result<BlakeName, SealError> {
        canonical(&inputs).map(|text| BlakeName::of(text.as_bytes()))
    }

    /// Whether it describes a data set.
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

/// Whether these columns can be stored.
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
    /// It makes no sense, or names another key as the owner's.
    pub fn sign(manifest: Manifest, key: &SignKey) -> Result<Self, SealError> {
        manifest.check()?;
        let text = canonical(&manifest)?;
        let signature = key.sign(domain::DATA, text.as_bytes());
        manifest.owner.verify(WHAT, domain::DATA, text.as_bytes(), &signature)?;
        Ok(Self { manifest, text, signature })
    }

    /// Reads a manifest that came with a signature.
    ///
    /// # Errors
    /// It is not canonical, makes no sense, or is not signed by the owner that it names.
    pub fn read(text: &[u8], signature: Signature) -> Result<Self, SealError> {
        let manifest: Manifest = from_canonical(WHAT, text)?;
        manifest.owner.verify(WHAT, domain::DATA, text, &signature)?;
        manifest.check()?;
        let text = String::from_utf8(text.to_vec()).map_err(|e| SealError::format(WHAT, e))?;
        Ok(Self { manifest, text, signature })
    }

    /// The bytes that are signed.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The text that is signed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The owner's signature.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.signature
    }

    /// The name of the data set: the hash of the text.
    #[must_use]
    pub fn id(&self) -> BlakeName {
        BlakeName::of(self.text.as_bytes())
    }
}
