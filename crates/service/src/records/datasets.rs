//! Data sets, which are uploading, usable or deleted, and the rows of this party's parts.

use crate::{
    access::{self, Caller},
    audit, clock,
    store::Stored,
};
use hushwire_fault::{Fault, code};
use hushwire_seal::{Manifest, Signature, SignedManifest};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};
use utoipa::ToSchema;

/// LOCAL: the most data sets of a tenant that are not deleted.
const MOST: i64 = 1000;

/// A data set as its owner sends it to a party. Its parts follow one by one.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDataset {
    /// The manifest, as it was signed.
    pub(crate) manifest: String,
    /// The owner's signature under it, as hexadecimal digits.
    pub(crate) signature: String,
    /// This party's envelope, as hexadecimal digits.
    pub(crate) envelope: String,
}

/// A data set.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Dataset {
    /// Its name, the same at all parties: the hash of the manifest.
    pub(crate) id: String,
    /// The tenant that owns it.
    pub(crate) tenant: String,
    /// The name for people.
    pub(crate) name: String,
    /// The key of its signer.
    pub(crate) owner: String,
    /// The line of which it is a version.
    pub(crate) line: String,
    /// Its version in the line.
    pub(crate) version: i64,
    /// Its rows, padding included.
    pub(crate) rows: i64,
    /// The columns, as queries see them.
    #[schema(value_type = Vec<Object>)]
    pub(crate) schema: Value,
    /// uploading, usable or deleted.
    pub(crate) state: String,
    /// Parts that have not arrived yet.
    pub(crate) missing: Vec<i64>,
    /// Bytes of this party's parts.
    pub(crate) bytes: i64,
    /// When it was begun.
    pub(crate) created: String,
    /// When it may no longer be used.
    pub(crate) expires: Option<String>,
    /// Who else may use it.
    pub(crate) grants: Vec<Grant>,
}

/// A tenant or a digest of terms that may use a data set.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Grant {
    /// The tenant's name, or the digest.
    pub(crate) to: String,
    /// When it expires.
    pub(crate) expires: Option<String>,
}

/// A data set's row.
#[derive(Clone, Debug)]
pub(crate) struct DatasetRow {
    pub(crate) id: String,
    pub(crate) tenant: String,
    pub(crate) manifest: String,
    pub(crate) signature: String,
    pub(crate) envelope: Option<Vec<u8>>,
    pub(crate) state: String,
    pub(crate) expires: Option<i64>,
    bytes: i64,
    created: i64,
}

/// LOCAL: the most manifests that are remembered.
const KNOWN_MANIFESTS: usize = 64;

impl DatasetRow {
    /// The manifest. Every run asks for it, so its signature is checked once for each text.
    pub(crate) fn signed(&self) -> Result<Arc<SignedManifest>, Fault> {
        static KNOWN: Mutex<BTreeMap<[u8; 32], Arc<SignedManifest>>> = Mutex::new(BTreeMap::new());
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hash = blake3::Hasher::new_derive_key("hushwire service known manifest v1");
        hash.update(&(self.manifest.len() as u64).to_le_bytes());
        hash.update(self.manifest.as_bytes()).update(self.signature.as_bytes());
        let name = *hash.finalize().as_bytes();
        if let Some(signed) = known().get(&name) {
            return Ok(signed.clone());
        }
        let signed = Arc::new(read(&self.manifest, &self.signature)?);
        let mut known = known();
        if known.len() >= KNOWN_MANIFESTS {
            known.clear();
        }
        known.insert(name, signed.clone());
        Ok(signed)
    }
}

/// Reads a manifest, and checks the signature under it.
pub(crate) fn read(manifest: &str, signature: &str) -> Result<SignedManifest, Fault> {
    let signature: Signature = signature.parse().map_err(|e| {
        Fault::usage(
            "reading a data set",
            format!("the signature makes no sense: {e}"),
            "send it as hexadecimal digits",
        )
    })?;
    SignedManifest::read(manifest.as_bytes(), signature)
        .map_err(|e| Fault::from(e).during("reading a data set"))
}

