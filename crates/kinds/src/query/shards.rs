//! Tables of a member on several shards: each shard reads its own rows from Parquet files.
//!
//! ```text
//! every shard    footers: rows, columns, where row groups are        all shards must find the same
//! every shard    the row groups that have rows of its range, checked row by row
//! every shard    digests of its rows' keys ─► the shard that compares them, by the digest
//! ```
//!
//! Rows, records and errors are the same as on one machine that reads the whole file. If some
//! shards lack a table's files, the first shard reads the table and sends the others their rows, as
//! it does with text files.
//!
//! Only a member's own shards exchange digests of its keys.

use super::{
    QueryTask,
    part::of_file,
    plan::of_query,
    rows::{read, read_file, repeated},
    source::{TableFile, row_step},
};
use crate::psi;
use hushwire_block::Wiped;
use hushwire_fault::{Excuse, code};
use hushwire_files::parquet::Footers;
use hushwire_session::{Dialect, Fault, InputPlace, MemberConfig, Shards};
use hushwire_tables::{algebra::Table, plain::Row};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    ops::Range,
    path::{Path, PathBuf},
};

/// The name in errors of the step in which shards compare the tables that they found.
const READING: &str = "reading tables";

/// The records of inputs, by name.
type Records = BTreeMap<String, Wiped<Vec<u8>>>;

/// The digest of a row's key, and the number of the row among all rows of the table's part.
type KeyOfRow = ([u8; 16], u64);

/// A table's part, as one of its owner's shards finds it before the shards have met.
pub(super) struct PartOnShards {
    /// The place of the table among those of the query, and the place of the part.
    at: (usize, usize),
    /// Its files, if this shard has them and they can be read in parts.
    files: Option<Files>,
}

struct Files {
    place: InputPlace,
    dialect: Dialect,
    footers: Result<Footers, Fault>,
}

/// A shard's message to the others about its part of a table.
#[derive(PartialEq, Serialize, Deserialize)]
enum Found {
    /// No files that can be read in parts.
    Nothing,
    /// Files with this number of rows, and the digest of their footers.
    Files { rows: u64, digest: [u8; 32] },
    /// Files that cannot be used.
    Failed(Fault),
}

/// The inputs that shards have read.
#[derive(Default)]
pub(super) struct ReadOnShards {
    /// Inputs that the first shard holds as a whole.
    pub(super) whole: Records,
    /// Inputs of which each shard holds its rows.
    pub(super) rows: Records,
    /// Remarks for the owner.
    pub(super) remarks: Vec<String>,
}

impl PartOnShards {
    /// Looks for the files of a part, whose number of rows must be the agreed one. Reads no row.
    pub(super) fn find(
        task: &QueryTask,
        at: (usize, usize),
        base: &Dialect,
        config: &MemberConfig,
    ) -> Result<Self, Fault> {
        let table = &task.query().tables()[at.0];
        let first = config.shard.as_ref().is_none_or(|place| place.shard == 0);
        let place = config.inputs.get(&table.name).filter(|place| place.is_read_in_parts());
        let is_there = |path: &Path| path.try_exists().unwrap_or(true);
        let Some(place) = place.filter(|place| first || place.paths().into_iter().all(is_there)) else {
            return Ok(Self { at, files: None });
        };
        let paths: Vec<PathBuf> = place.paths().into_iter().map(Path::to_owned).collect();
        let columns: Vec<&str> = table.schema.columns().iter().map(|column| column.name.as_str()).collect();
        let footers = Footers::read(&paths, &columns).map_err(psi::of_file).and_then(|footers| {
            let whole = task.query().incoming_within(&table.name, at.1, 0..0).map_err(of_query)?;
            let counted = whole.counted(usize::try_from(footers.count()).unwrap_or(usize::MAX));
            counted.map_err(|e| of_file(e, place)).map(|()| footers)
        });
        let footers = match footers {
            // The error is reported before anybody is dialled, as on one machine.
            Err(e) if first => return Err(e),
            footers => footers,
        };
        let dialect = place.as_table(base).1;
        Ok(Self { at, files: Some(Files { place: place.clone(), dialect, footers }) })
    }

