//! The reference of ONNX operators.

use super::{OPERATORS, Operator};
use core::fmt::Write;

/// The reference of supported ONNX operators, in Markdown: a table with a row for each.
#[must_use]
pub fn reference() -> String {
    let mut all: Vec<&Operator> = OPERATORS.iter().flat_map(|file| file.iter()).collect();
    all.sort_unstable_by_key(|operator| operator.name);
    let mut out = String::from("| operator | attributes | |\n|---|---|---|\n");
    for Operator { name, doc, attributes, .. } in all {
        let attributes: Vec<String> = attributes.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "| {name} | {} | {doc} |", attributes.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page has the table, which is made anew with HUSHWIRE_WRITE_REFERENCE=1.
    #[test]
    fn the_page_has_the_table() {
        const BEGIN: &str = "<!-- from the table of operators in crates/nn -->\n";
        const END: &str = "<!-- end -->\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/operators.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let (before, rest) = page.split_once(BEGIN).expect("the table begins");
        let (table, after) = rest.split_once(END).expect("the table ends");
        if std::env::var_os("HUSHWIRE_WRITE_REFERENCE").is_some() {
            std::fs::write(path, format!("{before}{BEGIN}{}{END}{after}", reference()))
                .expect("it is written");
            return;
        }
        assert_eq!(table, reference(), "run this test with HUSHWIRE_WRITE_REFERENCE=1");
    }
}
