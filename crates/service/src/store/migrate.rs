//! The schemas of the store: numbered steps, forward only.

use crate::failpoint;
use hushwire_fault::{Fault, code};
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// The steps. A schema's number is the number of steps that a store has taken.
pub(super) const MIGRATIONS: &[&str] =
    &[include_str!("0001.sql"), include_str!("0002.sql"), include_str!("0003.sql"), include_str!("0004.sql")];
/// The schema of the release before. This release runs on it, too.
const BEFORE: usize = 1;

/// Whether a store is brought to the newest schema when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upgrade {
    /// The store gets the newest schema.
    Newest,
    /// The store stays at the schema of the release before, which can still run on it. This release
    /// runs on both.
    Keep,
}

/// The number of a store's schema.
pub(crate) fn schema(connection: &Connection) -> rusqlite::Result<usize> {
    connection.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0)).map(|n| n as usize)
}

/// Leaves a store as it is, after checking that this release runs on its schema.
pub(super) fn keep(connection: &Connection, path: &Path) -> Result<(), Fault> {
    let newest = MIGRATIONS.len();
    let has = schema(connection).map_err(|e| super::broken(&e))?;
    if (BEFORE..=newest).contains(&has) {
        return Ok(());
    }
    let cause =
        format!("{} has schema {has}, and this release runs on schemas {BEFORE} to {newest}", path.display());
    let remedy =
        "start the service of this release once without --keep-schema, or use the release of that store";
    Err(Fault::new(code::STORE, "opening the store", cause, remedy))
}

/// Brings a store to the newest schema. If the store is not new, it is copied first.
pub(super) fn to_newest(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), Fault> {
    let wrong = |e: &dyn std::fmt::Display| {
        Fault::new(
            code::STORE,
            "bringing the store to this release's schema",
            e,
            "start the release before this one: nothing was changed; and please report this",
        )
    };
    let has = schema(connection).map_err(|e| wrong(&e))?;
    if has > steps.len() {
        let cause = format!(
            "{} has schema {has}, and this release knows schemas up to {}",
            path.display(),
            steps.len()
        );
        let remedy = "start the release that wrote it, or restore the copy that was made before the upgrade";
        return Err(Fault::new(code::STORE, "opening the store", cause, remedy));
    }
    if has > 0 && has < steps.len() {
        let copy = copy_of(path, has);
        if !copy.exists() {
            failpoint::pass(|| "migrate.copy".to_owned()).map_err(|e| wrong(&e))?;
            connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()]).map_err(|e| wrong(&e))?;
        }
    }
    for (number, step) in steps.iter().enumerate().skip(has) {
        let changes = connection.transaction().map_err(|e| wrong(&e))?;
        changes.execute_batch(step).map_err(|e| wrong(&e))?;
        failpoint::pass(|| "migrate.step".to_owned()).map_err(|e| wrong(&e))?;
        changes.pragma_update(None, "user_version", number as u32 + 1).map_err(|e| wrong(&e))?;
        changes.commit().map_err(|e| wrong(&e))?;
    }
    Ok(())
}

/// The path of the copy that is made of a store before it leaves schema `has`.
fn copy_of(path: &Path, has: usize) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".schema{has}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::{super::connect, *};

    const ONE: &str = "CREATE TABLE a(x INTEGER) STRICT; INSERT INTO a VALUES (7);";
    const TWO: &str = "ALTER TABLE a ADD COLUMN y TEXT; UPDATE a SET y = 'new';";

    #[test]
    fn a_step_is_taken_whole_or_not_at_all_and_after_a_copy() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store.db");
        let mut connection = connect(&path).unwrap_or_else(|e| panic!("{e}"));
        to_newest(&mut connection, &path, &[ONE]).unwrap_or_else(|e| panic!("{e}"));
        assert!(!copy_of(&path, 1).exists(), "a new store has nothing to copy");
        // A step that fails half-way leaves the schema as it was.
        let half = "ALTER TABLE a ADD COLUMN y TEXT; SELECT nothing FROM nowhere;";
        let error =
            to_newest(&mut connection, &path, &[ONE, half]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("nowhere"), "{error}");
        assert!(connection.prepare("SELECT y FROM a").is_err());
        to_newest(&mut connection, &path, &[ONE, TWO]).unwrap_or_else(|e| panic!("{e}"));
        let y: String =
            connection.query_row("SELECT y FROM a WHERE x = 7", [], |row| row.get(0)).expect("a row");
        assert_eq!(y, "new");
        let copy = connect(&copy_of(&path, 1)).unwrap_or_else(|e| panic!("{e}"));
        let x: i64 = copy.query_row("SELECT x FROM a", [], |row| row.get(0)).expect("the copy is whole");
        assert_eq!(x, 7);
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("store.db");
        let mut connection = connect(&path).unwrap_or_else(|e| panic!("{e}"));
        to_newest(&mut connection, &path, &[ONE, TWO]).unwrap_or_else(|e| panic!("{e}"));
        let error =
            to_newest(&mut connection, &path, &[ONE]).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("schema 2") && error.contains("up to 1"), "{error}");
    }
}
