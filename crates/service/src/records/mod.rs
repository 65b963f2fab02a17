//! Rows of the store, and changes of their states. Every function here is part of one request to
//! the store, and so of one transaction.

pub(crate) mod admission;
pub(crate) mod attempts;
pub(crate) mod datasets;
pub(crate) mod jobs;
pub(crate) mod material;
pub(crate) mod peers;
pub(crate) mod policies;
pub(crate) mod proposals;
pub(crate) mod recipients;
pub(crate) mod results;

use crate::store::Stored;
use rusqlite::{Connection, Params};
use serde::{Serialize, de::DeserializeOwned};

/// Runs a statement, which is parsed once.
pub(crate) fn execute(c: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<usize> {
    c.prepare_cached(sql)?.execute(params)
}

/// A value as JSON for a column.
pub(crate) fn packed(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The value of a column's JSON.
pub(crate) fn unpacked<T: DeserializeOwned>(text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(e)))
}

/// The number of jobs of each state and kind, for metrics.
pub(crate) fn counts(c: &Connection) -> Stored<Vec<(String, String, i64)>> {
    let mut all = vec![];
    let mut statement = c.prepare_cached("SELECT state, kind, count(*) FROM jobs GROUP BY state, kind")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for row in rows {
        all.push(row?);
    }
    Ok(all)
}
