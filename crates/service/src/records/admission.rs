//! Decides whether a party takes part in a job: its proposal is approved, its data sets are here,
//! and an operator's policy allows the run.

use super::{
    attempts, datasets,
    jobs::{self, JobRow},
    policies, proposals, recipients,
};
use crate::{
    access, clock,
    policy::Signed,
    store::{StoreError, Stored},
};
use hushwire_fault::{Fault, code};
use hushwire_policy::{PolicyLimits, RunData, RunHistory, RunRequest, Verdict, verdict};
use hushwire_seal::{BlakeName, KeyId};
use rusqlite::Connection;
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

const STEP: &str = "checking the policy";

/// A run that this party allows now.
pub(crate) struct Admitted {
    /// The lines of data on which the run is counted; an empty name if it takes no data.
    pub(crate) lines: Vec<String>,
    /// The limits of the run.
    pub(crate) limits: PolicyLimits,
}

/// The runs that the store has counted.
struct Counted<'a> {
    c: &'a Connection,
    digest: &'a str,
    lines: &'a [String],
    /// The error of counting, if any. The run is then refused.
    failed: RefCell<Option<StoreError>>,
}

impl RunHistory for Counted<'_> {
    fn since(&self, moment: u64) -> u64 {
        let from = i64::try_from(moment.saturating_mul(1000)).unwrap_or(i64::MAX);
        attempts::runs(self.c, self.digest, self.lines, from).unwrap_or_else(|e| {
            *self.failed.borrow_mut() = Some(e);
            u64::MAX
        })
    }
}

/// Admits the run of a job if this party allows it now.
///
/// # Errors
/// The proposal is not approved, a data set is missing or not granted, a quota is used up, or no
/// policy of `operators` allows the run.
pub(crate) fn admit(c: &Connection, operators: &[String], job: &JobRow) -> Stored<Admitted> {
    let refused = |cause: String, remedy: &str| Fault::new(code::NOT_APPROVED, STEP, cause, remedy);
    let proposal = proposals::get(c, &job.proposal)?.filter(|proposal| proposal.state == "approved");
    let proposal = proposal.ok_or_else(|| {
        refused(
            format!("the proposal of job {} is not approved here any more", job.id),
            "ask this party's operator",
        )
    })?;
    // The scheduler, too, looks at quotas, but this count decides.
    let (running, most) = (jobs::running(c, job)?, access::quotas(c, &job.tenant)?.parallel);
    if running >= most {
        let cause = format!("tenant {} has {running} attempts under way, of at most {most}", job.tenant);
        return Err(Fault::new(code::QUOTA, STEP, cause, "it waits by itself").into());
    }
    let mut data = BTreeMap::new();
    for (table, id) in &job.body.data {
        let row = datasets::get(c, id)?.filter(|row| row.state == "usable");
        let absent = || refused(format!("data set {id} of {table} is not whole here"), "put it, and seal it");
        let row = row.ok_or_else(absent)?;
        if row.tenant != job.tenant && !datasets::granted(c, &row.id, &job.tenant, &job.digest)? {
            let cause =
                format!("data set {id} of {table} is not granted to tenant {} or to these terms", job.tenant);
            return Err(refused(cause, "ask its owner for a grant").into());
        }
        let signed = row.signed()?;
        let manifest = signed.manifest();
        let run = RunData {
            id: signed.id(),
            line: manifest.line,
            owner: manifest.owner,
            rows: manifest.padded,
            expires: manifest.expires,
        };
        data.insert(table.clone(), run);
    }
    let mut recipients: Vec<KeyId> = vec![];
    for (name, text) in &job.body.recipients {
        recipients.push(recipients::seal_to(name, text)?.id());
    }
    let mut rules = vec![];
    for kept in policies::active(c)? {
        let signed = Signed { text: kept.policy, signature: kept.signature, signer: kept.signer };
        // Others may have changed the store since the policy was put.
        match signed.checked(&kept.name, operators) {
            Ok(file) => rules.extend(file.allow.iter().cloned()),
            Err(e) => tracing::warn!(policy = kept.name, "does not count: {e}"),
        }
    }
    let lines: BTreeSet<String> = data.values().map(|data| data.line.to_string()).collect();
    let lines = if lines.is_empty() { vec![String::new()] } else { lines.into_iter().collect() };
    let history = Counted { c, digest: &job.digest, lines: &lines, failed: RefCell::default() };
    let min_group = proposal.terms.iter().find(|(name, _)| name == "min-group");
    let digest: BlakeName = job.digest.parse().map_err(|_| Fault::internal(STEP, "a digest is none"))?;
    let request = RunRequest {
        digest,
        tenant: &job.tenant,
        data: &data,
        recipients: &recipients,
        clients: &job.body.clients,
        parameters: &job.body.parameters,
        min_group: min_group.and_then(|(_, text)| text.parse().ok()),
        memory: None,
        running: attempts::running(c, &job.digest, &job.id)?,
    };
    let judged = verdict(&rules, &request, &history, clock::now().unsigned_abs() / 1000);
    if let Some(e) = history.failed.into_inner() {
        return Err(e);
    }
    match judged {
        Verdict::Allowed { limits, .. } => Ok(Admitted { lines, limits }),
        // The run gets its turn once another run ends.
        Verdict::Denied(denials) if denials.iter().all(|denial| denial.rule == "max.parallel") => {
            let cause: Vec<_> = denials.into_iter().map(|denial| denial.why).collect();
            Err(Fault::new(code::QUOTA, STEP, cause.join(", "), "it waits by itself").into())
        }
        denied @ Verdict::Denied(_) => {
            let fault = denied.fault();
            Err(fault.unwrap_or_else(|| Fault::internal(STEP, "a denial has no reason")).into())
        }
    }
}