const COLUMNS: &str = "id, tenant, manifest, signature, envelope, state, expires, bytes, created";

fn of(row: &Row<'_>) -> rusqlite::Result<DatasetRow> {
    Ok(DatasetRow {
        id: row.get(0)?,
        tenant: row.get(1)?,
        manifest: row.get(2)?,
        signature: row.get(3)?,
        envelope: row.get(4)?,
        state: row.get(5)?,
        expires: row.get(6)?,
        bytes: row.get(7)?,
        created: row.get(8)?,
    })
}

/// Begins a data set. Returns it, and whether it is new: the same manifest gives the same data set.
pub(crate) fn begin(
    c: &Connection,
    caller: &Caller,
    party: u8,
    signed: &SignedManifest,
    envelope: &[u8],
) -> Stored<(Dataset, bool)> {
    let step = "putting a data set";
    let (id, manifest) = (signed.id().digits(), signed.manifest());
    if let Some(there) = get(c, &id)? {
        if there.tenant != caller.tenant {
            let cause = "another tenant has put this data set";
            return Err(Fault::new(code::CONFLICT, step, cause, "make a data set of your own").into());
        }
        if there.state == "deleted" {
            let cause = "this data set was deleted";
            return Err(
                Fault::new(code::CONFLICT, step, cause, "put the rows again, as a new version").into()
            );
        }
        return Ok((view(c, there)?, false));
    }
    let used: (i64, i64) = c.query_row(
        "SELECT count(*), coalesce(sum(bytes), 0) FROM datasets WHERE tenant = ?1 AND state <> 'deleted'",
        [&caller.tenant],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let parts = manifest.parts.get(usize::from(party)).map_or(&[][..], Vec::as_slice);
    let bytes: u64 = (0..parts.len() as u64).map(|part| manifest.part_bytes(usize::from(party), part)).sum();
    let most = access::quotas(c, &caller.tenant)?.bytes;
    if used.0 >= MOST || used.1.saturating_add_unsigned(bytes) > most {
        let cause = format!(
            "tenant {} has {} data sets of {} bytes, of at most {MOST} and {most}",
            caller.tenant, used.0, used.1
        );
        return Err(Fault::new(code::QUOTA, step, cause, "delete some, or ask the operator for more").into());
    }
    let newest: i64 = c.query_row(
        "SELECT coalesce(max(version), 0) FROM datasets WHERE line = ?1",
        [manifest.line.to_string()],
        |row| row.get(0),
    )?;
    if manifest.version as i64 <= newest {
        let cause = format!("its line has version {newest} already");
        return Err(Fault::new(code::CONFLICT, step, cause, "number it as the next version").into());
    }
    super::execute(
        c,
        "INSERT INTO datasets(id, tenant, name, owner, line, version, manifest, signature, envelope, rows, state, bytes, created,
           expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'uploading', ?11, ?12, ?13)",
        params![
            id,
            caller.tenant,
            manifest.name,
            manifest.owner.to_string(),
            manifest.line.to_string(),
            manifest.version as i64,
            signed.text(),
            signed.signature().to_string(),
            envelope,
            manifest.padded as i64,
            bytes as i64,
            clock::now(),
            manifest.expires.map(|at| at as i64 * 1000)
        ],
    )?;
    for (n, part) in parts.iter().enumerate() {
        let size = manifest.part_bytes(usize::from(party), n as u64);
        super::execute(
            c,
            "INSERT INTO parts(dataset, n, blob, bytes, stored) VALUES (?1, ?2, ?3, ?4, 0)",
            params![id, n as i64, part.digits(), size as i64],
        )?;
    }
    audit::append(
        c,
        &caller.to_string(),
        "put",
        &id,
        json!({ "line": manifest.line, "version": manifest.version }),
    )?;
    let row = get(c, &id)?.ok_or_else(|| Fault::internal(step, "the data set is not there"))?;
    Ok((view(c, row)?, true))
}

