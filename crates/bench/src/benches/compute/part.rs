//! One party's runs of an operation on one thread.

use hushwire_machine::drive::{Lockstep, Place};
use hushwire_rep3::{Rep3Party, Role};

use super::ops::{Begin, OpMachine, OpSetup, Parts};
use crate::{
    BoxError,
    three::{self, Thread},
};

/// A thread's runs of one party.
pub(crate) struct OpRuns {
    party: Rep3Party,
    thread: usize,
    /// The thread's pieces, in order.
    begin_run: Vec<Begin>,
    /// The number of runs of a repetition. Each run has all pieces.
    pub(crate) runs: usize,
    /// Whether the last results of a repetition are kept.
    pub(crate) keep: bool,
    begun: usize,
    ended: usize,
    /// The result of each piece.
    results: Vec<Vec<u64>>,
}

impl OpRuns {
    /// The parts of all threads of a party. The pieces are assigned to threads in turn.
    pub(super) fn all(party: Rep3Party, pieces: &[OpSetup], threads: usize) -> Result<Vec<Self>, BoxError> {
        let part = |(thread, party): (usize, Rep3Party)| {
            let own = pieces.iter().skip(thread).step_by(threads);
            let begin_run = own.map(|made| (made.side)(party.role())).collect();
            Self { party, thread, begin_run, runs: 1, keep: false, begun: 0, ended: 0, results: vec![] }
        };
        Ok(party.split(u32::try_from(threads)?).into_iter().enumerate().map(part).collect())
    }
}

impl three::PartyRuns for OpRuns {
    type PartySteps = Box<dyn OpMachine>;
    const SLOTS: usize = 2;

    fn begin(&mut self) -> Result<Option<Box<dyn OpMachine>>, BoxError> {
        (self.begun, self.ended) = (0, 0);
        self.results.clear();
        Ok(None)
    }

    fn next(&mut self) -> Result<Option<Box<dyn OpMachine>>, BoxError> {
        let pieces = self.begin_run.len();
        if self.begun == self.runs * pieces {
            return Ok(None);
        }
        self.begun += 1;
        (self.begin_run[(self.begun - 1) % pieces])(self.party.next_batch()?).map(Some)
    }

    fn done(&mut self, run: Box<dyn OpMachine>) -> Result<(), BoxError> {
        let keep = self.keep && self.ended >= (self.runs - 1) * self.begin_run.len();
        self.ended += 1;
        self.results.extend(run.end(keep));
        Ok(())
    }
}

/// The traffic of a run: the most bytes that one party sends, the bytes of all three, the messages
/// of the former, and the rounds. The rounds of consecutive pieces on a lane are added.
pub(crate) struct Moved {
    pub(crate) bytes: u64,
    pub(crate) total: u64,
    pub(crate) messages: u64,
    pub(crate) rounds: u64,
}

/// Runs all pieces of an operation once, and counts the traffic. The pieces are distributed over
/// this many lanes.
pub(super) fn moved(
    mut parties: [Rep3Party; 3],
    pieces: &[OpSetup],
    lanes: usize,
) -> Result<Moved, BoxError> {
    let (mut bytes, mut messages) = ([0; 3], 0);
    let mut rounds = vec![0; lanes];
    for (k, made) in pieces.iter().enumerate() {
        let mut runs = vec![];
        for party in &mut parties {
            runs.push((made.side)(party.role())(party.next_batch()?)?);
        }
        let mut last = 0;
        let count = |Place { round, party, .. }, message: &mut Vec<u8>| {
            bytes[party] += message.len() as u64;
            last = last.max(round as u64 + 1);
        };
        Lockstep::new().run_edited(&mut runs, count)?;
        rounds[k % lanes] += last;
        messages += last;
    }
    let rounds = rounds.into_iter().max().unwrap_or(0);
    Ok(Moved { bytes: bytes.into_iter().max().unwrap_or(0), total: bytes.iter().sum(), messages, rounds })
}

/// Opens the results of all pieces, and compares them with plain arithmetic.
pub(super) fn check(threads: &[Thread<OpRuns>], pieces: &[OpSetup], spoiled: bool) -> Result<(), BoxError> {
    let of_party = three::parts(threads).map(|part| part.thread).max().map_or(1, |last| last + 1);
    for (k, made) in pieces.iter().enumerate() {
        let mut parts: [Option<&Vec<u64>>; 3] = [None; 3];
        for part in three::parts(threads).filter(|part| part.thread == k % of_party) {
            parts[part.party.role().index()] = part.results.get(k / of_party);
        }
        let [Some(a), Some(b), Some(c)] = parts else { return Err("a party has no result".into()) };
        compare([a, b, c], made, spoiled)?;
    }
    Ok(())
}

/// Opens a result and compares it.
fn compare([a, b, c]: [&Vec<u64>; 3], made: &OpSetup, spoiled: bool) -> Result<(), BoxError> {
    let joined = |join: fn(u64, u64) -> u64, bits: usize| -> Vec<u64> {
        let numbers = a.iter().zip(b).zip(c).map(|((a, b), c)| join(join(*a, *b), *c));
        numbers.map(|number| number & (u64::MAX >> (64 - bits))).collect()
    };
    let mut expected = made.expected.clone();
    let opened: Vec<Vec<u64>> = match made.parts {
        Parts::Known => vec![a.clone(), b.clone(), c.clone()],
        Parts::Sum(bits) => vec![joined(u64::wrapping_add, bits)],
        Parts::Xor => vec![joined(|a, b| a ^ b, 64)],
        Parts::Shuffled(bits) => {
            let mut numbers = joined(u64::wrapping_add, bits);
            numbers.sort_unstable();
            expected.sort_unstable();
            vec![numbers]
        }
    };
    for (result, role) in opened.iter().zip(Role::ALL) {
        let pairs = result.iter().zip(&expected);
        let wrong = pairs.filter(|(found, expected)| **found != **expected ^ u64::from(spoiled)).count();
        if wrong > 0 || result.len() != expected.len() {
            let of = expected.len();
            return Err(
                format!("{wrong} of {of} numbers differ from plain arithmetic, from {role} on").into()
            );
        }
    }
    Ok(())
}
