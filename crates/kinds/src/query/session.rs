//! Queries on sessions that programs hold, with rows as columns, and results as values.

use super::{
    QueryTask,
    plan::of_query,
    rows::{digest, other_letters, read},
};
use crate::{ComputeSession, Value, compute::Instead};
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_session::{Dialect, Fault, InputPlace, Member, Task, suggest};
use hushwire_tables::{
    ColumnSlice, ColumnValues, ResultColumns,
    algebra::{Column, ColumnType, Table},
    plain::Row,
};
use std::collections::{BTreeMap, HashSet};

impl QueryTask {
    /// The inputs that follow from the rows that `owner` brings to a table. The program holds the
    /// rows as columns by name. Values of a DIGEST column are given as strings.
    ///
    /// # Errors
    /// The owner brings no part of that table, a column is missing, a value is not of its column's
    /// type, or two rows have the same key.
    pub fn columns(
        &self,
        (owner, name): (&Member, &str),
        rows: usize,
        columns: &BTreeMap<&str, ColumnSlice<'_>>,
    ) -> Result<BTreeMap<String, Value>, Fault> {
        let (at, part) = self.part_of(owner, name)?;
        let table = &self.query().tables()[at];
        let mut taken = vec![];
        for column in table.schema.columns() {
            let slice = columns.get(column.name.as_str()).ok_or_else(|| {
                let known: Vec<&str> = columns.keys().copied().collect();
                let cause = format!("it has no column {}", column.name);
                let remedy = suggest::remedy(&column.name, &known);
                Fault::new(code::ROWS, format!("table {name}"), cause, remedy).whole()
            })?;
            taken.push(*slice);
        }
        self.check_letters(table, rows, &taken)?;
        for key in &table.unique {
            let of: Vec<&ColumnSlice<'_>> = key.iter().map(|k| &taken[*k]).collect();
            if let Some(row) = repeated(rows, &of) {
                let names: Vec<&str> = key.iter().map(|k| table.schema.columns()[*k].name.as_str()).collect();
                let cause = format!("a row before it has the same {}, the table's key", names.join(", "));
                let remedy = "declare another key, or none, or mend the table";
                return Err(Fault::new(code::ROWS, format!("table {name}, row {row}"), cause, remedy).whole());
            }
        }
        let digests: Vec<Option<(Vec<u8>, usize)>> =
            table.schema.columns().iter().zip(&taken).map(|(c, slice)| self.digested(c, slice)).collect();
        for (slice, digests) in taken.iter_mut().zip(&digests) {
            if let Some((bytes, width)) = digests {
                slice.values = ColumnValues::Numbers { bytes, width: *width, signed: *width == 16 };
            }
        }
        let mut incoming = self.query().incoming(name, part).map_err(of_query)?;
        incoming.take_columns(rows, &taken).map_err(of_query)?;
        let records = incoming.finish().map_err(of_query)?;
        Ok(records.into_iter().map(|(name, records)| (name, Value::Records(records))).collect())
    }

    /// Like [`QueryTask::columns`], for rows in a file, or in the text of one.
    ///
    /// # Errors
    /// The same as [`QueryTask::columns`], or the file cannot be read.
    pub fn rows_of(
        &self,
        (owner, name): (&Member, &str),
        place: &InputPlace,
    ) -> Result<BTreeMap<String, Value>, Fault> {
        let (at, part) = self.part_of(owner, name)?;
        let table = &self.query().tables()[at];
        let mut incoming = self.query().incoming(name, part).map_err(of_query)?;
        let take = |rows: &[Row]| incoming.take(rows).map_err(of_query);
        read(table, (place, &Dialect::default()), &self.digest_key(), &self.query().letters(name), take)?;
        let records = incoming.finish().map_err(of_query)?;
        Ok(records.into_iter().map(|(name, records)| (name, Value::Records(records))).collect())
    }

    /// The places of a table and of the part that a member brings to it.
    fn part_of(&self, owner: &Member, name: &str) -> Result<(usize, usize), Fault> {
        let (tables, parts) = (self.query().tables(), self.parts_of(owner));
        parts.iter().find(|(at, _)| tables[*at].name == name).copied().ok_or_else(|| {
            let mine: Vec<&str> = parts.iter().map(|(at, _)| tables[*at].name.as_str()).collect();
            let cause = format!("{owner} does not bring a table called `{name}`");
            Fault::new(code::QUERY, "reading tables", cause, suggest::remedy(name, &mine))
        })
    }

