//! `hushwire audit`.

use super::{Reach, out, out::word};
use crate::{PartyClient, Service};
use clap::{Args, Subcommand};
use hushwire_fault::{Fault, PartyId, code};
use hushwire_policy::moment_text;
use hushwire_seal::audit::{AuditEntry, AuditHead, contradiction, verify};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

/// The commands on audit logs.
#[derive(Subcommand)]
pub enum AuditCommand {
    /// Print entries of a party's log
    Show(ShowArgs),
    /// Check the chain of each party's log, and that the heads which the parties recorded of each
    /// other are in them
    Verify(VerifyArgs),
}

/// Entries of a log.
#[derive(Args)]
pub struct ShowArgs {
    /// The party
    #[arg(long, default_value_t = 0)]
    party: u8,
    /// The first entry's number
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// How many
    #[arg(long, default_value_t = 100)]
    most: usize,
    #[command(flatten)]
    reach: Reach,
}

/// Logs to check.
#[derive(Args)]
pub struct VerifyArgs {
    /// A log in a file instead, an entry a line
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The file of the service: its parties, their pins, and your tokens
    #[arg(long = "to", env = "HUSHWIRE_SERVICE", value_name = "FILE", required_unless_present = "file")]
    to: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Entries in the form in which a party gives them.
#[derive(Deserialize)]
struct LogPage {
    entries: Vec<AuditEntry>,
    head: AuditHead,
}

/// LOCAL: the number of entries that are requested at a time.
const PAGE: usize = 1000;

impl AuditCommand {
    pub(super) fn run(self) -> Result<(), Fault> {
        match self {
            Self::Show(args) => args.run(),
            Self::Verify(args) => args.run(),
        }
    }
}

impl ShowArgs {
    fn run(self) -> Result<(), Fault> {
        let service = self.reach.service()?;
        let party = service.party(self.party)?;
        let page: LogPage = party.get(&format!("/v1/audit?from={}&limit={}", self.from, self.most))?;
        if self.reach.json {
            return out::json(&page.entries);
        }
        let row = |entry: AuditEntry| {
            let (seq, at) = (format!("#{}", entry.seq), moment_text(entry.at / 1000));
            let AuditEntry { actor, action, object, detail, .. } = entry;
            let detail = if detail.is_empty() { String::new() } else { word(&Value::Object(detail)) };
            vec![seq, at, actor, action, object, detail]
        };
        let rows: Vec<_> = page.entries.into_iter().map(row).collect();
        out::table(&["entry", "at", "actor", "action", "object", "detail"], &rows)
    }
}

/// A party's whole log, after its chain was checked.
fn whole(party: &PartyClient) -> Result<Vec<AuditEntry>, Fault> {
    let mut entries: Vec<AuditEntry> = vec![];
    let mut head = AuditHead::EMPTY;
    loop {
        let page: LogPage = party.get(&format!("/v1/audit?from={}&limit={PAGE}", head.seq + 1))?;
        let ends = page.entries.is_empty();
        for entry in page.entries {
            entry.follows(&head).map_err(|cause| {
                let (path, line) = (format!("the audit log of party {}", party.party()), head.seq + 1);
                Fault::filled(code::AUDIT_CHAIN, &[("path", &path), ("line", &line), ("cause", &cause)])
                    .during("checking audit logs")
                    .by(PartyId(party.party()))
            })?;
            head = entry.head();
            entries.push(entry);
        }
        if ends && page.head.seq > head.seq {
            let cause = format!("a log that ends at {} and has {} entries", page.head, head.seq);
            return Err(party.odd(cause));
        }
        if ends {
            return Ok(entries);
        }
    }
}

/// The heads of other parties that a log has recorded, by party: `heads` in an entry's detail. With
/// each head comes the number of the entry.
fn recorded(entries: &[AuditEntry]) -> BTreeMap<u8, Vec<(u64, AuditHead)>> {
    let mut recorded: BTreeMap<u8, Vec<(u64, AuditHead)>> = BTreeMap::new();
    for entry in entries {
        for (party, head) in entry.detail.get("heads").and_then(Value::as_object).into_iter().flatten() {
            if let (Ok(party), Some(Ok(head))) = (party.parse(), head.as_str().map(str::parse)) {
                recorded.entry(party).or_default().push((entry.head().seq, head));
            }
        }
    }
    recorded
}

/// An operator's word that another party's log is right although it lacks heads: that party was
/// restored from a backup.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Acceptance {
    by: u8,
    of: u8,
    /// The number of the entry that says so.
    entry: u64,
    /// The number of heads that were recorded before it, and that the log lacks.
    heads: usize,
}

/// The number of the last entry of `accept-log` for a party's log.
fn accepted(entries: &[AuditEntry], of: u8) -> Option<u64> {
    let object = format!("party {of}");
    let says = |entry: &&AuditEntry| entry.action == "accept log" && entry.object == object;
    entries.iter().rev().find(says).map(|entry| entry.head().seq)
}

/// Checks that each log has the heads that the others recorded of it since they accepted it.
/// Returns the number of heads that are there, and the acceptances of logs that lack earlier heads.
fn compare(logs: &BTreeMap<u8, Vec<AuditEntry>>) -> Result<(usize, Vec<Acceptance>), Fault> {
    let (mut compared, mut acceptances) = (0, vec![]);
    for (by, log) in logs {
        for (of, heads) in recorded(log) {
            let Some(entries) = logs.get(&of) else { continue };
            let entry = accepted(log, of);
            let mut lacking = 0;
            for (at, head) in heads {
                let Some(lost) = contradiction(&[head], entries) else {
                    compared += 1;
                    continue;
                };
                if entry.is_none_or(|entry| at > entry) {
                    let who = format!("party {by}");
                    return Err(Fault::filled(code::AUDIT_HEADS, &[("who", &who), ("recorded", &lost)])
                        .during("checking audit logs")
                        .by(PartyId(of)));
                }
                lacking += 1;
            }
            if let (Some(entry), 1..) = (entry, lacking) {
                acceptances.push(Acceptance { by: *by, of, entry, heads: lacking });
            }
        }
    }
    Ok((compared, acceptances))
}

