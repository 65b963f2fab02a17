//! The audit log: rows of the store, chained as `hushwire-seal` defines. An entry is written in the
//! same transaction as the change that it records.

use crate::{
    clock, failpoint,
    store::{self, Stored},
};
use hushwire_fault::{Fault, code};
use hushwire_seal::{
    BlakeName,
    audit::{AuditEntry, AuditEvent, AuditHead},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

/// Reads a hash from its text.
pub(crate) fn name(text: &str) -> rusqlite::Result<BlakeName> {
    text.parse().map_err(|_| {
        let odd = format!("{text:?} is no hash").into();
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, odd)
    })
}

/// The end of the log.
pub(crate) fn head(c: &Connection) -> Stored<AuditHead> {
    let mut statement = c.prepare_cached("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")?;
    let last = statement.query_row([], |row| {
        Ok(AuditHead { seq: row.get::<_, i64>(0)?.unsigned_abs(), hash: name(&row.get::<_, String>(1)?)? })
    });
    Ok(last.optional()?.unwrap_or(AuditHead::EMPTY))
}

/// Whether the log has an entry of this action on this object.
pub(crate) fn has(c: &Connection, action: &str, object: &str) -> Stored<bool> {
    let sql = "SELECT count(*) > 0 FROM audit WHERE action = ?1 AND object = ?2";
    Ok(c.prepare_cached(sql)?.query_row([action, object], |row| row.get(0))?)
}

/// Appends an entry.
pub(crate) fn append(c: &Connection, actor: &str, action: &str, object: &str, detail: Value) -> Stored<()> {
    let detail = match detail {
        Value::Object(detail) => detail,
        _ => Map::new(),
    };
    let (actor, action, object) = (actor.to_owned(), action.to_owned(), object.to_owned());
    let event = AuditEvent { at: clock::now().unsigned_abs(), actor, action, object, detail };
    let entry = AuditEntry::link(&head(c)?, event)?;
    failpoint::pass(|| "audit.append".to_owned()).map_err(|e| store::disk(&e))?;
    c.prepare_cached(
        "INSERT INTO audit(seq, at, actor, action, object, detail, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        entry.seq as i64,
        entry.at as i64,
        entry.actor,
        entry.action,
        entry.object,
        Value::Object(entry.detail).to_string(),
        entry.prev.to_string(),
        entry.hash.to_string()
    ])?;
    Ok(())
}

fn of(row: &Row<'_>) -> rusqlite::Result<AuditEntry> {
    Ok(AuditEntry {
        seq: row.get::<_, i64>(0)?.unsigned_abs(),
        at: row.get::<_, i64>(1)?.unsigned_abs(),
        actor: row.get(2)?,
        action: row.get(3)?,
        object: row.get(4)?,
        detail: crate::records::unpacked(&row.get::<_, String>(5)?)?,
        prev: name(&row.get::<_, String>(6)?)?,
        hash: name(&row.get::<_, String>(7)?)?,
    })
}

/// The hash of an entry; `None` if there is no entry with this number.
pub(crate) fn hash(c: &Connection, seq: i64) -> Stored<Option<BlakeName>> {
    let mut statement = c.prepare_cached("SELECT hash FROM audit WHERE seq = ?1")?;
    Ok(statement.query_row([seq], |row| name(&row.get::<_, String>(0)?)).optional()?)
}

/// At most `most` entries, from number `from` on.
pub(crate) fn entries(c: &Connection, from: i64, most: usize) -> Stored<Vec<AuditEntry>> {
    let mut statement = c.prepare_cached(
        "SELECT seq, at, actor, action, object, detail, prev, hash FROM audit WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
    )?;
    let rows = statement.query_map(params![from, most as i64], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Checks the whole chain. Returns its end.
pub(crate) fn verify(c: &Connection) -> Stored<AuditHead> {
    let mut head = AuditHead::EMPTY;
    loop {
        let some = entries(c, head.seq as i64 + 1, 4096)?;
        if some.is_empty() {
            return Ok(head);
        }
        for entry in some {
            entry.follows(&head).map_err(|cause| {
                let cause = format!("entry {} of the audit log does not hold: {cause}", head.seq + 1);
                let remedy = "the log was changed, or the disk failed: compare it with the heads that the other parties keep";
                Fault::new(code::AUDIT_CHAIN, "checking the audit log", cause, remedy)
            })?;
            head = entry.head();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn log() -> Connection {
        let c = Connection::open_in_memory().expect("memory");
        c.execute_batch(include_str!("store/0001.sql")).expect("the schema");
        for n in 0..5 {
            append(&c, "anna", "submit", &format!("job {n}"), json!({ "n": n }))
                .map_err(Fault::from)
                .expect("room");
        }
        c
    }

    #[test]
    fn a_chain_holds() {
        let c = log();
        let head = verify(&c).map_err(Fault::from).expect("it holds");
        assert_eq!(head.seq, 5);
        assert_eq!(entries(&c, 4, 10).map_err(Fault::from).expect("entries").len(), 2);
    }

    /// The hash covers every column of a row, and its place.
    #[test]
    fn an_edit_anywhere_is_found_at_its_entry() {
        for edit in [
            "UPDATE audit SET at = at + 1 WHERE seq = 3",
            "UPDATE audit SET actor = 'bob' WHERE seq = 3",
            "UPDATE audit SET action = 'x' WHERE seq = 3",
            "UPDATE audit SET object = 'x' WHERE seq = 3",
            "UPDATE audit SET detail = '{}' WHERE seq = 3",
            "UPDATE audit SET hash = prev WHERE seq = 3",
            "DELETE FROM audit WHERE seq = 3",
        ] {
            let c = log();
            c.execute_batch(edit).expect("it is SQL");
            let error = verify(&c).map_err(Fault::from).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains("entry 3"), "{edit}: {error}");
        }
    }
}
