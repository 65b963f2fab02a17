//! Attempts of a job, and the runs that are counted. `docs/adr/0032-the-service.md` has the order
//! in which things are stored.

use super::{
    jobs::{self, JobRow},
    packed, results, unpacked,
};
use crate::{audit, clock, http::Problem, store::Stored};
use hushwire_fault::{Fault, PartyId, code};
use hushwire_seal::Signature;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

/// An attempt, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Attempt {
    /// Its number, from 1.
    pub(crate) k: u32,
    /// reserved, started, prepared, committed or aborted.
    pub(crate) state: String,
    /// When it was reserved.
    pub(crate) created: String,
    /// When it ended.
    pub(crate) ended: Option<String>,
    /// Why it was aborted.
    pub(crate) cause: Option<Problem>,
    /// The worker's measurements.
    pub(crate) stats: Option<Measured>,
}

/// A worker's measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Measured {
    /// Seconds from the first connection to the last confirmation.
    pub(crate) seconds: f64,
    /// Payload bytes to all peers.
    pub(crate) bytes_sent: u64,
    /// Payload bytes from all peers.
    pub(crate) bytes_received: u64,
    /// Rounds among the parties: exchanges that follow one another.
    pub(crate) rounds: u64,
    /// The most memory that the worker used, in bytes.
    pub(crate) peak_memory: Option<u64>,
}

/// The decision on an attempt: party 0 takes it, and all parties follow it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// Whether the outputs become visible.
    pub(crate) commit: bool,
    /// Whether any party may have begun to compute. If not, the run is not counted.
    pub(crate) go: bool,
    /// The job's state after an abort, if the job ends: failed or cancelled.
    pub(crate) end: Option<String>,
    /// Why it was aborted.
    pub(crate) cause: Option<Fault>,
    /// When the job may be tried again.
    pub(crate) next_try: i64,
    /// Party 0's signature under the decision, as the others hear it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) word: Option<Signature>,
}

/// An attempt's row.
#[derive(Clone, Debug)]
pub(crate) struct AttemptRow {
    pub(crate) job: String,
    pub(crate) k: u32,
    pub(crate) state: String,
    pub(crate) decision: Option<Decision>,
    pub(crate) go: bool,
}

const COLUMNS: &str = "job, k, state, decision, go";

fn of(row: &Row<'_>) -> rusqlite::Result<AttemptRow> {
    let decision: Option<String> = row.get(3)?;
    Ok(AttemptRow {
        job: row.get(0)?,
        k: row.get(1)?,
        state: row.get(2)?,
        decision: decision.map(|text| unpacked(&text)).transpose()?,
        go: row.get(4)?,
    })
}

/// An attempt.
pub(crate) fn get(c: &Connection, job: &str, k: u32) -> Stored<Option<AttemptRow>> {
    let sql = format!("SELECT {COLUMNS} FROM attempts WHERE job = ?1 AND k = ?2");
    Ok(c.prepare_cached(&sql)?.query_row(params![job, k], of).optional()?)
}

