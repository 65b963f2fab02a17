//! The endpoints for the other parties' daemons. A peer is known by its pin.

use crate::{
    access,
    attempt::{self, Report},
    audit,
    calls::Status,
    clock,
    http::{Problem, Reply, Request, status as status_of},
    party::Party,
    promise::{Promise, Promised, Reserve, VouchedWorker},
    records::{
        attempts::{self, Decision},
        jobs, peers,
    },
    scheduler,
};
use hushwire_fault::{Fault, PartyId, code};
use hushwire_seal::{Signature, SignedStatement, audit::AuditHead};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// LOCAL: the longest call about a new job, in bytes. Party 0 keeps it for a moment.
const STATUS: u64 = 16 << 10;

/// The first message between two daemons. They repeat it every now and then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    /// The release that the party runs.
    pub(crate) release: String,
    /// The digest of the group.
    pub(crate) group: String,
    /// The party's number.
    pub(crate) party: u8,
    /// The party's clock, in milliseconds since 1970.
    pub(crate) now: i64,
    /// The end of the party's audit log.
    pub(crate) head: AuditHead,
    /// The party's signed statement about itself.
    pub(crate) said: SignedStatement,
}

/// This party's greeting.
pub(crate) async fn hello(party: &Party) -> Result<Hello, Fault> {
    Ok(Hello {
        release: env!("CARGO_PKG_VERSION").to_owned(),
        group: party.config.group_digest(),
        party: party.config.party,
        now: clock::now(),
        // The others keep the end of the log and ask for it again, so it must outlive a power cut.
        head: party.store.told(audit::head).await?,
        said: party.statement()?,
    })
}

/// Reads another party's greeting. The release is compared first, since other releases may send
/// other fields.
pub(crate) fn read_hello(from: u8, text: Value) -> Result<Hello, Fault> {
    const STEP: &str = "meeting another party";
    let (own, theirs) = (env!("CARGO_PKG_VERSION"), text["release"].as_str().unwrap_or("without a name"));
    if theirs != own {
        let cause = format!("it runs release {theirs}, and this party runs {own}");
        return Err(
            Fault::new(code::CONFLICT, STEP, cause, "run the same release everywhere").by(PartyId(from))
        );
    }
    serde_json::from_value(text).map_err(|e| {
        let cause = format!("its greeting makes no sense: {e}");
        Fault::new(code::CONFLICT, STEP, cause, "run the same release everywhere").by(PartyId(from))
    })
}

/// Checks another party's greeting, and keeps its statement.
pub(crate) async fn met(party: &Party, from: u8, hello: Hello) -> Result<(), Fault> {
    let said = hello.said.statement();
    let peer = party.config.peers.iter().find(|peer| peer.party == from);
    let pinned = peer.is_some_and(|peer| peer.pins.iter().any(|pin| pin.to_string() == said.pin));
    let (cause, remedy) = if hello.group != party.config.group_digest() {
        (
            "its config names another group, or another number of parties".to_owned(),
            "compare the configs of both",
        )
    } else if hello.party != from {
        (
            format!("it calls itself party {}", hello.party),
            "give each party a number and a key file of its own",
        )
    } else if (said.group.as_str(), said.parties, said.party, pinned)
        != (party.config.group.as_str(), party.config.parties(), from, true)
    {
        (
            format!(
                "its signed statement is of party {} of the group {} with the pin {}",
                said.party, said.group, said.pin
            ),
            "compare the configs of both, and the pin with the one of its key",
        )
    } else {
        let Hello { release, said, .. } = hello;
        return party.hear(from, &release, said).await;
    };
    Err(Fault::new(code::CONFLICT, "meeting another party", cause, remedy).by(PartyId(from)))
}

/// Answers a request of party `from`.
pub(crate) async fn answer(party: Arc<Party>, from: u8, request: Request) -> Reply {
    let path = request.path.clone();
    match dispatch(&party, from, request).await {
        Ok(reply) => reply,
        Err(e) => {
            tracing::info!(from, path, "{e}");
            Reply::json(status_of(&e), &Problem::of(&e))
        }
    }
}

