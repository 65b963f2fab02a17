//! Compares the fields of reports with the tables of the documentation that explain them.

use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the fields that the table under a heading lists for a command's report. Its rows are ``
/// | `field` | command, command | … | ``.
fn documented(text: &str, heading: &str, command: &str) -> BTreeSet<String> {
    let section =
        text.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("there is no {heading}"));
    let rows = section.split("\n#").next().unwrap_or_default().lines().filter(|line| line.starts_with("| `"));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let of = cells.filter(|row| row[2].split(", ").any(|name| name == command));
    of.map(|row| row[1].trim_matches('`').to_owned()).collect()
}

/// Collects the fields of a report in the form of the tables: clients have the fields of parties.
/// Names within the fields of `free` are not field names.
fn fields(value: &Value, at: &str, free: &[&str], all: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) if !free.contains(&at) => {
            let dot = if at.is_empty() { "" } else { "." };
            map.iter().for_each(|(key, value)| fields(value, &format!("{at}{dot}{key}"), free, all));
        }
        Value::Array(list) if list.first().is_some_and(Value::is_object) => {
            list.iter().for_each(|value| fields(value, &format!("{at}[]"), free, all));
        }
        // An empty list shows no fields.
        Value::Array(_) if at == "clients" => {}
        _ => {
            all.insert(at.replace("clients[]", "parties[]"));
        }
    }
}

/// Checks that the reports of a command together have all documented fields, and no other field.
pub(crate) fn check(text: &str, heading: &str, command: &str, free: &[&str], reports: &[&Value]) {
    let mut found = BTreeSet::new();
    reports.iter().for_each(|report| fields(report, "", free, &mut found));
    let documented = documented(text, heading, command);
    assert!(!documented.is_empty(), "{heading}: nothing of {command}");
    assert_eq!(found, documented, "{heading}: found, and documented, of {command}");
}