    /// The digests of a column of strings, and the bytes of each, if the query takes digests.
    fn digested(&self, column: &Column, slice: &ColumnSlice<'_>) -> Option<(Vec<u8>, usize)> {
        let (ColumnType::Digest { bits }, ColumnValues::Texts(texts)) = (column.ty, slice.values) else {
            return None;
        };
        let (key, width) = (self.digest_key(), usize::from(bits / 8));
        Some((texts.iter().flat_map(|text| digest(&key, text, width)).collect(), width))
    }

    /// Checks that strings with which parties compute have only the letters that they support.
    fn check_letters(&self, table: &Table, rows: usize, taken: &[ColumnSlice<'_>]) -> Result<(), Fault> {
        for (at, known) in self.query().letters(&table.name) {
            let ColumnValues::Texts(texts) = taken[at].values else { continue };
            let holds = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| known.hold(text));
            if let Some(row) = (0..rows).find(|row| taken[at].is_valid(*row) && !holds(texts[*row])) {
                let (cause, remedy) = other_letters(&table.schema.columns()[at].name, known);
                let step = format!("table {}, row {row}", table.name);
                return Err(Fault::new(code::ROWS, step, cause, remedy).whole());
            }
        }
        Ok(())
    }

    /// The rows of a result, with the columns of [`Query::schema`](hushwire_tables::Query).
    ///
    /// # Errors
    /// A promise is broken, or the outputs are not the query's.
    pub fn result(&self, outputs: &BTreeMap<String, Tensor>) -> Result<Vec<Row>, Fault> {
        self.query().rows(outputs).map_err(of_query)
    }

    /// Like [`QueryTask::result`], column by column, for programs that hold columns.
    ///
    /// # Errors
    /// The same as [`QueryTask::result`].
    pub fn result_columns(&self, outputs: &BTreeMap<String, Tensor>) -> Result<ResultColumns, Fault> {
        self.query().result_columns(outputs).map_err(of_query)
    }
}

/// The first row with the key of an earlier one.
fn repeated(rows: usize, key: &[&ColumnSlice<'_>]) -> Option<usize> {
    // A fast path: most keys are one number, and most tables repeat none.
    if let [ColumnSlice { values: ColumnValues::Numbers { bytes, width, .. }, valid: None }] = key
        && *width <= 8
    {
        let number = |bytes: &[u8]| {
            let mut all = [0; 8];
            all[..*width].copy_from_slice(bytes);
            u64::from_le_bytes(all)
        };
        let mut numbers: Vec<u64> = bytes.chunks_exact(*width).map(number).collect();
        numbers.sort_unstable();
        if numbers.windows(2).all(|two| two[0] != two[1]) {
            return None;
        }
    }
    let mut seen: HashSet<[u8; 16]> = HashSet::with_capacity(rows);
    (0..rows).find(|row| {
        let mut hasher = blake3::Hasher::new_derive_key("hushwire 2026-11-29 keys of a table's columns");
        for slice in key {
            match slice.key(*row) {
                None => hasher.update(&[0]),
                Some(bytes) => hasher.update(&[1]).update(&(bytes.len() as u64).to_le_bytes()).update(&bytes),
            };
        }
        let mut digest = [0; 16];
        hasher.finalize_xof().fill(&mut digest);
        !seen.insert(digest)
    })
}

impl ComputeSession {
    /// Runs a query on the session. Takes this member's inputs, as [`QueryTask::columns`] makes
    /// them, and returns the outputs for [`QueryTask::result`]. Members compare the query and its
    /// tables as in a job, and an operator allows the query's terms.
    ///
    /// # Errors
    /// The same as [`ComputeSession::run`].
    pub fn ask(
        &mut self,
        task: &QueryTask,
        inputs: &BTreeMap<String, Value>,
    ) -> Result<BTreeMap<String, Tensor>, Fault> {
        let instead = Instead { terms: &task.terms(), digest: task.agreement().digest() };
        self.run_instead(task.query().computation(), inputs, Some(instead))
    }
}
