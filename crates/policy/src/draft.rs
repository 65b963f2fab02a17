//! A draft of the block that allows a proposal, for the operator to narrow and sign.

use hushwire_seal::{BlakeName, KeyId};
use std::{collections::BTreeMap, fmt::Write};

/// The facts about a proposal that its draft needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyDraft<'a> {
    /// The digest of its terms.
    pub digest: BlakeName,
    /// The name for people.
    pub name: &'a str,
    /// The tenant that proposes it.
    pub tenant: &'a str,
    /// The rule for each table: `id:`, `line:` or `owner:`, and digits.
    pub data: &'a BTreeMap<String, String>,
    /// The keys to which results may be sealed.
    pub recipients: &'a [KeyId],
    /// The pin of each client.
    pub clients: &'a BTreeMap<String, String>,
    /// The values of each parameter: a range, or texts.
    pub parameters: &'a BTreeMap<String, Result<String, Vec<String>>>,
    /// The least number of rows of a group.
    pub min_group: Option<u64>,
    /// The total number of runs.
    pub runs: u64,
    /// The end, as a date or time.
    pub expires: Option<&'a str>,
}

/// Writes a file with one block.
#[must_use]
pub fn draft(of: &PolicyDraft<'_>) -> String {
    let quoted = |text: &str| {
        let mut quoted = String::from("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => {
                    quoted.push('\\');
                    quoted.push(c);
                }
                c if c.is_control() => _ = write!(quoted, "\\u{:04X}", u32::from(c)),
                c => quoted.push(c),
            }
        }
        quoted + "\""
    };
    let list = |texts: &[String]| {
        let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
        format!("[{}]", texts.join(", "))
    };
    let mut text = String::from("[[allow]]\n");
    let mut line = |key: &str, value: &str| _ = writeln!(text, "{key} = {value}");
    line("digest", &quoted(&of.digest.to_string()));
    line("name", &quoted(of.name));
    line("tenant", &quoted(of.tenant));
    if !of.data.is_empty() {
        let data: Vec<_> =
            of.data.iter().map(|(table, rule)| format!("{} = {}", quoted(table), quoted(rule))).collect();
        line("data", &format!("{{ {} }}", data.join(", ")));
    }
    let recipients: Vec<_> = of.recipients.iter().map(ToString::to_string).collect();
    line("recipients", &list(&recipients));
    if !of.clients.is_empty() {
        let clients: Vec<_> =
            of.clients.iter().map(|(name, pin)| format!("{} = {}", quoted(name), quoted(pin))).collect();
        line("clients", &format!("{{ {} }}", clients.join(", ")));
    }
    if let Some(least) = of.min_group {
        line("min-group", &least.to_string());
    }
    if !of.parameters.is_empty() {
        let parameters = of.parameters.iter().map(|(name, values)| {
            let values = values.as_ref().map_or_else(|texts| list(texts), |range| quoted(range));
            format!("{} = {values}", quoted(name))
        });
        line("parameters", &format!("{{ {} }}", parameters.collect::<Vec<_>>().join(", ")));
    }
    line("runs", &of.runs.to_string());
    if let Some(expires) = of.expires {
        line("expires", expires);
    }
    text
}
