//! Jobs, which are submitted, ready, running, committed, delivered, failed or cancelled.

use super::{
    attempts::{self, Attempt},
    datasets, packed, proposals, recipients,
    results::{self, OutputView},
    unpacked,
};
use crate::{
    access::{self, Caller},
    audit, clock,
    http::Problem,
    store::Stored,
};
use hushwire_fault::{Fault, code};
use hushwire_kinds::RunValues;
use hushwire_wire::Pin;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// The states in which a job has ended.
pub(crate) const ENDS: [&str; 4] = ["committed", "delivered", "failed", "cancelled"];

/// The data, parameters and recipients that a job is submitted with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Submitted {
    /// The proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) proposal: Option<String>,
    /// The digest of an approved proposal's terms, instead of the proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<String>,
    /// The data sets, by their names in the job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) data: BTreeMap<String, String>,
    /// Values of parameters, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) parameters: BTreeMap<String, String>,
    /// The keys that results are sealed to, by the recipients' names in the job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) recipients: BTreeMap<String, String>,
    /// The pins of certificates of the job's clients, which are present while it runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) clients: BTreeMap<String, String>,
    /// Jobs with a higher number start earlier.
    #[serde(default)]
    pub(crate) priority: i64,
}

impl Submitted {
    /// The values of the run, on which all parties' workers agree.
    pub(crate) fn values(&self) -> RunValues {
        RunValues { parameters: self.parameters.clone(), data: self.data.clone() }
    }
}

/// A job's row.
#[derive(Clone, Debug)]
pub(crate) struct JobRow {
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) body_hash: String,
    pub(crate) body: Submitted,
    pub(crate) proposal: String,
    pub(crate) digest: String,
    pub(crate) kind: String,
    pub(crate) state: String,
    pub(crate) attempt: u32,
    pub(crate) waits: Option<String>,
    pub(crate) cause: Option<Fault>,
    pub(crate) created: i64,
    pub(crate) updated: i64,
}

impl JobRow {
    /// Whether it has ended.
    pub(crate) fn ended(&self) -> bool {
        ENDS.contains(&self.state.as_str())
    }
}

/// A job, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct JobView {
    /// Its name, the same at all parties.
    pub(crate) id: String,
    /// submitted, ready, running, committed, delivered, failed or cancelled.
    pub(crate) state: String,
    /// The kind of the job.
    pub(crate) kind: String,
    /// The digest of its terms.
    pub(crate) digest: String,
    /// The proposal.
    pub(crate) proposal: String,
    /// The tenant that owns it.
    pub(crate) tenant: String,
    /// When it was submitted.
    pub(crate) created: String,
    /// When its state last changed.
    pub(crate) updated: String,
    /// The number of the last attempt.
    pub(crate) attempt: u32,
    /// The reason why it waits.
    pub(crate) waits: Option<String>,
    /// The data sets, by their names in the job.
    pub(crate) data: BTreeMap<String, String>,
    /// Values of parameters, by name.
    pub(crate) parameters: BTreeMap<String, String>,
    /// The pins of its clients.
    pub(crate) clients: BTreeMap<String, String>,
    /// The progress of the running attempt.
    pub(crate) progress: Option<Progress>,
    /// Why the job failed, or why the last attempt did.
    pub(crate) cause: Option<Problem>,
    /// All attempts.
    pub(crate) attempts: Vec<Attempt>,
    /// The results at this party.
    pub(crate) outputs: Vec<OutputView>,
}

/// The progress of a running attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Progress {
    /// The operator or step that runs now.
    pub(crate) phase: String,
    /// The number of instances that are done.
    pub(crate) done: u64,
    /// The number of all instances.
    pub(crate) of: u64,
    /// Payload bytes sent.
    pub(crate) sent: u64,
    /// Payload bytes received.
    pub(crate) received: u64,
}

/// The number of digits in a job's name.
pub(crate) const ID: usize = 32;

/// The name of a job. It follows from tenant and key, so it is the same at all parties.
pub(crate) fn id(tenant: &str, key: &str) -> String {
    let text = format!("{tenant}\0{key}");
    hex::encode(&blake3::derive_key("hushwire service job v1", text.as_bytes())[..ID / 2])
}

