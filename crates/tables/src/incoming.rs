//! Turns rows of a table's part into a query's inputs, a batch at a time. An owner holds columns as
//! narrow as their types, and never all rows as values.

mod columns;

pub use columns::{BitSlice, ColumnSlice, ColumnValues};

use crate::{
    Fault,
    algebra::{Column, ColumnType, Range, Table, Value},
    lower::{
        Made,
        cell::{scalar, tensor},
        input_name, null_name, valid_name,
    },
    plain::{self, Row},
};
use core::{cmp::Ordering, fmt::Display, ops::Range as Rows};
use hushwire_compute::Tensor;
use hushwire_fault::{Code, code};
use std::collections::BTreeMap;

/// The rows of a table's part, taken in batches. They become the inputs of a query's computation,
/// in records.
pub struct Incoming<'t> {
    table: &'t Table,
    /// Columns that the owner computes from each row.
    made: &'t [Made],
    part: usize,
    /// The first row of the part that belongs to this converter, and the number of rows.
    first: usize,
    rows: usize,
    taken: usize,
    columns: Vec<Records>,
    /// The validity of each row of a padded table.
    valid: Option<(String, Vec<u8>)>,
}

/// An input from a table's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableInput {
    /// The values of the column of this number.
    Values(usize),
    /// The NULL flags of the column of this number.
    Nulls(usize),
    /// The flags for rows that are not padding.
    Valid,
}

impl TableInput {
    /// The inputs of part `part` of a table, which is number `at` of those that a query reads: the
    /// contents of each, its name, and the bits of an element.
    #[must_use]
    pub fn all(table: &Table, at: usize, part: usize) -> Vec<(TableInput, String, usize)> {
        let mut all = vec![];
        for (k, column) in table.schema.columns().iter().enumerate() {
            let of = column.expr_type();
            all.push((TableInput::Values(k), input_name(at, part, k), scalar(of.ty, of.range).bits()));
            if column.nullable {
                all.push((TableInput::Nulls(k), null_name(at, part, k), 1));
            }
        }
        if table.padded {
            all.push((TableInput::Valid, valid_name(at, part), 1));
        }
        all
    }
}

/// The records of a column, and its NULL flags.
struct Records {
    name: String,
    values: Vec<u8>,
    nulls: Option<(String, Vec<u8>)>,
}

/// Room for the records of all rows. If vectors grew, they would leave copies behind.
fn room((ty, range): (ColumnType, Range), rows: usize) -> Vec<u8> {
    Vec::with_capacity(rows * scalar(ty, range).record())
}

impl Records {
    /// Empty records of the column `k` of part `part` of table `at`.
    fn new(column: &Column, [at, part, k]: [usize; 3], rows: usize) -> Records {
        let of = column.expr_type();
        let nulls = column.nullable.then(|| (null_name(at, part, k), room(truth(), rows)));
        Records { name: input_name(at, part, k), values: room((of.ty, of.range), rows), nulls }
    }
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

/// The fault for a table or a part that the query does not read.
pub(crate) fn unknown_part(table: &str, cause: &str, remedy: &str) -> Fault {
    Fault::new(code::PART_UNKNOWN, format_args!("table {table}"), cause, remedy)
}

impl<'t> Incoming<'t> {
    /// The converter for part `part` of a table that is number `at` of those that a query reads. It
    /// also serves a table that no query reads yet.
    ///
    /// # Errors
    /// If there is no such part.
    pub fn new(table: &'t Table, at: usize, part: usize) -> Result<Self, Fault> {
        let rows = Self::rows_of(table, part)?;
        Self::within(table, [at, part], 0..rows)
    }

    fn rows_of(table: &Table, part: usize) -> Result<usize, Fault> {
        table.parts.get(part).map(|part| part.rows as usize).ok_or_else(|| {
            let cause = format!("there is no part {part}");
            unknown_part(&table.name, &cause, "count parts from 0")
        })
    }

    /// The converter for some rows of a part, whose other rows go elsewhere. Rows of the range that
    /// the part lacks are padding.
    pub(crate) fn within(
        table: &'t Table,
        [at, part]: [usize; 2],
        range: Rows<usize>,
    ) -> Result<Self, Fault> {
        Self::rows_of(table, part)?;
        let (first, rows) = (range.start, range.len());
        let columns = table.schema.columns().iter().enumerate();
        let columns = columns.map(|(k, column)| Records::new(column, [at, part, k], rows)).collect();
        let valid = table.padded.then(|| (valid_name(at, part), room(truth(), rows)));
        Ok(Incoming { table, made: &[], part, first, rows, taken: 0, columns, valid })
    }

    /// The same converter, with columns that the owner computes.
    pub(crate) fn with_made(mut self, at: usize, made: &'t [Made]) -> Self {
        let first = self.table.schema.columns().len();
        let more = made.iter().enumerate();
        let more = more.map(|(k, (column, _))| Records::new(column, [at, self.part, first + k], self.rows));
        self.columns.extend(more);
        self.made = made;
        self
    }

