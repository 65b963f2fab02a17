//! Reads the rows of a file or a stream, one record batch at a time. A file has a footer that lists
//! its batches; a stream has one message after the other. Only the chosen columns of the current
//! batch are in memory.

use super::{
    Broken,
    batch::{Body, Column, RecordBatch, Trouble},
    flat::FlatTable,
    schema::{self, ArrowField},
};
use crate::{
    FileError, FilePlace,
    parquet::{ParquetColumn, Record},
};
use std::{
    collections::BTreeMap,
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// The first bytes of a file; a stream begins with a message.
const MAGIC: &[u8; 6] = b"ARROW1";
/// The first bytes of a message since version 0.15 of Arrow.
const CONTINUED: [u8; 4] = [0xff; 4];

const ENDS: Broken = "it ends within a message";

/// The places of the next messages.
enum Course {
    /// The dictionaries and batches that the footer lists, with the next one last.
    File(Vec<u64>),
    /// The place of the next message. Messages follow each other.
    Stream(u64),
}

/// The chosen columns of a file, row by row.
pub(crate) struct Rows {
    path: PathBuf,
    file: File,
    /// The size of the file in bytes.
    size: u64,
    course: Course,
    fields: Vec<ArrowField>,
    columns: Vec<ParquetColumn>,
    chosen: Vec<usize>,
    dictionaries: BTreeMap<i64, Record>,
    /// The chosen columns of the current batch, its rows, and the number of rows taken.
    batch: Vec<Column>,
    rows: u64,
    row: u64,
    read: u64,
    record: Record,
}

fn no_good(path: &Path, cause: impl std::fmt::Display) -> FileError {
    let remedy = "write it anew from its source, or save the table as Parquet or CSV";
    FileError::new(path, None, format!("it is no good Arrow: {cause}"), remedy)
}

fn troubled(path: &Path, trouble: Trouble) -> FileError {
    match trouble {
        Trouble::Io(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => no_good(path, ENDS),
        Trouble::Io(e) => FileError::io(path, &e),
        Trouble::Broken(cause) => no_good(path, cause),
        Trouble::Odd((cause, remedy)) => FileError::new(path, None, cause, remedy),
    }
}

/// A message's header, and the place of its body.
struct IpcMessage {
    header: Vec<u8>,
    body: u64,
}

/// Reads the message at `at`; `None` at the end of a stream.
fn message(file: &File, size: u64, at: u64) -> Result<Option<IpcMessage>, Trouble> {
    if at == size {
        return Ok(None);
    }
    let word = |at| {
        let mut word = [0; 4];
        file.read_exact_at(&mut word, at).map_err(Trouble::Io).map(|()| word)
    };
    let (length, begin) = match word(at)? {
        CONTINUED => (word(at + 4)?, at + 8),
        // Older writers begin with the length.
        length => (length, at + 4),
    };
    let length = u64::from(u32::from_le_bytes(length));
    if length == 0 {
        return Ok(None);
    }
    let body = begin.checked_add(length).filter(|end| *end <= size).ok_or(ENDS)?;
    let mut header = vec![0; usize::try_from(length).map_err(|_| ENDS)?];
    file.read_exact_at(&mut header, begin).map_err(Trouble::Io)?;
    Ok(Some(IpcMessage { header, body }))
}

impl Rows {
    /// Opens a file or a stream, and reads its columns. All columns with a type are chosen.
    ///
    /// # Errors
    /// The file cannot be read, or is neither a file nor a stream of Arrow.
    pub(crate) fn new(path: &Path, file: File) -> Result<Self, FileError> {
        let size = file.metadata().map_err(|e| FileError::io(path, &e))?.len();
        let mut head = [0; 6];
        // Errors of a shorter file are found below.
        let _ = file.read_exact_at(&mut head, 0);
        let named = |what: &str, remedy: &str| FileError::new(path, None, format!("it is {what}"), remedy);
        match &head {
            MAGIC => {}
            _ if head.starts_with(b"FEA1") => {
                let remedy = "write it as version 2, with pyarrow.feather.write_feather, or as Parquet";
                return Err(named("Feather of version 1", remedy));
            }
            _ if head.starts_with(b"PAR1") => {
                return Err(named("Parquet", "give it a name that ends in .parquet"));
            }
            // A stream: the upper bytes of its schema's length are zero.
            _ if head.starts_with(&CONTINUED) || head[2..4] == [0, 0] => {}
            _ => {
                let remedy =
                    "if it is CSV, give it a name that ends in .csv; otherwise write it anew from its source";
                return Err(FileError::new(
                    path,
                    None,
                    "it is no good Arrow: it does not begin as Arrow does",
                    remedy,
                ));
            }
        }
        let opened = if head == *MAGIC { of_file(&file, size) } else { of_stream(&file, size) };
        let (fields, course) = opened.map_err(|e| troubled(path, e))?;
        let column = |field: &ArrowField| ParquetColumn {
            name: field.name.clone(),
            kind: field.kind,
            nullable: field.nullable,
        };
        let columns: Vec<ParquetColumn> = fields.iter().map(column).collect();
        let chosen = (0..columns.len()).filter(|at| columns[*at].kind.is_some()).collect();
        Ok(Self {
            path: path.to_owned(),
            file,
            size,
            course,
            fields,
            columns,
            chosen,
            dictionaries: BTreeMap::new(),
            batch: vec![],
            rows: 0,
            row: 0,
            read: 0,
            record: Record::default(),
        })
    }

    /// The columns of the file.
    pub(crate) fn columns(&self) -> &[ParquetColumn] {
        &self.columns
    }

    /// Chooses the columns of records, by their places, before the first record is read. Other
    /// columns are not loaded.
    pub(crate) fn choose(&mut self, places: &[usize]) {
        self.chosen = places.to_vec();
    }

    /// Reads the next row, and its number, counted from 1.
    ///
    /// # Errors
    /// The file is broken, or one of its values has no text. The error names the row.
    pub(crate) fn read(&mut self) -> Result<Option<(&Record, u64)>, FileError> {
        while self.row == self.rows {
            let more = self.next_batch().map_err(|e| troubled(&self.path, e))?;
            if !more {
                return Ok(None);
            }
        }
        let row = usize::try_from(self.row).unwrap_or(usize::MAX);
        (self.row, self.read) = (self.row + 1, self.read + 1);
        self.record.clear();
        for (column, at) in self.batch.iter().zip(&self.chosen) {
            let field = &self.fields[*at];
            let put = match field.choice {
                None => self.record.put(|out| column.text(row, out)),
                Some(choice) => {
                    let dictionary = self.dictionaries.get(&choice.dictionary);
                    self.record.put(|out| chosen(column, row, dictionary, out))
                }
            };
            put.map_err(|e| match e {
                Trouble::Odd((cause, remedy)) => {
                    let cause = format!("column {}: {cause}", field.name);
                    FileError::new(&self.path, Some(FilePlace::Row(self.read)), cause, remedy)
                }
                e => troubled(&self.path, e),
            })?;
        }
        Ok(Some((&self.record, self.read)))
    }

    /// Loads the next record batch and the dictionaries before it. Returns `false` at the end.
    fn next_batch(&mut self) -> Result<bool, Trouble> {
        loop {
            let at = match &mut self.course {
                Course::Stream(at) => *at,
                Course::File(places) => match places.pop() {
                    Some(at) => at,
                    None => return Ok(false),
                },
            };
            let Some(IpcMessage { header, body }) = message(&self.file, self.size, at)? else {
                return Ok(false);
            };
            let message = FlatTable::root(&header)?;
            let length = u64::try_from(message.i64(3)?).map_err(|_| ENDS)?;
            let end = body.checked_add(length).filter(|end| *end <= self.size).ok_or(ENDS)?;
            if let Course::Stream(at) = &mut self.course {
                *at = end;
            }
            let body = Body { file: &self.file, at: body, length };
            let inner = message.table(2)?.ok_or("a message of it has no content")?;
            match message.u8(1)? {
                2 => {
                    let (id, is_delta) = (inner.i64(0)?, inner.flag(2)?);
                    let is_of = |at: &&usize| self.fields[**at].choice.is_some_and(|c| c.dictionary == id);
                    let Some(at) = self.chosen.iter().find(is_of) else { continue };
                    let field = self.fields[*at].of_dictionary()?;
                    let header = inner.table(1)?.ok_or("a dictionary of it has no values")?;
                    let batch = RecordBatch::new(header, body)?;
                    let values = batch.column(&[field], 0)?.all(batch.rows)?;
                    match self.dictionaries.get_mut(&id) {
                        Some(known) if is_delta => known.append(&values),
                        _ => drop(self.dictionaries.insert(id, values)),
                    }
                }
                3 => {
                    let batch = RecordBatch::new(inner, body)?;
                    let columns = self.chosen.iter().map(|at| batch.column(&self.fields, *at));
                    let columns = columns.collect::<Result<Vec<_>, _>>()?;
                    (self.rows, self.row, self.batch) = (batch.rows, 0, columns);
                    return Ok(true);
                }
                // Tensors, and messages that later versions may add, have no rows.
                _ => {}
            }
        }
    }
}

/// The text that a row chooses from a dictionary.
fn chosen(
    column: &Column,
    row: usize,
    dictionary: Option<&Record>,
    out: &mut Vec<u8>,
) -> Result<bool, Trouble> {
    let Some(at) = column.choice(row)? else { return Ok(false) };
    let lacks = "a row chooses a value that its dictionary lacks";
    let dictionary = dictionary.ok_or(lacks)?;
    let at = usize::try_from(at).ok().filter(|at| *at < dictionary.len()).ok_or(lacks)?;
    let text = dictionary.get(at);
    out.extend_from_slice(text.unwrap_or_default());
    Ok(text.is_some())
}

/// The columns and messages of a stream.
fn of_stream(file: &File, size: u64) -> Result<(Vec<ArrowField>, Course), Trouble> {
    let first = message(file, size, 0)?.ok_or("it has no schema")?;
    let root = FlatTable::root(&first.header)?;
    let schema = root.table(2)?.filter(|_| root.u8(1) == Ok(1)).ok_or("it does not begin with a schema")?;
    let length = u64::try_from(root.i64(3)?).map_err(|_| ENDS)?;
    let next = first.body.checked_add(length).ok_or(ENDS)?;
    Ok((schema::fields(&schema)?, Course::Stream(next)))
}

/// The columns and messages of a file, from its footer.
fn of_file(file: &File, size: u64) -> Result<(Vec<ArrowField>, Course), Trouble> {
    let mut end = [0; 10];
    let at = size.checked_sub(10).ok_or(ENDS)?;
    file.read_exact_at(&mut end, at).map_err(Trouble::Io)?;
    let (length, magic) = end.split_at(4);
    if magic != MAGIC {
        return Err("it does not end as Arrow does, and was perhaps cut".into());
    }
    let length = u64::from(u32::from_le_bytes(length.try_into().map_err(|_| ENDS)?));
    let begin = at.checked_sub(length).ok_or(ENDS)?;
    let mut footer = vec![0; usize::try_from(length).map_err(|_| ENDS)?];
    file.read_exact_at(&mut footer, begin).map_err(Trouble::Io)?;
    let footer = FlatTable::root(&footer)?;
    let fields = schema::fields(&footer.table(1)?.ok_or("it has no schema")?)?;
    let mut places = vec![];
    for list in [footer.list(2, 24)?, footer.list(3, 24)?] {
        for at in 0..list.len() {
            places.push(u64::try_from(list.i64(at, 0)?).map_err(|_| ENDS)?);
        }
    }
    places.reverse();
    Ok((fields, Course::File(places)))
}
