//! Results as CSV.

use crate::{PsiError, Rows};
use std::{io::Write, path::Path};

/// The name of the column with the flags.
const FLAG: &str = "in_both";

/// Fields as a line of CSV, without its end.
///
/// # Errors
/// There is no memory for it.
pub fn csv_line(fields: &[String]) -> Result<String, PsiError> {
    let mut text = vec![];
    {
        let mut writer = csv::WriterBuilder::new().from_writer(&mut text);
        writer.write_record(fields).map_err(|e| failed(&e))?;
        writer.flush().map_err(|e| PsiError::Output(e.to_string()))?;
    }
    let text = String::from_utf8(text).map_err(|e| PsiError::Output(e.to_string()))?;
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// The rows of a table whose flags are set, under the names of its columns. `path` is what errors name.
///
/// # Errors
/// The table cannot be read, or has not as many rows; `out` takes no more.
pub fn write_rows(path: &Path, rows: &mut Rows<'_>, flags: &[bool], out: impl Write) -> Result<(), PsiError> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_byte_record(rows.header()).map_err(|e| failed(&e))?;
    each(path, rows, flags, |row, flag| if flag { writer.write_byte_record(row) } else { Ok(()) })?;
    writer.flush().map_err(|e| PsiError::Output(e.to_string()))
}

/// A table with a flag for each of its rows, 1 or 0, in a last column `in_both`. `path` is what errors name.
///
/// # Errors
/// The table cannot be read, or has not as many rows; `out` takes no more.
pub fn write_flags(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    out: impl Write,
) -> Result<(), PsiError> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    let mut header = rows.header().clone();
    header.push_field(FLAG.as_bytes());
    writer.write_byte_record(&header).map_err(|e| failed(&e))?;
    each(path, rows, flags, |row, flag| {
        let flag: &[u8] = if flag { b"1" } else { b"0" };
        writer.write_record(row.iter().chain([flag]))
    })?;
    writer.flush().map_err(|e| PsiError::Output(e.to_string()))
}

fn failed(e: &csv::Error) -> PsiError {
    PsiError::Output(e.to_string())
}

/// All rows with their flags. A table that was read once and is read again may be another one by then.
fn each(
    path: &Path,
    rows: &mut Rows<'_>,
    flags: &[bool],
    mut put: impl FnMut(&csv::ByteRecord, bool) -> csv::Result<()>,
) -> Result<(), PsiError> {
    let changed = || PsiError::file(path, None, "it has changed since the run began", "run again");
    let mut flags = flags.iter();
    while let Some(row) = rows.read()? {
        put(row, *flags.next().ok_or_else(changed)?).map_err(|e| failed(&e))?;
    }
    flags.next().map_or(Ok(()), |_| Err(changed()))
}
