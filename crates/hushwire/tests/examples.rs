//! The examples on the crate's page are short. The tests of that page compile and run them.

use std::{fs, path::Path};

const SHOWN: [&str; 6] = ["ot", "garbling", "three_party", "query", "model", "n_party"];

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn each_example_has_at_most_twenty_lines() {
    for name in SHOWN {
        let text = text(&format!("examples/{name}.rs"));
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with("//"));
        let count = lines.count();
        assert!((5..=20).contains(&count), "{name} has {count} lines");
        assert!(text.starts_with("//! ") && text.contains("fn main()"), "{name} is a program with a title");
        assert!(text.contains("assert"), "{name} checks what it learns");
    }
}

#[test]
fn the_page_and_the_readme_show_the_examples() {
    let (page, readme) = (text("src/lib.rs"), text("../../README.md"));
    for name in SHOWN {
        let file = format!("examples/{name}.rs");
        assert!(page.contains(&format!("include_str!(\"../{file}\")")), "the page lacks {name}");
        assert!(readme.contains(&format!("crates/hushwire/{file}")), "the README lacks {name}");
    }
    let blocks: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let is_file = |name: &&str| text(&format!("examples/{name}.rs")) == block;
        assert!(SHOWN.iter().any(is_file), "no example has this text: {block}");
    }
}
