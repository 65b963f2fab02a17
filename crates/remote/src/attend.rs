//! A client takes part in a job while it runs. It brings inputs as a stream, or learns outputs, and
//! none of its data is stored at a party.
//!
//! ```text
//! client ──► each party: where are the workers? (this also reports that the client is there)
//!        ◄── attempt, label, greeting, pins of all workers, party ports of the others
//! client ──► each party port, with the greeting, as `hushwire client` does
//! ```

use crate::{
    PartyClient, Service,
    jobs::{ENDS, failed, job_of, text},
};
use hushwire_aes::Backend;
use hushwire_fault::{Fault, PartyId, code};
use hushwire_kinds::{RunValues, Runs, Visitor, Words};
use hushwire_session::{
    ClientFile, Decider, Decision, Event, Member, MemberConfig, Observer, Outcome, Peer, Stats,
};
use hushwire_wire::Pin;
use serde::Deserialize;
use serde_json::Value;
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

const STEP: &str = "taking part in a job";
/// LOCAL: the first interval at which the parties are asked.
const LOOK: Duration = Duration::from_millis(300);
/// LOCAL: the longest interval at which the parties are asked.
const SELDOM: Duration = Duration::from_secs(5);
/// LOCAL: the time for which the parties may name different attempts.
const DIFFER: Duration = Duration::from_secs(20);

/// A party's answer.
#[derive(Deserialize)]
struct MeetingAnswer {
    attempt: Option<u32>,
    label: String,
    greeting: String,
    parties: Vec<MeetingParty>,
}

#[derive(Deserialize)]
struct MeetingParty {
    party: u8,
    address: Option<String>,
    pin: String,
}

/// The result of a client's part.
pub struct Attended {
    /// The results that the client learns and that were not written to a file.
    pub printed: Vec<u8>,
    /// The client's measurements.
    pub stats: Stats,
    /// The number of the attempt.
    pub attempt: u32,
}

