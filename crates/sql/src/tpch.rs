//! The tables and queries of TPC-H, for tests and benchmarks. The `tpchgen` crate makes the tables.

use crate::{Fault, cell, test_support::World};
use hushwire_tables::{
    algebra::{Column, ColumnType, Schema, Table, TablePart},
    plain::Row,
};
use std::collections::BTreeSet;
use tpchgen::{
    distribution::Distributions,
    generators::{
        CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
        PartSuppGenerator, RegionGenerator, SupplierGenerator,
    },
    text::TextPool,
};

/// The queries, by number.
pub const QUERIES: [&str; 22] = [
    include_str!("../tpch/q01.sql"),
    include_str!("../tpch/q02.sql"),
    include_str!("../tpch/q03.sql"),
    include_str!("../tpch/q04.sql"),
    include_str!("../tpch/q05.sql"),
    include_str!("../tpch/q06.sql"),
    include_str!("../tpch/q07.sql"),
    include_str!("../tpch/q08.sql"),
    include_str!("../tpch/q09.sql"),
    include_str!("../tpch/q10.sql"),
    include_str!("../tpch/q11.sql"),
    include_str!("../tpch/q12.sql"),
    include_str!("../tpch/q13.sql"),
    include_str!("../tpch/q14.sql"),
    include_str!("../tpch/q15.sql"),
    include_str!("../tpch/q16.sql"),
    include_str!("../tpch/q17.sql"),
    include_str!("../tpch/q18.sql"),
    include_str!("../tpch/q19.sql"),
    include_str!("../tpch/q20.sql"),
    include_str!("../tpch/q21.sql"),
    include_str!("../tpch/q22.sql"),
];

const KEY: ColumnType = ColumnType::Integer;
const MONEY: ColumnType = ColumnType::Decimal { precision: 12, scale: 2 };

fn text(bytes: u16) -> ColumnType {
    ColumnType::Varchar(bytes)
}

/// The standard's columns. A column of varying length has the largest length.
fn schema(table: &str) -> (Vec<(&'static str, ColumnType)>, Vec<usize>) {
    use ColumnType::{Date, Integer};
    match table {
        "region" => (vec![("r_regionkey", KEY), ("r_name", text(25)), ("r_comment", text(152))], vec![0]),
        "nation" => (
            vec![("n_nationkey", KEY), ("n_name", text(25)), ("n_regionkey", KEY), ("n_comment", text(152))],
            vec![0],
        ),
        "part" => (
            vec![
                ("p_partkey", KEY),
                ("p_name", text(55)),
                ("p_mfgr", text(25)),
                ("p_brand", text(10)),
                ("p_type", text(25)),
                ("p_size", Integer),
                ("p_container", text(10)),
                ("p_retailprice", MONEY),
                ("p_comment", text(23)),
            ],
            vec![0],
        ),
        "supplier" => (
            vec![
                ("s_suppkey", KEY),
                ("s_name", text(25)),
                ("s_address", text(40)),
                ("s_nationkey", KEY),
                ("s_phone", text(15)),
                ("s_acctbal", MONEY),
                ("s_comment", text(101)),
            ],
            vec![0],
        ),
        "partsupp" => (
            vec![
                ("ps_partkey", KEY),
                ("ps_suppkey", KEY),
                ("ps_availqty", Integer),
                ("ps_supplycost", MONEY),
                ("ps_comment", text(199)),
            ],
            vec![0, 1],
        ),
        "customer" => (
            vec![
                ("c_custkey", KEY),
                ("c_name", text(25)),
                ("c_address", text(40)),
                ("c_nationkey", KEY),
                ("c_phone", text(15)),
                ("c_acctbal", MONEY),
                ("c_mktsegment", text(10)),
                ("c_comment", text(117)),
            ],
            vec![0],
        ),
        "orders" => (
            vec![
                ("o_orderkey", KEY),
                ("o_custkey", KEY),
                ("o_orderstatus", text(1)),
                ("o_totalprice", MONEY),
                ("o_orderdate", Date),
                ("o_orderpriority", text(15)),
                ("o_clerk", text(15)),
                ("o_shippriority", Integer),
                ("o_comment", text(79)),
            ],
            vec![0],
        ),
        _ => (
            vec![
                ("l_orderkey", KEY),
                ("l_partkey", KEY),
                ("l_suppkey", KEY),
                ("l_linenumber", Integer),
                ("l_quantity", MONEY),
                ("l_extendedprice", MONEY),
                ("l_discount", MONEY),
                ("l_tax", MONEY),
                ("l_returnflag", text(1)),
                ("l_linestatus", text(1)),
                ("l_shipdate", Date),
                ("l_commitdate", Date),
                ("l_receiptdate", Date),
                ("l_shipinstruct", text(25)),
                ("l_shipmode", text(10)),
                ("l_comment", text(44)),
            ],
            vec![0, 3],
        ),
    }
}

fn table(name: &str, owner: &str, lines: &[String]) -> Result<(Table, Vec<Row>), Fault> {
    let (columns, key) = schema(name);
    let row = |line: &String| -> Result<Row, Fault> {
        columns.iter().zip(line.split('|')).map(|((_, ty), field)| cell::read(field, *ty)).collect()
    };
    let mut rows = lines.iter().map(row).collect::<Result<Vec<Row>, _>>()?;
    // With ten suppliers, the standard's formula gives some parts the same supplier twice.
    let mut seen = BTreeSet::new();
    rows.retain(|row| seen.insert(key.iter().map(|at| row[*at].clone()).collect::<Row>()));
    let table = Table {
        name: name.into(),
        schema: Schema(columns.iter().map(|(name, ty)| Column::new(name, *ty)).collect()),
        parts: vec![TablePart { owner: owner.into(), rows: rows.len() as u64 }],
        padded: false,
        unique: vec![key],
    };
    Ok((table, rows))
}

/// All tables at a scale. The text pool has one megabyte instead of the standard's 300, so comments
/// are other pieces of the same text.
///
/// # Errors
/// A row does not fit its column's type.
pub fn world(scale: f64) -> Result<World, Fault> {
    let words = Distributions::static_default();
    let pool = TextPool::new(1 << 20, words);
    macro_rules! lines {
        ($generator:expr) => {
            $generator.iter().map(|row| row.to_string()).collect::<Vec<String>>()
        };
    }
    macro_rules! of {
        ($generator:ident) => {
            lines!($generator::new_with_distributions_and_text_pool(scale, 1, 1, words, &pool))
        };
    }
    let regions = lines!(RegionGenerator::new_with_distributions_and_text_pool(words, &pool));
    let nations = lines!(NationGenerator::new_with_distributions_and_text_pool(words, &pool));
    let offers = lines!(PartSuppGenerator::new_with_text_pool(scale, 1, 1, &pool));
    World::new(vec![
        table("region", "alice", &regions)?,
        table("nation", "alice", &nations)?,
        table("part", "alice", &of!(PartGenerator))?,
        table("supplier", "alice", &of!(SupplierGenerator))?,
        table("partsupp", "alice", &offers)?,
        table("customer", "bob", &of!(CustomerGenerator))?,
        table("orders", "bob", &of!(OrderGenerator))?,
        table("lineitem", "bob", &of!(LineItemGenerator))?,
    ])
}