/// The columns of a job. `waits` is stored, except that a prepared attempt waits for its decision.
const COLUMNS: &str = "id, tenant, body_hash, body, proposal, digest, kind, state, attempt,
    CASE WHEN state = 'running' AND waits IS NULL THEN
      (SELECT 'waits for party 0''s decision' FROM attempts
        WHERE attempts.job = jobs.id AND k = jobs.attempt AND attempts.state = 'prepared')
      ELSE waits END,
    cause, created, updated";

fn of(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    let cause: Option<String> = row.get(10)?;
    Ok(JobRow {
        id: row.get(0)?,
        tenant: row.get(1)?,
        body_hash: row.get(2)?,
        body: unpacked(&row.get::<_, String>(3)?)?,
        proposal: row.get(4)?,
        digest: row.get(5)?,
        kind: row.get(6)?,
        state: row.get(7)?,
        attempt: row.get(8)?,
        waits: row.get(9)?,
        cause: cause.map(|text| unpacked(&text)).transpose()?,
        created: row.get(11)?,
        updated: row.get(12)?,
    })
}

/// Keeps a job. Returns it, and whether it is new: the same key with the same body is the same job.
pub(crate) fn submit(c: &Connection, caller: &Caller, key: &str, body: &Submitted) -> Stored<(JobRow, bool)> {
    let step = "submitting a job";
    let proposal = match (&body.proposal, &body.digest) {
        (Some(id), None) => proposals::need(c, caller, id)?,
        (None, Some(digest)) => proposals::approved(c, &caller.tenant, digest)?
            .ok_or_else(|| access::absent("approved proposal with the digest", digest))?,
        _ => {
            let cause = "it names both or neither of `proposal` and `digest`";
            return Err(Fault::usage(step, cause, "name one of them").into());
        }
    };
    if proposal.state != "approved" {
        let cause = format!("its proposal {} is {} at this party", proposal.id, proposal.state);
        let remedy = "ask this party's operator for a verdict, and submit again";
        return Err(Fault::new(code::NOT_APPROVED, step, cause, remedy).into());
    }
    same_names("data set", &proposal.needs.data, body.data.keys())?;
    same_names("recipient", &proposal.needs.recipients, body.recipients.keys())?;
    same_names("parameter", &proposal.needs.parameters, body.parameters.keys())?;
    same_names("client", &proposal.needs.clients, body.clients.keys())?;
    for (name, pin) in &body.clients {
        pin.parse::<Pin>().map_err(|e| {
            let cause = format!("the pin of client {name} makes no sense: {}", e.cause());
            Fault::usage(step, cause, "send what `hushwire keys pin` prints for the client's key")
        })?;
    }
    for (name, key) in &body.recipients {
        recipients::seal_to(name, key)?;
    }
    // A value out of its range is refused here, before anybody waits for the job.
    proposal.proposed.known()?.with(&body.values())?;
    let id = id(&caller.tenant, key);
    // This is the same at all parties, however the proposal was named.
    let agreed = Submitted { proposal: None, digest: Some(proposal.digest.clone()), ..body.clone() };
    let mut hash = blake3::Hasher::new_derive_key("hushwire service body v1");
    hash.update(id.as_bytes()).update(proposal.id.as_bytes()).update(packed(&agreed).as_bytes());
    let body_hash = hash.finalize().to_hex().to_string();
    if let Some(there) = get(c, &id)? {
        if there.body_hash == body_hash {
            return Ok((there, false));
        }
        let cause = "the key was used for another job before";
        let remedy =
            "give each job an Idempotency-Key of its own, and repeat the same body under the same key alone";
        return Err(Fault::new(code::CONFLICT, step, cause, remedy).into());
    }
    for id in body.data.values() {
        has_data(c, id, &caller.tenant, &proposal.digest)?;
    }
    let mut statement = c.prepare_cached(
        "SELECT count(*) FROM jobs WHERE tenant = ?1 AND state IN ('submitted', 'ready', 'running')",
    )?;
    let open: i64 = statement.query_row([&caller.tenant], |row| row.get(0))?;
    let most = access::quotas(c, &caller.tenant)?.jobs;
    if open >= most {
        let cause =
            format!("tenant {} has {open} jobs that are not at their end, of at most {most}", caller.tenant);
        return Err(
            Fault::new(code::QUOTA, step, cause, "wait for some, or ask the operator for more").into()
        );
    }
    let now = clock::now();
    super::execute(
        c,
        "INSERT INTO jobs(id, tenant, idem, body_hash, body, proposal, digest, kind, state, priority, attempt, next_try, who,
           created, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'submitted', ?9, 0, 0, ?10, ?11, ?11)",
        params![
            id,
            caller.tenant,
            key,
            body_hash,
            packed(&agreed),
            proposal.id,
            proposal.digest,
            proposal.kind,
            body.priority,
            caller.to_string(),
            now
        ],
    )?;
    let detail = json!({ "digest": proposal.digest, "data": body.data, "recipients": body.recipients.keys().collect::<Vec<_>>() });
    audit::append(c, &caller.to_string(), "submit", &id, detail)?;
    let row = get(c, &id)?.ok_or_else(|| Fault::internal(step, "the job is not there"))?;
    Ok((row, true))
}