    /// Tests whether this shard has files of the part that can be read in parts.
    pub(super) fn is_found(&self) -> bool {
        self.files.is_some()
    }

    /// This shard's message to the others.
    fn found(&self) -> Found {
        match self.files.as_ref().map(|files| &files.footers) {
            None => Found::Nothing,
            Some(Ok(footers)) => Found::Files { rows: footers.count(), digest: footers.digest() },
            Some(Err(e)) => Found::Failed(e.clone()),
        }
    }

    /// Reads a part together with the other shards, which call this for the same part at the same
    /// time.
    ///
    /// # Errors
    /// Shards have different files, or one of them cannot use what it reads. All shards return the
    /// same error.
    pub(super) fn read(&self, task: &QueryTask, shards: &Shards, to: &mut ReadOnShards) -> Result<(), Fault> {
        let table = &task.query().tables()[self.at.0];
        let found = told(shards, &self.found())?;
        let mut absent = None;
        for (shard, found_there) in found.iter().enumerate() {
            match (found_there, &found[0]) {
                (Found::Failed(e), _) => return Err(of_shard(e.clone(), shard)),
                (_, Found::Nothing) => {}
                (Found::Nothing, _) => absent = absent.or(Some(shard)),
                (Found::Files { rows, .. }, Found::Files { rows: first, .. }) if *found_there != found[0] => {
                    let cause = format!(
                        "shard {shard} of this party has another file than the first shard: {rows} rows, and the first has {first}"
                    );
                    let remedy = "copy the same file to the hosts of all shards, or mount one store on all of them, and write it before the run begins";
                    let step = format!("reading table {}", table.name);
                    return Err(Fault::new(code::ROWS, step, cause, remedy));
                }
                _ => {}
            }
        }
        let Some(Files { place, dialect, footers }) = &self.files else {
            // The first shard has read the table, or reads it now.
            let reads = found[0] != Found::Nothing;
            return if reads { together(shards, Ok(())).map(drop) } else { Ok(()) };
        };
        if found[0] == Found::Nothing {
            return Ok(());
        }
        if let Some(absent) = absent {
            let first = shards.shard() == 0;
            let records = if first { self.whole(task, place, dialect).map(Some) } else { Ok(None) };
            if let Some(records) = together(shards, records)? {
                to.whole.extend(records);
                to.remarks.push(format!(
                    "shard {absent} has no file for table {}, so the first shard reads all of it; put the file on all hosts, and each reads its rows",
                    table.name
                ));
            }
            return Ok(());
        }
        let footers = footers.as_ref().map_err(Clone::clone)?;
        let (records, keys) = together(shards, self.rows(task, shards, (place, dialect), footers))?;
        for (key, rows) in keys.into_iter().enumerate() {
            if let Some(row) = repeats(shards, &rows)? {
                return Err(repeated(table, key, row_step(footers.place(row))));
            }
        }
        to.rows.extend(records);
        Ok(())
    }

    /// The records of all rows.
    fn whole(&self, task: &QueryTask, place: &InputPlace, dialect: &Dialect) -> Result<Records, Fault> {
        let (query, (at, part)) = (task.query(), self.at);
        let table = &query.tables()[at];
        let taken = |e| of_file(e, place);
        let mut incoming = query.incoming(&table.name, part).map_err(of_query)?;
        let take = |rows: &[Row]| incoming.take(rows).map_err(taken);
        read(table, (place, dialect), &task.digest_key(), &query.letters(&table.name), take)?;
        Ok(wiped(incoming.finish().map_err(taken)?))
    }