/// A data set, without a check of the caller.
pub(crate) fn get(c: &Connection, id: &str) -> Stored<Option<DatasetRow>> {
    let id = id.trim_start_matches("blake3:");
    let sql = format!("SELECT {COLUMNS} FROM datasets WHERE id = ?1");
    Ok(c.prepare_cached(&sql)?.query_row([id], of).optional()?)
}

/// Whether a data set is granted to a tenant, or to a job's terms.
pub(crate) fn granted(c: &Connection, id: &str, tenant: &str, digest: &str) -> Stored<bool> {
    let mut statement = c.prepare_cached(
        "SELECT count(*) FROM grants WHERE dataset = ?1 AND whom IN (?2, ?3) AND (expires IS NULL OR expires > ?4)",
    )?;
    let n: i64 = statement.query_row(params![id, tenant, digest, clock::now()], |row| row.get(0))?;
    Ok(n > 0)
}

/// A data set that the caller may see.
pub(crate) fn need(c: &Connection, caller: &Caller, id: &str) -> Stored<DatasetRow> {
    if let Some(row) = get(c, id)?
        && (caller.sees(&row.tenant) || granted(c, &row.id, &caller.tenant, "")?)
    {
        return Ok(row);
    }
    Err(access::absent("data set", id).into())
}

/// A data set that the caller's tenant owns.
pub(crate) fn own(c: &Connection, caller: &Caller, id: &str) -> Stored<DatasetRow> {
    let found = get(c, id)?.filter(|row| row.tenant == caller.tenant && row.state != "deleted");
    Ok(found.ok_or_else(|| access::absent("data set", id))?)
}

