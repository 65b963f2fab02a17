//! Writes results as CSV and as Parquet: the rows of a table whose flags are set, or all rows with
//! their flags. A result can also have columns of the other party. Everything that can fail for a
//! table is checked before a run, so that no error reveals flags.

use crate::{FileError, Rows};
use std::{io::Write, path::Path};

/// The name of the column with the flags.
const FLAG: &str = "in_both";
/// LOCAL: the rows of a row group of a Parquet file. They are in memory until the group is written.
#[cfg(feature = "parquet")]
const GROUP: usize = 1 << 16;

/// Columns of text in addition to those of a table.
pub trait MoreColumns {
    /// The columns' names.
    fn names(&self) -> &[String];

    /// The additional fields of this row of the table, counted from 0: one for each name.
    fn fields(&self, row: usize) -> Vec<&str>;
}

/// Fields as a line of CSV, without its end.
///
/// # Errors
/// The memory does not suffice.
pub fn csv_line(fields: &[String]) -> Result<String, FileError> {
    let mut text = vec![];
    {
        let mut writer = csv::WriterBuilder::new().from_writer(&mut text);
        writer.write_record(fields).map_err(FileError::output)?;
        writer.flush().map_err(FileError::output)?;
    }
    let text = String::from_utf8(text).map_err(FileError::output)?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Writes the rows of a table whose flags are set, with the names of its columns. Errors name
/// `path`.
///
/// # Errors
/// The table cannot be read, its number of rows differs, or `out` refuses.
pub fn write_rows(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    out: impl Write,
) -> Result<(), FileError> {
    rows.select_all()?;
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_byte_record(rows.header()).map_err(FileError::output)?;
    each(path, rows, flags, |row, flag| if flag { writer.write_byte_record(row) } else { Ok(()) })?;
    writer.flush().map_err(FileError::output)
}

/// Writes a table with a flag for each of its rows, 1 or 0, in a last column `in_both`. Errors name
/// `path`.
///
/// # Errors
/// The table cannot be read, its number of rows differs, it already has a column `in_both`, or
/// `out` refuses.
pub fn write_flags(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    out: impl Write,
) -> Result<(), FileError> {
    rows.select_all()?;
    room_for_flags(path, rows)?;
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    let mut header = rows.header().clone();
    header.push_field(FLAG.as_bytes());
    writer.write_byte_record(&header).map_err(FileError::output)?;
    each(path, rows, flags, |row, flag| {
        let flag: &[u8] = if flag { b"1" } else { b"0" };
        writer.write_record(row.iter().chain([flag]))
    })?;
    writer.flush().map_err(FileError::output)
}

/// Writes the rows of a table whose flags are set, followed by columns of the other party. Errors
/// name `path`.
///
/// # Errors
/// As [`write_rows`].
pub fn write_columns(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    beside: &dyn MoreColumns,
    out: impl Write,
) -> Result<(), FileError> {
    rows.select_all()?;
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    let mut header = rows.header().clone();
    beside.names().iter().for_each(|name| header.push_field(name.as_bytes()));
    writer.write_byte_record(&header).map_err(FileError::output)?;
    let mut at = 0;
    each(path, rows, flags, |row, flag| {
        at += 1;
        if !flag {
            return Ok(());
        }
        let theirs = beside.fields(at - 1);
        writer.write_record(row.iter().chain(theirs.iter().map(|field| field.as_bytes())))
    })?;
    writer.flush().map_err(FileError::output)
}

/// Writes the rows of a table whose flags are set, or `all` of them with a last column `in_both`,
/// as a Parquet file. A Parquet table keeps its types; columns of CSV are text. Errors name `path`.
///
/// # Errors
/// As [`write_rows`]. Also if a field of CSV is not UTF-8, the table has a column `in_both`, or
/// this build writes no Parquet.
pub fn write_parquet(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    all: bool,
    out: impl Write + Send,
) -> Result<(), FileError> {
    parquet(path, rows, flags, if all { More::Flags } else { More::Nothing }, out)
}

/// Checks that any rows of a table can be in a result, as CSV or as Parquet, or `all` rows with
/// flags. All rows are checked before anything runs, so that no error reveals which rows are
/// common.
///
/// # Errors
/// The table cannot be read. With flags, it already has a column `in_both`. For CSV, a column has
/// no text. For Parquet, a field of CSV is not UTF-8.
pub fn check_result(path: &Path, rows: &mut Rows<'_>, all: bool, as_parquet: bool) -> Result<(), FileError> {
    if all {
        room_for_flags(path, rows)?;
    }
    if !as_parquet {
        return rows.select_all();
    }
    #[cfg(feature = "parquet")]
    if rows.parquet().is_some() {
        return Ok(());
    }
    rows.select_all()?;
    let names = names(rows);
    while rows.read()?.is_some() {
        utf8(path, rows, &names)?;
    }
    Ok(())
}

fn names(rows: &Rows<'_>) -> Vec<String> {
    rows.header().iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect()
}

/// Checks that no column has the flags' name.
fn room_for_flags(path: &Path, rows: &Rows<'_>) -> Result<(), FileError> {
    if names(rows).iter().any(|name| name == FLAG) {
        let cause = format!("it has a column {FLAG} already, as the flags' would be called");
        return Err(FileError::new(path, None, cause, "rename it, or leave it out"));
    }
    Ok(())
}

/// Checks that the row read last can be text in Parquet.
fn utf8(path: &Path, rows: &Rows<'_>, names: &[String]) -> Result<(), FileError> {
    let Some(odd) = rows.last().iter().position(|field| std::str::from_utf8(field).is_err()) else {
        return Ok(());
    };
    let cause = format!("column {} is not UTF-8", names.get(odd).map_or("", |name| name));
    let remedy = "save the file as UTF-8, or name a file for the result that ends in .csv";
    Err(FileError::new(path, rows.place(), cause, remedy))
}

/// As [`write_columns`], as a Parquet file. The other party's columns are text.
///
/// # Errors
/// As [`write_parquet`].
pub fn write_parquet_columns(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    beside: &dyn MoreColumns,
    out: impl Write + Send,
) -> Result<(), FileError> {
    parquet(path, rows, flags, More::Columns(beside), out)
}

/// The columns after those of the table.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code, reason = "nobody writes them"))]
enum More<'a> {
    Nothing,
    /// The flags, for all rows.
    Flags,
    Columns(&'a dyn MoreColumns),
}

#[cfg(feature = "parquet")]
fn parquet(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    more: More<'_>,
    out: impl Write + Send,
) -> Result<(), FileError> {
    use crate::parquet::{Copied, ParquetColumn, ParquetField, ParquetType, Writer, field_of};
    let all = matches!(more, More::Flags);
    if let Some(file) = rows.parquet() {
        let copied = match more {
            More::Nothing => return file.copy(flags, Copied::Marked, out),
            More::Flags => return file.copy(flags, Copied::All(FLAG), out),
            More::Columns(beside) => beside,
        };
        let field = |row: usize, column: usize| copied.fields(row)[column].as_bytes();
        return file.copy(flags, Copied::With(copied.names(), &field), out);
    }
    rows.select_all()?;
    let names = names(rows);
    // Text files declare no types.
    let mut columns = match rows.columns() {
        Some(columns) => columns.to_vec(),
        None => names.iter().map(|name| ParquetColumn::new(name, ParquetType::Text, false)).collect(),
    };
    let width = columns.len();
    let kinds: Vec<Option<ParquetType>> = columns.iter().map(|column| column.kind).collect();
    if all {
        room_for_flags(path, rows)?;
        columns.push(ParquetColumn::new(FLAG, ParquetType::Boolean, false));
    }
    let theirs = if let More::Columns(beside) = &more { beside.names() } else { &[] };
    columns.extend(theirs.iter().map(|name| ParquetColumn::new(name, ParquetType::Text, false)));
    let mut table = Writer::new(out, &columns)?;
    let (mut group, mut marks, mut at) = (vec![(csv::ByteRecord::new(), vec![]); GROUP], vec![], 0);
    let mut put = |group: &[(csv::ByteRecord, Vec<bool>)], marks: &[bool]| {
        table.group(group.len(), |row, column| match (&group[row], column) {
            (_, column) if column == width && all => ParquetField::Boolean(marks[row]),
            ((_, nulls), column) if nulls.get(column) == Some(&true) => ParquetField::Null,
            ((record, _), column) => {
                let kind = kinds.get(column).copied().flatten().unwrap_or(ParquetType::Text);
                field_of(kind, record.get(column).unwrap_or_default())
            }
        })
    };
    let changed = || FileError::changed(path);
    let mut flags = flags.iter();
    while rows.read()?.is_some() {
        let mark = *flags.next().ok_or_else(changed)?;
        at += 1;
        if !all && !mark {
            continue;
        }
        utf8(path, rows, &names)?;
        let (record, nulls) = &mut group[marks.len()];
        record.clone_from(rows.last());
        nulls.clear();
        nulls.extend((0..width).map(|at| rows.is_null(at)));
        if let More::Columns(beside) = &more {
            beside.fields(at - 1).iter().for_each(|field| record.push_field(field.as_bytes()));
        }
        marks.push(mark);
        if marks.len() == GROUP {
            put(&group, &marks)?;
            marks.clear();
        }
    }
    if flags.next().is_some() {
        return Err(changed());
    }
    if !marks.is_empty() {
        put(&group[..marks.len()], &marks)?;
    }
    table.finish()
}

#[cfg(not(feature = "parquet"))]
fn parquet(
    _: &Path,
    _: &mut Rows<'_>,
    _: &[bool],
    _: More<'_>,
    _: impl Write + Send,
) -> Result<(), FileError> {
    Err(FileError::output("this hushwire was built without Parquet"))
}

/// Reads all rows with their flags. A table that is read again may have changed since.
fn each(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    mut put: impl FnMut(&csv::ByteRecord, bool) -> csv::Result<()>,
) -> Result<(), FileError> {
    let changed = || FileError::changed(path);
    let mut flags = flags.iter();
    while let Some(row) = rows.read()? {
        put(row, *flags.next().ok_or_else(changed)?).map_err(FileError::output)?;
    }
    flags.next().map_or(Ok(()), |_| Err(changed()))
}
