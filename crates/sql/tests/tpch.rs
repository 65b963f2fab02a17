//! The 22 queries of TPC-H against SQLite.

mod common;

use common::{Oracle, compare, three};
use hushwire_sql::{test_support::World, tpch};
use std::time::Instant;

fn world(scale: f64) -> World {
    tpch::world(scale).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_query_is_planned() {
    let world = world(0.001);
    for (i, sql) in tpch::QUERIES.iter().enumerate() {
        let plan = world.plan(sql);
        assert!(!plan.schema().columns().is_empty(), "query {}", i + 1);
    }
}

#[test]
fn every_query_has_the_rows_of_sqlite() {
    let world = world(0.01);
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
    let world = world(0.001);
    for (i, sql) in tpch::QUERIES.iter().enumerate() {
        let begun = Instant::now();
        let (plan, rows) = world.run(sql);
        let lowered = world.lowered(&plan);
        eprintln!("query {}: {} rows, {:.2?}", i + 1, rows.len(), begun.elapsed());
        assert_eq!(lowered, rows, "query {}", i + 1);
    }
}

/// Runs queries, by number, among three parties of several shards each. Compares the rows with
/// SQLite's.
fn oblivious(scale: f64, shards: usize, numbers: impl Iterator<Item = usize>) {
    let world = world(scale);
    let Some(oracle) = world.sqlite(&tpch::QUERIES) else { return };
    for number in numbers {
        let begun = Instant::now();
        let sql = tpch::QUERIES[number - 1];
        let theirs = oracle[number - 1].as_ref().unwrap_or_else(|e| panic!("query {number}: {e}"));
        let plan = world.plan(sql);
        let rows = three::rows(&world, &plan, shards);
        eprintln!("query {number}: {} rows, {:.2?}", rows.len(), begun.elapsed());
        compare(sql, &plan, &rows, theirs, true);
    }
}

#[test]
fn queries_among_three_parties_have_the_rows_of_sqlite() {
    oblivious(0.001, 1, [1, 3, 4, 12, 13, 15, 16, 17, 22].into_iter());
}

#[test]
#[ignore = "half a minute: scripts/test --full"]
fn every_query_among_three_parties_has_the_rows_of_sqlite() {
    oblivious(0.001, 1, 1..=22);
}

#[test]
#[ignore = "minutes, optimised: scripts/test --full"]
fn every_query_among_three_parties_has_the_rows_of_sqlite_on_more_of_them() {
    oblivious(0.01, 1, 1..=22);
}

/// Small queries: a join with a limit, groups, and a left join.
#[test]
fn queries_on_two_shards_of_each_party_have_the_rows_of_sqlite() {
    oblivious(0.001, 2, [3, 13, 22].into_iter());
}

#[test]
#[ignore = "a minute: scripts/test --full"]
fn every_query_on_shards_of_each_party_has_the_rows_of_sqlite() {
    for shards in [2, 3, 4] {
        oblivious(0.001, shards, 1..=22);
    }
}
