//! The names of aggregates.

use super::AGGREGATES;

#[test]
fn each_name_is_one_aggregates() {
    let mut names: Vec<&str> = AGGREGATES.iter().flat_map(|a| a.names).copied().collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(names.iter().all(|name| *name == name.to_lowercase()));
}