/// Attempts that have not ended.
pub(crate) fn open(c: &Connection) -> Stored<Vec<AttemptRow>> {
    let sql = format!("SELECT {COLUMNS} FROM attempts WHERE ended IS NULL ORDER BY created");
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map([], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// LOCAL: the number of entries of the audit log in which attempts are looked up at a time.
const AT_A_TIME: i64 = 512;

/// A job, the number of its attempt, and the decision on it.
type EndedAttempt = (String, u32, Decision);

/// The attempts that ended, with their decisions, by the entries of the audit log after `after`, or
/// by its last entries. The first value is the last entry that was looked at.
pub(crate) fn ended_after(c: &Connection, after: Option<i64>) -> Stored<(i64, Vec<EndedAttempt>)> {
    let end = audit::head(c)?.seq as i64;
    let after = after.unwrap_or(end - AT_A_TIME);
    let last = end.min(after + AT_A_TIME);
    let mut statement = c.prepare_cached(
        "SELECT attempts.job, attempts.k, attempts.decision FROM audit
         JOIN attempts ON attempts.job = audit.object AND attempts.k = json_extract(audit.detail, '$.attempt')
         WHERE seq > ?1 AND seq <= ?2 AND action IN ('commit', 'abort') AND attempts.decision IS NOT NULL",
    )?;
    let rows = statement.query_map([after, last], |row| {
        Ok((row.get(0)?, row.get(1)?, unpacked(&row.get::<_, String>(2)?)?))
    })?;
    Ok((last, rows.collect::<Result<_, _>>()?))
}

/// All attempts of a job.
pub(crate) fn of_job(c: &Connection, job: &str) -> Stored<Vec<Attempt>> {
    let mut statement = c.prepare_cached(
        "SELECT k, state, created, ended, cause, stats FROM attempts WHERE job = ?1 ORDER BY k",
    )?;
    let rows = statement.query_map([job], |row| {
        let (cause, stats): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
        Ok(Attempt {
            k: row.get(0)?,
            state: row.get(1)?,
            created: clock::text(row.get(2)?),
            ended: row.get::<_, Option<i64>>(3)?.map(clock::text),
            cause: cause.map(|text| unpacked::<Fault>(&text)).transpose()?.as_ref().map(Problem::of),
            stats: stats.map(|text| unpacked(&text)).transpose()?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// How many times these terms have run on any of these lines of data, from a time on.
pub(crate) fn runs(c: &Connection, digest: &str, lines: &[String], from: i64) -> Stored<u64> {
    // A run on several lines is one run.
    let sql = match lines {
        [_] => "SELECT count(*) FROM runs WHERE digest = ?1 AND line = ?2 AND refunded = 0 AND at >= ?3",
        _ => {
            "SELECT count(*) FROM (SELECT DISTINCT job, k FROM runs WHERE digest = ?1
               AND line IN (SELECT value FROM json_each(?2)) AND refunded = 0 AND at >= ?3)"
        }
    };
    let lines = match lines {
        [line] => line.clone(),
        lines => packed(&lines),
    };
    let n: i64 = c.prepare_cached(sql)?.query_row(params![digest, lines, from], |row| row.get(0))?;
    Ok(n.unsigned_abs())
}

/// The number of other running jobs with these terms.
pub(crate) fn running(c: &Connection, digest: &str, but: &str) -> Stored<u64> {
    let mut statement =
        c.prepare_cached("SELECT count(*) FROM jobs WHERE state = 'running' AND digest = ?1 AND id <> ?2")?;
    Ok(statement.query_row([digest, but], |row| row.get::<_, i64>(0))?.unsigned_abs())
}

/// Reserves attempt `k`. From now on the run is counted on each of these lines of data.
pub(crate) fn reserve(
    c: &Connection,
    job: &JobRow,
    k: u32,
    lines: &[String],
    heads: &serde_json::Value,
) -> Stored<()> {
    let mut statement =
        c.prepare_cached("SELECT count(*) FROM attempts WHERE job = ?1 AND (ended IS NULL OR k >= ?2)")?;
    let open: i64 = statement.query_row(params![job.id, k], |row| row.get(0))?;
    if open > 0 || job.ended() {
        let cause = format!("attempt {k} of job {} comes out of turn", job.id);
        return Err(
            Fault::new(code::WORKER, "reserving an attempt", cause, "it is tried again by itself").into()
        );
    }
    let now = clock::now();
    super::execute(
        c,
        "INSERT INTO attempts(job, k, state, go, created) VALUES (?1, ?2, 'reserved', 0, ?3)",
        params![job.id, k, now],
    )?;
    for line in lines {
        super::execute(
            c,
            "INSERT INTO runs(job, k, digest, line, at, refunded) VALUES (?1, ?2, ?3, ?4, ?5, 0)",
            params![job.id, k, job.digest, line, now],
        )?;
    }
    super::execute(
        c,
        "UPDATE jobs SET state = 'running', attempt = ?2, waits = NULL, updated = ?3 WHERE id = ?1",
        params![job.id, k, now],
    )?;
    audit::append(
        c,
        "scheduler",
        "reserve",
        &job.id,
        json!({ "attempt": k, "digest": job.digest, "heads": heads }),
    )
}

/// Starts an attempt. Returns false if it is not reserved any more.
pub(crate) fn start(c: &Connection, job: &str, k: u32) -> Stored<bool> {
    let changed = super::execute(
        c,
        "UPDATE attempts SET state = 'started', go = 1 WHERE job = ?1 AND k = ?2 AND state = 'reserved' AND decision IS NULL",
        params![job, k],
    )?;
    Ok(changed > 0)
}

/// Notes that an attempt is prepared, with its outputs. Returns false if it was aborted meanwhile.
pub(crate) fn prepared(
    c: &Connection,
    job: &str,
    k: u32,
    outputs: &[results::NewOutput],
    stats: &Measured,
) -> Stored<bool> {
    let changed = super::execute(
        c,
        "UPDATE attempts SET state = 'prepared', stats = ?3 WHERE job = ?1 AND k = ?2 AND state = 'started'
           AND decision IS NULL",
        params![job, k, packed(stats)],
    )?;
    if changed == 0 {
        return Ok(false);
    }
    for output in outputs {
        results::put(c, job, k, output)?;
    }
    Ok(true)
}

/// Stores party 0's decision. The first decision on an attempt holds. Returns the one that holds.
pub(crate) fn decide(c: &Connection, job: &str, k: u32, decision: &Decision) -> Stored<Decision> {
    let Some(row) = get(c, job, k)? else {
        // An attempt that is not in the store never started from here.
        return Ok(Decision { commit: false, ..decision.clone() });
    };
    if let Some(taken) = row.decision {
        return Ok(taken);
    }
    let taken = Decision { go: row.go, ..decision.clone() };
    if taken.commit && row.state != "prepared" {
        return Err(
            Fault::internal("deciding", "a commit comes before this party's own outputs are there").into()
        );
    }
    super::execute(
        c,
        "UPDATE attempts SET decision = ?3 WHERE job = ?1 AND k = ?2",
        params![job, k, packed(&taken)],
    )?;
    finish(c, job, k, &taken)?;
    Ok(taken)
}

/// Follows a decision. If it comes again, nothing changes.
pub(crate) fn finish(c: &Connection, job: &str, k: u32, decision: &Decision) -> Stored<()> {
    let Some(row) = get(c, job, k)? else { return Ok(()) };
    if matches!(row.state.as_str(), "committed" | "aborted") {
        if decision.commit == (row.state == "committed") {
            return Ok(());
        }
        // A result that was handed out cannot be taken back. A removed one cannot be handed out.
        let cause = format!("attempt {k} of job {job} was {}, and party 0 says otherwise now", row.state);
        let remedy = "compare the logs of all parties; a party 0 that was restored from a backup has forgotten decisions";
        return Err(Fault::new(code::CONFLICT, "following a decision", cause, remedy).by(PartyId(0)).into());
    }
    let now = clock::now();
    if decision.commit && row.state != "prepared" {
        let cause = format!(
            "attempt {k} of job {job} was committed, and this party was not asked whether it is prepared"
        );
        return Err(Fault::internal("following a decision", cause).into());
    }
    let counted = decision.go || row.go;
    let state = if decision.commit { "committed" } else { "aborted" };
    let cause = decision.cause.as_ref().map(packed);
    super::execute(
        c,
        "UPDATE attempts SET state = ?3, decision = ?4, ended = ?5, cause = ?6 WHERE job = ?1 AND k = ?2",
        params![job, k, state, packed(decision), now, cause],
    )?;
    let then = match (decision.commit, decision.end.as_deref()) {
        (true, _) => "committed",
        (false, Some(end)) => end,
        (false, None) => "ready",
    };
    if !decision.commit {
        results::forget(c, job, k)?;
        // Party 0 has no power over what is counted: whatever it decides, an attempt that started
        // here stays counted here.
        if !counted {
            super::execute(c, "UPDATE runs SET refunded = 1 WHERE job = ?1 AND k = ?2", params![job, k])?;
        }
    }
    super::execute(
        c,
        "UPDATE jobs SET state = ?2, waits = NULL, cause = ?3, next_try = ?4, updated = ?5 WHERE id = ?1",
        params![job, then, if decision.commit { None } else { cause }, decision.next_try, now],
    )?;
    let detail = json!({ "attempt": k, "counted": counted, "cause": decision.cause.as_ref().map(ToString::to_string) });
    audit::append(c, "party 0", if decision.commit { "commit" } else { "abort" }, job, detail)
}

/// The running attempt of a job at this party.
pub(crate) fn current(c: &Connection, job: &str) -> Stored<Option<AttemptRow>> {
    let Some(row) = jobs::get(c, job)? else { return Ok(None) };
    let found = get(c, job, row.attempt)?;
    Ok(found.filter(|attempt| matches!(attempt.state.as_str(), "reserved" | "started" | "prepared")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreError;

    /// A store in which job "j" has attempt 1 in `state`. Its run is counted.
    fn with_attempt(state: &str, go: bool) -> Connection {
        let c = Connection::open_in_memory().expect("a store");
        c.execute_batch(include_str!("../store/0001.sql")).expect("the schema");
        c.execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO jobs VALUES ('j', 't', 'i', '', '{}', 'p', 'd', 'query', 'running', 0, 1, 0, NULL,
                 NULL, 'who', 0, 0);
             INSERT INTO runs VALUES ('j', 1, 'd', 'line', 0, 0);",
        )
        .expect("rows");
        c.execute(
            "INSERT INTO attempts(job, k, state, go, created) VALUES ('j', 1, ?1, ?2, 0)",
            params![state, go],
        )
        .expect("a row");
        c
    }

    /// The first decision holds, and the error names the other one.
    #[test]
    fn a_decider_that_contradicts_itself_is_refused_and_changes_nothing() {
        let decision =
            |commit| Decision { commit, go: true, end: None, cause: None, next_try: 0, word: None };
        for first in [true, false] {
            let c = with_attempt("prepared", true);
            for again in [first, first] {
                finish(&c, "j", 1, &decision(again)).unwrap_or_else(|_| panic!("{first}"));
            }
            let refused = finish(&c, "j", 1, &decision(!first));
            assert!(matches!(refused, Err(StoreError::Fault(e)) if e.code() == code::CONFLICT), "{first}");
            let row = get(&c, "j", 1).ok().flatten().unwrap_or_else(|| panic!("a row"));
            assert_eq!(row.state == "committed", first);
        }
    }

    /// Otherwise party 0 could start an approved job again and again, abort each attempt after its
    /// peers have computed, and have no run counted.
    #[test]
    fn a_decider_cannot_take_back_a_run_that_started_here() {
        let abort = Decision { commit: false, go: false, end: None, cause: None, next_try: 0, word: None };
        for (state, go, counted) in [("reserved", false, 0), ("started", true, 1), ("prepared", true, 1)] {
            let c = with_attempt(state, go);
            finish(&c, "j", 1, &abort).unwrap_or_else(|_| panic!("{state}"));
            let runs = runs(&c, "d", &["line".to_owned()], 0).unwrap_or_else(|_| panic!("{state}"));
            assert_eq!(runs, counted, "{state}");
        }
    }
}
