//! The reference page of ONNX operators.

use super::{OPERATORS, Operator};
use core::fmt::Write;

/// The reference of supported ONNX operators, in Markdown: a table with a row for each.
#[must_use]
pub fn reference() -> String {
    let mut all: Vec<&Operator> = OPERATORS.iter().flat_map(|file| file.iter()).collect();
    all.sort_unstable_by_key(|operator| (operator.set, operator.name));
    let mut out = String::from("| operator | attributes | | error |\n|---|---|---|---|\n");
    for operator in all {
        let (Operator { set, name, doc, attributes, .. }, error) = (operator, operator.bound());
        let set = if set.is_empty() { String::new() } else { format!("{set}.") };
        let attributes: Vec<String> = attributes.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "| {set}{name} | {} | {doc} | {error} |", attributes.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_table() {
        let begin = "<!-- from the table of operators in crates/nn -->\n";
        hushwire_testkit::page("reference/operators.md", begin, &reference());
    }
}
