//! Policies: what operators allow. Each is a signed text with a version.

use crate::{access, audit, clock, store::Stored};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

/// A policy.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Policy {
    /// Its name.
    pub(crate) name: String,
    /// Its version, from 1.
    pub(crate) version: i64,
    /// Its text.
    pub(crate) policy: String,
    /// The signature under the text.
    pub(crate) signature: String,
    /// The operator's key.
    pub(crate) signer: String,
    /// Whether it is in force.
    pub(crate) active: bool,
    /// When it was put.
    pub(crate) at: String,
}

/// The prefix of the names of policies from the watched directory.
pub(crate) const OF_FILES: &str = "file.";

/// The name of the policy that approves a proposal.
pub(crate) fn of_proposal(id: &str) -> String {
    format!("proposal-{}", id.get(..id.len().min(40)).unwrap_or_default())
}

const COLUMNS: &str = "name, version, body, signature, signer, active, at";

fn of(row: &Row<'_>) -> rusqlite::Result<Policy> {
    Ok(Policy {
        name: row.get(0)?,
        version: row.get(1)?,
        policy: row.get(2)?,
        signature: row.get(3)?,
        signer: row.get(4)?,
        active: row.get(5)?,
        at: clock::text(row.get(6)?),
    })
}

/// The newest version of a policy.
pub(crate) fn get(c: &Connection, name: &str) -> Stored<Policy> {
    let sql = format!("SELECT {COLUMNS} FROM policies WHERE name = ?1 ORDER BY version DESC LIMIT 1");
    let found = c.prepare_cached(&sql)?.query_row([name], of).optional()?;
    Ok(found.ok_or_else(|| access::absent("policy", name))?)
}

/// The policies in force.
pub(crate) fn active(c: &Connection) -> Stored<Vec<Policy>> {
    let sql = format!("SELECT {COLUMNS} FROM policies WHERE active = 1 ORDER BY name");
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map([], of)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A signed text that becomes a policy.
pub(crate) struct NewPolicy {
    /// The name.
    pub(crate) name: String,
    /// The version; by default, the next one.
    pub(crate) version: Option<i64>,
    /// The text.
    pub(crate) body: String,
    /// The signature, as hexadecimal digits.
    pub(crate) signature: String,
    /// The operator's key, as hexadecimal digits.
    pub(crate) signer: String,
}

/// Replaces a policy by a new version. A text that is in force stays as it is. A text that was in
/// force before cannot come back: a signature has no date, so whoever has an old one could use it
/// again.
pub(crate) fn put(c: &Connection, actor: &str, new: &NewPolicy) -> Stored<Policy> {
    let name = &new.name;
    hushwire_session::check_name(name)
        .map_err(|e| Fault::usage("naming the policy", e, "choose another name"))?;
    let sql =
        format!("SELECT {COLUMNS} FROM policies WHERE name = ?1 AND body = ?2 ORDER BY version DESC LIMIT 1");
    if let Some(known) = c.prepare_cached(&sql)?.query_row([name, &new.body], of).optional()? {
        if known.active {
            return Ok(known);
        }
        let cause = format!("policy {name} had this text as version {}", known.version);
        let remedy = "change the text, as by a comment with the date, and sign it again";
        return Err(Fault::new(code::CONFLICT, "changing a policy", cause, remedy).into());
    }
    let last: i64 =
        c.query_row("SELECT coalesce(max(version), 0) FROM policies WHERE name = ?1", [name], |row| {
            row.get(0)
        })?;
    let version = new.version.unwrap_or(last + 1);
    if version != last + 1 {
        let cause = format!("policy {name} has version {last}, so that the next one is {}", last + 1);
        let remedy = "read the version that is there, and send yours as the next one";
        return Err(Fault::new(code::CONFLICT, "changing a policy", cause, remedy).into());
    }
    super::execute(c, "UPDATE policies SET active = 0 WHERE name = ?1", [name])?;
    super::execute(
        c,
        "INSERT INTO policies(name, version, body, signature, signer, active, at) VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6)",
        params![name, version, new.body, new.signature, new.signer, clock::now()],
    )?;
    audit::append(c, actor, "policy", name, json!({ "version": version, "signer": new.signer }))?;
    get(c, name)
}

/// Ends a policy.
pub(crate) fn end(c: &Connection, name: &str, actor: &str) -> Stored<()> {
    if super::execute(c, "UPDATE policies SET active = 0 WHERE name = ?1 AND active = 1", [name])? > 0 {
        audit::append(c, actor, "policy end", name, json!({}))?;
    }
    Ok(())
}
