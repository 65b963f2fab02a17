//! Compares the drawing of floors in ARCHITECTURE.md with the dependencies of crates.

use std::collections::BTreeMap;

use crate::{tree, unify};

/// The differences between the drawing and the manifests, one line each.
pub(crate) fn wrong() -> Result<Vec<String>, String> {
    let page = tree::read(&tree::root().join("ARCHITECTURE.md"))?;
    let crates = tree::crates()?;
    let mut below = BTreeMap::new();
    for name in crates.iter().filter(|name| !is_for_the_project(name)) {
        below.insert(name.clone(), unify::below(&tree::manifest(name)?).into_iter().collect());
    }
    Ok(reported(&floors(&page, &crates), &below))
}

/// The crates that are on no floor, and those that depend on a floor above their own, one line
/// each.
fn reported(floors: &BTreeMap<String, u32>, below: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, below) in below {
        let Some(floor) = floors.get(name) else {
            wrong.push(format!("ARCHITECTURE.md: the drawing has no crate {name}"));
            continue;
        };
        for below in below {
            if floors.get(below).is_none_or(|other| other > floor) {
                wrong.push(format!(
                    "crates/{name}: it depends on {below}, which ARCHITECTURE.md draws above it"
                ));
            }
        }
    }
    wrong
}

/// Whether a crate is on no floor because nothing that is shipped depends on it.
fn is_for_the_project(name: &str) -> bool {
    matches!(name, "testkit" | "xtask" | unify::PACKAGE)
}

/// The floor of each crate in the first drawing of the page.
fn floors(page: &str, crates: &[String]) -> BTreeMap<String, u32> {
    let drawing = page.split("```text\n").nth(1).unwrap_or_default();
    let drawing = drawing.split("```").next().unwrap_or_default();
    let mut floor = 0;
    let mut floors = BTreeMap::new();
    for line in drawing.lines() {
        for word in line.split_whitespace() {
            if let Ok(number) = word.parse() {
                floor = number;
            } else if crates.iter().any(|name| name == word) {
                floors.entry(word.to_owned()).or_insert(floor);
            }
        }
    }
    floors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_a_floor_above_or_is_on_none_is_reported() {
        let floors = [("high", 2), ("low", 1)].map(|(name, floor)| (name.to_owned(), floor)).into();
        let below = |name: &str, on: &[&str]| (name.to_owned(), on.iter().map(|&n| n.to_owned()).collect());
        assert!(reported(&floors, &[below("high", &["low", "high"]), below("low", &[])].into()).is_empty());
        assert_eq!(
            reported(&floors, &[below("low", &["high"]), below("new", &[])].into()),
            [
                "crates/low: it depends on high, which ARCHITECTURE.md draws above it",
                "ARCHITECTURE.md: the drawing has no crate new"
            ]
        );
    }

    #[test]
    fn a_floor_has_all_crates_of_its_lines() {
        let page =
            "# A\n```text\n 2  top   cli ──► kinds   words\n 1  low   simd\n          block      cli\n```\n";
        let crates = ["block", "cli", "kinds", "simd", "wire"].map(str::to_owned);
        let expected = [("block", 1), ("cli", 2), ("kinds", 2), ("simd", 1)];
        assert_eq!(floors(page, &crates), expected.map(|(name, floor)| (name.to_owned(), floor)).into());
    }
}
