//! Jobs: they are submitted to all parties under one key and awaited at all parties, and their
//! results are opened from three shares.

use crate::{PartyClient, Service};
use hushwire_fault::{Code, Fault, code};
use hushwire_kinds::{CircuitSource, ComputationSource, Job, OpenedResult};
use hushwire_seal::{
    BlakeName, KeyId, Person, SealTo, challenge,
    result::{self, ResultPlace},
};
use hushwire_session::SealedShare;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    path::Path,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

/// LOCAL: the interval at which the state of a job is asked for, at first and later.
const LOOK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));
/// The states in which a job has ended. A job that is `committed` may still become `delivered`.
pub(crate) const ENDS: [&str; 4] = ["committed", "delivered", "failed", "cancelled"];

/// A job in the form in which it is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Submission {
    /// The proposal, which the parties have approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<String>,
    /// The digest of its terms, in place of a proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The ids of data sets, by their names in the job.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, String>,
    /// Values of parameters, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// The keys to which results are sealed, by the recipients' names in the job.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub recipients: BTreeMap<String, String>,
    /// The pins of the job's clients, which take part while it runs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub clients: BTreeMap<String, String>,
    /// The priority. Jobs with a higher number start earlier.
    pub priority: i64,
}

impl Submission {
    /// Seals the results of a recipient of the job to a key.
    pub fn seal_to(&mut self, recipient: &str, key: &SealTo) {
        self.recipients.insert(recipient.to_owned(), key.to_string());
    }
}

/// Draws a key for [`submit`].
///
/// # Errors
/// The operating system gives no randomness.
pub(crate) fn fresh_key() -> Result<String, Fault> {
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(|e| Fault::internal("drawing a key", e))?;
    Ok(hex::encode(key))
}

/// Submits a job to all parties. The same `key` is the same job, however often it is submitted.
/// Returns the job's id and party 0's view of it.
///
/// # Errors
/// A party refuses or does not answer. Submit the job again with the same key.
pub fn submit(service: &Service, submission: &Submission, key: &str) -> Result<(String, Value), Fault> {
    let views =
        service.each(|party| party.read::<Value>(&party.post("/v1/jobs", submission, Some(key))?))?;
    let id = service.alike(&views, "id")?;
    let id = id.as_str().ok_or_else(|| service.parties()[0].odd("a job without an id"))?.to_owned();
    Ok((id, views.into_iter().next().unwrap_or_default()))
}

pub(crate) fn text<'v>(view: &'v Value, field: &str) -> &'v str {
    view.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Waits until a job has ended at all parties, or `limit` has passed. `progress` gets party 0's
/// view of the job after each change. Returns the final view of each party.
///
/// # Errors
/// The job failed or was cancelled, with the party's own cause; it did not end in time; or a party
/// does not answer.
pub fn wait(
    service: &Service,
    id: &str,
    limit: Option<Duration>,
    mut progress: impl FnMut(&Value),
) -> Result<Vec<Value>, Fault> {
    const STEP: &str = "waiting for a job";
    let path = format!("/v1/jobs/{id}");
    let (begun, mut pause, mut last) = (Instant::now(), LOOK.0, Value::Null);
    // Party 0 reports each change at once. If it does not, or once it has reported the end, all
    // parties are polled.
    let end = limit.map(|limit| begun + limit);
    follow(&service.parties()[0], &format!("{path}/events"), end, |view| {
        progress(&view);
        last = view;
    });
    loop {
        let views: Vec<Value> = service.get(&path)?;
        if views[0] != last {
            progress(&views[0]);
            last = views[0].clone();
            pause = LOOK.0;
        }
        if views.iter().all(|view| ENDS.contains(&text(view, "state"))) {
            let ill = views.iter().find(|view| matches!(text(view, "state"), "failed" | "cancelled"));
            return ill.map_or(Ok(views.clone()), |view| Err(failed(view)));
        }
        if limit.is_some_and(|limit| begun.elapsed() >= limit) {
            let states: Vec<_> = views.iter().map(|view| text(view, "state")).collect();
            let cause = format!("it has not ended yet: the parties say {}", states.join(", "));
            return Err(Fault::new(code::SERVICE, STEP, cause, "wait again; it goes on meanwhile"));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LOOK.1);
    }
}

