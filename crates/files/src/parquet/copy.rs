//! Copies rows of one file to another file, unchanged. Values are copied with their types and
//! levels, so nested columns need no text. A copy may have additional last columns.

use super::{Rows, rows::guarded, write::refused};
use crate::FileError;
use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    column::reader::ColumnReaderImpl,
    data_type::{BoolType, ByteArray, ByteArrayType, DataType},
    errors::ParquetError as Codec,
    file::{
        metadata::KeyValue,
        properties::WriterProperties,
        reader::FileReader,
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::types::{ColumnDescriptor, Type},
};
use std::{io::Write, path::Path, sync::Arc};

/// LOCAL: the rows of a column that are decoded at a time.
const BATCH: usize = 4096;

/// Returns a field of an additional column, given the row's number in the file and the column's
/// number among the additional ones.
pub type Beside<'a> = dyn Fn(usize, usize) -> &'a [u8] + 'a;

/// The rows and columns of a copy.
#[derive(Clone, Copy)]
pub enum Copied<'a> {
    /// The rows whose flags are set.
    Marked,
    /// All rows, with the flags in a last column of this name.
    All(&'a str),
    /// The rows whose flags are set, with last columns of text that have these names.
    With(&'a [String], &'a Beside<'a>),
}

impl Copied<'_> {
    fn names(&self) -> Vec<&str> {
        match self {
            Copied::Marked => vec![],
            Copied::All(name) => vec![name],
            Copied::With(names, _) => names.iter().map(String::as_str).collect(),
        }
    }

    /// The type of a last column.
    fn declared(&self, name: &str) -> Result<Type, Codec> {
        let of =
            |physical| Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        match self {
            Copied::With(..) => of(Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String)).build(),
            _ => of(Physical::BOOLEAN).build(),
        }
    }
}

impl Rows {
    /// Writes rows of the file as another file, independently of the rows read and columns chosen
    /// before. All columns are copied with their types, including nested ones. `flags` has one flag
    /// for each of its rows.
    ///
    /// # Errors
    /// The number of rows differs, or the file cannot be decoded. Or the file already has a column
    /// with the name of a last one. Or `to` refuses, and the error then names no file.
    pub fn copy(&self, flags: &[bool], copied: Copied<'_>, to: impl Write + Send) -> Result<(), FileError> {
        let wrong = |cause: String, remedy: &str| Err(FileError::new(self.path(), None, cause, remedy));
        if flags.len() as u64 != self.count() {
            return wrong("it has changed since the run began".to_owned(), "run again");
        }
        let meta = self.reader().metadata().file_metadata();
        let (root, mut said) = (meta.schema_descr().root_schema_ptr(), meta.key_value_metadata().cloned());
        let names = copied.names();
        if let Some(name) = names.iter().find(|name| root.get_fields().iter().any(|f| f.name() == **name)) {
            let cause = if matches!(copied, Copied::All(_)) {
                format!("it has a column {name} already, as the flags' would be called")
            } else {
                format!("it has a column {name} already, as one beside it would be called")
            };
            return wrong(cause, "rename it, or name a file for the result that ends in .csv");
        }
        let mut schema = root.clone();
        if !names.is_empty() {
            // The metadata that programs wrote about the columns does not cover the new ones.
            said = None;
            let made = || {
                let more = names.iter().map(|name| copied.declared(name).map(Arc::new));
                let fields = root.get_fields().iter().cloned().map(Ok).chain(more);
                Type::group_type_builder(root.name()).with_fields(fields.collect::<Result<_, _>>()?).build()
            };
            schema = Arc::new(made().map_err(|e: Codec| refused(&e))?);
        }
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("hushwire".to_owned())
            .set_key_value_metadata(said.filter(|said: &Vec<KeyValue>| !said.is_empty()))
            .build();
        let file = SerializedFileWriter::new(to, schema, Arc::new(properties));
        let mut file = file.map_err(|e| refused(&e))?;
        let mut begin = 0;
        for at in 0..self.reader().num_row_groups() {
            let rows = self.reader().metadata().row_group(at).num_rows();
            let flags = &flags[begin..begin + usize::try_from(rows).unwrap_or(0)];
            if matches!(copied, Copied::All(_)) || flags.contains(&true) {
                self.copy_group(at, begin, flags, copied, &mut file)?;
            }
            begin += flags.len();
        }
        file.close().map_err(|e| refused(&e))?;
        Ok(())
    }

