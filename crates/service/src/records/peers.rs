//! The facts that this party has heard of the other parties.

use super::{packed, unpacked};
use crate::{
    audit, clock,
    store::{Stored, schema},
};
use hushwire_seal::{BlakeName, SealTo, SignedStatement, audit::AuditHead};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::json;
use std::collections::BTreeMap;

/// The first schema that keeps statements. With an earlier one, they are heard again after each
/// start.
const STATEMENTS: usize = 3;

/// Keeps a party's statement about itself.
pub(crate) fn hear(c: &Connection, party: u8, release: &str, said: &SignedStatement) -> Stored<()> {
    let seal_to = packed(&said.statement().seal_to);
    super::execute(
        c,
        "INSERT INTO peers(party, release, seal_to, last_seen, audit_seq, audit_hash) VALUES (?1, ?2, ?3, ?4, 0, ?5)
         ON CONFLICT(party) DO UPDATE SET release = ?2, seal_to = ?3, last_seen = ?4",
        params![party, release, seal_to, clock::now(), AuditHead::EMPTY.hash.to_string()],
    )?;
    if schema(c)? < STATEMENTS {
        return Ok(());
    }
    let kept = statements(c)?.remove(&party);
    if kept.as_ref() == Some(said) {
        return Ok(());
    }
    super::execute(c, "UPDATE peers SET statement = ?2 WHERE party = ?1", params![party, packed(said)])?;
    let signs = said.statement().sign;
    if kept.is_none_or(|kept| kept.statement().sign != signs) {
        audit::append(c, "daemon", "peer key", &format!("party {party}"), json!({ "sign": signs }))?;
    }
    Ok(())
}

/// The last statement of each party.
pub(crate) fn statements(c: &Connection) -> Stored<BTreeMap<u8, SignedStatement>> {
    if schema(c)? < STATEMENTS {
        return Ok(BTreeMap::new());
    }
    let mut statement = c.prepare_cached("SELECT party, statement FROM peers WHERE statement IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, unpacked(&row.get::<_, String>(1)?)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The keys of the other parties that data sets are sealed to.
pub(crate) fn heard(c: &Connection) -> Stored<BTreeMap<u8, SealTo>> {
    let mut statement = c.prepare_cached("SELECT party, seal_to FROM peers WHERE seal_to IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, unpacked(&row.get::<_, String>(1)?)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The ends of the others' audit logs, by party, as they told them.
pub(crate) fn heads(c: &Connection) -> Stored<BTreeMap<u8, AuditHead>> {
    let mut statement = c.prepare_cached("SELECT party, audit_seq, audit_hash FROM peers")?;
    let rows = statement.query_map([], |row| {
        let hash = audit::name(&row.get::<_, String>(2)?)?;
        Ok((row.get(0)?, AuditHead { seq: row.get::<_, i64>(1)?.unsigned_abs(), hash }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The end of a party's audit log, as it is kept.
pub(crate) fn head(c: &Connection, party: u8) -> Stored<Option<AuditHead>> {
    let sql = "SELECT audit_seq, audit_hash FROM peers WHERE party = ?1";
    let found = c.query_row(sql, [party], |row| {
        let hash = audit::name(&row.get::<_, String>(1)?)?;
        Ok(AuditHead { seq: row.get::<_, i64>(0)?.unsigned_abs(), hash })
    });
    Ok(found.optional()?)
}

/// Whether a party's audit log, which now ends at `head`, has lost the entry `had` that was its end
/// before. `found` is the hash that the party now gives for that entry. An end before `had` is a
/// loss, too: if it were kept, the party could replace all entries after it, and nobody would have
/// a record of them.
pub(crate) fn has_lost(had: &AuditHead, found: Option<BlakeName>, head: &AuditHead) -> bool {
    found != Some(had.hash) || head.seq < had.seq || head.seq == had.seq && head.hash != had.hash
}

/// Keeps the end of a party's audit log, which has the one that was kept before.
pub(crate) fn keep_head(c: &Connection, party: u8, head: &AuditHead) -> Stored<()> {
    super::execute(
        c,
        "UPDATE peers SET audit_seq = ?2, audit_hash = ?3 WHERE party = ?1",
        params![party, head.seq as i64, head.hash.to_string()],
    )?;
    Ok(())
}

/// Records that a party's audit log has lost an entry that it had, once for each lost end.
pub(crate) fn contradicts(c: &Connection, party: u8, had: &AuditHead) -> Stored<()> {
    let (object, had) = (format!("party {party}"), had.to_string());
    let known: i64 = c.query_row(
        "SELECT count(*) FROM audit WHERE action = 'contradiction' AND object = ?1 AND instr(detail, ?2) > 0",
        params![object, had],
        |row| row.get(0),
    )?;
    if known == 0 {
        audit::append(c, "daemon", "contradiction", &object, json!({ "had": had }))?;
    }
    Ok(())
}

/// Accepts a party's audit log as it is from now on, after its operator restored it from a backup.
pub(crate) fn accept(c: &Connection, party: u8) -> Stored<()> {
    let had = head(c, party)?.map(|head| head.to_string());
    keep_head(c, party, &AuditHead::EMPTY)?;
    audit::append(c, "accept-log", "accept log", &format!("party {party}"), json!({ "had": had }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_whose_end_goes_back_has_lost_entries() {
        let head = |seq, hash| AuditHead { seq, hash: BlakeName([hash; 32]) };
        let (had, same) = (head(5, 7), Some(BlakeName([7; 32])));
        for now in [head(5, 7), head(6, 1), head(9, 2)] {
            assert!(!has_lost(&had, same, &now), "{now}");
            assert!(has_lost(&had, None, &now) && has_lost(&had, Some(BlakeName([8; 32])), &now), "{now}");
        }
        // The party still shows the entry, but claims an end that does not cover it.
        for now in [head(4, 1), AuditHead::EMPTY, head(5, 8)] {
            assert!(has_lost(&had, same, &now), "{now}");
        }
        let empty = AuditHead::EMPTY;
        assert!(!has_lost(&empty, Some(empty.hash), &empty) && !has_lost(&empty, Some(empty.hash), &had));
    }
}
