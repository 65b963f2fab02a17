//! The text of a job file.

use std::fmt::Write;

/// Quotes a string for TOML.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Formats several strings as a list, and one string alone.
pub(super) fn list(all: &[String]) -> String {
    match all {
        [one] => quoted(one),
        all => format!("[{}]", all.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
    }
}

/// Formats a text of several lines as it is, if TOML allows this.
pub(super) fn of_lines(text: &str) -> String {
    let is_plain = text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    if text.contains('\n') && is_plain && !text.contains("'''") {
        return format!("'''\n{}\n'''", text.trim_end_matches('\n'));
    }
    quoted(text)
}

/// The text of a job file.
pub(super) struct JobLines(String);

impl JobLines {
    /// Begins a file of a kind. Its first line says with `what` that all members need the same
    /// file.
    pub(super) fn new(kind: &str, what: &str) -> Self {
        let first = format!(
            "# All members have this file alike. `hushwire job show` says who learns what of {what}."
        );
        Self(format!("{first}\nkind = \"{kind}\"\n"))
    }

    pub(super) fn put(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// Adds a table of names and values, if there are any.
    pub(super) fn table(&mut self, name: &str, lines: Vec<(String, String)>) {
        if lines.is_empty() {
            return;
        }
        self.put(&format!("\n[{name}]"));
        for (key, value) in lines {
            self.put(&format!("{} = {value}", quoted(&key)));
        }
    }

    pub(super) fn text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_toml_are_quoted() {
        assert_eq!(quoted("a \"b\" \\ \t\u{1}"), "\"a \\\"b\\\" \\\\ \\t\\u0001\"");
        assert_eq!(of_lines("SELECT 1\nFROM t\n"), "'''\nSELECT 1\nFROM t\n'''");
        assert_eq!(of_lines("a\n'''"), "\"a\\u000A'''\"");
        assert_eq!(of_lines("SELECT 'x'"), "\"SELECT 'x'\"");
    }
}
