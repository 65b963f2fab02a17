//! The 22 queries of TPC-H against SQLite.

mod common;

use common::{compare, tpch};
use std::time::Instant;

#[test]
fn every_query_is_planned() {
    let world = tpch::world(0.001);
    for (i, sql) in tpch::QUERIES.iter().enumerate() {
        let plan = world.plan(sql);
        assert!(!plan.schema().columns().is_empty(), "query {}", i + 1);
    }
}

#[test]
fn every_query_has_the_rows_of_sqlite() {
    let world = tpch::world(0.01);
    let Some(oracle) = world.sqlite(&tpch::QUERIES) else { return };
    for (i, (sql, theirs)) in tpch::QUERIES.iter().zip(oracle).enumerate() {
        let begun = Instant::now();
        let theirs = theirs.unwrap_or_else(|e| panic!("query {}: {e}", i + 1));
        let (plan, rows) = world.run(sql);
        eprintln!("query {}: {} rows, {:.2?}", i + 1, rows.len(), begun.elapsed());
        assert!(!rows.is_empty(), "query {} has no rows to compare", i + 1);
        compare(sql, &plan, &rows, &theirs, true);
    }
}

#[test]
fn every_query_is_lowered_to_a_computation_with_these_rows() {
    let world = tpch::world(0.001);
    for (i, sql) in tpch::QUERIES.iter().enumerate() {
        let begun = Instant::now();
        let (plan, rows) = world.run(sql);
        let lowered = world.lowered(&plan);
        eprintln!("query {}: {} rows, {:.2?}", i + 1, rows.len(), begun.elapsed());
        assert_eq!(lowered, rows, "query {}", i + 1);
    }
}
