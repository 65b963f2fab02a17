//! Results as CSV.

use crate::{PsiError, Rows};
use std::{
    io::{Read, Write},
    path::Path,
};

/// The name of the column with the flags.
const FLAG: &str = "in_both";

/// Items under the name of their column.
///
/// # Errors
/// `out` takes no more.
pub fn write_items(column: &str, items: &[String], out: impl Write) -> Result<(), PsiError> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    let failed = |e: csv::Error| PsiError::Output(e.to_string());
    writer.write_record([column.trim()]).map_err(failed)?;
    for item in items {
        writer.write_record([item]).map_err(failed)?;
    }
    writer.flush().map_err(|e| PsiError::Output(e.to_string()))
}

/// The file `path` with a flag for each of its rows, 1 or 0, in a last column `in_both`.
///
/// # Errors
/// The file cannot be read, or has not as many rows; `out` takes no more.
pub fn write_flags(path: &Path, flags: &[bool], out: impl Write) -> Result<(), PsiError> {
    write(path, Rows::open(path)?, flags, out)
}

/// As [`write_flags`], for rows from anything; `path` is what errors name.
///
/// # Errors
/// As [`write_flags`].
pub fn write_flags_of(path: &Path, csv: impl Read, flags: &[bool], out: impl Write) -> Result<(), PsiError> {
    write(path, Rows::new(path, csv)?, flags, out)
}

fn write(path: &Path, mut rows: Rows<'_>, flags: &[bool], out: impl Write) -> Result<(), PsiError> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    let failed = |e: csv::Error| PsiError::Output(e.to_string());
    let mut header = rows.header().clone();
    header.push_field(FLAG.as_bytes());
    writer.write_byte_record(&header).map_err(failed)?;
    let changed = || PsiError::file(path, None, "it has changed since the run began", "run again");
    let mut flags = flags.iter();
    while let Some(row) = rows.read()? {
        let flag: &[u8] = if *flags.next().ok_or_else(changed)? { b"1" } else { b"0" };
        writer.write_record(row.iter().chain([flag])).map_err(failed)?;
    }
    if flags.next().is_some() {
        return Err(changed());
    }
    writer.flush().map_err(|e| PsiError::Output(e.to_string()))
}
