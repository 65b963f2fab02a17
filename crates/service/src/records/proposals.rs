//! Proposals: jobs that operators examine before they run.

use super::{packed, policies, unpacked};
use crate::{
    access::{self, Caller},
    audit, clock, jobfile,
    store::Stored,
};
use hushwire_fault::{Fault, code};
use hushwire_kinds::{Job, QueryTask};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};
use utoipa::ToSchema;

/// LOCAL: the most parsed jobs that are remembered.
const KNOWN_JOBS: usize = 16;

/// A job as it is proposed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proposed {
    /// The text of the job file.
    pub(crate) job: String,
    /// The texts of the computations that it names, by their names in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<String, String>,
    /// When it expires, as RFC 3339, if nobody has approved it by then. An approval ends with the
    /// policy that gave it, and no later than this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<String>,
}

/// A proposal.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Proposal {
    /// Its name, which is the same at all parties: it follows from tenant, job and files.
    pub(crate) id: String,
    /// The digest of the job's terms.
    pub(crate) digest: String,
    /// The kind of the job.
    pub(crate) kind: String,
    /// The tenant that owns it.
    pub(crate) tenant: String,
    /// The job file and the files that it names.
    #[serde(flatten)]
    pub(crate) proposed: Proposed,
    /// The terms: names and texts.
    pub(crate) terms: Vec<(String, String)>,
    /// Lines that an operator reads together with the terms.
    pub(crate) explain: Vec<String>,
    /// The data, parameters and recipients with which its runs are submitted.
    pub(crate) needs: Needs,
    /// proposed, approved, denied, withdrawn or expired.
    pub(crate) state: String,
    /// Who proposed it.
    pub(crate) by: String,
    /// When it was proposed.
    pub(crate) created: String,
    /// This party's verdict.
    pub(crate) verdict: Option<ProposalVerdict>,
}

/// A party's verdict on a proposal.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ProposalVerdict {
    /// approve or deny.
    pub(crate) verdict: String,
    /// The operator.
    pub(crate) by: String,
    /// When it was given.
    pub(crate) at: String,
    /// Why it was denied.
    pub(crate) reason: Option<String>,
    /// The policy that allows it.
    pub(crate) policy: Option<String>,
}

/// The names for which a job needs data sets, keys, values and clients.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub(crate) struct Needs {
    /// The data sets of the job.
    pub(crate) data: Vec<String>,
    /// The recipients of the job.
    pub(crate) recipients: Vec<String>,
    /// The parameters of the job.
    pub(crate) parameters: Vec<String>,
    /// The clients of the job, which are present while it runs.
    #[serde(default)]
    pub(crate) clients: Vec<String>,
}

/// A proposed job, read and planned.
pub(crate) struct Planned {
    id: String,
    digest: String,
    kind: &'static str,
    terms: Vec<(String, String)>,
    explain: Vec<String>,
    needs: Needs,
    proposed: Proposed,
}

impl Proposed {
    /// Reads the job.
    pub(crate) fn read(&self) -> Result<Job, Fault> {
        jobfile::read(&self.job, &self.files)
    }

