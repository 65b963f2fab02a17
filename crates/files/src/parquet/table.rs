//! The Parquet files of one table, if several programs read a part each. The footers give the
//! number of rows and the digest by which the programs compare their files. A program then reads
//! only the row groups of its range.

use super::Rows;
use crate::{Dialect, FileError};
use std::{
    fs::File,
    ops::Range,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// LOCAL: the domain of the digest of footers.
const DOMAIN: &str = "hushwire 2026-11-29 footers of a table's Parquet files";
/// The bytes at the end of a file: the length of the footer before them, and four letters.
const END: u64 = 8;

/// The Parquet files of one table, one after the other. Their footers give the rows, the columns,
/// and the places of the row groups' data.
#[derive(Clone, Debug)]
pub struct Footers {
    files: Vec<(PathBuf, u64, [u8; 32])>,
}

impl Footers {
    /// Reads the footers of files, and chooses these columns. The files have the same columns, in
    /// any order.
    ///
    /// # Errors
    /// A file cannot be read, is not Parquet, lacks a column, has it twice or with an unsupported
    /// type, or has other columns than the first file.
    pub fn read(paths: &[PathBuf], columns: &[&str]) -> Result<Self, FileError> {
        let (mut files, mut wanted) = (vec![], None::<Vec<String>>);
        for path in paths {
            let file = File::open(path).map_err(|e| FileError::io(path, &e))?;
            let digest = digest(path, &file)?;
            let rows = Rows::new(path, file)?;
            columns.iter().try_for_each(|name| rows.place(name).map(drop))?;
            let mut names: Vec<String> = rows.columns().iter().map(|column| column.name.clone()).collect();
            names.sort();
            let first = wanted.get_or_insert_with(|| names.clone());
            let only =
                |these: &[String], those: &[String]| these.iter().find(|name| !those.contains(name)).cloned();
            if let Some(name) = only(first, &names).or_else(|| only(&names, first)) {
                let cause = format!("column {name} is not in all files of the table");
                let remedy = "give all files the same columns, or bring them as tables of their own";
                return Err(FileError::new(path, None, cause, remedy));
            }
            files.push((path.clone(), rows.count(), digest));
        }
        Ok(Self { files })
    }

    /// Returns the number of rows of all files.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.files.iter().map(|(_, rows, _)| rows).sum()
    }

    /// Returns a digest of the lengths and the footers of all files, in order. It does not depend
    /// on names, since hosts may keep a file at different places.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        for (_, _, digest) in &self.files {
            hasher.update(digest);
        }
        *hasher.finalize().as_bytes()
    }

    /// Returns the file with a row of the table, and the row's number in the file, counted from 1.
    /// A row after the end is in the last file.
    #[must_use]
    pub fn place(&self, mut row: u64) -> (&Path, u64) {
        for (path, rows, _) in &self.files {
            if row < *rows {
                return (path, row + 1);
            }
            row -= rows;
        }
        (self.files.last().map_or(Path::new(""), |(path, ..)| path), row + 1)
    }

    /// Returns the rows of a range of the table. Files and row groups outside of the range are not
    /// touched.
    ///
    /// # Errors
    /// A file cannot be read, or has changed.
    pub fn rows(&self, range: Range<u64>, dialect: &Dialect) -> Result<crate::Rows<'static>, FileError> {
        let (mut paths, mut ranges, mut begin) = (vec![], vec![], 0);
        for (path, rows, known) in &self.files {
            let own = range.start.max(begin)..range.end.min(begin + rows);
            if own.start < own.end {
                let file = File::open(path).map_err(|e| FileError::io(path, &e))?;
                if digest(path, &file)? != *known {
                    let remedy = "write it once, before the run, and start again";
                    return Err(FileError::new(path, None, "it was changed while it was read", remedy));
                }
                paths.push(path.clone());
                ranges.push(own.start - begin..own.end - begin);
            }
            begin += rows;
        }
        if paths.is_empty() {
            // There are no rows, but the columns of the first file.
            paths.extend(self.files.first().map(|(path, ..)| path.clone()));
            ranges.push(0..0);
        }
        let mut rows = crate::Rows::open_all(&paths, dialect)?;
        rows.within(ranges);
        Ok(rows)
    }
}

/// A digest of a file's length and footer. The decoder reports bytes that are not a footer.
fn digest(path: &Path, file: &File) -> Result<[u8; 32], FileError> {
    let io = |e: &std::io::Error| FileError::io(path, e);
    let length = file.metadata().map_err(|e| io(&e))?.len();
    let mut end = [0; END as usize];
    let mut footer = vec![];
    if length >= END {
        file.read_exact_at(&mut end, length - END).map_err(|e| io(&e))?;
        let [a, b, c, d, ..] = end;
        let bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
        if bytes <= length - END {
            footer = vec![0; bytes as usize];
            file.read_exact_at(&mut footer, length - END - bytes).map_err(|e| io(&e))?;
        }
    }
    let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
    hasher.update(&length.to_le_bytes()).update(&end).update(&footer);
    Ok(*hasher.finalize().as_bytes())
}
