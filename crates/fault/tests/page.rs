//! The page on troubleshooting has every code of the table, with its texts.

use hushwire_fault::{TABLE, page};
use std::{fs, path::Path};

/// `HUSHWIRE_WRITE_PAGE=1 cargo test -p hushwire-fault` writes it anew; the difference is then reviewed.
#[test]
fn the_page_is_made_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/troubleshooting.md");
    let text = fs::read_to_string(&path).expect("the page is there");
    let mark = "<!-- made of the table in crates/fault/src/table.rs -->\n";
    let (head, list) = text.split_once(mark).expect("the page has the mark before the list");
    if std::env::var_os("HUSHWIRE_WRITE_PAGE").is_some() {
        fs::write(&path, format!("{head}{mark}{}", page())).expect("the page can be written");
    } else {
        assert!(list == page(), "docs/troubleshooting.md is not what the table says");
    }
}

#[test]
fn headings_are_those_that_anchors_name() {
    let page = page();
    let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(headings.len(), TABLE.len());
    for (heading, entry) in headings.iter().zip(TABLE) {
        // As hosts of Markdown make them.
        let anchor: String = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        assert_eq!(anchor, entry.anchor());
    }
}
