//! The drawing of floors in ARCHITECTURE.md, held against what crates depend on.

use std::collections::BTreeMap;

use crate::{tree, unify};

/// What the drawing and the manifests disagree about, one line each.
pub(crate) fn wrong() -> Result<Vec<String>, String> {
    let page = tree::read(&tree::root().join("ARCHITECTURE.md"))?;
    let crates = tree::crates()?;
    let floors = floors(&page, &crates);
    let mut wrong = Vec::new();
    for name in crates.iter().filter(|name| !is_for_the_project(name)) {
        let Some(floor) = floors.get(name) else {
            wrong.push(format!("ARCHITECTURE.md: the drawing has no crate {name}"));
            continue;
        };
        for below in unify::below(&tree::manifest(name)?) {
            if floors.get(&below).is_none_or(|other| other > floor) {
                wrong.push(format!(
                    "crates/{name}: it depends on {below}, which ARCHITECTURE.md draws above it"
                ));
            }
        }
    }
    Ok(wrong)
}

/// The crates that are on no floor, since nothing that is shipped depends on them.
fn is_for_the_project(name: &str) -> bool {
    matches!(name, "testkit" | "xtask" | unify::PACKAGE)
}

/// The floor of each crate that the first drawing of the page has.
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
    fn a_floor_has_all_crates_of_its_lines() {
        let page =
            "# A\n```text\n 2  top   cli ──► kinds   words\n 1  low   simd\n          block      cli\n```\n";
        let crates = ["block", "cli", "kinds", "simd", "wire"].map(str::to_owned);
        let expected = [("block", 1), ("cli", 2), ("kinds", 2), ("simd", 1)];
        assert_eq!(floors(page, &crates), expected.map(|(name, floor)| (name.to_owned(), floor)).into());
    }
}