/// LOCAL: the most names of data sets that an error lists.
const LISTED: usize = 10;

/// Checks that a data set is usable here, and that the tenant may use it.
fn has_data(c: &Connection, id: &str, tenant: &str, digest: &str) -> Stored<()> {
    if let Some(row) = datasets::get(c, id)?.filter(|row| row.state == "usable")
        && (row.tenant == tenant || datasets::granted(c, &row.id, tenant, digest)?)
    {
        return Ok(());
    }
    let there = datasets::of_tenant(c, tenant, digest)?;
    let mut names: Vec<_> = there.iter().take(LISTED).map(|(id, name)| format!("{name} ({id})")).collect();
    if there.len() > LISTED {
        names.push(format!("{} more", there.len() - LISTED));
    }
    let remedy = match &names[..] {
        [] => "put one first: there is none here".to_owned(),
        names => format!("name one of these: {}", names.join(", ")),
    };
    Err(access::absent("data set", id).during("submitting a job").remedied(remedy).into())
}

/// Checks that a job is submitted with exactly what its proposal needs.
fn same_names<'n>(what: &str, needs: &[String], has: impl Iterator<Item = &'n String>) -> Result<(), Fault> {
    let has: Vec<_> = has.collect();
    let wrong = |cause: String| {
        let remedy = "name what `needs` of the proposal lists";
        Err(Fault::usage("submitting a job", cause, remedy))
    };
    if let Some(name) = needs.iter().find(|name| !has.contains(name)) {
        return wrong(format!("it names nothing for {what} {name} of the job"));
    }
    match has.into_iter().find(|name| !needs.contains(name)) {
        Some(name) => wrong(format!("the job has no {what} {name}")),
        None => Ok(()),
    }
}

/// A job, without a check of the caller.
pub(crate) fn get(c: &Connection, id: &str) -> Stored<Option<JobRow>> {
    let sql = format!("SELECT {COLUMNS} FROM jobs WHERE id = ?1");
    Ok(c.prepare_cached(&sql)?.query_row([id], of).optional()?)
}

/// A job that must exist.
pub(crate) fn known(c: &Connection, id: &str) -> Stored<JobRow> {
    Ok(get(c, id)?.ok_or_else(|| access::absent("job", id))?)
}

/// A job that the caller may see.
pub(crate) fn need(c: &Connection, caller: &Caller, id: &str) -> Stored<JobRow> {
    let found = get(c, id)?.filter(|job| caller.sees(&job.tenant));
    Ok(found.ok_or_else(|| access::absent("job", id))?)
}

/// A job with its attempts and results.
pub(crate) fn view(c: &Connection, job: JobRow) -> Stored<JobView> {
    let (attempts, outputs) = (attempts::of_job(c, &job.id)?, results::of_job(c, &job)?);
    Ok(JobView {
        state: job.state,
        kind: job.kind,
        digest: job.digest,
        proposal: job.proposal,
        tenant: job.tenant,
        created: clock::text(job.created),
        updated: clock::text(job.updated),
        attempt: job.attempt,
        waits: job.waits,
        data: job.body.data,
        parameters: job.body.parameters,
        clients: job.body.clients,
        progress: None,
        cause: job.cause.as_ref().map(Problem::of),
        attempts,
        outputs,
        id: job.id,
    })
}

