//! The reference page of operations.

use super::{OPS, Syntax};
use core::fmt::Write;

/// The reference of operations in text, as Markdown: a table with a row for each.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from("| in text | in Rust | |\n|---|---|---|\n");
    let cell = |text: &str| text.replace('|', "\\|").replace("[`", "`").replace("`]", "`");
    for row in OPS {
        let between =
            |signs: &[&str]| signs.iter().map(|s| format!("`x {s} y`")).collect::<Vec<_>>().join(" ");
        let mut text = match row.syntax {
            Syntax::Between(signs, _) => between(&signs.iter().map(|(sign, _)| *sign).collect::<Vec<_>>()),
            Syntax::Before(sign, _) => format!("`{sign}x`"),
            Syntax::Shift(sign, _) => format!("`x {sign} 3`"),
            Syntax::Named(example) | Syntax::Call([_], example, _) => format!("`{example}`"),
            Syntax::Call(names, example, _) => {
                let others: Vec<_> = names.iter().filter(|name| !example.starts_with(*name)).collect();
                let others: Vec<_> = others.iter().map(|name| format!("`{name}`")).collect();
                format!("`{example}`, {}", others.join(", "))
            }
        };
        text = cell(&text);
        let leaks = row.leaks.map_or(String::new(), |leaks| format!(" Among three parties it {leaks}."));
        let _ = writeln!(out, "| {text} | `{}` | {}{leaks} |", row.op, cell(row.doc));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_table() {
        let begin = "<!-- from the table of operations in crates/compute -->\n";
        hushwire_testkit::page("reference/operations.md", begin, &reference());
    }
}
