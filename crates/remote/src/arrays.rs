//! Arrays as data sets: a model, the input of a network, or inputs of a computation.

use crate::{DataFile, Service};
use hushwire_fault::{Fault, code};
use hushwire_kinds::{ColumnInParts, Job};
use hushwire_seal::{BlakeName, PART_ROWS, SchemaColumn, SignKey, StoredColumn, dataset::DataDescription};
use hushwire_session::InputPlace;
use std::{
    collections::BTreeMap,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// A data set of arrays, before its files are read.
pub struct ArrayData<'a> {
    /// The job in which the data set is `data:NAME`. Its computation or network determines the
    /// arrays.
    pub job: &'a Job,
    /// The data set's name in the job.
    pub data: &'a str,
    /// The name for people.
    pub name: &'a str,
    /// The places of the owner's inputs, as under `[inputs]` of a member's file.
    pub inputs: &'a BTreeMap<String, InputPlace>,
    /// The line of versions that it belongs to; `None` for a new line.
    pub line: Option<BlakeName>,
    /// The version in the line, from 1.
    pub version: u64,
    /// The time from which it may not be used any more, in seconds since 1970.
    pub expires: Option<u64>,
}

/// A column in the form for people: `w1`, of type `fx32.16[8, 5]`.
fn shown(name: &str, lengths: &[u64]) -> SchemaColumn {
    let (name, scalar) = name.split_once(": ").unwrap_or((name, ""));
    let ty = if lengths.is_empty() { scalar.to_owned() } else { format!("{scalar}{lengths:?}") };
    SchemaColumn { name: name.to_owned(), ty, nullable: false, min: None, max: None, ascii: false }
}

impl ArrayData<'_> {
    /// Reads the arrays and seals them into a new directory `dir`.
    ///
    /// # Errors
    /// A file cannot be read, or belongs to another model or computation; or `dir` exists.
    pub fn seal(&self, service: &Service, dir: &Path, key: &SignKey) -> Result<DataFile, Fault> {
        let columns = self.job.stored(self.data, self.inputs)?;
        let longest = columns.iter().map(|(column, _)| column.elements()).max().unwrap_or(0);
        if longest == 0 {
            let cause = format!("data:{} has no elements", self.data);
            return Err(Fault::new(code::DATA_SET, "sealing arrays", cause, "bring inputs with elements"));
        }
        let array = |(column, _): &ColumnInParts| {
            StoredColumn::array(column.name.clone(), column.bits, column.lengths.clone())
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let description = DataDescription {
            name: self.name.to_owned(),
            line: self.line,
            version: self.version,
            group: service.group().to_owned(),
            schema: columns.iter().map(|(column, _)| shown(&column.name, &column.lengths)).collect(),
            keys: vec![],
            inputs: columns.iter().map(array).collect(),
            created: now,
            expires: self.expires,
        };
        let mut columns: Vec<_> = columns.into_iter().map(|(_, parts)| parts.into_iter()).collect();
        DataFile::seal(dir, description, service.keys()?, key, |take| {
            for part in 0..longest.div_ceil(PART_ROWS) {
                let here = (longest - part * PART_ROWS).min(PART_ROWS);
                // An array that has already ended has nothing in this part.
                take(here, columns.iter_mut().map(|parts| parts.next().unwrap_or_default()).collect())?;
            }
            Ok(longest)
        })
    }
}
