//! The list of aggregates of `docs/sql.md`.

use super::{AGGREGATES, AggregateDef};
use std::fmt::Write;

#[test]
fn the_page_lists_all_aggregates() {
    let mut all: Vec<&AggregateDef> = AGGREGATES.to_vec();
    all.sort_by_key(|aggregate| aggregate.names[0]);
    let mut out = String::from("| call | type | value |\n|---|---|---|\n");
    for AggregateDef { names, usage, gives, doc, .. } in all {
        let upper = |name: &&str| format!(", `{}`", name.to_uppercase());
        let more: String = names.iter().skip(1).map(upper).collect();
        writeln!(out, "| `{usage}`{more} | {gives} | {doc} |").unwrap();
    }
    hushwire_testkit::page("sql.md", "<!-- aggregates: made of their definitions -->\n", &out);
}

#[test]
fn each_name_is_one_aggregates() {
    let mut names: Vec<&str> = AGGREGATES.iter().flat_map(|a| a.names).copied().collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| *name == name.to_lowercase()));
}
