//! The troubleshooting page has every code of the table, with its texts.

use hushwire_fault::{TABLE, page};

#[test]
fn the_page_is_made_of_the_table() {
    let begin = "<!-- made of the table in crates/fault/src/table.rs -->\n";
    hushwire_testkit::page("troubleshooting.md", begin, &page());
}

#[test]
fn headings_are_those_that_anchors_name() {
    let page = page();
    let headings: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(headings.len(), TABLE.len());
    for (heading, entry) in headings.iter().zip(TABLE) {
        // Markdown hosts make anchors in this way.
        let anchor: String = heading
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        assert_eq!(anchor, entry.anchor());
    }
}