/// The parts of a data set: their numbers, blobs, lengths, and whether they have arrived.
pub(crate) fn parts(c: &Connection, id: &str) -> Stored<Vec<(i64, String, i64, bool)>> {
    let mut statement =
        c.prepare_cached("SELECT n, blob, bytes, stored FROM parts WHERE dataset = ?1 ORDER BY n")?;
    let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Notes that a part is on the disk under its name.
pub(crate) fn stored(c: &Connection, id: &str, n: i64) -> Stored<()> {
    super::execute(c, "UPDATE parts SET stored = 1 WHERE dataset = ?1 AND n = ?2", params![id, n])?;
    Ok(())
}

/// Makes a data set usable, once all its parts have arrived.
pub(crate) fn seal(c: &Connection, caller: &Caller, id: &str) -> Stored<Dataset> {
    let row = own(c, caller, id)?;
    let missing: Vec<_> = parts(c, &row.id)?.into_iter().filter(|part| !part.3).map(|part| part.0).collect();
    if !missing.is_empty() {
        let cause = format!("parts {missing:?} are missing");
        return Err(
            Fault::new(code::CONFLICT, "sealing a data set", cause, "put them, then seal it again").into()
        );
    }
    if super::execute(
        c,
        "UPDATE datasets SET state = 'usable' WHERE id = ?1 AND state = 'uploading'",
        [&row.id],
    )? > 0
    {
        audit::append(c, &caller.to_string(), "seal", &row.id, json!({}))?;
    }
    view(c, own(c, caller, id)?)
}

/// Deletes a data set: its content key goes at once. Returns its blobs, which the caller removes.
pub(crate) fn delete(c: &Connection, caller: &Caller, id: &str) -> Stored<Vec<String>> {
    let row = own(c, caller, id)?;
    let users = c
        .prepare_cached("SELECT id FROM jobs WHERE state = 'running' AND instr(body, ?1) > 0 LIMIT 1")?
        .query_row([&row.id], |row| row.get::<_, String>(0))
        .optional()?;
    if let Some(job) = users {
        let cause = format!("job {job} is computing on it");
        return Err(Fault::new(
            code::CONFLICT,
            "deleting a data set",
            cause,
            "cancel the job, or wait for its end",
        )
        .into());
    }
    let blobs = parts(c, &row.id)?.into_iter().map(|part| part.1).collect();
    super::execute(c, "DELETE FROM parts WHERE dataset = ?1", [&row.id])?;
    super::execute(
        c,
        "UPDATE datasets SET state = 'deleted', envelope = NULL, bytes = 0, deleted = ?2 WHERE id = ?1",
        params![row.id, clock::now()],
    )?;
    audit::append(c, &caller.to_string(), "delete", &row.id, json!({}))?;
    Ok(blobs)
}

/// Grants a data set to a tenant, or to a digest of terms.
pub(crate) fn grant(
    c: &Connection,
    caller: &Caller,
    id: &str,
    to: &str,
    expires: Option<i64>,
) -> Stored<Dataset> {
    let row = own(c, caller, id)?;
    super::execute(
        c,
        "INSERT INTO grants(dataset, whom, expires, who, at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT(dataset, whom) DO UPDATE SET expires = ?3, who = ?4, at = ?5",
        params![row.id, to, expires, caller.to_string(), clock::now()],
    )?;
    audit::append(c, &caller.to_string(), "grant", &row.id, json!({ "to": to }))?;
    view(c, row)
}

/// Revokes a grant.
pub(crate) fn ungrant(c: &Connection, caller: &Caller, id: &str, to: &str) -> Stored<()> {
    let row = own(c, caller, id)?;
    if super::execute(c, "DELETE FROM grants WHERE dataset = ?1 AND whom = ?2", params![row.id, to])? == 0 {
        return Err(access::absent("grant to", to).into());
    }
    audit::append(c, &caller.to_string(), "ungrant", &row.id, json!({ "to": to }))
}

/// A data set, for programs.
pub(crate) fn view(c: &Connection, row: DatasetRow) -> Stored<Dataset> {
    let signed = row.signed()?;
    let manifest: &Manifest = signed.manifest();
    let missing = parts(c, &row.id)?.into_iter().filter(|part| !part.3).map(|part| part.0).collect();
    let mut statement =
        c.prepare_cached("SELECT whom, expires FROM grants WHERE dataset = ?1 ORDER BY whom")?;
    let grants = statement.query_map([&row.id], |row| {
        Ok(Grant { to: row.get(0)?, expires: row.get::<_, Option<i64>>(1)?.map(clock::text) })
    })?;
    Ok(Dataset {
        tenant: row.tenant,
        name: manifest.name.clone(),
        owner: manifest.owner.to_string(),
        line: manifest.line.to_string(),
        version: manifest.version as i64,
        rows: manifest.padded as i64,
        schema: serde_json::to_value(&manifest.schema).unwrap_or_default(),
        state: row.state,
        missing,
        bytes: row.bytes,
        created: clock::text(row.created),
        expires: row.expires.map(clock::text),
        grants: grants.collect::<Result<_, _>>()?,
        id: row.id,
    })
}

/// Ids and names of usable data sets that a tenant's jobs with these terms may use, newest first.
pub(crate) fn of_tenant(c: &Connection, tenant: &str, digest: &str) -> Stored<Vec<(String, String)>> {
    let mut statement = c.prepare_cached(
        "SELECT id, name FROM datasets WHERE state = 'usable' AND (tenant = ?1 OR id IN
           (SELECT dataset FROM grants WHERE whom IN (?1, ?2) AND (expires IS NULL OR expires > ?3)))
         ORDER BY created DESC",
    )?;
    let rows =
        statement.query_map(params![tenant, digest, clock::now()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Data sets that the caller may see, newest first.
pub(crate) fn list(c: &Connection, caller: &Caller, most: i64) -> Stored<Vec<Dataset>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM datasets WHERE ?1 OR tenant = ?2 OR id IN (SELECT dataset FROM grants WHERE whom = ?2
         AND (expires IS NULL OR expires > ?4)) ORDER BY created DESC LIMIT ?3"
    );
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map(params![caller.sees(""), caller.tenant, most, clock::now()], of)?;
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    rows.into_iter().map(|row| view(c, row)).collect()
}
