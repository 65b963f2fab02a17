//! Facts about the other parties, as they were heard.

use super::{packed, unpacked};
use crate::{clock, store::Stored};
use hushwire_seal::{SealTo, audit::AuditHead};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;

/// Keeps what a party has told.
pub(crate) fn hear(
    c: &Connection,
    party: u8,
    release: &str,
    seal_to: &SealTo,
    head: &AuditHead,
) -> Stored<()> {
    c.execute(
        "INSERT INTO peers(party, release, seal_to, last_seen, audit_seq, audit_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT(party) DO UPDATE SET release = ?2, seal_to = ?3, last_seen = ?4, audit_seq = ?5, audit_hash = ?6",
        params![party, release, packed(seal_to), clock::now(), head.seq as i64, head.hash.to_string()],
    )?;
    Ok(())
}

/// The keys of the others, to which data sets are sealed.
pub(crate) fn heard(c: &Connection) -> Stored<BTreeMap<u8, SealTo>> {
    let mut statement = c.prepare_cached("SELECT party, seal_to FROM peers WHERE seal_to IS NOT NULL")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, unpacked(&row.get::<_, String>(1)?)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The ends of the others' audit logs, as they told them, by party.
pub(crate) fn heads(c: &Connection) -> Stored<BTreeMap<String, String>> {
    let mut statement = c.prepare_cached("SELECT party, audit_seq, audit_hash FROM peers")?;
    let rows = statement.query_map([], |row| {
        let (party, seq, hash): (u8, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((party.to_string(), format!("{seq}:{hash}")))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
