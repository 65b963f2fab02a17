//! Preprocessing ahead of a run, for protocol authgarble: files that wait in a directory of each
//! party, sealed under its key.
//!
//! ```text
//! begin of a name   n parties - this party's place - hash of all parties' pins -
//! of a stock        extension of OT - triples - masks - id
//!                   function-independent: serves any circuit that takes as much
//! of circuits       hash of circuit, roles, form and instances - id
//!                   function-dependent: serves this circuit alone
//! ```
//!
//! The id is the same at all parties. [`Wants`] says what a job's threads take, `preparation` makes
//! files of it, `meet` takes them.

mod meet;
mod preparation;

pub use meet::{Ahead, FromDisk, from_disk, meet};
pub use preparation::{Phase, Preparable, Preparation, PreparationPart};

use crate::{Chosen, Fault, Member, MemberConfig, Seats, material::key_of};
use hushwire_authgarble::{Form, Need, Shelf, ShelfError, Task};
use hushwire_block::Wiped;
use hushwire_circuit::Program;
use hushwire_prg::Seed;
use std::path::Path;

/// The step, as errors name it.
const STEP: &str = "preprocessing";
/// AGREEMENT: triples of a stock at most, as far as that is a batch: they are made in memory. What
/// a thread takes beyond, it makes in its run.
const MOST: u64 = 1 << 21;
/// AGREEMENT: bytes of the evaluator's tables in a file of garbled circuits at most, as far as that
/// is a batch: they lie in memory, twice.
const MOST_TABLES: u64 = 1 << 28;
/// AGREEMENT: circuits in a file at most.
const MOST_CIRCUITS: usize = 1 << 12;

/// The preprocessing that a run takes, which all its members know before it.
pub struct Wants {
    chosen: Chosen,
    threads: Vec<Want>,
    /// LOCAL: threads that share the work of each of them.
    beside: u16,
}

/// The preprocessing that a thread takes.
struct Want {
    /// The stock.
    need: Need,
    /// The circuits that it runs, in turn, as far as they fit in a file.
    circuits: Vec<Task>,
}

impl Wants {
    /// The preprocessing of a program, with the instances of each thread's batches, in turn; LOCAL:
    /// `beside` threads share the work of each of these threads.
    pub fn new<B: Iterator<Item = u64> + Clone>(
        chosen: Chosen,
        program: &Program,
        seats: &Seats,
        threads: impl Iterator<Item = B>,
        beside: u16,
    ) -> Self {
        let (n, roles) = (chosen.protocol.parties().into(), seats.among(program, chosen.protocol.parties()));
        let form = chosen.protocol.authenticated().map_or(Form::best(n), |(_, form)| form);
        let task = |instances: u64| Task::new(program, roles.clone(), instances as usize, form);
        let (each, tables) = (task(1).need(), form.table_bytes([1, n], program.ands() as usize));
        let most = MOST_TABLES / ((n - 1) * tables).max(1) as u64;
        let want = |batches: B| {
            let instances: u64 = whole_batches(batches.clone(), MOST / each.triples.max(1)).sum();
            let need = Need { triples: instances * each.triples, masks: instances * each.masks };
            Want { need, circuits: whole_batches(batches, most).take(MOST_CIRCUITS).map(task).collect() }
        };
        Self { chosen, threads: threads.map(want).collect(), beside }
    }

    /// For a circuit that runs once; `threads` share its work.
    pub fn once(chosen: Chosen, program: &Program, seats: &Seats, threads: u16) -> Self {
        Self::new(chosen, program, seats, std::iter::once(std::iter::once(1)), threads)
    }

    /// Threads of each party.
    fn threads(&self) -> u16 {
        self.threads.len() as u16
    }
}

/// The first batches: the most that hold `most` instances together, or one.
fn whole_batches(batches: impl Iterator<Item = u64>, most: u64) -> impl Iterator<Item = u64> {
    let mut sum = 0;
    batches.take_while(move |instances| {
        let first = sum == 0;
        sum += instances;
        first || sum <= most
    })
}

/// The begin of the names of stocks that a thread of party `index` takes.
///
/// Parties that meet again in another order are other parties to a stock: it binds each of them to
/// its place.
fn prefix(chosen: Chosen, config: &MemberConfig, index: usize, need: Need) -> String {
    let ot = chosen.ot.map_or("none", hushwire_ot::Protocol::name);
    let Need { triples, masks } = need;
    format!("{}{ot}-{triples}-{masks}-", company(chosen, config, index))
}

/// The begin of the names of files with these circuits, of party `index`.
fn garbled_prefix(chosen: Chosen, config: &MemberConfig, index: usize, tasks: &[Task]) -> String {
    let mut hash = blake3::Hasher::new_derive_key("hushwire 2026 authgarble shelf circuits v1");
    for task in tasks {
        hash.update(&task.name());
    }
    format!("{}{}-", company(chosen, config, index), &hash.finalize().to_hex()[..32])
}

fn company(chosen: Chosen, config: &MemberConfig, index: usize) -> String {
    let n = chosen.protocol.parties();
    format!("n{n}-p{index}-{}-", among(config, n))
}

/// A short name of the parties in their order: stocks of other parties are not in the way.
fn among(config: &MemberConfig, n: u8) -> String {
    let mut hash = blake3::Hasher::new_derive_key("hushwire 2026 authgarble shelf company v1");
    if let Some(owner) = &config.shelf_owner {
        for pin in owner.pins().iter().take(n.into()) {
            hash.update(&pin.0);
        }
        return hash.finalize().to_hex()[..16].to_owned();
    }
    for party in (0..n).map(Member::Party) {
        let peer = config.peers.iter().find(|peer| peer.member == party);
        hash.update(&peer.map_or(config.identity.pin(), |peer| peer.pin).0);
    }
    hash.finalize().to_hex()[..16].to_owned()
}

/// A party's shelf. Its stocks are sealed under a key that comes from its private key.
fn shelf(dir: &Path, config: &MemberConfig) -> Result<Shelf, Fault> {
    let key = match &config.shelf_owner {
        Some(owner) => Wiped::new(*owner.key()),
        None => key_of(&config.identity)?,
    };
    Shelf::open(dir, Seed::from_bytes(*key)).map_err(|e| refused(&e))
}

fn refused(e: &ShelfError) -> Fault {
    e.fault().during(STEP)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stock that held a part of a batch would be thrown away by the run that it was made for.
    #[test]
    fn stocks_hold_whole_batches() {
        for (batches, most, whole) in
            [(&[4, 4, 2][..], 10, 10), (&[4, 4, 2], 9, 8), (&[4, 4, 2], 3, 4), (&[4], 0, 4), (&[], 5, 0)]
        {
            assert_eq!(
                whole_batches(batches.iter().copied(), most).sum::<u64>(),
                whole,
                "{batches:?} of {most}"
            );
        }
    }
}
