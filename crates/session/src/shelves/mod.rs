//! Preprocessing ahead of a run, for protocol authgarble. Each party keeps files in a directory,
//! sealed under its key.
//!
//! ```text
//! prefix of a name  n parties - this party's place - hash of all parties' pins -
//! of a stock        extension of OT - triples - masks - id
//!                   function-independent: serves any circuit that needs as much
//! of circuits       hash of circuit, roles, form and instances - id
//!                   function-dependent: serves this circuit alone
//! ```
//!
//! The id of a file is the same at all parties. [`Wants`] describes the preprocessing that a job's
//! threads take, `preparation` makes files of it, and `meet` takes them.

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
/// AGREEMENT: the most triples of a stock, but at least one batch, since they are made in memory. A
/// thread makes the rest during its run.
const MOST: u64 = 1 << 21;
/// AGREEMENT: the most bytes of the evaluator's tables in a file of garbled circuits, but at least
/// one batch. They are in memory twice.
const MOST_TABLES: u64 = 1 << 28;
/// AGREEMENT: the most circuits in a file.
const MOST_CIRCUITS: usize = 1 << 12;

/// The preprocessing that a run takes. All its members know it before the run.
pub struct Wants {
    chosen: Chosen,
    threads: Vec<Want>,
    /// LOCAL: the number of threads that share the work of each of them.
    beside: u16,
}

/// The preprocessing that a thread takes.
struct Want {
    /// The correlations in the thread's stock.
    need: Need,
    /// The circuits that the thread runs, in order, up to the limits of a file.
    circuits: Vec<Task>,
}

impl Wants {
    /// Describes the preprocessing of a program, given the instances of each thread's batches in
    /// order. LOCAL: `beside` threads share the work of each of these threads.
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

    /// The same for a circuit that runs once; `threads` threads share its work.
    pub fn once(chosen: Chosen, program: &Program, seats: &Seats, threads: u16) -> Self {
        Self::new(chosen, program, seats, std::iter::once(std::iter::once(1)), threads)
    }

    /// The number of threads of each party.
    fn threads(&self) -> u16 {
        self.threads.len() as u16
    }
}

/// The first batches, as many as hold at most `most` instances together, but at least one.
fn whole_batches(batches: impl Iterator<Item = u64>, most: u64) -> impl Iterator<Item = u64> {
    let mut sum = 0;
    batches.take_while(move |instances| {
        let first = sum == 0;
        sum += instances;
        first || sum <= most
    })
}

/// The prefix of the names of stocks that a thread of party `index` takes.
///
/// A stock binds each party to its place. Parties that meet again in another order are different
/// parties to it.
fn prefix(chosen: Chosen, config: &MemberConfig, index: usize, need: Need) -> String {
    let ot = chosen.ot.map_or("none", hushwire_ot::Protocol::name);
    let Need { triples, masks } = need;
    format!("{}{ot}-{triples}-{masks}-", company(chosen, config, index))
}

/// The prefix of the names of party `index`'s files with these circuits.
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

/// A short name of the parties in their order. It keeps stocks of different groups of parties
/// apart.
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

/// Opens a party's shelf. Its stocks are sealed under a key that is derived from the party's
/// private key.
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

    /// The run for which a stock was made would throw away a part of a batch.
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