async fn dispatch(party: &Arc<Party>, from: u8, mut request: Request) -> Result<Reply, Fault> {
    let path = request.path.clone();
    let parts: Vec<&str> = path.split('/').collect();
    let post = request.method == Method::POST;
    match (&parts[..], post) {
        (["", "peer", "v1", "hello"], true) => {
            met(party, from, read_hello(from, request.json().await?)?).await?;
            Ok(Reply::ok(&hello(party).await?))
        }
        (["", "peer", "v1", "audit", seq], false) => {
            let seq: i64 = seq.parse().map_err(|_| access::absent("entry", seq))?;
            Ok(Reply::ok(&party.store.told(move |c| audit::hash(c, seq)).await?))
        }
        (["", "peer", "v1", "jobs", id], false) => Ok(Reply::ok(&status(party, id).await?)),
        (["", "peer", "v1", "jobs", id, "reserve"], true) => {
            decider(from)?;
            let asked: Reserve = request.json().await?;
            Ok(Reply::ok(&attempt::reserve(party, id, &asked).await))
        }
        (["", "peer", "v1", "jobs", id, "start"], true) => {
            decider(from)?;
            let (k, all, on_kept, word): (u32, Vec<VouchedWorker>, bool, Signature) = request.json().await?;
            attempt::start(party, id, k, all, on_kept, word).await?;
            Ok(Reply::ok(&()))
        }
        (["", "peer", "v1", "jobs", id, "told"], true) => {
            let (k, shown): (u32, Promise) = request.json().await?;
            Ok(Reply::ok(&party.shown(id, k, from, &shown).await))
        }
        (["", "peer", "v1", "decisions"], true) => {
            let theirs: Vec<Promised> = request.json().await?;
            Ok(Reply::ok(&party.compare_decisions(from, theirs).await?))
        }
        (["", "peer", "v1", "heads"], false) => Ok(Reply::ok(&party.store.read(peers::heads).await?)),
        (["", "peer", "v1", "jobs", id, "decision"], true) => {
            decider(from)?;
            let (k, decision): (u32, Decision) = request.json().await?;
            attempt::follow(party, id, k, &decision).await?;
            Ok(Reply::ok(&()))
        }
        (["", "peer", "v1", "jobs", id, "end"], true) => {
            decider(from)?;
            let status: Status = request.json().await?;
            attempt::end(party, id, &status).await?;
            Ok(Reply::ok(&()))
        }
        (["", "peer", "v1", "jobs", id, "came"], true) if party.decides() && id.len() == jobs::ID => {
            party.came(id, from, request.json_within(STATUS).await?).await?;
            Ok(Reply::ok(&()))
        }
        (["", "peer", "v1", "jobs", id, "report"], true) if party.decides() => {
            let report: Report = request.json().await?;
            Ok(Reply::ok(&decided(party, from, id, report).await?))
        }
        (["", "peer", "v1", "jobs", id, "cancel"], true) if party.decides() => {
            scheduler::cancel(party, id).await?;
            Ok(Reply::ok(&()))
        }
        _ => Err(access::absent("endpoint", &path)),
    }
}

/// Refuses a request of a party other than party 0, which alone schedules and decides.
fn decider(from: u8) -> Result<(), Fault> {
    if from == 0 {
        return Ok(());
    }
    let cause = format!("party {from} asked for what party 0 alone asks for");
    Err(Fault::new(code::ROLE, "answering another party", cause, "see that party's log"))
}

/// The status of a job at this party.
async fn status(party: &Arc<Party>, id: &str) -> Result<Status, Fault> {
    let name = id.to_owned();
    let Some(job) = party.store.look(move |c| jobs::get(c, &name)).await? else {
        return Ok(Status::default());
    };
    let cause = if job.ended() {
        job.cause.clone()
    } else if job.state == "running" {
        None
    } else {
        party.admits(&job).await.err()
    };
    Ok(Status { state: Some(job.state), body_hash: Some(job.body_hash), cause })
}

/// Takes a party's report, and returns the decision if there is one.
async fn decided(party: &Arc<Party>, from: u8, id: &str, report: Report) -> Result<Option<Decision>, Fault> {
    let (name, k) = (id.to_owned(), report.k);
    let news = || report.failed.clone().map_or(Ok(()), |e| Err(e.by(PartyId(from))));
    // Party 0 listens for reports on attempts without a decision.
    if party.hears(id, k, from, news()) {
        return Ok(None);
    }
    let row = party.store.look(move |c| attempts::get(c, &name, k)).await?;
    let Some(row) = row else {
        // Party 0's store does not have the attempt: it was never decided, and never will be.
        let cause = "party 0 does not know the attempt";
        let fault = Fault::new(code::CONFLICT, "deciding", cause, "submit the job again").by(PartyId(0));
        let end = Some("failed".to_owned());
        let unknown = Decision { commit: false, go: true, end, cause: Some(fault), next_try: 0, word: None };
        return Ok(Some(party.signed(id, k, unknown)));
    };
    Ok(row.decision.map(|decision| party.signed(id, k, decision)))
}
