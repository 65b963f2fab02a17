//! Columns of types that queries do not read, such as lists.

use hushwire_kinds::{Depth, survey};
use hushwire_session::InputPlace;
use std::path::PathBuf;

/// Files that pyarrow wrote: `nested` has a number, a list and a struct, `lists` a list alone.
fn place(name: &str) -> InputPlace {
    InputPlace::File(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors")).join(name))
}

#[test]
fn columns_that_queries_do_not_read_are_named_in_a_note() {
    let found = survey(&[&place("nested.parquet")], Depth::default()).unwrap();
    let names: Vec<&str> = found.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["id"]);
    let note = found.notes.iter().find(|note| note.contains("tags")).expect("a note on the list");
    assert!(note.contains("size") && !note.contains("id,"), "{note}");
}

#[test]
fn a_file_without_a_column_to_read_is_refused() {
    let fault = survey(&[&place("lists.parquet")], Depth::default()).unwrap_err();
    assert!(fault.cause().contains("tags"), "{fault}");
}
