//! Tables as data sets: an owner's rows as columns at rest, and a query's inputs as such columns.
//!
//! The name of a column at rest is its declaration, such as `days SMALLINT NOT NULL`. A query can
//! therefore only take it as the type that its owner declared and checked. The flags of its NULLs
//! are called `null of days`, and the validity of padded rows `valid rows`.

use super::{QueryJob, rows::read};
use hushwire_block::Wiped;
use hushwire_circuit::Planes;
use hushwire_fault::code;
use hushwire_rep3::stored::{PART, StoredColumn, parts};
use hushwire_session::{Dialect, Fault, InputPlace, Member, stored::STORED, suggest};
use hushwire_sql::schema::{self, declaration};
use hushwire_tables::{
    Incoming, Query, TableInput,
    algebra::{ColumnType, Schema, Table, TablePart},
    plain::Row,
};
use std::collections::BTreeMap;

/// Takes the planes of every column in a part, in the order of the layout.
pub(super) type TakePart<'a> = &'a mut dyn FnMut(u32, Vec<Wiped<Vec<u8>>>) -> Result<(), Fault>;

/// The name of a column at rest.
fn column_name(table: &Table, input: TableInput) -> String {
    let column = |k: usize| &table.schema.columns()[k];
    match input {
        TableInput::Values(k) => declaration(column(k)),
        TableInput::Nulls(k) => format!("null of {}", column(k).name),
        TableInput::Valid => "valid rows".to_owned(),
    }
}

/// The column at rest for each input of a query that comes from a data set.
pub(super) fn columns(job: &QueryJob, query: &Query) -> BTreeMap<String, String> {
    let mut columns = BTreeMap::new();
    for (at, table) in query.tables().iter().enumerate() {
        let declared = job.tables.iter().find(|declared| declared.name == table.name);
        let owners = declared.iter().flat_map(|declared| &declared.parts).enumerate();
        for (part, _) in owners.filter(|(_, part)| matches!(part.owner, Member::Data(_))) {
            let inputs = TableInput::all(table, at, part).into_iter();
            columns.extend(inputs.map(|(input, name, _)| (name, column_name(table, input))));
        }
    }
    columns
}

/// A table's declaration, for the owner of a data set.
pub struct StoredTable(Table);

