//! Turns rows of a table's part into a query's inputs, a batch at a time: an owner holds columns as
//! narrow as their types, and never all rows.

use crate::{
    TableError,
    algebra::{Column, ColumnType, Range, Table, Value},
    lower::{
        cell::{scalar, tensor},
        input_name, null_name, valid_name,
    },
    plain::Row,
};
use hushwire_compute::Tensor;
use std::collections::BTreeMap;

/// The rows of a table's part, taken in batches, as the inputs of a query's computation in records.
pub struct Incoming<'t> {
    table: &'t Table,
    part: usize,
    rows: usize,
    taken: usize,
    columns: Vec<Records>,
    /// The validity of each row of a padded table.
    valid: Option<(String, Vec<u8>)>,
}

/// The records of a column, and its NULL flags.
struct Records {
    name: String,
    values: Vec<u8>,
    nulls: Option<(String, Vec<u8>)>,
}

fn truth() -> (ColumnType, Range) {
    (ColumnType::Boolean, ColumnType::Boolean.range())
}

fn records<'v>(
    (ty, range): (ColumnType, Range),
    rows: usize,
    values: impl Iterator<Item = &'v Value>,
) -> Vec<u8> {
    let made: Tensor = tensor(ty, range, &[rows], values);
    made.records()
}

impl<'t> Incoming<'t> {
    pub(crate) fn new(table: &'t Table, at: usize, part: usize) -> Result<Self, TableError> {
        let Some(rows) = table.parts.get(part).map(|part| part.rows as usize) else {
            let (cause, remedy) = (format!("there is no part {part}"), "parts are counted from 0".to_owned());
            return Err(TableError::Rows { table: table.name.clone(), cause, remedy });
        };
        // The final size, since growing would leave copies behind.
        let room = |(ty, range)| Vec::with_capacity(rows * scalar(ty, range).record());
        let flags = |name| (name, room(truth()));
        let column = |(k, column): (usize, &Column)| {
            let of = column.expr_type();
            let nulls = column.nullable.then(|| flags(null_name(at, part, k)));
            Records { name: input_name(at, part, k), values: room((of.ty, of.range)), nulls }
        };
        let columns = table.schema.columns().iter().enumerate().map(column).collect();
        let valid = table.padded.then(|| flags(valid_name(at, part)));
        Ok(Incoming { table, part, rows, taken: 0, columns, valid })
    }

    fn refuse(&self, cause: String, remedy: &str) -> TableError {
        TableError::Rows { table: self.table.name.clone(), cause, remedy: remedy.to_owned() }
    }

    fn too_many(&self) -> TableError {
        let cause = format!("part {} has more rows than the {} that were agreed", self.part, self.rows);
        let padded = "bring fewer, or agree on more";
        self.refuse(
            cause,
            if self.table.padded { padded } else { "bring as many, or agree on a padded table" },
        )
    }

    /// Takes the next rows.
    ///
    /// # Errors
    /// More rows than agreed; a value of another type, or outside the range that its column
    /// promises.
    pub fn take(&mut self, rows: &[Row]) -> Result<(), TableError> {
        if self.taken + rows.len() > self.rows {
            return Err(self.too_many());
        }
        let columns = self.table.schema.columns();
        for (i, row) in (self.taken..).zip(rows) {
            if row.len() != columns.len() {
                let cause = format!("row {i} has {} values for {} columns", row.len(), columns.len());
                return Err(self.refuse(cause, "bring a value for each column"));
            }
            for (value, column) in row.iter().zip(columns) {
                if value.is_null() && !column.nullable {
                    let cause = format!("row {i} is NULL in {column}");
                    return Err(self.refuse(cause, "agree that the column may be NULL"));
                }
                let within = |range: Range| match value {
                    Value::Number(n) => range.holds(Range { low: *n, high: *n }),
                    _ => true,
                };
                if !value.fits(column.ty) || !column.range.is_none_or(within) {
                    let cause = format!("row {i} has a value in {column} that the column does not hold");
                    return Err(self.refuse(cause, "agree on a wider type or range"));
                }
            }
        }
        self.put(rows.len(), |row, column| &rows[row][column], true);
        self.taken += rows.len();
        Ok(())
    }

    fn put<'v>(&mut self, count: usize, value: impl Fn(usize, usize) -> &'v Value, valid: bool) {
        let table = self.table;
        for (k, (column, to)) in table.schema.columns().iter().zip(&mut self.columns).enumerate() {
            let of = column.expr_type();
            let all = || (0..count).map(|row| value(row, k));
            to.values.extend(records((of.ty, of.range), count, all()));
            if let Some((_, nulls)) = &mut to.nulls {
                let flags: Vec<Value> = all().map(|value| Value::Boolean(value.is_null())).collect();
                nulls.extend(records(truth(), count, flags.iter()));
            }
        }
        if let Some((_, flags)) = &mut self.valid {
            flags.extend(records(truth(), count, std::iter::repeat_n(&Value::Boolean(valid), count)));
        }
    }

    /// The records of every input, by its name, including padding.
    ///
    /// # Errors
    /// Fewer rows than agreed, if the table is not padded.
    pub fn finish(mut self) -> Result<BTreeMap<String, Vec<u8>>, TableError> {
        if !self.table.padded && self.taken < self.rows {
            let rows = if self.taken == 1 { "row" } else { "rows" };
            let cause =
                format!("part {} has {} {rows} where {} were agreed", self.part, self.taken, self.rows);
            return Err(self.refuse(cause, "bring as many, or agree on a padded table"));
        }
        self.put(self.rows - self.taken, |_, _| &Value::Null, false);
        let flags = self.columns.iter_mut().filter_map(|column| column.nulls.take()).chain(self.valid.take());
        let flags: Vec<_> = flags.collect();
        Ok(self.columns.into_iter().map(|column| (column.name, column.values)).chain(flags).collect())
    }
}
