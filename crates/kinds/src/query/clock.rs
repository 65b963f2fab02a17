//! The current time for a query whose members all run on one machine.

use hushwire_sql::cell;
use hushwire_tables::algebra::{ColumnType, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// The names of functions of the current time.
const WORDS: [&str; 9] = [
    "now(",
    "current_date",
    "current_timestamp",
    "localtimestamp",
    "transaction_timestamp",
    "curdate",
    "today",
    "getdate",
    "sysdate",
];

/// The time now, in UTC and in whole seconds, in the form that a job declares. `None` for a query
/// that does not ask for the time, so that its digest is the same tomorrow.
#[must_use]
pub fn now(sql: &str) -> Option<String> {
    let sql = sql.to_ascii_lowercase();
    WORDS.iter().any(|word| sql.contains(word)).then(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        cell::show(&Value::Number(i128::from(since.as_secs()) * 1_000_000), ColumnType::Timestamp)
    })
}
