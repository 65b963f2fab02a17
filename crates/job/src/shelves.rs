//! Preprocessing ahead of a run, for protocol authgarble: stocks that wait in a directory of each party, sealed under its key.
//!
//! ```text
//! name of a stock   n parties - extension of OT - triples - masks - id; the id is the same at all parties
//! ahead             as a run as far as the run's name; then on every thread set-up, preprocessing, and to the shelf
//! run               all ──► all: for each thread, ids of stocks of its size; the least one that all have is taken, and marked as used
//! ```
//!
//! Whoever says other ids to one party than to another makes them take stocks that do not fit: their MACs fail. Where there is none
//! that all have, the run preprocesses as it goes.

use crate::{
    Agreement, Field, Forecast, JobError, Kind, Member, MemberConfig, Part, Plan, Prepared, Protocol, Task,
    flow::COMPUTE,
    member_config::explain,
    n_party,
    run::{Links, MemberSession},
    threads::on_threads,
};
use hushwire_authgarble::{Need, Shelf, ShelfError, Stock};
use hushwire_prg::Seed;
use hushwire_wire::{Channel, Identity};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// The step, as errors name it.
const STEP: &str = "preprocessing";
const MEETING: &str = "comparing preprocessing";
/// AGREEMENT: stocks that a party offers for a thread.
const OFFERS: usize = 8;
/// Bytes of a stock's id.
const ID: usize = 16;
/// AGREEMENT: triples of a stock at most: they are made in memory. What a thread takes beyond, it makes in its run.
const MOST: u64 = 1 << 21;
/// Stocks for each thread that one command makes.
const MOST_TIMES: u32 = 1000;
/// Separates the key of stocks from any other use of a party's identity.
const DOMAIN: &str = "hushwire 2026 authgarble shelf key v1";

type Id = [u8; ID];

/// The stock that thread `t` of a plan takes in a run; `each` is an instance's.
fn need(plan: &Plan, t: u16, each: Need) -> Need {
    let batches = (u32::from(t)..plan.batches()).step_by(plan.threads.into());
    let instances: u64 = batches.map(|b| plan.instances_of(b) as u64).sum();
    let most = (MOST / each.triples.max(1)).max(1);
    let instances = instances.min(most);
    Need { triples: instances * each.triples, masks: instances * each.masks }
}

/// The begin of the names of stocks that a thread takes.
fn prefix(plan: &Plan, need: Need) -> String {
    let ot = plan.ot.map_or("none", hushwire_ot::Protocol::name);
    format!("n{}-{ot}-{}-{}-", plan.parties(), need.triples, need.masks)
}

/// A party's shelf. Its stocks are sealed under a key that comes from its private key.
fn shelf(dir: &Path, identity: &Identity) -> Result<Shelf, JobError> {
    let key = blake3::derive_key(DOMAIN, identity.to_pem().as_bytes());
    let key = Seed::from_bytes(*key.first_chunk().expect("32 bytes hold 16"));
    Shelf::open(dir, key).map_err(|e| refused(&e))
}

fn refused(e: &ShelfError) -> JobError {
    let text = e.to_string();
    let (cause, remedy) = text.split_once("; ").unwrap_or((&text, ""));
    JobError::new(Kind::File, STEP, cause, remedy)
}

/// For each thread of a run, the stock that all parties have, if there is one. It counts as used from here on.
pub(crate) fn meet(
    plan: &Plan,
    member: &MemberSession,
    control: &mut [Channel],
    each: Need,
) -> Result<Vec<Option<Stock>>, JobError> {
    let config = &member.config;
    let shelf = config.shelf.as_deref().map(|dir| shelf(dir, &config.identity)).transpose()?;
    let names = shelf.as_ref().map_or(Ok(vec![]), Shelf::names).map_err(|e| refused(&e))?;
    let prefixes: Vec<_> = (0..plan.threads).map(|t| prefix(plan, need(plan, t, each))).collect();
    let mut own = vec![0; prefixes.len() * OFFERS * ID];
    for (offers, prefix) in own.chunks_exact_mut(OFFERS * ID).zip(&prefixes) {
        let ids = names.iter().filter_map(|name| hex::decode(name.strip_prefix(prefix)?).ok());
        for (to, id) in offers.chunks_exact_mut(ID).zip(ids.filter(|id| id.len() == ID)) {
            to.copy_from_slice(&id);
        }
    }
    let failed = |e| explain(&member.agreement, e).during(MEETING);
    for channel in &mut *control {
        channel.start(MEETING, &own).map_err(failed)?;
    }
    let mut all = vec![];
    for channel in control {
        let mut theirs = vec![0; own.len()];
        channel.finish(MEETING, &own, &mut theirs).map_err(failed)?;
        all.push(theirs);
    }
    all.push(own);
    let chosen = choose(&all, prefixes.len());
    let take = |(id, prefix): (Option<Id>, &String)| {
        let (Some(id), Some(shelf)) = (id, &shelf) else { return Ok(None) };
        let stock =
            shelf.take(config.backend, &format!("{prefix}{}", hex::encode(id))).map_err(|e| refused(&e))?;
        Ok(Some(stock))
    };
    chosen.into_iter().zip(&prefixes).map(take).collect()
}

/// For each thread the least id that everybody offers and no thread before it has.
fn choose(offers: &[Vec<u8>], threads: usize) -> Vec<Option<Id>> {
    let mut taken = BTreeSet::new();
    let of = |offers: &Vec<u8>, t: usize| -> BTreeSet<Id> {
        let ids = offers[t * OFFERS * ID..(t + 1) * OFFERS * ID].as_chunks().0;
        ids.iter().filter(|id| **id != [0; ID]).copied().collect()
    };
    let choice = |t| {
        let all = offers.iter().map(|offers| of(offers, t)).reduce(|a, b| &a & &b).unwrap_or_default();
        let id = all.into_iter().find(|id| !taken.contains(id));
        taken.extend(id);
        id
    };
    (0..threads).map(choice).collect()
}

