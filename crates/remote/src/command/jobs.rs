//! `hushwire service submit`, `wait`, `fetch`, `cancel` and `jobs`.

use super::{Reach, data_pair, out, out::word, pair};
use crate::{Attended, Submission, attend, fetch, jobs::fresh_key, submit, wait};
use clap::Args;
use hushwire_fault::Fault;
use hushwire_files::NewFile;
use hushwire_seal::{Card, Person};
use hushwire_session::ClientFile;
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    time::Duration,
};

/// A job that is submitted.
#[derive(Args)]
pub struct SubmitArgs {
    /// The proposal that it runs
    #[arg(long, value_name = "ID", required_unless_present = "digest", conflicts_with = "digest")]
    proposal: Option<String>,
    /// Or the digest of its terms
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
    /// A data set of the job and the id to take for it
    #[arg(long = "data", value_name = "NAME=ID", value_parser = data_pair)]
    data: Vec<(String, String)>,
    /// The value of a parameter
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = pair)]
    parameters: Vec<(String, String)>,
    /// A recipient of the job and whom to seal its result to: a file of keys, or a card of another
    #[arg(long = "recipient", value_name = "NAME=FILE", value_parser = pair)]
    recipients: Vec<(String, String)>,
    /// A client of the job and the pin of its certificate; it takes part with `attend`
    #[arg(long = "client", value_name = "NAME=PIN", value_parser = pair)]
    clients: Vec<(String, String)>,
    /// The same key is the same job, however often it is submitted
    #[arg(long)]
    key: Option<String>,
    /// Jobs of a higher number start earlier
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i64,
    #[command(flatten)]
    reach: Reach,
}

/// A job.
#[derive(Args)]
pub struct JobArgs {
    /// The job's id
    id: String,
    #[command(flatten)]
    reach: Reach,
}

/// A job that is awaited.
#[derive(Args)]
pub struct WaitArgs {
    #[command(flatten)]
    one: JobArgs,
    /// Wait at most this many seconds
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
    /// With --json: print a line of JSON for each change, and what all parties say on the last line
    #[arg(long, requires = "json")]
    progress: bool,
}

/// A result that is fetched.
#[derive(Args)]
pub struct FetchArgs {
    #[command(flatten)]
    one: JobArgs,
    /// The recipient whose result it is; the only one that these keys open, by default
    #[arg(long)]
    output: Option<String>,
    /// The file of keys that it is sealed to
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// Write the result as CSV into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A client that takes part in a job while it runs.
#[derive(Args)]
pub struct AttendArgs {
    #[command(flatten)]
    one: JobArgs,
    /// The client's file: its name, key, inputs and outputs, as of `hushwire client`. Peers in it
    /// are not read
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Wait at most this many seconds for the start
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
}

/// The outputs that a party itself learnt.
#[derive(Args)]
pub struct LearntArgs {
    #[command(flatten)]
    one: JobArgs,
    /// The party, whose operator asks; the first one of the file that gave a token, by default
    #[arg(long)]
    party: Option<u8>,
    /// Write it into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Jobs that are listed.
#[derive(Args)]
pub struct JobsArgs {
    /// Jobs in this state alone
    #[arg(long)]
    state: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

/// Reads the card of a person, from a file of keys or from the output of `hushwire service key show
/// --json`.
fn card(path: &str) -> Result<Card, Fault> {
    let path = Path::new(path);
    let text = fs::read_to_string(path).unwrap_or_default();
    match serde_json::from_str::<Card>(&text) {
        Ok(card) => card.check().map(|()| card).map_err(Fault::from),
        Err(_) => Ok(Person::read(path)?.card("")),
    }
}

impl SubmitArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let mut submission = Submission {
            proposal: self.proposal,
            digest: self.digest,
            data: self.data.into_iter().collect(),
            parameters: self.parameters.into_iter().collect(),
            clients: self.clients.into_iter().collect(),
            priority: self.priority,
            ..Submission::default()
        };
        for (name, path) in &self.recipients {
            submission.seal_to(name, &card(path)?.seal_to);
        }
        let key = self.key.map_or_else(fresh_key, Ok)?;
        let submitted = submit(&self.reach.service()?, &submission, &key).map_err(|e| {
            let remedy = format!("{}; the same job again is `--key {key}`", e.remedy());
            e.remedied(remedy)
        });
        let (id, view) = submitted?;
        if self.reach.json { out::json(&view) } else { out::line(id) }
    }
}

impl WaitArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let JobArgs { id, reach } = self.one;
        // On a terminal, one line changes; elsewhere, each change of the state has its own line.
        let (live, mut last) = (io::stderr().is_terminal(), String::new());
        let waited = wait(&reach.service()?, &id, self.limit.map(Duration::from_secs), |view| {
            if self.progress {
                // A closed output is ignored here; the end reports it.
                let _ = out::json_line(view);
            } else if !reach.json && live {
                out::over(state(view));
            } else if !reach.json && state(view) != last {
                last = state(view);
                out::note(&last);
            }
        });
        if live && !reach.json {
            out::over("");
        }
        let views = waited?;
        match (self.progress, reach.json) {
            (true, _) => out::json_line(&views),
            (false, true) => out::json(&views),
            (false, false) => out::line(word(&views[0]["state"])),
        }
    }
}

