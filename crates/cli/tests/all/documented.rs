//! Fields of reports beside the tables of the documentation that say what each of them is.

use serde_json::Value;
use std::collections::BTreeSet;

/// The fields that the table under a heading says a command's report has: rows are `` | `field` |
/// command, command | … | ``.
fn documented(text: &str, heading: &str, command: &str) -> BTreeSet<String> {
    let section =
        text.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("there is no {heading}"));
    let rows = section.split("\n#").next().unwrap_or_default().lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let of = cells.filter(|row| row[2].split(", ").any(|name| name == command));
    of.map(|row| row[1].trim_matches('`').to_owned()).collect()
}

/// The fields of a report, as the tables write them: clients have those of parties. What stands in
/// `free` has names that are no fields.
fn fields(value: &Value, at: &str, free: &[&str], all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) if !free.contains(&at) => {
            let dot = if at.is_empty() { "" } else { "." };
            map.iter().for_each(|(key, value)| fields(value, &format!("{at}{dot}{key}"), free, all));
        }
        Value::Array(list) if list.first().is_some_and(Value::is_object) => {
            list.iter().for_each(|value| fields(value, &format!("{at}[]"), free, all));
        }
        // A list without elements has no fields of its own.
        Value::Array(_) if at == "clients" => {}
        _ => {
            all.insert(at.replace("clients[]", "parties[]"));
        }
    }
}

/// Checks that reports of a command have the fields that are documented, together all of them, and
/// no other.
pub(crate) fn check(text: &str, heading: &str, command: &str, free: &[&str], reports: &[&Value]) {
    let mut found = BTreeSet::new();
    reports.iter().for_each(|report| fields(report, "", free, &mut found));
    let documented = documented(text, heading, command);
    assert!(!documented.is_empty(), "{heading}: nothing of {command}");
    assert_eq!(found, documented, "{heading}: found, and documented, of {command}");
}
