//! The tables that queries may name.

use crate::SqlError;
use hushwire_tables::algebra::Table;

/// The tables that queries may name: columns, owners' parts, keys.
#[derive(Clone, Debug, Default)]
pub struct Catalog(Vec<Table>);

impl Catalog {
    /// Makes a catalog of these tables.
    ///
    /// # Errors
    /// Two tables, or two columns of a table, have names that differ at most in case.
    pub fn new(tables: Vec<Table>) -> Result<Catalog, SqlError> {
        let twice = |names: Vec<&str>| -> Option<String> {
            let same = |i: usize| names[..i].iter().any(|other| other.eq_ignore_ascii_case(names[i]));
            (0..names.len()).find(|i| same(*i)).map(|i| names[i].to_owned())
        };
        if let Some(name) = twice(tables.iter().map(|table| table.name.as_str()).collect()) {
            return Err(SqlError::new(format!("two tables are called {name}"), "give one another name"));
        }
        for table in &tables {
            let names = table.schema.columns().iter().map(|column| column.name.as_str()).collect();
            if let Some(name) = twice(names) {
                let cause = format!("two columns of table {} are called {name}", table.name);
                return Err(SqlError::new(cause, "give one another name"));
            }
        }
        Ok(Catalog(tables))
    }

    /// All tables.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.0
    }

    pub(crate) fn table(&self, at: usize) -> &Table {
        &self.0[at]
    }
}
