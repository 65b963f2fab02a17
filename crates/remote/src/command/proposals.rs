//! `hushwire service propose`, `proposals`, `explain`, `withdraw`, `approve` and `deny`.

use super::{Reach, data::moment, out, out::word};
use clap::Args;
use hushwire_fault::Fault;
use hushwire_policy::{PolicyFile, explain, moment_text};
use hushwire_seal::Person;
use hushwire_session::toml_file::Source;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A job that is proposed.
#[derive(Args)]
pub struct ProposeArgs {
    /// The job file
    job: PathBuf,
    /// The date or time at which the proposal ends, and an approval of it
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

/// A proposal.
#[derive(Args)]
pub struct ProposalArgs {
    /// The proposal's id
    id: String,
    #[command(flatten)]
    reach: Reach,
}

/// A policy that allows a proposal.
#[derive(Args)]
pub struct ApproveArgs {
    #[command(flatten)]
    one: ProposalArgs,
    /// The policy file; `hushwire service policy draft` makes one
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// Your file of keys, whose key the parties have as an operator's
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
}

/// A proposal that is denied.
#[derive(Args)]
pub struct DenyArgs {
    #[command(flatten)]
    one: ProposalArgs,
    /// Why, for whoever proposed it
    #[arg(long)]
    reason: String,
}

/// The text of a file.
pub(super) fn text_of(path: &Path) -> Result<String, Fault> {
    fs::read_to_string(path).map_err(|e| Fault::io("read", path, &e))
}

/// The texts of files that a job file names, by their names in it. They are sent with the job file.
fn brought(job: &str, path: &Path) -> Result<BTreeMap<String, String>, Fault> {
    let dir = path.parent().unwrap_or(Path::new(""));
    let mut files = BTreeMap::new();
    let source = Source::new(path, job);
    let mut top = source.sections()?;
    for key in ["computation", "network", "circuit-file"] {
        if let Some(value) = top.take(key)
            && let Ok(name) = value.text()
            && !name.contains('\n')
        {
            files.insert(name.to_owned(), text_of(&dir.join(name))?);
        }
    }
    Ok(files)
}

impl ProposeArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let job = text_of(&self.job)?;
        let files = brought(&job, &self.job)?;
        let mut body = json!({ "job": job });
        if !files.is_empty() {
            body["files"] = json!(files);
        }
        if let Some(expires) = &self.expires {
            body["expires"] = json!(moment_text(moment(expires)?));
        }
        let service = self.reach.service()?;
        let views =
            service.each(|party| party.read::<Value>(&party.post("/v1/proposals", &body, None)?))?;
        service.alike(&views, "id")?;
        service.alike(&views, "digest")?;
        if self.reach.json {
            return out::json(&views);
        }
        out::fields(&views[0], &["id", "digest"])?;
        words(&views[0])
    }
}

/// Prints the computation of a proposal in words.
fn words(view: &Value) -> Result<(), Fault> {
    for term in view["terms"].as_array().into_iter().flatten() {
        out::line(format_args!("term     {}: {}", word(&term[0]), word(&term[1])))?;
    }
    for line in view["explain"].as_array().into_iter().flatten() {
        out::line(format_args!("         {}", word(line)))?;
    }
    Ok(())
}

pub(super) fn list(reach: &Reach) -> Result<(), Fault> {
    let service = reach.service()?;
    let views = service.with_token()?.into_iter().map(|party| party.get::<Value>("/v1/proposals"));
    let views = views.collect::<Result<Vec<_>, _>>()?;
    if reach.json {
        return out::json(&views);
    }
    let of = |view: &Value| view["proposals"].as_array().cloned().unwrap_or_default();
    let mut rows = vec![];
    for one in of(&views[0]) {
        let state = |view: &Value| {
            let same = of(view).into_iter().find(|other| other["id"] == one["id"]);
            same.map_or("absent".to_owned(), |one| word(&one["state"]))
        };
        let states: Vec<_> = views.iter().map(state).collect();
        let [id, kind, tenant, created] = ["id", "kind", "tenant", "created"].map(|field| word(&one[field]));
        rows.push(vec![id, kind, tenant, states.join(" "), created]);
    }
    out::table(&["id", "kind", "tenant", "states", "created"], &rows)
}

impl ProposalArgs {
    pub(super) fn explain(self) -> Result<(), Fault> {
        let service = self.reach.service()?;
        let parties = service.with_token()?;
        let path = format!("/v1/proposals/{}", self.id);
        let views = parties.iter().map(|party| party.get::<Value>(&path)).collect::<Result<Vec<_>, _>>()?;
        service.alike(&views, "digest")?;
        if self.reach.json {
            return out::json(&views);
        }
        out::fields(&views[0], &["id", "digest", "kind", "tenant", "by", "created"])?;
        words(&views[0])?;
        for (party, view) in parties.iter().zip(&views) {
            let (state, verdict) = (word(&view["state"]), &view["verdict"]);
            let by = verdict["by"].as_str().map_or(String::new(), |by| format!(" by {by}"));
            let reason = verdict["reason"].as_str().map_or(String::new(), |reason| format!(": {reason}"));
            out::line(format_args!("party {}  {state}{by}{reason}", party.party()))?;
        }
        Ok(())
    }

    pub(super) fn withdraw(self) -> Result<(), Fault> {
        let path = format!("/v1/proposals/{}", self.id);
        let service = self.reach.service()?;
        let views = service.each(|party| party.read::<Value>(&party.delete(&path)?))?;
        if self.reach.json { out::json(&views) } else { out::line("it is withdrawn at all parties") }
    }

    fn judge(&self, body: &Value) -> Result<(), Fault> {
        let path = format!("/v1/proposals/{}/verdict", self.id);
        let service = self.reach.service()?;
        let mut views = vec![];
        for party in service.with_token()? {
            let view: Value = party.read(&party.post(&path, body, None)?)?;
            if !self.reach.json {
                out::line(format_args!("party {}  {}", party.party(), word(&view["state"])))?;
            }
            views.push(view);
        }
        if self.reach.json { out::json(&views) } else { Ok(()) }
    }
}

impl ApproveArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let text = text_of(&self.policy)?;
        let policy = PolicyFile::parse(&self.policy, &text)?;
        let person = Person::read(&self.keys)?;
        if !self.one.reach.json {
            policy.allow.iter().for_each(|rule| out::note(explain(rule, 0)));
        }
        self.one.judge(&json!({
            "verdict": "approve",
            "policy": text,
            "signature": policy.sign(person.sign()),
            "signer": person.sign().public(),
        }))
    }
}

impl DenyArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        self.one.judge(&json!({ "verdict": "deny", "reason": self.reason }))
    }
}
