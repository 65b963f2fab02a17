//! Endpoints of jobs and results.

use crate::{
    access, attempt,
    calls::Status,
    http::{Reply, Request},
    party::{Meeting, Party},
    records::{
        admission,
        jobs::{self, JobView, Submitted},
        recipients, results,
    },
    scheduler,
};
use http_body_util::channel::Channel;
use hushwire_fault::{Fault, PartyId, code};
use hushwire_seal::{SealTo, result::ResultPlace};
use hushwire_session::Member;
use hyper::{StatusCode, body::Bytes, header::HeaderName};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};
use utoipa::ToSchema;

/// LOCAL: how often a stream of events shows that the connection is alive.
const PULSE: Duration = Duration::from_secs(15);

/// Jobs, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Jobs {
    jobs: Vec<JobView>,
}

/// Tells that a result has arrived.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arrived {
    /// The BLAKE3 hash of its bytes.
    digest: String,
}

/// `POST /v1/jobs`
pub(super) async fn submit(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    if party.draining() {
        return Err(Fault::of(code::DRAINING, &[]).during("submitting a job"));
    }
    let key = request.header("idempotency-key").unwrap_or_default().to_owned();
    if !(1..=128).contains(&key.len()) || !key.bytes().all(|b| b.is_ascii_graphic()) {
        let cause = "the header Idempotency-Key has no 1 to 128 printable characters";
        let remedy = "send a fresh random key with each job, and the same one when you repeat a request";
        return Err(Fault::usage("submitting a job", cause, remedy));
    }
    let body: Submitted = request.json().await?;
    let caller = request.caller()?.clone();
    let (trusts, operators) = (party.trusts_logs(), party.config.operators.clone());
    let tells = !party.decides();
    let kept = party.store.run("job", move |c| {
        let (job, new) = jobs::submit(c, &caller, &key, &body)?;
        let says = (new && tells).then(|| {
            let admitted = trusts.and_then(|()| Ok(admission::admit(c, &operators, &job).map(drop)?));
            Status {
                state: Some(job.state.clone()),
                body_hash: Some(job.body_hash.clone()),
                cause: admitted.err(),
            }
        });
        Ok((jobs::view(c, job)?, new, says))
    });
    let (mut view, new, says) = kept.await?;
    view.progress = party.progress(&view.id);
    if new && party.decides() {
        party.due.notify_one();
    }
    if let Some(says) = says {
        let (party, path) = (party.clone(), format!("/peer/v1/jobs/{}/came", view.id));
        // If the call is lost, party 0 asks by itself.
        tokio::spawn(async move { party.peers.post::<Option<()>>(0, &path, &says).await });
    }
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Reply::json(status, &view))
}

/// `GET /v1/jobs`
pub(super) async fn list(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let caller = request.caller()?.clone();
    let state = request.query("state").unwrap_or_default().to_owned();
    let (most, before) = (request.number("limit", 100)?.min(1000), request.number("before", i64::MAX)?);
    let views = party.store.read(move |c| {
        let found = jobs::list(c, &caller, &state, most, before)?;
        found.into_iter().map(|job| jobs::view(c, job)).collect::<Result<Vec<_>, _>>()
    });
    Ok(Reply::ok(&Jobs { jobs: views.await? }))
}

/// The job that the path names, if the caller may see it.
async fn seen(party: &Party, request: &Request) -> Result<jobs::JobRow, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    party.store.look(move |c| jobs::need(c, &caller, &id)).await
}

/// `GET /v1/jobs/{id}`
pub(super) async fn get(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let job = seen(&party, &request).await?;
    Ok(Reply::ok(&party.view(&job.id).await?))
}

/// `GET /v1/jobs/{id}/events`
pub(super) async fn events(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let job = seen(&party, &request).await?;
    let (mut send, pieces) = Channel::new(8);
    tokio::spawn(async move {
        let mut changes = party.listeners.follow(&job.id);
        let mut last = String::new();
        loop {
            let Ok(view) = party.view(&job.id).await else { return };
            let text = serde_json::to_string(&view).unwrap_or_default();
            if text != last {
                let event = format!("event: state\ndata: {text}\n\n");
                if send.send_data(Bytes::from(event)).await.is_err() {
                    return;
                }
                last = text;
            }
            if jobs::ENDS.contains(&view.state.as_str()) {
                return;
            }
            while !changes.change(PULSE).await {
                if send.send_data(Bytes::from_static(b": still here\n\n")).await.is_err() {
                    return;
                }
            }
        }
    });
    Ok(Reply::events(pieces))
}

/// Where a client of a job meets the parties' workers.
#[derive(Serialize, ToSchema)]
pub(crate) struct JobMeeting {
    /// The running attempt; absent while the workers do not meet.
    attempt: Option<u32>,
    /// The label of its session.
    label: String,
    /// The name in the greetings of its session.
    greeting: String,
    /// The workers of all parties. A party does not know its own address.
    parties: Vec<MeetingParty>,
}

/// A party's worker.
#[derive(Serialize, ToSchema)]
pub(crate) struct MeetingParty {
    /// The party's number.
    party: u8,
    /// Its party port.
    address: Option<String>,
    /// The pin of its worker.
    pin: String,
}

