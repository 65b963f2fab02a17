//! Used files of preprocessing. Each may be used once.

use crate::{audit, clock, store::Stored};
use hushwire_fault::{Fault, code};
use rusqlite::{Connection, params};
use serde_json::json;

/// Marks a file as used, before it is used.
///
/// # Errors
/// If it was used before: it came back with a backup of its directory.
pub(crate) fn mark(c: &Connection, file: &str, job: &str, k: u32) -> Stored<()> {
    let new = super::execute(
        c,
        "INSERT INTO used_material(file, job, k, at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
        params![file, job, k, clock::now()],
    )?;
    if new == 0 {
        return Err(Fault::filled(code::SHELF_USED, &[("path", &file)]).during("preprocessing").into());
    }
    audit::append(c, "worker", "material", job, json!({ "attempt": k, "file": file }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_used_once_whatever_the_job() {
        let c = Connection::open_in_memory().expect("memory");
        c.execute_batch(include_str!("../store/0001.sql")).expect("the schema");
        let mark = |file, job, k| mark(&c, file, job, k).map_err(Fault::from).map_err(|e| e.code());
        assert_eq!(mark("n2-a", "7f3a", 1), Ok(()));
        assert_eq!(mark("n2-b", "7f3a", 1), Ok(()));
        for (job, k) in [("7f3a", 1), ("7f3a", 2), ("8f3a", 1)] {
            assert_eq!(mark("n2-a", job, k), Err(code::SHELF_USED), "{job} {k}");
        }
        let used: i64 =
            c.query_row("SELECT count(*) FROM used_material", [], |row| row.get(0)).expect("a row");
        assert_eq!(used, 2);
    }
}
