//! Queries of TPC-DS on several shards of each party. The rows are compared with those of one
//! machine, and with those in the open.

mod common;

use common::{
    Oracle, compare, three,
    tpcds::{QUERIES, query, world},
};
use std::time::Instant;

/// The rows equal those in the open and, if SQLite understands the query, those of SQLite.
#[test]
fn queries_have_the_rows_of_sqlite() {
    let world = world(400);
    let known: Vec<&str> = QUERIES.iter().filter(|(n, _)| *n != 27).map(|(_, sql)| *sql).collect();
    let Some(oracle) = world.sqlite(&known) else { return };
    for (sql, theirs) in known.into_iter().zip(oracle) {
        let theirs = theirs.unwrap_or_else(|e| panic!("{sql}\n{e}"));
        let (plan, rows) = world.run(sql);
        assert!(!rows.is_empty(), "no rows to compare: {sql}");
        compare(sql, &plan, &rows, &theirs, true);
    }
}

/// Runs queries, by number, with these numbers of shards, and compares the rows with those of one
/// machine.
fn on_shards(sales: u64, shards: &[usize], numbers: impl Iterator<Item = u8>) {
    let world = world(sales);
    for number in numbers {
        let (plan, expected) = world.run(query(number));
        assert!(!expected.is_empty(), "query {number} has no rows to compare");
        let one = three::rows(&world, &plan, 1);
        assert_eq!(one, expected, "query {number} on one machine");
        for shards in shards {
            let begun = Instant::now();
            let rows = three::rows(&world, &plan, *shards);
            eprintln!("query {number} on {shards} shards: {} rows, {:.2?}", rows.len(), begun.elapsed());
            assert_eq!(rows, one, "query {number} on {shards} shards");
        }
    }
}

/// A join with groups and a limit, and sums with an outer join.
#[test]
fn queries_on_shards_have_the_rows_of_one_machine() {
    on_shards(120, &[2], [52, 93].into_iter());
}

#[test]
#[ignore = "a minute: scripts/test --full"]
fn every_query_on_shards_has_the_rows_of_one_machine() {
    on_shards(400, &[2, 3, 4], QUERIES.iter().map(|(number, _)| *number));
}