/// `GET /v1/jobs/{id}/meeting`
pub(super) async fn meeting(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let job = seen(&party, &request).await?;
    let client = request.query("client").unwrap_or_default();
    if !job.body.clients.contains_key(client) {
        return Err(access::absent("client of the job", client));
    }
    if !job.ended() {
        party.is_here(&job.id, client);
    }
    let group = &party.config.group;
    let Some(Meeting { k, label, all }) = party.meeting(&job.id) else {
        let none = String::new();
        return Ok(Reply::ok(&JobMeeting {
            attempt: None,
            label: none.clone(),
            greeting: none,
            parties: vec![],
        }));
    };
    let parties = all.into_iter().filter_map(|peer| {
        let Member::Party(party) = peer.member else { return None };
        Some(MeetingParty { party, address: peer.address, pin: peer.pin.to_string() })
    });
    Ok(Reply::ok(&JobMeeting {
        attempt: Some(k),
        label,
        greeting: attempt::greeting(group, &job.id, k),
        parties: parties.collect(),
    }))
}

/// `POST /v1/jobs/{id}/cancel`
pub(super) async fn cancel(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let job = seen(&party, &request).await?;
    if matches!(job.state.as_str(), "committed" | "delivered") {
        let cause = format!("job {} is {}", job.id, job.state);
        return Err(Fault::new(
            code::CONFLICT,
            "cancelling a job",
            cause,
            "fetch its results, or leave them",
        ));
    }
    if !job.ended() {
        if party.decides() {
            scheduler::cancel(&party, &job.id).await?;
        } else {
            let path = format!("/peer/v1/jobs/{}/cancel", job.id);
            party.peers.post::<Option<()>>(0, &path, &()).await?;
        }
    }
    Ok(Reply::json(StatusCode::ACCEPTED, &party.view(&job.id).await?))
}

/// A challenge about a result.
#[derive(Serialize, ToSchema)]
pub(crate) struct Challenge {
    /// A secret that is sealed to the key of the result, as hexadecimal digits. Whoever opens it
    /// sends it as the header Hushwire-Proof.
    challenge: String,
}

/// `POST /v1/jobs/{id}/results/{output}/challenge`
pub(super) async fn challenge(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let job = seen(&party, &request).await?;
    let (token, output) = (request.caller()?.token.clone(), request.name(1).to_owned());
    let to = recipient(&job, &output)?;
    let (row, name, keep) = (job.clone(), output.clone(), party.keep());
    party.store.look(move |c| results::found(c, &row, &name, keep).map(drop)).await?;
    let place = place(&party, &job, &output);
    let challenge = hex::encode(party.challenge(&place, &to, &token)?);
    Ok(Reply::ok(&Challenge { challenge }))
}

/// The key that a job's result is sealed to.
fn recipient(job: &jobs::JobRow, output: &str) -> Result<SealTo, Fault> {
    let text = job.body.recipients.get(output).ok_or_else(|| access::absent("sealed output", output))?;
    recipients::seal_to(output, text)
}

fn place<'a>(party: &Party, job: &'a jobs::JobRow, output: &'a str) -> ResultPlace<'a> {
    ResultPlace { job: &job.id, attempt: job.attempt, output, party: party.config.party }
}

/// `GET /v1/jobs/{id}/results/{output}`
pub(super) async fn result(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let job = seen(&party, &request).await?;
    let (caller, output, keep) = (request.caller()?.clone(), request.name(1).to_owned(), party.keep());
    if job.body.recipients.contains_key(&output) && matches!(job.state.as_str(), "committed" | "delivered") {
        let proof = request.header("hushwire-proof").unwrap_or_default();
        if !party.proves(&place(&party, &job, &output), &caller.token, proof) {
            let cause = format!("the request does not prove that it comes from who has the key of {output}");
            let remedy = "open what POST …/challenge gives, and send it as the header Hushwire-Proof within two minutes";
            return Err(Fault::new(code::ROLE, "fetching a result", cause, remedy));
        }
    }
    let fetched = party.store.run("fetched", move |c| results::fetch(c, &job, &output, keep, &caller));
    let (blob, small) = fetched.await?;
    let (blobs, name) = (party.blobs.clone(), blob.clone());
    let read = match small {
        Some(bytes) => Ok(blobs.compared(&name, bytes)),
        None => tokio::task::spawn_blocking(move || blobs.read(&name)).await,
    };
    let bytes = read
        .map_err(|e| Fault::internal("reading a result", e))?
        .map_err(|e| e.by(PartyId(party.config.party)))?;
    let reply = Reply::whole(StatusCode::OK, "application/octet-stream", bytes);
    Ok(reply.with(HeaderName::from_static("hushwire-digest"), blob))
}

/// `POST /v1/jobs/{id}/results/{output}/ack`
pub(super) async fn acknowledge(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let Arrived { digest } = request.json().await?;
    let job = seen(&party, &request).await?;
    let (actor, output, id) = (request.caller()?.to_string(), request.name(1).to_owned(), job.id.clone());
    party.store.run("delivered", move |c| results::acknowledge(c, &job, &output, &digest, &actor)).await?;
    party.changed(&id);
    Ok(Reply::ok(&party.view(&id).await?))
}
