//! Results: this party's sealed shares, which nobody fetches before the decision.

use super::jobs::JobRow;
use crate::{
    access::{self, Caller, CallerRole},
    audit, clock,
    store::Stored,
};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// A result at this party, as programs read it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct OutputView {
    /// The name of the output: that of its recipient.
    pub(crate) output: String,
    /// Its length.
    pub(crate) bytes: i64,
    /// BLAKE3 of its bytes.
    pub(crate) digest: String,
    /// The name of the key that it is sealed to, or the party that learns it.
    pub(crate) key: String,
    /// Whether its recipient has said that it arrived.
    pub(crate) acknowledged: bool,
}

/// A result that is on the disk, and that no row names yet.
#[derive(Clone, Debug)]
pub(crate) struct NewOutput {
    /// The name of the output.
    pub(crate) output: String,
    /// The blob.
    pub(crate) blob: String,
    /// Its length.
    pub(crate) bytes: u64,
    /// The key, or the party.
    pub(crate) recipient: String,
}

/// Keeps a result.
pub(crate) fn put(c: &Connection, job: &str, k: u32, new: &NewOutput) -> Stored<()> {
    c.execute(
        "INSERT INTO results(job, k, output, blob, bytes, recipient) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![job, k, new.output, new.blob, new.bytes as i64, new.recipient],
    )?;
    Ok(())
}

/// Results of an attempt that was aborted: the sweep removes their blobs.
pub(crate) fn forget(c: &Connection, job: &str, k: u32) -> Stored<()> {
    c.execute("DELETE FROM results WHERE job = ?1 AND k = ?2", params![job, k])?;
    Ok(())
}

/// Results of a job that is committed.
pub(crate) fn of_job(c: &Connection, job: &JobRow) -> Stored<Vec<OutputView>> {
    if !matches!(job.state.as_str(), "committed" | "delivered") {
        return Ok(vec![]);
    }
    let mut statement = c.prepare_cached(
        "SELECT output, bytes, blob, recipient, acknowledged FROM results WHERE job = ?1 AND k = ?2 ORDER BY output",
    )?;
    let rows = statement.query_map(params![job.id, job.attempt], |row| {
        Ok(OutputView {
            output: row.get(0)?,
            bytes: row.get(1)?,
            digest: row.get(2)?,
            key: row.get(3)?,
            acknowledged: row.get::<_, Option<i64>>(4)?.is_some(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The blob and the recipient of a result that can be fetched now.
pub(crate) fn found(c: &Connection, job: &JobRow, output: &str, keep: i64) -> Stored<(String, String)> {
    if !matches!(job.state.as_str(), "committed" | "delivered") {
        let (cause, remedy) = match job.waits.as_deref() {
            Some(waits) => (format!("the job {waits}"), "wait for the job's end"),
            None if job.ended() => (format!("the job is {}", job.state), "read its cause"),
            None => (format!("the job is {}", job.state), "wait for the job's end"),
        };
        return Err(Fault::new(code::CONFLICT, "fetching a result", cause, remedy).into());
    }
    let found: Option<(String, String)> = c
        .query_row(
            "SELECT blob, recipient FROM results WHERE job = ?1 AND k = ?2 AND output = ?3",
            params![job.id, job.attempt, output],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    if job.updated + keep < clock::now() {
        let cause = format!("results of job {} were kept until {}", job.id, clock::text(job.updated + keep));
        return Err(Fault::filled(code::NOT_KEPT, &[("cause", &cause)]).during("fetching a result").into());
    }
    Ok(found.ok_or_else(|| access::absent("output", output))?)
}

/// The blob of a result, and that it was fetched.
pub(crate) fn fetch(
    c: &Connection,
    job: &JobRow,
    output: &str,
    keep: i64,
    caller: &Caller,
) -> Stored<String> {
    let (blob, recipient) = found(c, job, output, keep)?;
    // A party's own output is its operator's; a sealed one is its recipient's.
    if recipient.starts_with("party") != (caller.role == CallerRole::Operator) {
        let cause = format!("output {output} is for {recipient}");
        let remedy =
            "a party's own output is fetched by its operator, and a sealed one by the tenant of the job";
        return Err(Fault::new(code::ROLE, "fetching a result", cause, remedy).into());
    }
    c.execute(
        "UPDATE results SET fetched = ?4 WHERE job = ?1 AND k = ?2 AND output = ?3",
        params![job.id, job.attempt, output, clock::now()],
    )?;
    audit::append(c, &caller.to_string(), "fetch", &job.id, json!({ "output": output, "digest": blob }))?;
    Ok(blob)
}

/// The recipient says by its digest that a result arrived. The job is delivered once all have.
pub(crate) fn acknowledge(
    c: &Connection,
    job: &JobRow,
    output: &str,
    digest: &str,
    actor: &str,
) -> Stored<()> {
    let blob: Option<String> = c
        .query_row(
            "SELECT blob FROM results WHERE job = ?1 AND k = ?2 AND output = ?3",
            params![job.id, job.attempt, output],
            |row| row.get(0),
        )
        .optional()?;
    let visible = matches!(job.state.as_str(), "committed" | "delivered");
    let blob = blob.filter(|_| visible).ok_or_else(|| access::absent("output", output))?;
    if blob != digest {
        let cause = "the digest is not that of the result";
        return Err(Fault::new(code::CONFLICT, "acknowledging a result", cause, "fetch it again").into());
    }
    let now = clock::now();
    c.execute(
        "UPDATE results SET acknowledged = coalesce(acknowledged, ?4) WHERE job = ?1 AND k = ?2 AND output = ?3",
        params![job.id, job.attempt, output, now],
    )?;
    let open: i64 = c.query_row(
        "SELECT count(*) FROM results WHERE job = ?1 AND k = ?2 AND acknowledged IS NULL",
        params![job.id, job.attempt],
        |row| row.get(0),
    )?;
    if open == 0 {
        c.execute("UPDATE jobs SET state = 'delivered' WHERE id = ?1 AND state = 'committed'", [&job.id])?;
    }
    audit::append(c, actor, "acknowledge", &job.id, json!({ "output": output }))
}

/// Removes the rows of results that are past their time. Gives the number of rows.
pub(crate) fn expire(c: &Connection, keep: i64) -> Stored<usize> {
    let before = clock::now() - keep;
    let removed = c.execute(
        "DELETE FROM results WHERE job IN (SELECT id FROM jobs WHERE state IN ('committed', 'delivered') AND updated < ?1)",
        [before],
    )?;
    Ok(removed)
}

/// The names of all blobs that a row names.
pub(crate) fn blobs(c: &Connection) -> Stored<BTreeSet<String>> {
    let mut statement =
        c.prepare("SELECT blob FROM results UNION SELECT blob FROM parts WHERE stored = 1")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
