//! The different values of a column, for a query whose text lists them.

use super::rows::read;
use hushwire_session::{Dialect, Fault, InputPlace};
use hushwire_tables::algebra::{Column, Schema, Table, TablePart, Value};
use std::collections::BTreeSet;

/// The different values of a column of a table's files in order, without NULL. `None` if there are
/// more than `most`.
///
/// # Errors
/// The files lack the column, or a field is not a value of its type.
pub fn column_values(
    table: &str,
    place: &InputPlace,
    column: &Column,
    most: usize,
) -> Result<Option<Vec<Value>>, Fault> {
    let parts = vec![TablePart { owner: String::new(), rows: 0 }];
    let schema = Schema(vec![column.clone()]);
    let table = Table { name: table.to_owned(), schema, parts, padded: false, unique: vec![] };
    let mut found = BTreeSet::new();
    read(&table, (place, &Dialect::default()), &[0; 32], &[], |rows| {
        if found.len() <= most {
            found.extend(rows.iter().flatten().filter(|value| !value.is_null()).cloned());
        }
        Ok(())
    })?;
    Ok((found.len() <= most).then(|| found.into_iter().collect()))
}