/// LOCAL: a party sends a sign of life every 15 s. One that is silent for longer than this is gone.
const SILENT: Duration = Duration::from_secs(40);

/// Follows a job's events until its end, until `until`, or as long as they come.
fn follow(party: &PartyClient, path: &str, until: Option<Instant>, mut take: impl FnMut(Value)) {
    let (send, events) = mpsc::channel::<String>();
    let (twin, path) = (party.twin(), path.to_owned());
    // The thread ends with the connection, or with the process, since reading cannot be
    // interrupted.
    thread::spawn(move || drop(twin.events(&path, |data| send.send(data.to_owned()).is_ok())));
    loop {
        let left = until.map_or(SILENT, |until| until.saturating_duration_since(Instant::now()).min(SILENT));
        let Ok(data) = events.recv_timeout(left) else { return };
        if let Ok(view) = serde_json::from_str::<Value>(&data) {
            let ended = ENDS.contains(&text(&view, "state"));
            take(view);
            if ended {
                return;
            }
        }
    }
}

/// The error with which a job ended, as its party reports it.
pub(crate) fn failed(view: &Value) -> Fault {
    let state = text(view, "state");
    let cause = view.get("cause").unwrap_or(&Value::Null);
    let code: Option<Code> = text(cause, "code").parse().ok();
    let or = |field, otherwise: &str| match text(cause, field) {
        "" => otherwise.to_owned(),
        text => text.to_owned(),
    };
    let step = or("step", "running the job");
    let told = match text(cause, "who") {
        "" => or("cause", &format!("the job was {state}")),
        who => format!("{who}: {}", or("cause", &format!("the job was {state}"))),
    };
    Fault::new(code.unwrap_or(code::SERVICE), step, told, or("remedy", "submit it again if it is wanted"))
}

/// A result that was opened.
pub struct Fetched {
    /// The recipient, which is the output's name.
    pub output: String,
    /// The key to which it was sealed.
    pub key: KeyId,
    /// The result.
    pub opened: OpenedResult,
}

/// A party's challenge about a result.
#[derive(Deserialize)]
struct Challenge {
    challenge: String,
}

/// The job of a proposal, as a party stores it.
pub(crate) fn job_of(proposal: &Value) -> Result<Job, Fault> {
    let mut job = Job::parse(text(proposal, "job"), Path::new("job.toml"))?;
    let files = proposal.get("files").unwrap_or(&Value::Null);
    let text_of =
        |path: &Path| files.get(&*path.to_string_lossy()).and_then(Value::as_str).map(str::to_owned);
    let brought = |source: &mut ComputationSource| {
        if let ComputationSource::File(path) = source
            && let Some(text) = text_of(path)
        {
            *source = ComputationSource::Text(text);
        }
    };
    match &mut job {
        Job::Compute(job) => brought(&mut job.computation),
        Job::Infer(job) => brought(&mut job.network),
        Job::Circuit(job) => {
            if let CircuitSource::File(path) = &job.circuit
                && let Some(text) = text_of(path)
            {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                job.circuit = CircuitSource::Text(name, text);
            }
        }
        _ => {}
    }
    Ok(job)
}