    /// The columns that the owner brings.
    fn all_columns(&self) -> impl Iterator<Item = &'t Column> + use<'t> {
        self.table.schema.columns().iter().chain(self.made.iter().map(|(column, _)| column))
    }

    /// The fault for rows that differ from the agreement. It contains no value of a row, because
    /// other members may read it.
    fn refuse(&self, code: Code, places: &[(&'static str, &dyn Display)]) -> Fault {
        Fault::filled(code, places).at(format_args!("table {}", self.table.name))
    }

    fn too_many(&self) -> Fault {
        let remedy = if self.table.padded {
            "bring fewer, or agree on more".to_owned()
        } else {
            format!("bring {} rows, or agree on a padded table", self.agreed())
        };
        self.refuse(
            code::TOO_MANY_ROWS,
            &[("part", &self.part), ("expected", &self.agreed()), ("remedy", &remedy)],
        )
    }

    /// Refuses a part that has too many or too few rows, before they are taken.
    ///
    /// # Errors
    /// If there are more rows than agreed, or fewer and the table is not padded.
    pub fn counted(&self, found: usize) -> Result<(), Fault> {
        match found.cmp(&self.agreed()) {
            Ordering::Greater => Err(self.too_many()),
            Ordering::Less if !self.table.padded => Err(self.too_few(found)),
            Ordering::Less | Ordering::Equal => Ok(()),
        }
    }

    /// The number of rows of the whole part.
    fn agreed(&self) -> usize {
        self.table.parts[self.part].rows as usize
    }

    fn too_few(&self, found: usize) -> Fault {
        let places: [(_, &dyn Display); 3] =
            [("part", &self.part), ("found", &found), ("expected", &self.agreed())];
        self.refuse(code::TOO_FEW_ROWS, &places)
    }

    /// Takes the next rows.
    ///
    /// # Errors
    /// If there are more rows than agreed, or a value has another type, or is outside the range
    /// that its column promises.
    pub fn take(&mut self, rows: &[Row]) -> Result<(), Fault> {
        if self.taken + rows.len() > self.rows {
            return Err(self.too_many());
        }
        let columns = self.table.schema.columns();
        for (i, row) in (self.first + self.taken..).zip(rows) {
            if row.len() != columns.len() {
                let places: [(_, &dyn Display); 3] =
                    [("row", &i), ("found", &row.len()), ("expected", &columns.len())];
                return Err(self.refuse(code::ROW_WIDTH, &places));
            }
            for (value, column) in row.iter().zip(columns) {
                self.holds(i, value, column, code::ROW_VALUE)?;
            }
        }
        let mut computed: Vec<Row> = vec![];
        if !self.made.is_empty() {
            for (i, row) in (self.first + self.taken..).zip(rows) {
                let values = self.made.iter().map(|(column, expr)| {
                    let value = plain::value(expr, &self.table.schema, row);
                    self.holds(i, &value, column, code::COMPUTED_VALUE)?;
                    Ok(value)
                });
                computed.push(values.collect::<Result<_, Fault>>()?);
            }
        }
        let width = columns.len();
        self.put(
            rows.len(),
            |row, column| match column.checked_sub(width) {
                Some(made) => &computed[row][made],
                None => &rows[row][column],
            },
            true,
        );
        self.taken += rows.len();
        Ok(())
    }

    /// Checks that a column can hold a row's value.
    fn holds(&self, row: usize, value: &Value, column: &Column, wrong: Code) -> Result<(), Fault> {
        if value.is_null() && !column.nullable {
            return Err(self.refuse(code::ROW_NULL, &[("row", &row), ("column", column)]));
        }
        let within = |range: Range| match value {
            Value::Number(n) => range.holds(Range { low: *n, high: *n }),
            _ => true,
        };
        if !value.fits(column.ty) || !column.range.is_none_or(within) {
            return Err(self.refuse(wrong, &[("row", &row), ("column", column)]));
        }
        Ok(())
    }

    fn put<'v>(&mut self, count: usize, value: impl Fn(usize, usize) -> &'v Value, valid: bool) {
        let columns = self.all_columns();
        for (k, (column, to)) in columns.zip(&mut self.columns).enumerate() {
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
    /// If there are fewer rows than agreed, and the table is not padded.
    pub fn finish(mut self) -> Result<BTreeMap<String, Vec<u8>>, Fault> {
        if !self.table.padded && self.taken < self.rows {
            return Err(self.too_few(self.taken));
        }
        self.put(self.rows - self.taken, |_, _| &Value::Null, false);
        let flags = self.columns.iter_mut().filter_map(|column| column.nulls.take()).chain(self.valid.take());
        let flags: Vec<_> = flags.collect();
        Ok(self.columns.into_iter().map(|column| (column.name, column.values)).chain(flags).collect())
    }
}