impl StoredTable {
    /// A table of these columns, such as `days SMALLINT NOT NULL`, of which no two rows agree in
    /// the `key` columns. A padded table may have fewer rows than it declares.
    ///
    /// # Errors
    /// A column cannot be read, or is a DIGEST, whose key belongs to one query; or the key names no
    /// column.
    pub fn new(name: &str, columns: &[String], key: &[String], padded: bool) -> Result<Self, Fault> {
        let wrong =
            |cause: String, remedy: &str| Fault::new(code::DATA_SET, format!("table {name}"), cause, remedy);
        let columns = columns.iter().map(|text| schema::column(text)).collect::<Result<Vec<_>, _>>();
        let schema = Schema(columns.map_err(|e| e.during(format_args!("table {name}")))?);
        let digest = schema.columns().iter().find(|column| matches!(column.ty, ColumnType::Digest { .. }));
        if let Some(column) = digest {
            let cause = format!("column {} is a DIGEST, whose key is a query's own", column.name);
            return Err(wrong(cause, "declare it VARCHAR(n), or bring the table as a client"));
        }
        let names: Vec<&str> = schema.columns().iter().map(|column| column.name.as_str()).collect();
        if let Some((_, twice)) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            return Err(wrong(format!("two columns are called {twice}"), "give one of them another name"));
        }
        let place = |name: &String| {
            schema.find(name).ok_or_else(|| {
                let cause = format!("its key names no column of it: {name}");
                wrong(cause, &suggest::remedy(name, &names))
            })
        };
        let key = key.iter().map(place).collect::<Result<Vec<_>, _>>()?;
        let unique = if key.is_empty() { vec![] } else { vec![key] };
        Ok(Self(Table { name: name.to_owned(), schema: schema.clone(), parts: vec![], padded, unique }))
    }

    /// The declarations of its columns, in the form of names of columns at rest.
    #[must_use]
    pub fn declarations(&self) -> Vec<String> {
        self.0.schema.columns().iter().map(declaration).collect()
    }

    /// The columns at rest of a table with this number of rows.
    #[must_use]
    pub fn layout(&self, rows: u64) -> Vec<StoredColumn> {
        let inputs = TableInput::all(&self.0, 0, 0).into_iter();
        inputs
            .map(|(input, _, bits)| StoredColumn::new(&column_name(&self.0, input), bits as u32, rows))
            .collect()
    }

    /// Reads the rows of a CSV or Parquet file, and passes their planes to `take` part by part. The
    /// rows that a padded table lacks come last. Returns the number of rows in the file.
    ///
    /// # Errors
    /// The file cannot be read, a field is not a value of its column's type, two rows have the same
    /// key, the number of rows is not `rows`, or `take` failed.
    pub fn read(&self, place: &InputPlace, rows: u64, take: TakePart<'_>) -> Result<u64, Fault> {
        let of_rows =
            |rows| Table { parts: vec![TablePart { owner: "owner".to_owned(), rows }], ..self.0.clone() };
        let mut reading = Reading { of: self, rows, taken: 0, part: vec![], at: 0, take };
        read(&of_rows(rows), (place, &Dialect::default()), &[0; 32], &[], |piece| reading.rows(piece))?;
        if !self.0.padded && reading.taken < rows {
            return Err(self.count(reading.taken, rows));
        }
        // The part that was begun, and the parts that consist of padding.
        let all = parts(&self.layout(rows));
        while reading.at < all {
            reading.finish()?;
        }
        Ok(reading.taken)
    }

    fn count(&self, found: u64, rows: u64) -> Fault {
        let found = if found > rows { "more".to_owned() } else { format!("{found} rows") };
        let cause = format!("its file has {found}, and it has {rows} rows");
        let remedy =
            if self.0.padded { "say more rows" } else { "say how many rows the file has, or pad it" };
        Fault::new(code::DATA_SET, format!("table {}", self.0.name), cause, remedy)
    }
}

/// A file that is being read into parts.
struct Reading<'r> {
    of: &'r StoredTable,
    rows: u64,
    taken: u64,
    /// The rows of the current part.
    part: Vec<Row>,
    at: u32,
    take: TakePart<'r>,
}

impl Reading<'_> {
    /// Takes the next rows.
    fn rows(&mut self, rows: &[Row]) -> Result<(), Fault> {
        self.taken += rows.len() as u64;
        if self.taken > self.rows {
            return Err(self.of.count(self.taken, self.rows));
        }
        for row in rows {
            self.part.push(row.clone());
            if self.part.len() as u64 == PART {
                self.finish()?;
            }
        }
        Ok(())
    }

    /// Passes on the current part.
    fn finish(&mut self) -> Result<(), Fault> {
        let first = u64::from(self.at) * PART;
        let rows = self.rows.saturating_sub(first).min(PART);
        let table = Table { parts: vec![TablePart { owner: "owner".to_owned(), rows }], ..self.of.0.clone() };
        let mut incoming = Incoming::new(&table, 0, 0)?;
        incoming.take(&std::mem::take(&mut self.part))?;
        let mut records = incoming.finish()?;
        let mut planes = vec![];
        for (_, name, bits) in TableInput::all(&table, 0, 0) {
            let missing = || Fault::internal(STORED, format!("input {name} was not made"));
            let records = Wiped::new(records.remove(&name).ok_or_else(missing)?);
            let packed = Planes::pack(&records, bits, rows as usize);
            planes.push(packed.into());
        }
        let at = self.at;
        self.at += 1;
        (self.take)(at, planes)
    }
}
