//! The results of the checks, as a table for people and as JSON for programs.

use super::Patient;
use crate::{error::Error, out};
use hushwire::job::Fault;
use hushwire_machine::printable;
use serde::Serialize;
use std::fmt::Write;

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Ok,
    /// It works, but should be changed.
    Warn,
    Fail,
    /// The check could not be made.
    Skipped,
}

/// The purpose of each check: the consequence for a run if the check fails.
const WHY: [(&str, &str); 14] = [
    ("key", "whoever reads the private key can pose as this member in every run"),
    ("certificate", "when it has ended the others refuse this member, in the middle of the night as well"),
    (
        "transport",
        "TLS with pins keeps everybody between the hosts from reading and changing what members send",
    ),
    (
        "port",
        "parties with a higher number, and clients, dial this address: if they get no answer, no run begins",
    ),
    ("open files", "each lane to a peer is an open file; a run with too few of them ends at its start"),
    ("machine", "without AES instructions a run takes many times as long, and all others wait for it"),
    ("reachable", "a run begins when all its members are connected, and waits for `connect-timeout` at most"),
    (
        "pin",
        "the pin is how members know each other; whoever shows another one is a stranger, or has a new key",
    ),
    ("version", "members of different releases refuse each other before any data moves"),
    ("clock", "certificates are read by the clock, and logs of several hosts are compared by it"),
    ("round trip", "a protocol waits for this as often as it has rounds: `--explain` of a job says how many"),
    ("rate to it", "bytes of a job divided by this are the least time of its run"),
    ("rate from it", "bytes of a job divided by this are the least time of its run"),
    ("dials us", "who dials depends on the numbers of members: both ways must be open"),
];

/// Returns the purpose of a check.
pub(crate) fn why(check: &str) -> &'static str {
    WHY.iter().find(|(name, _)| *name == check).map_or("", |(_, why)| why)
}

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    /// The member that is checked, such as `party 1`.
    pub(crate) subject: String,
    pub(crate) check: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) found: String,
    /// A measured number, in the unit of the next field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) remedy: Option<String>,
    /// The consequence for a run if the check fails.
    why: &'static str,
}

impl Check {
    fn new(verdict: Verdict, check: &'static str, found: String, remedy: Option<String>) -> Self {
        Self {
            subject: String::new(),
            check,
            verdict,
            found,
            value: None,
            unit: None,
            remedy,
            why: why(check),
        }
    }

    pub(crate) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(Verdict::Ok, check, found.into(), None)
    }

    pub(crate) fn skipped(check: &'static str, found: impl Into<String>) -> Self {
        Self::new(Verdict::Skipped, check, found.into(), None)
    }

    pub(crate) fn warn(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Verdict::Warn, check, found.into(), Some(remedy.into()))
    }

    pub(crate) fn fail(check: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Verdict::Fail, check, found.into(), Some(remedy.into()))
    }

    pub(crate) fn of_fault(check: &'static str, e: &Fault) -> Self {
        Self::fail(check, e.cause(), e.remedy())
    }

    pub(crate) fn value(self, value: f64, unit: &'static str) -> Self {
        Self { value: Some(value), unit: Some(unit), ..self }
    }

    pub(crate) fn of(self, subject: &str) -> Self {
        Self { subject: subject.to_owned(), ..self }
    }
}

/// The checks, and the member that made them.
#[derive(Serialize)]
pub(crate) struct DoctorReport {
    command: &'static str,
    version: &'static str,
    member: String,
    pin: String,
    transport: String,
    /// Whether no check failed.
    ok: bool,
    pub(crate) checks: Vec<Check>,
}

impl DoctorReport {
    pub(crate) fn new(patient: &Patient, checks: Vec<Check>) -> Self {
        Self {
            command: "doctor",
            version: env!("CARGO_PKG_VERSION"),
            member: patient.file.me.key(),
            pin: patient.identity.pin().to_string(),
            transport: patient.file.transport.to_string(),
            ok: checks.iter().all(|check| check.verdict != Verdict::Fail),
            checks,
        }
    }

    /// Returns the report as one JSON object.
    pub(crate) fn for_programs(&self) -> Result<String, Error> {
        out::pretty(self)
    }

    /// Returns a table by subject, then the remedies, and then the purpose of `all` checks, or only
    /// of those that found something.
    pub(crate) fn for_people(&self, all: bool) -> String {
        let mut text = String::new();
        let mut subject = "";
        for check in &self.checks {
            if check.subject != subject {
                subject = &check.subject;
                let _ = writeln!(text, "{}", printable(subject));
            }
            let mark = match check.verdict {
                Verdict::Ok => "ok",
                Verdict::Warn => "warn",
                Verdict::Fail => "FAIL",
                Verdict::Skipped => "-",
            };
            let _ = writeln!(text, "  {mark:4}  {:13} {}", check.check, printable(&check.found));
        }
        let todo: Vec<_> = self.checks.iter().filter_map(|c| c.remedy.as_ref().map(|r| (c, r))).collect();
        if !todo.is_empty() {
            let _ = writeln!(text, "to do");
        }
        for (i, (Check { subject, check, .. }, remedy)) in todo.into_iter().enumerate() {
            let _ = writeln!(text, "  {}. {}, {check}: {}", i + 1, printable(subject), printable(remedy));
        }
        let mut explained: Vec<&str> = vec![];
        for Check { check, why, .. } in self.checks.iter().filter(|check| all || check.remedy.is_some()) {
            if explained.is_empty() {
                let _ = writeln!(text, "why it matters");
            }
            if !explained.contains(check) {
                explained.push(check);
                let _ = writeln!(text, "  {check:12} {why}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_says_why_it_matters() {
        let sources = [include_str!("own.rs"), include_str!("peers.rs"), include_str!("verdicts.rs")];
        let found = ["Check::ok(", "Check::warn(", "Check::fail(", "Check::skipped(", "Check::of_fault("]
            .iter()
            .flat_map(|call| sources.iter().flat_map(move |text| text.split(call).skip(1)))
            .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
        let names: Vec<&str> = found.collect();
        assert!(names.len() > 20, "{names:?}");
        for name in names {
            assert!(!why(name).is_empty(), "{name}");
        }
    }
}
