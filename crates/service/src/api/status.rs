//! Endpoints about the party itself.

use crate::{
    access::CallerRole,
    audit,
    http::{self, Reply, Request},
    party::Party,
    records::peers,
};
use hushwire_fault::{Fault, code};
use hushwire_seal::{
    SealTo, SignedStatement,
    audit::{AuditEntry, AuditHead},
};
use hyper::StatusCode;
use serde::Serialize;
use std::{
    fmt::Write,
    sync::{Arc, PoisonError, atomic::Ordering},
    time::SystemTime,
};
use utoipa::ToSchema;

/// LOCAL: with fewer free bytes on the disk, the party is not ready.
const LEAST_FREE: u64 = 256 << 20;

/// The OpenAPI document, as it is committed.
const OPENAPI: &str = include_str!("../../openapi.json");

/// The process answers.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    status: &'static str,
}

/// Whether the party can work.
#[derive(Serialize, ToSchema)]
pub(crate) struct Readiness {
    ready: bool,
    checks: Vec<PartyCheck>,
}

/// One thing that the party needs.
#[derive(Serialize, ToSchema)]
pub(crate) struct PartyCheck {
    name: String,
    ok: bool,
    cause: Option<String>,
}

/// The group.
#[derive(Serialize, ToSchema)]
pub(crate) struct GroupView {
    group: String,
    party: u8,
    protocol: String,
    release: String,
    parties: Vec<GroupParty>,
    /// The statement of each party about itself: `text`, as canonical JSON, and its `signature`. A
    /// party that was not heard yet is missing.
    #[schema(value_type = Vec<Object>)]
    statements: Vec<SignedStatement>,
    limits: Limits,
}

/// A party of the group.
#[derive(Serialize, ToSchema)]
pub(crate) struct GroupParty {
    index: u8,
    url: String,
    pin: String,
    /// The key that data sets are sealed to; absent if the party was not heard yet.
    #[schema(value_type = Option<String>)]
    seal_to: Option<SealTo>,
}

/// The limits for requests.
#[derive(Serialize, ToSchema)]
pub(crate) struct Limits {
    json: u64,
    part: u64,
    keep_days: u64,
}

/// Entries of the audit log.
#[derive(Serialize, ToSchema)]
pub(crate) struct Log {
    /// As `hushwire-seal` chains them: seq, at, actor, action, object, detail, prev, hash.
    #[schema(value_type = Vec<Object>)]
    entries: Vec<AuditEntry>,
    /// The number and the hash of the last entry.
    #[schema(value_type = Object)]
    head: AuditHead,
}

/// `GET /healthz`
pub(super) async fn health(_: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    Ok(Reply::ok(&Health { status: "ok" }))
}

/// `GET /readyz`
pub(super) async fn ready(party: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    let mut checks = vec![];
    let mut check =
        |name: String, cause: Option<String>| checks.push(PartyCheck { name, ok: cause.is_none(), cause });
    check("running".to_owned(), party.draining().then(|| "it is ending".to_owned()));
    // The thread that writes answers this request, so a store that cannot be written is not ready.
    let store = party.store.told(audit::head).await;
    check("store".to_owned(), store.err().map(|e| e.to_string()));
    let disk = match party.blobs.free() {
        Ok(free) if free >= LEAST_FREE => None,
        Ok(free) => Some(format!("only {} are free", hushwire_session::size::show(free))),
        Err(e) => Some(e.to_string()),
    };
    check("disk".to_owned(), disk);
    let holds = party.identity.validity().holds_at(SystemTime::now());
    check("certificate".to_owned(), (!holds).then(|| "it does not hold today".to_owned()));
    for (peer, health) in party.peers.health() {
        let cause = (!health.up).then(|| health.error.unwrap_or_else(|| "it was not heard yet".to_owned()));
        check(format!("party {peer}"), cause);
    }
    check("audit logs of the others".to_owned(), party.trusts_logs().err().map(|e| e.to_string()));
    let ready = checks.iter().all(|check| check.ok);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(Reply::json(status, &Readiness { ready, checks }))
}

