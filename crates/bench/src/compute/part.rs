//! One party's runs of an operation on a thread.

use hushwire_rep3::{Party, Role};
use hushwire_wire::drive::{Lockstep, Place};

use super::ops::{Begin, Made, Parts, Run};
use crate::{
    BoxError,
    three::{self, Thread},
};

/// A thread's runs of one party.
pub(crate) struct Part {
    party: Party,
    begin_run: Begin,
    /// Runs of a repetition.
    pub(crate) runs: usize,
    /// Whether the last result of a repetition is wanted.
    pub(crate) keep: bool,
    begun: usize,
    ended: usize,
    result: Option<Vec<u64>>,
}

impl Part {
    /// The parts of all threads of a party.
    pub(super) fn all(party: Party, made: &Made, threads: usize) -> Result<Vec<Self>, BoxError> {
        let part = |party: Party| {
            let begin_run = (made.side)(party.role());
            Self { party, begin_run, runs: 1, keep: false, begun: 0, ended: 0, result: None }
        };
        Ok(party.split(u32::try_from(threads)?).into_iter().map(part).collect())
    }
}

impl three::Part for Part {
    type Run = Box<dyn Run>;
    const SLOTS: usize = 2;

    fn begin(&mut self) -> Result<Option<Box<dyn Run>>, BoxError> {
        (self.begun, self.ended) = (0, 0);
        Ok(None)
    }

    fn next(&mut self) -> Result<Option<Box<dyn Run>>, BoxError> {
        if self.begun == self.runs {
            return Ok(None);
        }
        self.begun += 1;
        (self.begin_run)(self.party.next_batch()?).map(Some)
    }

    fn done(&mut self, run: Box<dyn Run>) -> Result<(), BoxError> {
        self.ended += 1;
        let keep = self.keep && self.ended == self.runs;
        self.result = run.end(keep);
        Ok(())
    }
}

/// The traffic of a run: the most bytes that a party sends, and rounds.
pub(crate) struct Moved {
    pub(crate) bytes: u64,
    /// Of all three.
    pub(crate) total: u64,
    pub(crate) rounds: u64,
}

/// Runs an operation once and counts.
pub(super) fn moved(mut parties: [Party; 3], made: &Made) -> Result<Moved, BoxError> {
    let mut runs = vec![];
    for party in &mut parties {
        runs.push((made.side)(party.role())(party.next_batch()?)?);
    }
    let (mut bytes, mut rounds) = ([0; 3], 0);
    let count = |Place { round, party, .. }, message: &mut Vec<u8>| {
        bytes[party] += message.len() as u64;
        rounds = rounds.max(round as u64 + 1);
    };
    Lockstep::new().run_edited(&mut runs, count)?;
    Ok(Moved { bytes: bytes.into_iter().max().unwrap_or(0), total: bytes.iter().sum(), rounds })
}

/// Opens the first thread's result and compares it with what plain arithmetic gives.
pub(super) fn check(threads: &[Thread<Part>], made: &Made, spoiled: bool) -> Result<(), BoxError> {
    let mut parts: [Option<&Vec<u64>>; 3] = [None; 3];
    for part in three::parts(threads) {
        let place = &mut parts[part.party.role().index()];
        *place = place.or(part.result.as_ref());
    }
    let [Some(a), Some(b), Some(c)] = parts else { return Err("a party has no result".into()) };
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