/// The state of a job in one line.
fn state(view: &Value) -> String {
    let mut line = word(&view["state"]);
    if let Some(attempt) = view["attempt"].as_u64().filter(|attempt| *attempt > 1) {
        line += &format!(", attempt {attempt}");
    }
    if let Some(waits) = view["waits"].as_str() {
        line += &format!(", {waits}");
    }
    let progress = &view["progress"];
    if let Some(phase) = progress["phase"].as_str().filter(|phase| !phase.is_empty()) {
        line += &format!(", {phase}");
    }
    if let (Some(done), Some(of)) = (progress["done"].as_u64(), progress["of"].as_u64().filter(|of| *of > 0))
    {
        line += &format!(", {} %", 100 * done / of);
    }
    line
}

impl FetchArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let JobArgs { id, reach } = self.one;
        let person = Person::read(&self.keys)?;
        let fetched = fetch(&reach.service()?, &id, self.output.as_deref(), &person)?;
        let opened = &fetched.opened;
        if let Some(path) = &self.out {
            let csv: Vec<_> = opened.csv.values().collect();
            let [csv] = csv[..] else {
                let cause = format!("the result has {} tables, and a file takes one", csv.len());
                return Err(Fault::usage(
                    "writing a result",
                    cause,
                    "leave --out out, and take what is printed",
                ));
            };
            NewFile::create(path, 0o600)?.write(csv)?;
        }
        match (reach.json, &self.out) {
            (true, _) => {
                out::json(&json!({ "output": fetched.output, "key": fetched.key, "result": opened.json }))
            }
            (false, Some(path)) => out::line(format_args!("wrote {}", path.display())),
            (false, None) => out::bytes(&opened.text),
        }
    }
}

impl AttendArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let JobArgs { id, reach } = self.one;
        let file = ClientFile::read_without_peers(&self.config)?;
        let limit = self.limit.map(Duration::from_secs);
        let quiet = reach.json;
        let attended = attend(&reach.service()?, &id, &file, limit, move |text| {
            if !quiet {
                out::note(text);
            }
        });
        let Attended { printed, stats, attempt } = attended?;
        if reach.json {
            let learnt = String::from_utf8_lossy(&printed);
            return out::json(&json!({ "job": id, "attempt": attempt, "learnt": learnt, "stats": stats }));
        }
        out::bytes(&printed)
    }
}

impl LearntArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let JobArgs { id, reach } = self.one;
        let service = reach.service()?;
        let party = match self.party {
            Some(party) => service.party(party)?,
            None => service.with_token()?[0],
        };
        let bytes = party.bytes(&format!("/v1/jobs/{id}/results/learnt"), &[])?;
        if let Some(path) = &self.out {
            NewFile::create(path, 0o600)?.write(&bytes)?;
            return reach.done(format_args!("wrote {}", path.display()));
        }
        if reach.json {
            let learnt = String::from_utf8_lossy(&bytes);
            return out::json(&json!({ "job": id, "party": party.party(), "learnt": learnt }));
        }
        out::bytes(&bytes)
    }
}

impl JobArgs {
    pub(super) fn cancel(self) -> Result<(), Fault> {
        let path = format!("/v1/jobs/{}/cancel", self.id);
        let service = self.reach.service()?;
        // Any party tells party 0, which decides.
        let party = service.with_token()?[0];
        let view: Value = party.read(&party.post(&path, &json!({}), None)?)?;
        if self.reach.json { out::json(&view) } else { out::line(word(&view["state"])) }
    }
}

impl JobsArgs {
    pub(super) fn run(self) -> Result<(), Fault> {
        let service = self.reach.service()?;
        let path = match &self.state {
            Some(state) => format!("/v1/jobs?state={state}"),
            None => "/v1/jobs".to_owned(),
        };
        let view: Value = service.with_token()?[0].get(&path)?;
        if self.reach.json {
            return out::json(&view);
        }
        let jobs = view["jobs"].as_array().into_iter().flatten();
        let row = |job: &Value| vec![word(&job["id"]), word(&job["kind"]), word(&job["created"]), state(job)];
        out::table(&["id", "kind", "created", "state"], &jobs.map(row).collect::<Vec<_>>())
    }
}