/// `GET /metrics`
pub(super) async fn metrics(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let allowed = request
        .caller
        .as_ref()
        .is_some_and(|caller| matches!(caller.role, CallerRole::Operator | CallerRole::Auditor));
    if !allowed && !request.from.is_loopback() {
        let cause = "metrics are for this host, operators and auditors";
        let remedy = "send a token of one of these roles";
        return Err(Fault::new(code::TOKEN, "admitting the request", cause, remedy));
    }
    let mut text = String::new();
    let mut gauge = |name: &str, kind: &str, help: &str, values: &[(String, String)]| {
        let _ = writeln!(text, "# HELP hushwire_{name} {help}\n# TYPE hushwire_{name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "hushwire_{name}{labels} {value}");
        }
    };
    let single = |value: u64| vec![(String::new(), value.to_string())];
    let jobs = party.counts().await?;
    let jobs: Vec<_> = jobs
        .into_iter()
        .map(|(state, kind, n)| (format!("{{state=\"{state}\",kind=\"{kind}\"}}"), n.to_string()))
        .collect();
    gauge("jobs", "gauge", "Jobs by state and kind.", &jobs);
    gauge("attempts_running", "gauge", "Attempts that run here.", &single(party.running() as u64));
    let meter = &party.meter;
    let total = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    gauge("requests_total", "counter", "Requests of clients.", &single(total(&meter.requests)));
    let refused: Vec<_> = meter
        .refused
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .map(|(status, n)| (format!("{{status=\"{status}\"}}"), n.to_string()))
        .collect();
    gauge("refused_total", "counter", "Requests that were refused.", &refused);
    gauge("crowded_total", "counter", "Connections closed for want of room.", &single(total(&meter.crowded)));
    let peers = party.peers.health();
    let peer = |value: fn(&crate::peers::Health) -> String| -> Vec<_> {
        peers.iter().map(|(peer, health)| (format!("{{party=\"{peer}\"}}"), value(health))).collect()
    };
    gauge(
        "peer_up",
        "gauge",
        "Whether a party answered last.",
        &peer(|health| u8::from(health.up).to_string()),
    );
    let seconds = peer(|health| health.round_trip.as_secs_f64().to_string());
    gauge("peer_seconds", "gauge", "The last answer of a party took this long.", &seconds);
    let store = std::fs::metadata(party.store.path()).map_or(0, |meta| meta.len());
    gauge("store_bytes", "gauge", "The store's file.", &single(store));
    gauge("disk_free_bytes", "gauge", "Room for blobs.", &single(party.blobs.free().unwrap_or(0)));
    let left = party.identity.validity().left_at(SystemTime::now()).as_secs() / 86_400;
    gauge("certificate_days", "gauge", "Days that the certificate still holds.", &single(left));
    let head = party.store.read(audit::head).await?;
    gauge("audit_seq", "counter", "Entries of the audit log.", &single(head.seq));
    Ok(Reply::whole(StatusCode::OK, "text/plain; version=0.0.4", text))
}

/// `GET /v1/openapi.json`
pub(super) async fn openapi(_: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    Ok(Reply::whole(StatusCode::OK, "application/json", OPENAPI))
}

/// `GET /v1/group`
pub(super) async fn group(party: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    let config = &party.config;
    let mut parties = vec![GroupParty {
        index: config.party,
        url: config.url.clone(),
        pin: party.identity.pin().to_string(),
        seal_to: Some(party.keys.seal_to()),
    }];
    let heard = party.store.read(peers::heard).await?;
    parties.extend(config.peers.iter().map(|peer| GroupParty {
        seal_to: heard.get(&peer.party).cloned(),
        index: peer.party,
        url: peer.url.clone(),
        pin: peer.pins.first().map(ToString::to_string).unwrap_or_default(),
    }));
    parties.sort_by_key(|party| party.index);
    let mut statements = party.said();
    statements.insert(config.party, party.statement()?);
    let limits = Limits { json: http::JSON, part: http::PART, keep_days: config.keep.as_secs() / 86_400 };
    Ok(Reply::ok(&GroupView {
        group: config.group.clone(),
        party: config.party,
        protocol: config.protocol().to_owned(),
        release: env!("CARGO_PKG_VERSION").to_owned(),
        parties,
        statements: statements.into_values().collect(),
        limits,
    }))
}

/// `GET /v1/audit`
pub(super) async fn log(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (from, most) = (request.number("from", 1)?, request.number("limit", 1000)?.min(10_000));
    let log = party
        .store
        .told(move |c| Ok(Log { entries: audit::entries(c, from, most as usize)?, head: audit::head(c)? }));
    Ok(Reply::ok(&log.await?))
}
