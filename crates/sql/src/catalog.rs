//! The tables that queries may name.

use crate::Fault;
use hushwire_fault::code;
use hushwire_tables::algebra::Table;
use std::collections::BTreeSet;

fn named_twice(things: &str, name: &str) -> Fault {
    Fault::filled(code::NAME_TWICE, &[("things", &things), ("name", &name)])
}

/// The tables that queries may name: columns, owners' parts, keys.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tables: Vec<Table>,
    /// The tables at rest. The parties hold shares of them, and no owner takes part.
    at_rest: BTreeSet<usize>,
}

impl Catalog {
    /// Makes a catalog of these tables.
    ///
    /// # Errors
    /// Two tables, or two columns of a table, have names that differ at most in case.
    pub fn new(tables: Vec<Table>) -> Result<Catalog, Fault> {
        let twice = |names: Vec<&str>| -> Option<String> {
            let same = |i: usize| names[..i].iter().any(|other| other.eq_ignore_ascii_case(names[i]));
            (0..names.len()).find(|i| same(*i)).map(|i| names[i].to_owned())
        };
        if let Some(name) = twice(tables.iter().map(|table| table.name.as_str()).collect()) {
            return Err(named_twice("tables", &name));
        }
        for table in &tables {
            let names = table.schema.columns().iter().map(|column| column.name.as_str()).collect();
            if let Some(name) = twice(names) {
                return Err(named_twice(&format!("columns of table {}", table.name), &name));
            }
        }
        Ok(Catalog { tables, at_rest: BTreeSet::new() })
    }

    /// Returns the catalog with these tables at rest. The parties hold shares of them, so no owner
    /// computes anything in the open.
    #[must_use]
    pub fn at_rest(mut self, names: &[&str]) -> Catalog {
        let all = self.tables.iter().enumerate();
        self.at_rest = all.filter(|(_, table)| names.contains(&&*table.name)).map(|(at, _)| at).collect();
        self
    }

    pub(crate) fn is_at_rest(&self, at: usize) -> bool {
        self.at_rest.contains(&at)
    }

    /// All tables.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    pub(crate) fn table(&self, at: usize) -> &Table {
        &self.tables[at]
    }
}