    fn copy_group(
        &self,
        at: usize,
        begin: usize,
        flags: &[bool],
        copied: Copied<'_>,
        file: &mut SerializedFileWriter<impl Write + Send>,
    ) -> Result<(), FileError> {
        let group = guarded(self.path(), || self.reader().get_row_group(at))?;
        let mut to = file.next_row_group().map_err(|e| refused(&e))?;
        let missing = || refused(&Codec::General("the copy has fewer columns".into()));
        let is_whole = matches!(copied, Copied::All(_));
        let all = vec![true; if is_whole { flags.len() } else { 0 }];
        let kept = if is_whole { &all } else { flags };
        for (column, meta) in group.metadata().columns().iter().enumerate() {
            let descriptor = meta.column_descr();
            let mut reader = guarded(self.path(), || group.get_column_reader(column))?;
            let mut writer = to.next_column().map_err(|e| refused(&e))?.ok_or_else(missing)?;
            let path = self.path();
            of_any_type!(&mut reader, reader => copy_column(path, reader, descriptor, kept, &mut writer))?;
            writer.close().map_err(|e| refused(&e))?;
        }
        for column in 0..copied.names().len() {
            let mut writer = to.next_column().map_err(|e| refused(&e))?.ok_or_else(missing)?;
            let written = if let Copied::With(_, field) = copied {
                let rows = flags.iter().enumerate().filter(|(_, flag)| **flag);
                let texts = rows.map(|(row, _)| ByteArray::from(field(begin + row, column).to_vec()));
                writer.typed::<ByteArrayType>().write_batch(&texts.collect::<Vec<_>>(), None, None)
            } else {
                writer.typed::<BoolType>().write_batch(flags, None, None)
            };
            written.map_err(|e| refused(&e))?;
            writer.close().map_err(|e| refused(&e))?;
        }
        to.close().map_err(|e| refused(&e))?;
        Ok(())
    }
}

/// Copies the values and levels of the rows that are kept.
fn copy_column<T: DataType>(
    path: &Path,
    reader: &mut ColumnReaderImpl<T>,
    descriptor: &ColumnDescriptor,
    kept: &[bool],
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<(), FileError> {
    let (most, nested) = (descriptor.max_def_level(), descriptor.max_rep_level() > 0);
    let broken = || {
        let cause = "it is no good Parquet: a column has other rows than its row group";
        FileError::new(path, None, cause, "write it anew from its source")
    };
    let mut row = 0;
    let (mut there, mut starts, mut values) = (vec![], vec![], vec![]);
    let (mut own_there, mut own_starts, mut own_values) = (vec![], vec![], vec![]);
    loop {
        there.clear();
        starts.clear();
        values.clear();
        let rows = guarded(path, || {
            let levels = (most > 0).then_some(&mut there);
            Ok(reader.read_records(BATCH, levels, nested.then_some(&mut starts), &mut values)?.0)
        })?;
        if rows == 0 {
            return if row == kept.len() { Ok(()) } else { Err(broken()) };
        }
        let entries = if most > 0 { there.len() } else { values.len() };
        own_there.clear();
        own_starts.clear();
        own_values.clear();
        let mut value = values.iter();
        for entry in 0..entries {
            if !nested || starts.get(entry) == Some(&0) {
                row += 1;
            }
            let keep = row.checked_sub(1).and_then(|row: usize| kept.get(row)).ok_or_else(broken)?;
            let held =
                if most == 0 || there[entry] == most { Some(value.next().ok_or_else(broken)?) } else { None };
            if *keep {
                own_there.extend(there.get(entry));
                own_starts.extend(starts.get(entry));
                own_values.extend(held.cloned());
            }
        }
        let (levels, starts) = ((most > 0).then_some(&own_there[..]), nested.then_some(&own_starts[..]));
        writer.typed::<T>().write_batch(&own_values, levels, starts).map_err(|e| refused(&e))?;
    }
}