/// Jobs that the caller may see, newest first, in one state or any.
pub(crate) fn list(
    c: &Connection,
    caller: &Caller,
    state: &str,
    most: i64,
    before: i64,
) -> Stored<Vec<JobRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM jobs WHERE (?1 OR tenant = ?2) AND (?3 = '' OR state = ?3) AND created < ?5
         ORDER BY created DESC LIMIT ?4"
    );
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map(params![caller.sees(""), caller.tenant, state, most, before], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// LOCAL: the longest time, in milliseconds, for which a job is postponed. A job that is due later
/// was postponed before the clock was set back.
const LATEST: i64 = 70_000;

/// At most `most` jobs that may be tried now and are `free`, of tenants that may have more running
/// jobs.
pub(crate) fn due(c: &Connection, now: i64, most: usize, free: impl Fn(&str) -> bool) -> Stored<Vec<JobRow>> {
    let mut statement = c.prepare_cached(
        "SELECT id FROM jobs WHERE state IN ('submitted', 'ready') AND (next_try <= ?1 OR next_try > ?2)
         AND tenant IN (SELECT name FROM tenants WHERE parallel >
           (SELECT count(*) FROM jobs AS other WHERE other.tenant = tenants.name AND other.state = 'running'))
         ORDER BY priority DESC, created",
    )?;
    let mut rows = statement.query(params![now, now + LATEST])?;
    let mut due = vec![];
    while due.len() < most
        && let Some(row) = rows.next()?
    {
        let id: String = row.get(0)?;
        if free(&id) {
            due.push(known(c, &id)?);
        }
    }
    Ok(due)
}

/// The number of other running jobs of a job's tenant.
pub(crate) fn running(c: &Connection, job: &JobRow) -> Stored<i64> {
    let sql = "SELECT count(*) FROM jobs WHERE tenant = ?1 AND state = 'running' AND id <> ?2";
    Ok(c.prepare_cached(sql)?.query_row([&job.tenant, &job.id], |row| row.get(0))?)
}

/// Jobs that have not ended, about which the decider may know more.
pub(crate) fn open(c: &Connection, before: i64, most: i64) -> Stored<Vec<JobRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM jobs WHERE state IN ('submitted', 'ready', 'running') AND updated < ?1
         ORDER BY updated LIMIT ?2"
    );
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map(params![before, most], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Postpones a job, and stores what it waits for.
pub(crate) fn postpone(c: &Connection, id: &str, until: i64, waits: &str) -> Stored<()> {
    super::execute(
        c,
        "UPDATE jobs SET next_try = ?2, waits = ?3 WHERE id = ?1 AND state IN ('submitted', 'ready')",
        params![id, until, waits],
    )?;
    Ok(())
}

/// Whether a job exists, and whether it has not ended.
pub(crate) fn is_open(c: &Connection, id: &str) -> Stored<(bool, bool)> {
    let sql = "SELECT count(*), coalesce(sum(state IN ('submitted', 'ready', 'running')), 0) FROM jobs WHERE id = ?1";
    Ok(c.prepare_cached(sql)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Whether a job was postponed.
pub(crate) fn is_postponed(c: &Connection, id: &str) -> Stored<bool> {
    let sql = "SELECT count(*) FROM jobs WHERE id = ?1 AND state = 'submitted' AND next_try > 0";
    Ok(c.prepare_cached(sql)?.query_row([id], |row| row.get(0))?)
}

/// Lets a postponed job be tried at once.
pub(crate) fn hasten(c: &Connection, id: &str) -> Stored<()> {
    let sql = "UPDATE jobs SET next_try = 0 WHERE id = ?1 AND state = 'submitted' AND next_try > 0";
    super::execute(c, sql, [id])?;
    Ok(())
}

/// Notes that all parties have the job and what it needs.
pub(crate) fn ready(c: &Connection, id: &str) -> Stored<()> {
    super::execute(
        c,
        "UPDATE jobs SET state = 'ready', waits = NULL, updated = ?2 WHERE id = ?1 AND state = 'submitted'",
        params![id, clock::now()],
    )?;
    Ok(())
}

/// Ends a job that has no running attempt.
pub(crate) fn end(c: &Connection, id: &str, state: &str, cause: Option<&Fault>, actor: &str) -> Stored<()> {
    let changed = super::execute(
        c,
        "UPDATE jobs SET state = ?2, waits = NULL, cause = ?3, updated = ?4
         WHERE id = ?1 AND state IN ('submitted', 'ready')",
        params![id, state, cause.map(packed), clock::now()],
    )?;
    if changed > 0 {
        audit::append(c, actor, state, id, json!({ "cause": cause.map(ToString::to_string) }))?;
    }
    Ok(())
}