/// Preprocessing for runs of a circuit's job that are still to come, and nothing of the job itself: members bring no inputs.
#[derive(Clone)]
pub struct Preparation {
    /// The job.
    pub prepared: Prepared,
    /// Runs that it is for.
    pub times: u32,
}

impl Preparation {
    /// For `times` runs.
    ///
    /// # Errors
    /// The job has another protocol than authgarble, or the number is none that one command makes.
    pub fn new(prepared: Prepared, times: u32) -> Result<Self, JobError> {
        if !matches!(prepared.plan.protocol, Protocol::Authgarble(_)) {
            let cause = format!("protocol {} has no preprocessing", prepared.plan.protocol);
            return Err(JobError::usage(STEP, cause, "take authgarble, or run the job as it is"));
        }
        if !(1..=MOST_TIMES).contains(&times) {
            let remedy = format!("prepare 1 to {MOST_TIMES} runs at once");
            return Err(JobError::usage(STEP, format!("{times} runs cannot be prepared"), remedy));
        }
        Ok(Self { prepared, times })
    }
}

impl Task for Preparation {
    /// Stocks that were made.
    type Learnt = u64;
    type Part = PreparationPart;

    fn agreement(&self) -> Agreement {
        let mut agreement = self.prepared.plan.agreement();
        // Whoever runs the job meets nobody who prepares it.
        agreement.kind = "preprocessing";
        agreement.title = format!("preprocessing for {}", agreement.title);
        agreement.fields.push(Field::new("times", self.times.to_string()));
        agreement
    }

    fn reads(&self) -> Vec<(String, PathBuf)> {
        self.prepared.reads()
    }

    fn forecast(&self, _: bool, _: Option<u64>) -> Option<Forecast> {
        None
    }

    fn open(&self, config: &mut MemberConfig) -> Result<PreparationPart, JobError> {
        let Some(dir) = &config.shelf else {
            let cause = "this party's file names no directory for it";
            return Err(JobError::usage(STEP, cause, "add a table [authgarble] with shelf = \"DIRECTORY\""));
        };
        // It is made here, and shows at once if it cannot be.
        shelf(dir, &config.identity)?;
        Ok(PreparationPart { preparation: self.clone(), dir: dir.clone() })
    }
}

/// A party's part of preprocessing.
pub struct PreparationPart {
    preparation: Preparation,
    dir: PathBuf,
}

impl Part for PreparationPart {
    type Learnt = u64;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, JobError> {
        let Member::Party(index) = member.config.me else {
            return Err(JobError::internal(STEP, "a client prepares nothing"));
        };
        let (index, plan) = (usize::from(index), &self.preparation.prepared.plan);
        let mut control = n_party::channels(member, 1, member.agreement.control_lane(), index)?;
        let context = n_party::name(member, index, &mut control)?;
        let lanes = (0..plan.threads).map(|t| n_party::channels(member, 0, t, index));
        let lanes = lanes.collect::<Result<Vec<_>, _>>()?;
        let program = &self.preparation.prepared.program;
        let each = n_party::need(program, &plan.among(program), 1);
        let (agreement, watch, identity) = (&member.agreement, member.net.watch(), &member.config.identity);
        let kept = on_threads((0..).zip(lanes).collect(), |(t, mut channels): (u16, Vec<Channel>)| {
            let (need, shelf) = (need(plan, t, each), shelf(&self.dir, identity)?);
            let prefix = prefix(plan, need);
            let mut party = n_party::party(plan.chosen(), &context.child("thread", t.into()), index)?;
            for _ in 0..self.preparation.times {
                let stock = party.prepare(&mut channels, need);
                let stock =
                    stock.map_err(|e| n_party::failed(agreement, watch.as_ref(), index, COMPUTE, e))?;
                shelf.put(&format!("{prefix}{}", hex::encode(stock.id())), stock).map_err(|e| refused(&e))?;
            }
            Ok(channels)
        })?;
        Ok(Links { word: control, kept: kept.into_iter().flatten().collect() })
    }

    fn prepare(&mut self) -> Result<(), JobError> {
        Ok(())
    }

    fn commit(self) -> Result<u64, JobError> {
        Ok(u64::from(self.preparation.times) * u64::from(self.preparation.prepared.plan.threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(threads: &[&[u8]]) -> Vec<u8> {
        let mut all = vec![0; threads.len() * OFFERS * ID];
        for (to, ids) in all.chunks_exact_mut(OFFERS * ID).zip(threads) {
            to.chunks_exact_mut(ID).zip(*ids).for_each(|(to, id)| to.fill(*id));
        }
        all
    }

    #[test]
    fn threads_take_what_all_have_and_nothing_twice() {
        let ids = |found: Vec<Option<Id>>| found.into_iter().map(|id| id.map(|id| id[0])).collect::<Vec<_>>();
        let three =
            [offers(&[&[5, 3, 9], &[3, 5]]), offers(&[&[9, 3, 5], &[5, 3]]), offers(&[&[3, 5], &[3, 5]])];
        assert_eq!(ids(choose(&three, 2)), [Some(3), Some(5)]);
        let apart = [offers(&[&[1], &[2, 4]]), offers(&[&[2], &[4]])];
        assert_eq!(ids(choose(&apart, 2)), [None, Some(4)]);
        assert_eq!(ids(choose(&[offers(&[&[], &[]]), offers(&[&[], &[]])], 2)), [None, None]);
    }
}
