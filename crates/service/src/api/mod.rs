//! The endpoints for clients in one table. Routes, roles, the OpenAPI document, and the test that
//! tries every endpoint with every role all come from it.

mod datasets;
mod jobs;
mod people;
mod proposals;
mod status;

use crate::{
    access::{self, CallerRole},
    http::{JSON, Problem, Reply, Request, status as status_of},
    party::Party,
};
use hushwire_fault::{Fault, code};
use hyper::{Method, StatusCode, header};
use std::{
    collections::HashMap,
    pin::Pin,
    sync::{
        Arc, LazyLock, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// LOCAL: the requests a second that a token may send, and how many it may send at once.
const RATE: f64 = 500.0;
const BURST: f64 = 2000.0;

type Handled = Pin<Box<dyn Future<Output = Result<Reply, Fault>> + Send>>;

/// An endpoint.
pub(crate) struct Endpoint {
    /// The method.
    pub(crate) method: &'static str,
    /// The path, with the variable parts in braces.
    pub(crate) path: &'static str,
    /// The roles that may use it; empty for an endpoint that needs no token.
    pub(crate) roles: &'static [CallerRole],
    /// Its summary in the OpenAPI document.
    pub(crate) summary: &'static str,
    /// The schema of its body, if it takes JSON.
    pub(crate) body: Option<&'static str>,
    /// The status and the schema of its answer.
    pub(crate) answer: (u16, Option<&'static str>),
    handle: fn(Arc<Party>, Request) -> Handled,
}

macro_rules! endpoints {
    ($($method:ident $path:literal [$($role:ident)*] $summary:literal
       ($($body:literal)?) -> $status:literal ($($answer:literal)?) = $handle:path;)*) => {
        /// All endpoints.
        pub(crate) const ENDPOINTS: &[Endpoint] = &[$(Endpoint {
            method: stringify!($method),
            path: $path,
            roles: &[$(CallerRole::$role),*],
            summary: $summary,
            body: named(&[$($body)?]),
            answer: ($status, named(&[$($answer)?])),
            handle: |party, request| Box::pin($handle(party, request)),
        }),*];
    };
}

endpoints! {
    GET "/healthz" [] "Whether the process answers" () -> 200 ("Health") = status::health;
    GET "/readyz" [] "Whether it can work: store, disk, peers" () -> 200 ("Readiness") = status::ready;
    GET "/metrics" [] "Prometheus text, from this host or for operators and auditors" () -> 200 () = status::metrics;
    GET "/v1/openapi.json" [] "This document" () -> 200 () = status::openapi;
    GET "/v1/group" [Owner Analyst Operator Auditor] "The group: parties, pins, keys, limits" () -> 200 ("GroupView") = status::group;
    GET "/v1/audit" [Operator Auditor] "Entries of the audit log from `from` on" () -> 200 ("Log") = status::log;
    POST "/v1/datasets" [Owner] "Begin a data set: manifest, signature, this party's envelope" ("NewDataset") -> 201 ("Dataset") = datasets::begin;
    GET "/v1/datasets" [Owner Analyst Operator Auditor] "Data sets, newest first" () -> 200 ("Datasets") = datasets::list;
    GET "/v1/datasets/{id}" [Owner Analyst Operator Auditor] "A data set" () -> 200 ("Dataset") = datasets::get;
    DELETE "/v1/datasets/{id}" [Owner] "Delete a data set: its key first, then its parts" () -> 202 () = datasets::delete;
    GET "/v1/datasets/{id}/parts" [Owner] "The parts that are missing" () -> 200 ("MissingParts") = datasets::missing;
    PUT "/v1/datasets/{id}/parts/{n}" [Owner] "This party's sealed part" () -> 201 () = datasets::put;
    POST "/v1/datasets/{id}/seal" [Owner] "All parts are here: the data set may be used" () -> 200 ("Dataset") = datasets::seal;
    PUT "/v1/datasets/{id}/grants/{to}" [Owner] "Grant a data set to a tenant or to a digest of terms" ("NewGrant") -> 200 ("Dataset") = datasets::grant;
    DELETE "/v1/datasets/{id}/grants/{to}" [Owner] "Take a grant back" () -> 204 () = datasets::ungrant;
    POST "/v1/proposals" [Owner Analyst] "Propose a job" ("Proposed") -> 201 ("Proposal") = proposals::propose;
    GET "/v1/proposals" [Owner Analyst Operator Auditor] "Proposals, newest first" () -> 200 ("Proposals") = proposals::list;
    GET "/v1/proposals/{id}" [Owner Analyst Operator Auditor] "A proposal" () -> 200 ("Proposal") = proposals::get;
    DELETE "/v1/proposals/{id}" [Owner Analyst] "Take a proposal back" () -> 200 ("Proposal") = proposals::withdraw;
    POST "/v1/proposals/{id}/verdict" [Operator] "Approve a proposal by a signed policy, or deny it" ("Judgement") -> 200 ("Proposal") = proposals::judge;
    GET "/v1/policies" [Operator Auditor] "The policies that count" () -> 200 ("Policies") = proposals::policies;
    GET "/v1/policies/{name}" [Operator Auditor] "A policy" () -> 200 ("Policy") = proposals::policy;
    PUT "/v1/policies/{name}" [Operator] "The next version of a policy" ("SignedPolicy") -> 200 ("Policy") = proposals::put_policy;
    POST "/v1/jobs" [Analyst] "Submit a job, under the header Idempotency-Key" ("Submitted") -> 201 ("JobView") = jobs::submit;
    GET "/v1/jobs" [Owner Analyst Operator Auditor] "Jobs, newest first" () -> 200 ("Jobs") = jobs::list;
    GET "/v1/jobs/{id}" [Owner Analyst Operator Auditor] "A job" () -> 200 ("JobView") = jobs::get;
    GET "/v1/jobs/{id}/events" [Owner Analyst Operator Auditor] "Server-sent events: the job, each time it changes" () -> 200 () = jobs::events;
    GET "/v1/jobs/{id}/meeting" [Owner Analyst] "Where the client that `client` names meets the parties' workers" () -> 200 ("JobMeeting") = jobs::meeting;
    POST "/v1/jobs/{id}/cancel" [Analyst Operator] "Cancel a job" () -> 202 ("JobView") = jobs::cancel;
    POST "/v1/jobs/{id}/results/{output}/challenge" [Analyst] "A challenge for whoever has the key of a result" () -> 200 ("Challenge") = jobs::challenge;
    GET "/v1/jobs/{id}/results/{output}" [Analyst Operator] "This party's sealed share of a result, under the header Hushwire-Proof; for operators, what the party itself learnt" () -> 200 () = jobs::result;
    POST "/v1/jobs/{id}/results/{output}/ack" [Analyst Operator] "A result has arrived" ("Arrived") -> 200 ("JobView") = jobs::acknowledge;
    GET "/v1/tokens" [Operator] "All tokens, without their secrets" () -> 200 ("Tokens") = people::tokens;
    POST "/v1/tokens" [Operator] "A new token, which is shown once" ("NewToken") -> 201 ("GivenToken") = people::give;
    DELETE "/v1/tokens/{id}" [Operator] "Revoke a token" () -> 204 () = people::revoke;
    GET "/v1/tenants" [Operator] "All tenants with their quotas" () -> 200 ("Tenants") = people::tenants;
    PUT "/v1/tenants/{name}" [Operator] "A tenant's quotas" ("Quotas") -> 200 ("Quotas") = people::set_tenant;
}

/// The schema, if there is one.
const fn named(schema: &[&'static str]) -> Option<&'static str> {
    match schema {
        [] => None,
        [name, ..] => Some(name),
    }
}

/// The variable parts of a path, if it has this form.
fn matched(form: &str, path: &str) -> Option<Vec<String>> {
    let (mut forms, mut parts) = (form.split('/'), path.split('/'));
    let mut names = vec![];
    loop {
        match (forms.next(), parts.next()) {
            (None, None) => return Some(names),
            (Some(form), Some(part)) if form.starts_with('{') => {
                let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
                if part.is_empty() || part.len() > 256 || !part.chars().all(good) {
                    return None;
                }
                names.push(part.to_owned());
            }
            (Some(form), Some(part)) if form == part => {}
            _ => return None,
        }
    }
}

/// Answers a request of a client. `known` is set once a valid token was shown.
pub(crate) async fn answer(party: Arc<Party>, request: Request, known: &AtomicBool) -> Reply {
    party.meter.requests.fetch_add(1, Ordering::Relaxed);
    let (method, path) = (request.method.clone(), request.path.clone());
    let answered = dispatch(&party, request, known).await;
    answered.unwrap_or_else(|e| {
        let name = access::random::<8>().unwrap_or_default();
        let has = methods(&path);
        let odd = !has.is_empty() && !has.contains(&served(&method));
        let status = if odd { StatusCode::METHOD_NOT_ALLOWED } else { status_of(&e) };
        if status.is_server_error() {
            tracing::error!(request = name, %method, path, "{e}");
        } else {
            tracing::info!(request = name, %method, path, status = status.as_u16(), "{e}");
        }
        let mut refused = party.meter.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused.entry(status.as_u16()).or_default() += 1;
        drop(refused);
        let reply = Reply::json(status, &Problem { request: Some(name), ..Problem::of(&e) });
        if odd {
            return reply.with(header::ALLOW, has.join(", "));
        }
        match e.code() {
            code::TOKEN => reply.with(header::WWW_AUTHENTICATE, "Bearer"),
            code::QUOTA => reply.with(header::RETRY_AFTER, "1"),
            code::BODY => reply.with(header::CONNECTION, "close"),
            _ => reply,
        }
    })
}

/// The methods of a path's endpoints.
fn methods(path: &str) -> Vec<&'static str> {
    let here = ENDPOINTS.iter().filter(|endpoint| matched(endpoint.path, path).is_some());
    here.map(|endpoint| endpoint.method).collect()
}

/// The method of the endpoint that serves a method. HEAD is GET without the content.
fn served(method: &Method) -> &str {
    if *method == Method::HEAD { "GET" } else { method.as_str() }
}

async fn dispatch(party: &Arc<Party>, mut request: Request, known: &AtomicBool) -> Result<Reply, Fault> {
    for endpoint in ENDPOINTS.iter().filter(|endpoint| endpoint.method == served(&request.method)) {
        let Some(names) = matched(endpoint.path, &request.path) else { continue };
        request.names = names;
        request.caller = caller(party, &request, endpoint, known).await?;
        if request.method == Method::POST && endpoint.body.is_none() {
            // A client that sends a body anyway gets the answer, and not a broken connection.
            request.bytes(JSON).await?;
        }
        return (endpoint.handle)(party.clone(), request).await;
    }
    let other = methods(&request.path);
    if other.is_empty() {
        return Err(access::absent("endpoint", &request.path));
    }
    let cause = format!("{} has {}, and not {}", request.path, other.join(", "), request.method);
    Err(Fault::usage("finding the endpoint", cause, "see GET /v1/openapi.json"))
}

/// The caller, if the endpoint needs a token.
async fn caller(
    party: &Party,
    request: &Request,
    endpoint: &Endpoint,
    known: &AtomicBool,
) -> Result<Option<access::Caller>, Fault> {
    let refuse = |cause: &str| {
        let remedy = "send a token of this party as `Authorization: Bearer hw_…`; its operator gives tokens";
        Err(Fault::new(code::TOKEN, "admitting the request", cause, remedy))
    };
    let Some(token) = request.token() else {
        return if endpoint.roles.is_empty() { Ok(None) } else { refuse("no token came with the request") };
    };
    let found = party.callers.find(&party.store, token).await?;
    let Some(caller) = found else {
        return if endpoint.roles.is_empty() {
            Ok(None)
        } else {
            refuse("the token is unknown, revoked or at its end")
        };
    };
    known.store(true, Ordering::Relaxed);
    limit(&caller.token)?;
    if endpoint.roles.is_empty() || endpoint.roles.contains(&caller.role) {
        return Ok(Some(caller));
    }
    let names: Vec<_> = endpoint.roles.iter().map(|role| role.name()).collect();
    let cause = format!(
        "{} {} is for {}, and the token is of a role {}",
        endpoint.method,
        endpoint.path,
        names.join(", "),
        caller.role.name()
    );
    Err(Fault::new(code::ROLE, "admitting the request", cause, "ask with a token of one of these roles"))
}

/// Each token has a bucket that fills at a fixed rate.
fn limit(token: &str) -> Result<(), Fault> {
    static BUCKETS: LazyLock<Mutex<HashMap<String, (f64, Instant)>>> = LazyLock::new(Mutex::default);
    let mut buckets = BUCKETS.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Instant::now();
    let (left, at) = buckets.entry(token.to_owned()).or_insert((BURST, now));
    *left = (*left + now.duration_since(*at).as_secs_f64() * RATE).min(BURST);
    *at = now;
    if *left < 1.0 {
        let cause = format!("the token sends more than {RATE} requests a second");
        return Err(Fault::new(code::QUOTA, "admitting the request", cause, "wait a second"));
    }
    *left -= 1.0;
    Ok(())
}

/// The schemas that the OpenAPI document names.
pub(crate) use datasets::{Datasets, MissingParts, NewGrant};
pub(crate) use jobs::{Arrived, Challenge, JobMeeting, Jobs};
pub(crate) use people::{GivenToken, NewToken, Tenants, Tokens};
pub(crate) use proposals::{Judgement, Policies, Proposals, SignedPolicy};
pub(crate) use status::{GroupView, Health, Log, Readiness};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_matched_part_by_part() {
        assert_eq!(matched("/v1/jobs/{id}", "/v1/jobs/ab"), Some(vec!["ab".to_owned()]));
        assert_eq!(matched("/v1/jobs/{id}/events", "/v1/jobs/ab/events"), Some(vec!["ab".to_owned()]));
        for odd in [
            "/v1/jobs",
            "/v1/jobs/",
            "/v1/jobs/a/b",
            "/v1/jobs/a%2fb",
            "/v1//jobs/a",
            "/v1/jobs/../x",
            "v1/jobs/a/",
        ] {
            assert_eq!(matched("/v1/jobs/{id}", odd), None, "{odd}");
        }
    }

    #[test]
    fn no_two_endpoints_are_one() {
        let mut all: Vec<_> = ENDPOINTS.iter().map(|e| (e.method, e.path)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), ENDPOINTS.len());
    }
}
