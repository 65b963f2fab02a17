//! Names of types that several crates define: a reader of two of these crates must keep them apart.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Lexed;
use crate::tree;

/// The largest number of crates that may define a name.
pub(crate) const MOST: usize = 3;

/// Associated types, whose names come from traits.
const OF_TRAITS: &[&str] = &["Out", "Output", "Err", "Error", "Item", "Target"];

/// The names that too many crates define, one line each.
pub(crate) fn shared() -> Result<Vec<String>, String> {
    let mut crates_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for directory in tree::crates()? {
        for path in tree::crate_files(&directory)? {
            let short = tree::short(&path);
            let inside = short.split_once("/src/").map(|(_, inside)| inside);
            if inside.is_some_and(|inside| !inside.contains("test")) {
                for name in defined(&Lexed::new(&tree::read(&path)?).code) {
                    crates_of.entry(name).or_default().insert(directory.clone());
                }
            }
        }
    }
    Ok(reported(crates_of))
}

/// The names that are in more than [`MOST`] crates, one line each.
fn reported(crates_of: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut shared: Vec<_> = crates_of.into_iter().filter(|(_, crates)| crates.len() > MOST).collect();
    shared.sort_by_key(|(_, crates)| std::cmp::Reverse(crates.len()));
    let line = |(name, crates): (String, BTreeSet<String>)| {
        let list: Vec<String> = crates.into_iter().collect();
        format!("the type name {name} is defined in {} crates: {}", list.len(), list.join(" "))
    };
    shared.into_iter().map(line).collect()
}

/// The names of types that a file's code defines.
fn defined(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in code.lines() {
        let mut words = line.split_whitespace().peekable();
        while words.peek().is_some_and(|word| word.starts_with("pub") || word.ends_with(')')) {
            words.next();
        }
        let keyword = words.next().unwrap_or_default();
        if !matches!(keyword, "struct" | "enum" | "trait" | "type" | "union") {
            continue;
        }
        let word = words.next().unwrap_or_default();
        let name: String =
            word.chars().take_while(|&letter| letter.is_alphanumeric() || letter == '_').collect();
        if !(name.is_empty() || keyword == "type" && OF_TRAITS.contains(&name.as_str())) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_crates_may_share_a_name_and_four_are_reported() {
        let among = |crates: &[&str]| crates.iter().map(|&name| name.to_owned()).collect();
        let names = [("A", among(&["a", "b", "c"])), ("B", among(&["a", "b", "c", "d"]))];
        let names = names.map(|(name, crates)| (name.to_owned(), crates)).into();
        assert_eq!(reported(names), ["the type name B is defined in 4 crates: a b c d"]);
    }

    #[test]
    fn definitions_of_any_visibility_are_found() {
        let code = "pub struct A<T>(T);\n    pub(in crate::b) enum B {\ntype C = u8;\nimpl D for A {\n    type Out = u8;\n\
                    trait E: Sized {\nlet structure = 1;\npub fn f() {}\nstruct Error;\n";
        assert_eq!(defined(code), ["A", "B", "C", "E", "Error"]);
    }
}
