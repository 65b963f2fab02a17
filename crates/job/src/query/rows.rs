//! Rows from CSV files, and as CSV.

use super::plan::of_sql;
use crate::{InputPlace, JobError, Kind, psi::of_file};
use hushwire_psi::Rows;
use hushwire_sql::{cell, schema::Inferred};
use hushwire_tables::{
    algebra::{Column, ColumnType, Schema, Table, Value},
    plain::Row,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    str::FromStr,
};

/// The public number of rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    /// As many as there are.
    None,
    /// The next power of two.
    PowerOfTwo,
    /// So many.
    To(u64),
}

impl Pad {
    /// The rows of a part of so many; `None` if they are more than there may be.
    #[must_use]
    pub fn rows(self, rows: u64) -> Option<u64> {
        match self {
            Pad::None => Some(rows),
            Pad::PowerOfTwo => rows.max(1).checked_next_power_of_two(),
            Pad::To(most) => Some(most).filter(|most| rows <= *most),
        }
    }
}

impl FromStr for Pad {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Pad::None),
            "2^k" => Ok(Pad::PowerOfTwo),
            number => number.parse().map(Pad::To).map_err(|_| "write none, 2^k or a number of rows".into()),
        }
    }
}

/// The rows of an input's place, and what they are called in messages.
fn open<'a>(name: &str, place: &'a InputPlace) -> Result<(PathBuf, Rows<'a>), JobError> {
    let memory = PathBuf::from(format!("table {name}"));
    let rows = match place {
        InputPlace::File(path) => Rows::open(path).map(|rows| (path.clone(), rows)),
        InputPlace::Csv(of, _) => return open(name, of),
        InputPlace::Memory(bytes) => Rows::new(&memory, &bytes[..]).map(|rows| (memory, rows)),
        InputPlace::Open(file, path) => Rows::new(path, &**file).map(|rows| (path.clone(), rows)),
        InputPlace::Hex(_) | InputPlace::HexFile(_) | InputPlace::Values(_) => {
            let remedy = format!("write {name} = {{ file = \"{name}.csv\" }}");
            return Err(JobError::usage(format!("reading table {name}"), "it is no CSV file", remedy));
        }
    };
    rows.map_err(of_file)
}

/// A string's digest of 64 bits under the query's key. Two strings have the same with a chance of 2^-64.
fn digest(key: &[u8; 32], text: &str) -> Value {
    let hash = blake3::keyed_hash(key, text.as_bytes());
    let (first, _) = hash.as_bytes().split_at(8);
    Value::Number(first.iter().rev().fold(0, |n, byte| n << 8 | i128::from(*byte)))
}

/// Reads the rows of a table's part, of the columns that a schema has; empty fields are NULL where a column may be. Digests are
/// under `key`.
///
/// # Errors
/// The file lacks a column, a field is no value of its column's type, or two rows have the same key.
pub(super) fn read(table: &Table, place: &InputPlace, key: &[u8; 32]) -> Result<Vec<Row>, JobError> {
    let (path, mut file) = open(&table.name, place)?;
    let columns = table.schema.columns();
    let places = columns.iter().map(|column| file.column(&column.name));
    let places = places.collect::<Result<Vec<_>, _>>().map_err(of_file)?;
    let mut rows: Vec<Row> = vec![];
    let mut keys: Vec<BTreeSet<Row>> = vec![BTreeSet::new(); table.unique.len()];
    while let Some(record) = file.read().map_err(of_file)? {
        let line = if let Some(place) = record.position() { place.line() } else { 0 };
        let wrong = |cause: String, remedy: &str| {
            JobError::new(Kind::File, format!("cannot read {}, line {line}", path.display()), cause, remedy)
        };
        let field = |(place, column): (&usize, &Column)| {
            let text = std::str::from_utf8(record.get(*place).unwrap_or_default());
            let text = text.map_err(|_| {
                wrong(format!("column {} is not UTF-8", column.name), "save the file as UTF-8")
            })?;
            if text.is_empty() && column.nullable {
                return Ok(Value::Null);
            }
            if column.ty == ColumnType::Digest {
                return Ok(digest(key, text));
            }
            cell::read(text, column.ty)
                .map_err(|e| wrong(format!("column {}: {}", column.name, e.cause()), e.remedy()))
        };
        let row = places.iter().zip(columns).map(field).collect::<Result<Row, JobError>>()?;
        for (key, seen) in table.unique.iter().zip(&mut keys) {
            if !seen.insert(key.iter().map(|at| row[*at].clone()).collect()) {
                let names: Vec<&str> = key.iter().map(|at| columns[*at].name.as_str()).collect();
                let cause = format!("a row before it has the same {}, the table's key", names.join(", "));
                return Err(wrong(cause, "declare another key, or none, or mend the file"));
            }
        }
        rows.push(row);
    }
    Ok(rows)
}

/// The columns of a CSV file, with the narrowest types that take their fields, and its rows. Files of one table are seen one after the
/// other.
///
/// # Errors
/// A file cannot be read, or the files name other columns.
pub fn infer(files: &[&Path]) -> Result<(Vec<Column>, Vec<u64>), JobError> {
    let (mut names, mut seen, mut counts) = (vec![], vec![], vec![]);
    for path in files {
        let mut file = Rows::open(path).map_err(of_file)?;
        let header: Vec<String> =
            file.header().iter().map(|n| String::from_utf8_lossy(n).trim().to_owned()).collect();
        if header.is_empty() {
            return Err(JobError::file("read", path, "it is empty", "its first line must name the columns"));
        }
        if names.is_empty() {
            seen = vec![Inferred::default(); header.len()];
            names.clone_from(&header);
        }
        let places =
            names.iter().map(|name| file.column(name)).collect::<Result<Vec<_>, _>>().map_err(of_file)?;
        let mut rows = 0;
        while let Some(record) = file.read().map_err(of_file)? {
            rows += 1;
            for (place, inferred) in places.iter().zip(&mut seen) {
                let text = String::from_utf8_lossy(record.get(*place).unwrap_or_default());
                inferred.see(&text).map_err(|e| of_sql(&e))?;
            }
        }
        counts.push(rows);
    }
    Ok((names.iter().zip(&seen).map(|(name, inferred)| inferred.column(name)).collect(), counts))
}

/// The rows of a CSV file.
///
/// # Errors
/// It cannot be read.
pub fn count(path: &Path) -> Result<u64, JobError> {
    let mut file = Rows::open(path).map_err(of_file)?;
    let mut rows = 0;
    while file.read().map_err(of_file)?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

/// A result's fields as text.
pub(super) fn shown(schema: &Schema, rows: &[Row]) -> Vec<Vec<Option<String>>> {
    let types: Vec<_> = schema.columns().iter().map(|column| column.ty).collect();
    let one = |row: &Row| {
        row.iter().zip(&types).map(|(value, ty)| (!value.is_null()).then(|| cell::show(value, *ty))).collect()
    };
    rows.iter().map(one).collect()
}

/// A result as CSV: NULL is an empty field.
pub(super) fn csv(schema: &Schema, rows: &[Vec<Option<String>>]) -> Result<Vec<u8>, JobError> {
    let failed = |e: csv::Error| JobError::internal("writing the result", e);
    let mut writer = csv::WriterBuilder::new().from_writer(vec![]);
    writer.write_record(schema.columns().iter().map(|column| &column.name)).map_err(failed)?;
    for row in rows {
        writer.write_record(row.iter().map(|field| field.as_deref().unwrap_or_default())).map_err(failed)?;
    }
    writer.into_inner().map_err(|e| JobError::internal("writing the result", e))
}
