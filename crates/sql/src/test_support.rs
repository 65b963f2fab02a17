//! Tables with their rows in memory, for tests and benchmarks.

use crate::{Catalog, Fault, Options, relation};
use hushwire_compute::Tensor;
use hushwire_tables::{
    Query,
    algebra::{Operator, Relation, Table},
    plain::{Row, Tables},
};
use std::collections::BTreeMap;

/// Tables and their rows. The rows of all parts come one after the other.
pub struct World {
    /// The tables.
    pub catalog: Catalog,
    /// Their rows.
    pub rows: Tables,
}

impl World {
    /// Makes tables with these rows.
    ///
    /// # Errors
    /// As [`Catalog::new`].
    pub fn new(tables: Vec<(Table, Vec<Row>)>) -> Result<World, Fault> {
        let rows = tables.iter().map(|(table, rows)| (table.name.clone(), rows.clone())).collect();
        let catalog = Catalog::new(tables.into_iter().map(|(table, _)| table).collect())?;
        Ok(World { catalog, rows })
    }

    /// The relation of a query.
    ///
    /// # Errors
    /// As [`relation`].
    pub fn relation(&self, sql: &str) -> Result<Relation, Fault> {
        relation(sql, &self.catalog, Options::default())
    }

    /// The rows of the columns that a relation's scans read.
    #[must_use]
    pub fn read(&self, relation: &Relation) -> Tables {
        fn scans<'a>(relation: &'a Relation, all: &mut Vec<&'a Table>) {
            if let Operator::Scan(table) = relation.operator() {
                all.push(table);
            }
            relation.inputs().into_iter().for_each(|input| scans(input, all));
        }
        let mut all = vec![];
        scans(relation, &mut all);
        let table = |table: &Table| {
            let whole = self.catalog.tables().iter().find(|t| t.name == table.name);
            let place = |name: &str| whole.and_then(|whole| whole.schema.find(name));
            let at: Vec<usize> = table.schema.columns().iter().filter_map(|c| place(&c.name)).collect();
            let rows = self.rows.get(&table.name).into_iter().flatten();
            (table.name.clone(), rows.map(|row| at.iter().map(|at| row[*at].clone()).collect()).collect())
        };
        all.into_iter().map(table).collect()
    }

    /// The inputs of all owners.
    ///
    /// # Errors
    /// As [`Query::inputs`].
    pub fn inputs(&self, query: &Query, relation: &Relation) -> Result<BTreeMap<String, Tensor>, Fault> {
        let tables = self.read(relation);
        let mut inputs = BTreeMap::new();
        for table in query.tables() {
            let mut rest = tables.get(&table.name).map_or(&[][..], Vec::as_slice);
            for (part, brought) in table.parts.iter().enumerate() {
                let (own, behind) = rest.split_at(rest.len().min(brought.rows as usize));
                inputs.extend(query.inputs(&table.name, part, own)?);
                rest = behind;
            }
        }
        Ok(inputs)
    }
}