    /// The records of this shard's rows, and their digests for each key of the table.
    fn rows(
        &self,
        task: &QueryTask,
        shards: &Shards,
        (place, dialect): (&InputPlace, &Dialect),
        footers: &Footers,
    ) -> Result<(Records, Vec<Vec<KeyOfRow>>), Fault> {
        let (query, (at, part)) = (task.query(), self.at);
        let table: &Table = &query.tables()[at];
        let all = table.parts[part].rows as usize;
        let own: Range<usize> = hushwire_session::shards::range(shards.shard(), shards.shards(), all);
        let taken = |e| of_file(e, place);
        let mut incoming = query.incoming_within(&table.name, part, own.clone()).map_err(of_query)?;
        let rows = footers.rows(own.start as u64..own.end as u64, dialect).map_err(psi::of_file)?;
        let mut keys: Vec<Vec<KeyOfRow>> = vec![vec![]; table.unique.len()];
        let is_new = |key: usize, digest| {
            let row = own.start + keys[key].len();
            keys[key].push((digest, row as u64));
            true
        };
        let take = |rows: &[Row]| incoming.take(rows).map_err(taken);
        let mut file = TableFile::of_rows(rows);
        read_file(table, &mut file, &task.digest_key(), &query.letters(&table.name), is_new, take)?;
        Ok((wiped(incoming.finish().map_err(taken)?), keys))
    }
}

fn wiped(records: BTreeMap<String, Vec<u8>>) -> Records {
    records.into_iter().map(|(name, records)| (name, Wiped::new(records))).collect()
}

/// An error of a shard, as all shards of the member report it.
fn of_shard(e: Fault, shard: usize) -> Fault {
    let e = e.telling(Excuse::Reading);
    if shard == 0 { e } else { e.step_and(format_args!(", on shard {shard}")) }
}

/// The messages of all shards, in order.
fn told<T: Serialize + for<'d> Deserialize<'d>>(shards: &Shards, own: &T) -> Result<Vec<T>, Fault> {
    let wrong = |e: serde_json::Error| Fault::internal(READING, e);
    let own = serde_json::to_vec(own).map_err(wrong)?;
    let all = shards.exchange(vec![own; shards.shards()])?;
    all.iter().map(|said| serde_json::from_slice(said).map_err(wrong)).collect()
}

/// This shard's own value if no shard failed, else the error of the first one that did.
fn together<T>(shards: &Shards, own: Result<T, Fault>) -> Result<T, Fault> {
    let said = told(shards, &own.as_ref().err().cloned())?;
    let failed: Option<(usize, Fault)> =
        said.into_iter().enumerate().find_map(|(shard, e)| Some((shard, e?)));
    failed.map_or(own, |(shard, e)| Err(of_shard(e, shard)))
}

/// The first row of the table with the key of an earlier row. Digests are distributed over the
/// shards, and each compares its own.
fn repeats(shards: &Shards, rows: &[KeyOfRow]) -> Result<Option<u64>, Fault> {
    let of = shards.shards();
    let mut to = vec![vec![]; of];
    for (digest, row) in rows {
        let [a, b, ..] = *digest;
        let part = &mut to[usize::from(u16::from_le_bytes([a, b])) % of];
        part.extend_from_slice(digest);
        part.extend_from_slice(&row.to_le_bytes());
    }
    let mut all: Vec<KeyOfRow> = vec![];
    for part in shards.exchange(to)? {
        let (pairs, rest) = part.as_chunks::<24>();
        if !rest.is_empty() {
            return Err(Fault::internal(READING, "a shard gave half a key"));
        }
        all.extend(pairs.iter().map(|pair| {
            let (mut digest, mut row) = ([0; 16], [0; 8]);
            digest.copy_from_slice(&pair[..16]);
            row.copy_from_slice(&pair[16..]);
            (digest, u64::from_le_bytes(row))
        }));
    }
    all.sort_unstable();
    let twice = all.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[1].1).min();
    Ok(told(shards, &twice)?.into_iter().flatten().min())
}