    /// The job. Every run asks for it, so its text is parsed once.
    pub(crate) fn known(&self) -> Result<Job, Fault> {
        static KNOWN: Mutex<BTreeMap<[u8; 32], Job>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hash = blake3::Hasher::new_derive_key("hushwire service known job v1");
        let files = self.files.iter().flat_map(|(name, text)| [name, text]);
        for text in std::iter::once(&self.job).chain(files) {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        let name = *hash.finalize().as_bytes();
        if let Some(job) = known().get(&name) {
            return Ok(job.clone());
        }
        let job = self.read()?;
        let mut known = known();
        if known.len() >= KNOWN_JOBS {
            known.clear();
        }
        known.insert(name, job.clone());
        Ok(job)
    }

    /// Whether it has expired.
    fn expired(&self, now: i64) -> bool {
        let ends = self.expires.as_deref().map(clock::parse);
        // An expiry that cannot be read was refused when the proposal came.
        ends.is_some_and(|ends| ends.is_ok_and(|ends| ends <= now))
    }

    /// Reads and plans the job for a tenant.
    pub(crate) fn plan(self, tenant: &str) -> Result<Planned, Fault> {
        let step = "reading the proposal";
        if let Some(Err(e)) = self.expires.as_deref().map(clock::parse) {
            return Err(Fault::usage(step, format!("expires: {e}"), "write it as RFC 3339"));
        }
        if self.expired(clock::now()) {
            let cause = "it expires before it comes";
            return Err(Fault::usage(step, cause, "name a later time under `expires`"));
        }
        let job = self.read()?;
        let (terms, (mut explain, _)) = job.terms()?;
        if let Job::Query(query) = &job {
            // The terms state exactly what is computed; the plan states who learns what.
            let task = QueryTask::new(query)?;
            explain.extend(task.query().explain(None).lines().map(str::to_owned));
        }
        let parameters = job.parameters().iter().map(|(name, _)| name.clone()).collect();
        let clients = job.agreement()?.clients;
        let needs = Needs { data: job.data_sets()?, recipients: job.recipients()?, parameters, clients };
        let mut hash = blake3::Hasher::new_derive_key("hushwire service proposal v1");
        for text in [tenant, &packed(&self)] {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        Ok(Planned {
            id: hash.finalize().to_hex()[..32].to_owned(),
            digest: terms.digest().to_string(),
            kind: terms.kind(),
            terms: terms.list().iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect(),
            explain,
            needs,
            proposed: self,
        })
    }
}

const COLUMNS: &str = "id, digest, kind, tenant, job, terms, explain, state, who, created, verdict_by, \
                       verdict_at, reason, policy, needs";

fn of(row: &Row<'_>) -> rusqlite::Result<Proposal> {
    let proposed: Proposed = unpacked(&row.get::<_, String>(4)?)?;
    let mut state: String = row.get(7)?;
    let denied = state == "denied";
    if matches!(state.as_str(), "proposed" | "approved") && proposed.expired(clock::now()) {
        state = "expired".to_owned();
    }
    let by: Option<String> = row.get(10)?;
    let at: Option<i64> = row.get(11)?;
    let (reason, policy) = (row.get(12)?, row.get(13)?);
    let verdict = by.zip(at).map(|(by, at)| ProposalVerdict {
        verdict: if denied { "deny" } else { "approve" }.to_owned(),
        by,
        at: clock::text(at),
        reason,
        policy,
    });
    Ok(Proposal {
        id: row.get(0)?,
        digest: row.get(1)?,
        kind: row.get(2)?,
        tenant: row.get(3)?,
        proposed,
        terms: unpacked(&row.get::<_, String>(5)?)?,
        explain: unpacked(&row.get::<_, String>(6)?)?,
        needs: unpacked(&row.get::<_, String>(14)?)?,
        state,
        by: row.get(8)?,
        created: clock::text(row.get(9)?),
        verdict,
    })
}

/// Keeps a proposal. Returns it, and whether it is new. A proposal that has ended does not come
/// back.
pub(crate) fn propose(c: &Connection, caller: &Caller, planned: &Planned) -> Stored<(Proposal, bool)> {
    let new = super::execute(
        c,
        "INSERT INTO proposals(id, tenant, digest, kind, job, terms, explain, who, created, state, needs)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'proposed', ?10) ON CONFLICT DO NOTHING",
        params![
            planned.id,
            caller.tenant,
            planned.digest,
            planned.kind,
            packed(&planned.proposed),
            packed(&planned.terms),
            packed(&planned.explain),
            caller.to_string(),
            clock::now(),
            packed(&planned.needs)
        ],
    )? > 0;
    if new {
        audit::append(c, &caller.to_string(), "propose", &planned.id, json!({ "digest": planned.digest }))?;
    }
    let kept = need(c, caller, &planned.id)?;
    if matches!(kept.state.as_str(), "denied" | "withdrawn" | "expired") {
        let cause = format!("the same proposal was made before, and is {}", kept.state);
        let remedy = "give it another time under `expires`, so that it is a proposal of its own";
        return Err(Fault::new(code::CONFLICT, "proposing a job", cause, remedy).into());
    }
    Ok((kept, new))
}

/// A proposal, without a check of the caller.
pub(crate) fn get(c: &Connection, id: &str) -> Stored<Option<Proposal>> {
    let sql = format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1");
    Ok(c.prepare_cached(&sql)?.query_row([id], of).optional()?)
}

/// A proposal that the caller may see.
pub(crate) fn need(c: &Connection, caller: &Caller, id: &str) -> Stored<Proposal> {
    let found = get(c, id)?.filter(|proposal| caller.sees(&proposal.tenant));
    Ok(found.ok_or_else(|| access::absent("proposal", id))?)
}

/// The newest approved proposal of a tenant with this digest of terms.
pub(crate) fn approved(c: &Connection, tenant: &str, digest: &str) -> Stored<Option<Proposal>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM proposals WHERE tenant = ?1 AND digest = ?2 AND state = 'approved' ORDER BY created DESC LIMIT 1"
    );
    let found = c.prepare_cached(&sql)?.query_row([tenant, digest], of).optional()?;
    Ok(found.filter(|proposal| proposal.state == "approved"))
}

/// Proposals that the caller may see, newest first.
pub(crate) fn list(c: &Connection, caller: &Caller, most: i64) -> Stored<Vec<Proposal>> {
    let all = caller.sees("");
    let sql =
        format!("SELECT {COLUMNS} FROM proposals WHERE ?1 OR tenant = ?2 ORDER BY created DESC LIMIT ?3");
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map(params![all, caller.tenant, most], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Stores an operator's verdict. An approval may become a denial. A withdrawn proposal stays
/// withdrawn.
pub(crate) fn judge(
    c: &Connection,
    caller: &Caller,
    id: &str,
    policy: Option<&str>,
    reason: Option<&str>,
) -> Stored<Proposal> {
    let proposal = need(c, caller, id)?;
    if matches!(proposal.state.as_str(), "withdrawn" | "expired") {
        let cause = format!("it is {}", proposal.state);
        return Err(Fault::new(code::CONFLICT, "judging a proposal", cause, "ask for a new one").into());
    }
    if policy.is_none() {
        policies::end(c, &policies::of_proposal(id), &caller.to_string())?;
    }
    let state = if policy.is_some() { "approved" } else { "denied" };
    super::execute(
        c,
        "UPDATE proposals SET state = ?2, verdict_by = ?3, verdict_at = ?4, reason = ?5, policy = ?6 WHERE id = ?1",
        params![id, state, caller.to_string(), clock::now(), reason, policy],
    )?;
    let detail = json!({ "digest": proposal.digest, "policy": policy, "reason": reason });
    audit::append(c, &caller.to_string(), if policy.is_some() { "approve" } else { "deny" }, id, detail)?;
    need(c, caller, id)
}

/// Withdraws a proposal.
pub(crate) fn withdraw(c: &Connection, caller: &Caller, id: &str) -> Stored<Proposal> {
    need(c, caller, id)?;
    super::execute(c, "UPDATE proposals SET state = 'withdrawn' WHERE id = ?1", [id])?;
    policies::end(c, &policies::of_proposal(id), &caller.to_string())?;
    audit::append(c, &caller.to_string(), "withdraw", id, json!({}))?;
    need(c, caller, id)
}