/// Fetches a job's result from all parties, opens it, and tells them that it arrived. `output` may
/// be `None` if this person's keys open only one result.
///
/// # Errors
/// The job has no results yet; a share does not open, or is not the one of the run; or the job at a
/// party does not have these terms. The error names the party of a wrong share.
pub fn fetch(service: &Service, id: &str, output: Option<&str>, person: &Person) -> Result<Fetched, Fault> {
    const STEP: &str = "fetching a result";
    let views: Vec<Value> = service.get(&format!("/v1/jobs/{id}"))?;
    if let Some(ill) = views.iter().find(|view| matches!(text(view, "state"), "failed" | "cancelled")) {
        return Err(failed(ill));
    }
    if let Some(view) = views.iter().find(|view| !matches!(text(view, "state"), "committed" | "delivered")) {
        let cause = format!("it has no results yet: a party says {}", text(view, "state"));
        return Err(Fault::usage(STEP, cause, format!("run `hushwire service wait {id}` first")));
    }
    let attempt = service.alike(&views, "attempt")?.as_u64().and_then(|attempt| u32::try_from(attempt).ok());
    let attempt = attempt.ok_or_else(|| service.parties()[0].odd("an attempt that is no number"))?;
    let digest = service.alike(&views, "digest")?;
    let proposal = service.alike(&views, "proposal")?;
    let output = match output {
        Some(output) => output.to_owned(),
        None => only_output(&views[0], person)?,
    };
    // The meaning of the shares follows from the job, and the job is bound by the digest.
    let proposal: Value =
        service.parties()[0].get(&format!("/v1/proposals/{}", proposal.as_str().unwrap_or_default()))?;
    let job = job_of(&proposal)?;
    if digest.as_str() != Some(&job.terms()?.0.digest().to_string()) {
        return Err(service.parties()[0].odd("a job whose terms have another digest than it says"));
    }
    let path = format!("/v1/jobs/{id}/results/{output}");
    let sealed = service.each(|party| {
        let place = ResultPlace { job: id, attempt, output: &output, party: party.party() };
        let asked: Challenge = party.read(&party.post(&format!("{path}/challenge"), &json!({}), None)?)?;
        let challenge = hex::decode(&asked.challenge).map_err(|e| party.odd(e))?;
        let proof = hex::encode(&challenge::answer(person, &place, &challenge)?[..]);
        party.bytes(&path, &[("Hushwire-Proof", proof.as_str())])
    })?;
    let key = result::key_id(&sealed[0])?;
    let mut shares = vec![];
    for (party, sealed) in (0u8..).zip(&sealed) {
        let place = ResultPlace { job: id, attempt, output: &output, party };
        let opened = result::open(person, &place, sealed)?;
        shares.push(SealedShare { share: opened.share, next: opened.next.0 });
    }
    let shares: [SealedShare; 3] =
        shares.try_into().map_err(|_| Fault::internal(STEP, "the group has other than three parties"))?;
    let opened = job.open_sealed(&output, &shares)?;
    for (party, sealed) in service.parties().iter().zip(&sealed) {
        party.post(&format!("{path}/ack"), &json!({ "digest": BlakeName::of(sealed).digits() }), None)?;
    }
    Ok(Fetched { output, key, opened })
}

/// The only output, or the only one that is sealed to a key of this person.
fn only_output(view: &Value, person: &Person) -> Result<String, Fault> {
    let ids: Vec<String> = person.ids().iter().map(ToString::to_string).collect();
    let outputs = view.get("outputs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mine = outputs.iter().filter(|output| ids.iter().any(|id| id == text(output, "key")));
    let mine: Vec<_> = mine.map(|output| text(output, "output")).collect();
    match mine[..] {
        _ if outputs.len() == 1 => Ok(text(&outputs[0], "output").to_owned()),
        [one] => Ok(one.to_owned()),
        [] => {
            let cause = "no result of it is sealed to a key of this file";
            Err(Fault::usage(
                "fetching a result",
                cause,
                "name the file of keys that was there when it was submitted",
            ))
        }
        _ => {
            let cause = format!("it has several results for these keys: {}", mine.join(", "));
            Err(Fault::usage("fetching a result", cause, "name one with --output"))
        }
    }
}
