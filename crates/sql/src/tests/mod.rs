//! Queries that are refused, values as text, and the shape of plans.

mod cells;
mod frames;
mod names;
mod owners;
mod plans;
mod reference;
mod refused;
mod respelt;
mod schemas;

use crate::{Catalog, Fault, Options, relation};
use hushwire_tables::algebra::{Column, ColumnType, Relation, Schema, Table, TablePart};

fn table(name: &str, rows: u64, columns: Vec<Column>, key: &[usize]) -> Table {
    let unique = if key.is_empty() { vec![] } else { vec![key.to_vec()] };
    let parts = vec![TablePart { owner: "alice".into(), rows }];
    Table { name: name.into(), schema: Schema(columns), parts, padded: false, unique }
}

/// Shops, a list of goods, and sales of them.
fn catalog() -> Catalog {
    use ColumnType::{BigInt, Date, Decimal, Digest, Integer, Varchar};
    let cents = Decimal { precision: 10, scale: 2 };
    let tables = vec![
        table("shop", 10, vec![Column::new("id", Integer), Column::new("city", Varchar(20))], &[0]),
        table(
            "goods",
            40,
            vec![
                Column::new("id", Integer),
                Column::new("name", Varchar(30)),
                Column::new("price", cents).nullable(),
                Column::new("maker", Digest { bits: 128 }),
            ],
            &[0],
        ),
        table(
            "sale",
            500,
            vec![
                Column::new("shop", Integer),
                Column::new("goods", Integer),
                Column::new("pieces", BigInt).nullable(),
                Column::new("day", Date),
            ],
            &[],
        ),
    ];
    Catalog::new(tables).unwrap_or_else(|e| panic!("{e}"))
}

fn plan(sql: &str) -> Result<Relation, Fault> {
    relation(sql, &catalog(), Options::default())
}
