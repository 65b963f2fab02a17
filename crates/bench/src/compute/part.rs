//! One party's runs of an operation on a thread.

use hushwire_rep3::{Party, Role};
use hushwire_wire::{
    NetError,
    drive::{Lockstep, Machine, Place},
};

use super::ops::{Made, Parts, Side};
use crate::{
    BoxError,
    three::{self, Thread},
};

/// A thread's runs of one party.
pub(crate) struct Part<M> {
    party: Party,
    side: Side<M>,
    /// Runs of a repetition.
    pub(crate) runs: usize,
    /// Whether the last result of a repetition is wanted.
    pub(crate) keep: bool,
    begun: usize,
    ended: usize,
    result: Option<Vec<u64>>,
}

impl<M> Part<M> {
    /// The parts of all threads of a party.
    pub(super) fn all(party: Party, made: &Made<M>, threads: usize) -> Result<Vec<Self>, BoxError> {
        let part = |party: Party| {
            let side = (made.side)(party.role());
            Self { party, side, runs: 1, keep: false, begun: 0, ended: 0, result: None }
        };
        Ok(party.split(u32::try_from(threads)?).into_iter().map(part).collect())
    }
}

impl<M: Machine<Error = NetError> + Send> three::Part for Part<M> {
    type Run = M;
    const SLOTS: usize = 2;

    fn begin(&mut self) -> Result<Option<M>, BoxError> {
        (self.begun, self.ended) = (0, 0);
        Ok(None)
    }

    fn next(&mut self) -> Result<Option<M>, BoxError> {
        if self.begun == self.runs {
            return Ok(None);
        }
        self.begun += 1;
        (self.side.begin)(self.party.next_batch()?).map(Some)
    }

    fn done(&mut self, run: M) -> Result<(), BoxError> {
        self.ended += 1;
        let keep = self.keep && self.ended == self.runs;
        self.result = (self.side.end)(run, keep);
        Ok(())
    }
}

/// What a run moves: the most bytes that a party sends, and rounds.
pub(crate) struct Moved {
    pub(crate) bytes: u64,
    pub(crate) rounds: u64,
}

/// Runs an operation once and counts.
pub(super) fn moved<M: Machine<Error = NetError>>(
    mut parties: [Party; 3],
    made: &Made<M>,
) -> Result<Moved, BoxError> {
    let mut runs = vec![];
    for party in &mut parties {
        runs.push(((made.side)(party.role()).begin)(party.next_batch()?)?);
    }
    let (mut bytes, mut rounds) = ([0; 3], 0);
    let count = |Place { round, party, .. }, message: &mut Vec<u8>| {
        bytes[party] += message.len() as u64;
        rounds = rounds.max(round as u64 + 1);
    };
    Lockstep::new().run_edited(&mut runs, count)?;
    Ok(Moved { bytes: bytes.into_iter().max().unwrap_or(0), rounds })
}

/// Opens the first thread's result and compares it with what plain arithmetic gives.
pub(super) fn check<M: Machine<Error = NetError> + Send>(
    threads: &[Thread<Part<M>>],
    made: &Made<M>,
    spoiled: bool,
) -> Result<(), BoxError> {
    let mut parts: [Option<&Vec<u64>>; 3] = [None; 3];
    for part in three::parts(threads) {
        let place = &mut parts[part.party.role().index()];
        *place = place.or(part.result.as_ref());
    }
    let [Some(a), Some(b), Some(c)] = parts else { return Err("a party has no result".into()) };
    let opened: Vec<Vec<u64>> = match made.parts {
        Parts::Known => vec![a.clone(), b.clone(), c.clone()],
        Parts::Sum(bits) => {
            let sum = |((a, b), c): ((&u64, &u64), &u64)| {
                a.wrapping_add(*b).wrapping_add(*c) & (u64::MAX >> (64 - bits))
            };
            vec![a.iter().zip(b).zip(c).map(sum).collect()]
        }
    };
    for (result, role) in opened.iter().zip(Role::ALL) {
        let pairs = result.iter().zip(&made.expected);
        let wrong = pairs.filter(|(found, expected)| **found != **expected ^ u64::from(spoiled)).count();
        if wrong > 0 || result.len() != made.expected.len() {
            let of = made.expected.len();
            return Err(
                format!("{wrong} of {of} numbers differ from plain arithmetic, from {role} on").into()
            );
        }
    }
    Ok(())
}
