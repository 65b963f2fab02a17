//! Results: this party's sealed shares. Nobody can fetch them before the decision.

use super::jobs::JobRow;
use crate::{
    access::{self, Caller, CallerRole},
    audit, clock,
    store::Stored,
};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, OptionalExtension, Params, params};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// A result at this party, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct OutputView {
    /// The name of the output, which is its recipient's name.
    pub(crate) output: String,
    /// Its length in bytes.
    pub(crate) bytes: i64,
    /// The BLAKE3 hash of its bytes.
    pub(crate) digest: String,
    /// The name of the key that it is sealed to, or the party that learns it.
    pub(crate) key: String,
    /// Whether its recipient has confirmed that it arrived.
    pub(crate) acknowledged: bool,
}

/// A result that is not in a row yet. If it is not small, it is on the disk.
#[derive(Clone, Debug)]
pub(crate) struct NewOutput {
    /// The name of the output.
    pub(crate) output: String,
    /// The blob.
    pub(crate) blob: String,
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// The key that it is sealed to, or the party that learns it.
    pub(crate) recipient: String,
    /// Its bytes if it is small. Then it is stored with its row.
    pub(crate) small: Option<Vec<u8>>,
}

/// Whether the store keeps small results. A store with the schema of the release before does not.
pub(crate) fn keeps_small(c: &Connection) -> Stored<bool> {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name = 'small_results'";
    Ok(c.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// The bytes of a result that is in the store.
pub(crate) fn small(c: &Connection, blob: &str) -> Stored<Option<Vec<u8>>> {
    if !keeps_small(c)? {
        return Ok(None);
    }
    let mut statement = c.prepare_cached("SELECT bytes FROM small_results WHERE blob = ?1")?;
    Ok(statement.query_row([blob], |row| row.get(0)).optional()?)
}

/// Removes the bytes of the small results whose rows satisfy a condition.
fn forget_small(c: &Connection, of: &str, params: impl Params) -> Stored<()> {
    if keeps_small(c)? {
        let sql = format!("DELETE FROM small_results WHERE blob IN (SELECT blob FROM results WHERE {of})");
        super::execute(c, &sql, params)?;
    }
    Ok(())
}

/// Keeps a result.
pub(crate) fn put(c: &Connection, job: &str, k: u32, new: &NewOutput) -> Stored<()> {
    super::execute(
        c,
        "INSERT INTO results(job, k, output, blob, bytes, recipient) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![job, k, new.output, new.blob, new.bytes as i64, new.recipient],
    )?;
    if let Some(bytes) = &new.small {
        super::execute(
            c,
            "INSERT INTO small_results(blob, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            params![new.blob, bytes],
        )?;
    }
    Ok(())
}

/// Removes the results of an aborted attempt. The sweep removes their blobs.
pub(crate) fn forget(c: &Connection, job: &str, k: u32) -> Stored<()> {
    forget_small(c, "job = ?1 AND k = ?2", params![job, k])?;
    super::execute(c, "DELETE FROM results WHERE job = ?1 AND k = ?2", params![job, k])?;
    Ok(())
}

/// The results of a committed job.
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

/// The blob and the recipient of a result, if it can be fetched now.
pub(crate) fn found(c: &Connection, job: &JobRow, output: &str, keep: i64) -> Stored<(String, String)> {
    if !matches!(job.state.as_str(), "committed" | "delivered") {
        let (cause, remedy) = match job.waits.as_deref() {
            Some(waits) => (format!("the job {waits}"), "wait for the job's end"),
            None if job.ended() => (format!("the job is {}", job.state), "read its cause"),
            None => (format!("the job is {}", job.state), "wait for the job's end"),
        };
        return Err(Fault::new(code::CONFLICT, "fetching a result", cause, remedy).into());
    }
    let mut statement =
        c.prepare_cached("SELECT blob, recipient FROM results WHERE job = ?1 AND k = ?2 AND output = ?3")?;
    let found =
        statement.query_row(params![job.id, job.attempt, output], |row| Ok((row.get(0)?, row.get(1)?)));
    let found: Option<(String, String)> = found.optional()?;
    if job.updated + keep < clock::now() {
        let cause = format!("results of job {} were kept until {}", job.id, clock::text(job.updated + keep));
        return Err(Fault::filled(code::NOT_KEPT, &[("cause", &cause)]).during("fetching a result").into());
    }
    Ok(found.ok_or_else(|| access::absent("output", output))?)
}

/// Notes that a result is fetched. Returns its blob, with its bytes if the store has them.
pub(crate) fn fetch(
    c: &Connection,
    job: &JobRow,
    output: &str,
    keep: i64,
    caller: &Caller,
) -> Stored<(String, Option<Vec<u8>>)> {
    let (blob, recipient) = found(c, job, output, keep)?;
    // An operator fetches the party's own output; the recipient fetches a sealed one.
    if recipient.starts_with("party") != (caller.role == CallerRole::Operator) {
        let cause = format!("output {output} is for {recipient}");
        let remedy =
            "a party's own output is fetched by its operator, and a sealed one by the tenant of the job";
        return Err(Fault::new(code::ROLE, "fetching a result", cause, remedy).into());
    }
    super::execute(
        c,
        "UPDATE results SET fetched = ?4 WHERE job = ?1 AND k = ?2 AND output = ?3",
        params![job.id, job.attempt, output, clock::now()],
    )?;
    audit::append(c, &caller.to_string(), "fetch", &job.id, json!({ "output": output, "digest": blob }))?;
    let bytes = small(c, &blob)?;
    Ok((blob, bytes))
}

/// Notes that a result arrived, which its digest shows. The job is delivered once all have arrived.
pub(crate) fn acknowledge(
    c: &Connection,
    job: &JobRow,
    output: &str,
    digest: &str,
    actor: &str,
) -> Stored<()> {
    let mut statement =
        c.prepare_cached("SELECT blob FROM results WHERE job = ?1 AND k = ?2 AND output = ?3")?;
    let blob = statement.query_row(params![job.id, job.attempt, output], |row| row.get(0));
    let blob: Option<String> = blob.optional()?;
    let visible = matches!(job.state.as_str(), "committed" | "delivered");
    let blob = blob.filter(|_| visible).ok_or_else(|| access::absent("output", output))?;
    if blob != digest {
        let cause = "the digest is not that of the result";
        return Err(Fault::new(code::CONFLICT, "acknowledging a result", cause, "fetch it again").into());
    }
    let now = clock::now();
    super::execute(
        c,
        "UPDATE results SET acknowledged = coalesce(acknowledged, ?4) WHERE job = ?1 AND k = ?2 AND output = ?3",
        params![job.id, job.attempt, output, now],
    )?;
    let mut statement =
        c.prepare_cached("SELECT count(*) FROM results WHERE job = ?1 AND k = ?2 AND acknowledged IS NULL")?;
    let open: i64 = statement.query_row(params![job.id, job.attempt], |row| row.get(0))?;
    if open == 0 {
        super::execute(
            c,
            "UPDATE jobs SET state = 'delivered' WHERE id = ?1 AND state = 'committed'",
            [&job.id],
        )?;
    }
    audit::append(c, actor, "acknowledge", &job.id, json!({ "output": output }))
}

/// Removes the rows of expired results. Returns their number.
pub(crate) fn expire(c: &Connection, keep: i64) -> Stored<usize> {
    const PAST: &str =
        "job IN (SELECT id FROM jobs WHERE state IN ('committed', 'delivered') AND updated < ?1)";
    let before = clock::now() - keep;
    forget_small(c, PAST, [before])?;
    Ok(super::execute(c, &format!("DELETE FROM results WHERE {PAST}"), [before])?)
}

/// The names of all blobs that a row names and that are files.
pub(crate) fn blobs(c: &Connection) -> Stored<BTreeSet<String>> {
    let small = if keeps_small(c)? { "EXCEPT SELECT blob FROM small_results" } else { "" };
    let mut statement = c.prepare(&format!(
        "SELECT blob FROM results {small} UNION SELECT blob FROM parts WHERE stored = 1"
    ))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