impl VerifyArgs {
    fn run(self) -> Result<(), Fault> {
        if let Some(path) = &self.file {
            let file = File::open(path).map_err(|e| Fault::io("read", path, &e))?;
            let AuditHead { seq, hash } =
                verify(BufReader::new(file)).map_err(|broken| broken.fault(path))?;
            if self.json {
                return out::json(&json!({ "entries": seq, "head": hash }));
            }
            return out::line(format_args!("the chain of {seq} entries holds, to {hash}"));
        }
        let service = Service::read(self.to.as_deref().unwrap_or(Path::new("")))?;
        let mut logs = BTreeMap::new();
        for party in service.with_token()? {
            logs.insert(party.party(), whole(party)?);
        }
        let (compared, acceptances) = compare(&logs)?;
        let head = |log: &Vec<AuditEntry>| log.last().map_or(AuditHead::EMPTY, AuditEntry::head);
        let heads: BTreeMap<u8, AuditHead> = logs.iter().map(|(party, log)| (*party, head(log))).collect();
        if self.json {
            return out::json(&json!({ "heads": heads, "compared": compared, "accepted": acceptances }));
        }
        for (party, AuditHead { seq, hash }) in &heads {
            out::line(format_args!("party {party}: the chain of {seq} entries holds, to {hash}"))?;
        }
        for Acceptance { by, of, entry, heads } in &acceptances {
            out::line(format_args!(
                "party {by} accepted the log of party {of} in entry {entry}, although the log lacks {heads} heads that \
                 party {by} had recorded"
            ))?;
        }
        out::line(format_args!("{compared} heads that the parties recorded of each other are in their logs"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_seal::audit::AuditEvent;

    fn log(details: &[Value]) -> Vec<AuditEntry> {
        let mut head = AuditHead::EMPTY;
        let entry = |detail: &Value| {
            let event = AuditEvent {
                at: 1,
                actor: "daemon".to_owned(),
                action: "reserve".to_owned(),
                object: "7f3a".to_owned(),
                detail: detail.as_object().cloned().unwrap_or_default(),
            };
            let entry = AuditEntry::link(&head, event).unwrap_or_else(|e| panic!("{e}"));
            head = entry.head();
            entry
        };
        details.iter().map(entry).collect()
    }

    #[test]
    fn a_log_that_lacks_a_head_of_another_is_named() {
        let one = log(&[json!({ "n": 1 }), json!({ "n": 2 })]);
        let heads: Vec<_> = one.iter().map(|entry| entry.head().to_string()).collect();
        let two = log(&[
            json!({ "heads": { "1": heads[0], "2": "odd", "x": heads[0] } }),
            json!({ "heads": { "1": heads[1] } }),
        ]);
        let both = BTreeMap::from([(1, one.clone()), (2, two.clone())]);
        assert_eq!(compare(&both).ok(), Some((2, vec![])));
        let anew = log(&[json!({ "n": 1 }), json!({ "n": 3 })]);
        let error = compare(&BTreeMap::from([(1, anew), (2, two.clone())])).err();
        let error = error.unwrap_or_else(|| panic!("an entry was replaced"));
        assert_eq!(error.code(), code::AUDIT_HEADS);
        let text = error.to_string();
        assert!(
            text.starts_with("party 1") && text.contains("party 2 recorded the head 2:blake3:"),
            "{text}"
        );
        assert!(compare(&BTreeMap::from([(1, one[..1].to_vec()), (2, two)])).is_err(), "an entry is gone");
    }

    #[test]
    fn an_accepted_log_may_lack_what_was_recorded_before() {
        let one = log(&[json!({ "n": 1 }), json!({ "n": 2 }), json!({ "n": 3 })]);
        let heads: Vec<_> = one.iter().map(|entry| entry.head().to_string()).collect();
        let before = [json!({ "heads": { "1": heads[0] } }), json!({ "heads": { "1": heads[2] } })];
        let two = |more: &[(&str, &str, Value)]| {
            let mut entries = log(&before);
            for (action, object, detail) in more {
                let event = AuditEvent {
                    at: 1,
                    actor: "accept-log".to_owned(),
                    action: (*action).to_owned(),
                    object: (*object).to_owned(),
                    detail: detail.as_object().cloned().unwrap_or_default(),
                };
                let head = entries.last().map_or(AuditHead::EMPTY, AuditEntry::head);
                entries.push(AuditEntry::link(&head, event).unwrap_or_else(|e| panic!("{e}")));
            }
            entries
        };
        let found = |two: Vec<AuditEntry>| compare(&BTreeMap::from([(1, one[..2].to_vec()), (2, two)])).ok();
        let accept = ("accept log", "party 1", json!({ "had": heads[2] }));
        let acceptance = Acceptance { by: 2, of: 1, entry: 3, heads: 1 };
        assert_eq!(found(two(&[])), None, "nobody accepted it");
        assert_eq!(found(two(std::slice::from_ref(&accept))), Some((1, vec![acceptance])));
        // Another party's log, another act, and what is lost later.
        assert_eq!(found(two(&[("accept log", "party 3", json!({}))])), None);
        assert_eq!(found(two(&[("contradiction", "party 1", json!({}))])), None);
        assert_eq!(found(two(&[accept, ("reserve", "7f3a", before[1].clone())])), None);
    }
}
