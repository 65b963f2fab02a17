//! The audit log: rows of the store, each with the hash of the one before it. An entry is written
//! in the transaction of what it is about.

use crate::{clock, store::Stored};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// AGREEMENT: the domain of the hashes.
const CONTEXT: &str = "hushwire service audit v1";
/// The hash before the first entry.
const FIRST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Entry {
    /// Its number, from 1.
    pub(crate) seq: i64,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// Who did it.
    pub(crate) actor: String,
    /// The action.
    pub(crate) action: String,
    /// The thing that it was done to.
    pub(crate) object: String,
    /// More about it, as JSON.
    #[schema(value_type = Object)]
    pub(crate) detail: Value,
    /// The hash of the entry before it.
    pub(crate) prev: String,
    /// Its own hash.
    pub(crate) hash: String,
}

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Head {
    /// The last number; 0 of an empty log.
    pub(crate) seq: i64,
    /// The last hash.
    pub(crate) hash: String,
}

impl Entry {
    /// The hash that follows from everything else in it.
    fn computed(&self) -> String {
        let mut hash = blake3::Hasher::new_derive_key(CONTEXT);
        let detail = self.detail.to_string();
        let (seq, at) = (self.seq.to_string(), self.at.to_string());
        for text in [&seq, &at, &self.actor, &self.action, &self.object, &detail, &self.prev] {
            hash.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes());
        }
        hash.finalize().to_hex().to_string()
    }
}

/// The end of the log.
pub(crate) fn head(c: &Connection) -> Stored<Head> {
    let last = c
        .query_row("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok(Head { seq: row.get(0)?, hash: row.get(1)? })
        })
        .optional()?;
    Ok(last.unwrap_or(Head { seq: 0, hash: FIRST.to_owned() }))
}

/// Appends an entry.
pub(crate) fn append(c: &Connection, actor: &str, action: &str, object: &str, detail: Value) -> Stored<()> {
    let Head { seq, hash } = head(c)?;
    let mut entry = Entry {
        seq: seq + 1,
        at: clock::now(),
        actor: actor.to_owned(),
        action: action.to_owned(),
        object: object.to_owned(),
        detail,
        prev: hash,
        hash: String::new(),
    };
    entry.hash = entry.computed();
    c.execute(
        "INSERT INTO audit(seq, at, actor, action, object, detail, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            entry.seq,
            entry.at,
            entry.actor,
            entry.action,
            entry.object,
            entry.detail.to_string(),
            entry.prev,
            entry.hash
        ],
    )?;
    Ok(())
}

/// Entries from a number on.
pub(crate) fn entries(c: &Connection, from: i64, most: usize) -> Stored<Vec<Entry>> {
    let mut statement = c.prepare_cached(
        "SELECT seq, at, actor, action, object, detail, prev, hash FROM audit WHERE seq >= ?1 ORDER BY seq LIMIT ?2",
    )?;
    let rows = statement.query_map(params![from, most as i64], |row| {
        let detail: String = row.get(5)?;
        Ok(Entry {
            seq: row.get(0)?,
            at: row.get(1)?,
            actor: row.get(2)?,
            action: row.get(3)?,
            object: row.get(4)?,
            detail: serde_json::from_str(&detail).unwrap_or(json!(detail)),
            prev: row.get(6)?,
            hash: row.get(7)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Checks the whole chain. Gives its end.
pub(crate) fn verify(c: &Connection) -> Stored<Head> {
    let mut head = Head { seq: 0, hash: FIRST.to_owned() };
    loop {
        let some = entries(c, head.seq + 1, 4096)?;
        if some.is_empty() {
            return Ok(head);
        }
        for entry in some {
            if entry.seq != head.seq + 1 || entry.prev != head.hash || entry.computed() != entry.hash {
                let cause = format!("entry {} of the audit log does not follow from the one before it", head.seq + 1);
                let remedy = "the log was changed, or the disk failed: compare it with the heads that the other parties keep";
                return Err(Fault::new(code::STORE, "checking the audit log", cause, remedy).into());
            }
            head = Head { seq: entry.seq, hash: entry.hash };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Connection {
        let c = Connection::open_in_memory().expect("memory");
        c.execute_batch(include_str!("store/0001.sql")).expect("the schema");
        for n in 0..5 {
            append(&c, "anna", "submit", &format!("job {n}"), json!({ "n": n })).map_err(Fault::from).expect("room");
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

    /// Every field of an entry, and its place, is covered.
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