/// Takes part in a job as the client of a file, whose peers are ignored. `note` gets information
/// for people.
///
/// # Errors
/// The job ended without this client, its parties name different workers, or the run failed.
pub fn attend(
    service: &Service,
    id: &str,
    file: &ClientFile,
    limit: Option<Duration>,
    note: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Attended, Fault> {
    let note = Arc::new(note);
    let Some(name) = file.0.me.name().map(str::to_owned) else {
        return Err(Fault::internal(STEP, "the file is no client's"));
    };
    let until = limit.map(|limit| Instant::now() + limit);
    let (met, view) = meet(service, id, &name, until, &*note)?;
    let proposal: Value = service.parties()[0].get(&format!("/v1/proposals/{}", text(&view, "proposal")))?;
    let job = job_of(&proposal)?;
    if text(&view, "digest") != job.terms()?.0.digest().to_string() {
        return Err(service.parties()[0].odd("a job whose terms have another digest than it says"));
    }
    let values = |field: &str| serde_json::from_value(view[field].clone()).unwrap_or_default();
    let job = job.with(&RunValues { parameters: values("parameters"), data: values("data") })?;
    let mut config = MemberConfig::of_client(file.clone(), &met.label, Backend::best())?;
    config.server_name = Some(met.greeting);
    config.peers = met.peers;
    config.decider = Some(Arc::new(Asks {
        parties: service.parties().iter().map(PartyClient::twin).collect(),
        path: format!("/v1/jobs/{id}"),
        attempt: met.attempt,
        until,
        note: note.clone(),
    }));
    let observer: Observer = Arc::new(move |event| {
        if let Event::Phase(text) | Event::Note(text) = event {
            note(&text);
        }
    });
    let (printed, stats) = job.visit(Attends { config, observer })??;
    Ok(Attended { printed, stats, attempt: met.attempt })
}

/// Asks the parties how an attempt ended, if the session did not report it. Outputs are kept
/// exactly if it was committed.
struct Asks<N> {
    parties: Vec<PartyClient>,
    path: String,
    attempt: u32,
    until: Option<Instant>,
    note: Arc<N>,
}

/// The end of an attempt, if this party knows it.
fn end_of(view: &Value, attempt: u32) -> Option<Decision> {
    let of = |row: &&Value| row["k"].as_u64() == Some(attempt.into());
    match text(view.get("attempts")?.as_array()?.iter().find(of)?, "state") {
        "committed" => Some(Decision::Commit),
        "aborted" => Some(Decision::Abort),
        _ => None,
    }
}

impl<N: Fn(&str) + Send + Sync> Decider for Asks<N> {
    fn prepared(&self) -> Result<Decision, Fault> {
        (self.note)("the parties are asked how the attempt ended");
        let mut pause = LOOK;
        loop {
            // Party 0 decides, and each party follows. All parties that know the end therefore
            // agree.
            let views = self.parties.iter().filter_map(|party| party.get::<Value>(&self.path).ok());
            if let Some(end) = { views }.find_map(|view| end_of(&view, self.attempt)) {
                return Ok(end);
            }
            if self.until.is_some_and(|until| Instant::now() >= until) {
                let cause = "no party has said in time how the attempt ended";
                let remedy = "see the job's state: if it is committed, submit it again to have the output";
                return Err(Fault::new(code::SERVICE, STEP, cause, remedy));
            }
            thread::sleep(pause);
            pause = (2 * pause).min(SELDOM);
        }
    }
}

struct Attends {
    config: MemberConfig,
    observer: Observer,
}

impl Visitor for Attends {
    type Out = Result<(Vec<u8>, Stats), Fault>;

    fn visit<K: Runs>(self, job: &K) -> Self::Out {
        let task = job.task()?;
        let Outcome { learnt, stats } = hushwire_session::run(&task, self.config, &self.observer)?;
        Ok((task.printed(&learnt), stats))
    }
}

/// The workers of an attempt.
struct Met {
    attempt: u32,
    label: String,
    greeting: String,
    peers: Vec<Peer>,
}

/// Waits until the workers of one attempt meet, at all parties.
fn meet(
    service: &Service,
    id: &str,
    name: &str,
    until: Option<Instant>,
    note: &impl Fn(&str),
) -> Result<(Met, Value), Fault> {
    let (mut differ, mut told) = (None::<Instant>, String::new());
    loop {
        let view: Value = service.parties()[0].get(&format!("/v1/jobs/{id}"))?;
        let state = text(&view, "state");
        if ENDS.contains(&state) {
            if matches!(state, "failed" | "cancelled") {
                return Err(failed(&view));
            }
            let cause = format!("the job is {state}, and ran without this client");
            return Err(Fault::new(code::SERVICE, STEP, cause, "submit it again, and take part"));
        }
        let meetings: Vec<MeetingAnswer> = service.get(&format!("/v1/jobs/{id}/meeting?client={name}"))?;
        let attempts: Vec<_> = meetings.iter().map(|meeting| meeting.attempt).collect();
        if let (Some(attempt), true) = (attempts[0], attempts.iter().all(|attempt| *attempt == attempts[0])) {
            return Ok((met(service.parties(), attempt, meetings)?, view));
        }
        // The parties learn of a start one after the other.
        let since = *differ.get_or_insert_with(Instant::now);
        if attempts.iter().all(Option::is_none) {
            differ = None;
        } else if since.elapsed() > DIFFER {
            let cause = format!("the parties do not run the same attempt of job {id}");
            return Err(Fault::new(code::SERVICE, STEP, cause, "take part again, or see the job's state"));
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            let cause = format!("the job did not start in time: it is {state}");
            return Err(Fault::new(
                code::SERVICE,
                STEP,
                cause,
                "take part again; the job waits for its clients",
            ));
        }
        let waits = view["waits"].as_str().unwrap_or(state).to_owned();
        if waits != told {
            note(&waits);
            told = waits;
        }
        thread::sleep(LOOK);
    }
}

/// The workers according to all parties. Each party knows the pins of all workers, and the party
/// ports of the others.
fn met(parties: &[PartyClient], attempt: u32, meetings: Vec<MeetingAnswer>) -> Result<Met, Fault> {
    let by = |at: usize| PartyId(at as u8);
    let mut peers = vec![];
    for at in 0..meetings.len() {
        let of = |meeting: &'_ MeetingAnswer| {
            meeting.parties.iter().find(|party| usize::from(party.party) == at).map(|party| party.pin.clone())
        };
        let pins: Vec<_> = meetings.iter().map(of).collect();
        if let Some(other) = pins.iter().position(|pin| *pin != pins[at]) {
            let cause = format!("it names another worker of party {at} than party {at} does");
            let remedy = "take part in nothing until the operators of both have found out why";
            return Err(Fault::new(code::UNSAFE, STEP, cause, remedy).by(by(other)));
        }
        let pin = pins[at].as_deref().and_then(|pin| pin.parse::<Pin>().ok());
        let pin = pin.ok_or_else(|| parties[at].odd("a worker without a pin"))?;
        let known = meetings.iter().flat_map(|meeting| &meeting.parties);
        let address =
            known.filter(|party| usize::from(party.party) == at).find_map(|party| party.address.clone());
        let address = address.ok_or_else(|| {
            let cause = "no other party knows its party port";
            Fault::new(code::SERVICE_ANSWER, STEP, cause, "see `[[peers]]` in the parties' configs")
                .by(by(at))
        })?;
        peers.push(Peer { member: Member::Party(at as u8), address: Some(address), pin });
    }
    if let Some(other) = meetings.iter().position(|meeting| meeting.label != meetings[0].label) {
        let cause = format!("party 0 and party {other} say different things about the attempt");
        let remedy = "take part in nothing until the operators of all parties have found out why";
        return Err(Fault::new(code::UNSAFE, STEP, cause, remedy));
    }
    let first = meetings.into_iter().next();
    let first = first.ok_or_else(|| Fault::internal(STEP, "the group has no party"))?;
    Ok(Met { attempt, label: first.label, greeting: first.greeting, peers })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise a client would bring its inputs to workers that do not meet each other.
    #[test]
    fn a_client_goes_to_no_attempt_about_which_parties_differ() {
        let answer = |label: &str, pin_of_2: u8| {
            let parties = (0..3u8).map(|party| MeetingParty {
                party,
                address: Some("127.0.0.1:1".to_owned()),
                pin: Pin([if party == 2 { pin_of_2 } else { party }; 32]).to_string(),
            });
            let (label, greeting) = (label.to_owned(), "g".to_owned());
            MeetingAnswer { attempt: Some(1), label, greeting, parties: parties.collect() }
        };
        let says = |meetings| met(&[], 1, meetings).map(|met| met.label).map_err(|e| e.to_string());
        let alike = || vec![answer("a", 2), answer("a", 2), answer("a", 2)];
        assert_eq!(says(alike()), Ok("a".to_owned()));
        let mut labels = alike();
        labels[2] = answer("b", 2);
        let e = says(labels).expect_err("they differ");
        assert!(e.contains("party 0 and party 2 say different things"), "{e}");
        let mut pins = alike();
        pins[1] = answer("a", 9);
        let e = says(pins).expect_err("they differ");
        assert!(e.contains("party 1") && e.contains("another worker of party 2"), "{e}");
    }
}
