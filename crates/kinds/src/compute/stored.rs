//! A computation's inputs as columns of data sets.

use super::values::Values;
use hushwire_block::Wiped;
use hushwire_circuit::Planes;
use hushwire_compute::{Scalar, Type};
use hushwire_rep3::stored::{StoredColumn, parts};
use hushwire_session::{Fault, InputPlace};
use std::collections::BTreeMap;

/// The name of the data-set column that holds an input. It contains the scalar, so that a data set
/// cannot be used for elements of another type.
pub(super) fn column_name(input: &str, scalar: Scalar) -> String {
    format!("{input}: {scalar}")
}

/// A column of a data set, and its bit planes in parts.
pub type ColumnInParts = (StoredColumn, Vec<Wiped<Vec<u8>>>);

/// Reads an input as a column of a data set: the column, and its bit planes in parts. The data
/// bind the symbols in its shape.
///
/// # Errors
/// The input cannot be read, or holds something that is not such an element.
pub fn stored_input(name: &str, ty: &Type, place: &InputPlace) -> Result<ColumnInParts, Fault> {
    let Values { scalar, lengths, records, .. } = Values::read(name, ty, place, &BTreeMap::new())?;
    Ok(column(name, scalar, &lengths, &records))
}

/// The column of elements in records, and its planes in parts.
pub(crate) fn column(name: &str, scalar: Scalar, lengths: &[usize], records: &[u8]) -> ColumnInParts {
    let column = StoredColumn {
        name: column_name(name, scalar),
        bits: scalar.bits() as u32,
        lengths: lengths.iter().map(|n| *n as u64).collect(),
    };
    let planes = Planes::pack(records, scalar.bits(), lengths.iter().product());
    let planes: Wiped<Vec<u8>> = planes.into();
    let all = parts(std::slice::from_ref(&column));
    let cut = (0..all).map(|part| column.part_of(&planes, part)).collect();
    (column, cut)
}
