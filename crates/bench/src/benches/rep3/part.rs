//! One party's batches on one thread.

use std::collections::VecDeque;

use hushwire_rep3::Rep3Party;

use super::{
    BatchCut,
    work::{BatchRun, LaneOperands, WorkloadProgram, compare},
};
use crate::{
    BoxError,
    three::{self, Thread},
};

/// A thread's batches of one party. There are as many operands as lanes, used in turn.
pub(super) struct BatchRuns {
    party: Rep3Party,
    batches: usize,
    begun: usize,
    ended: usize,
    ready: VecDeque<LaneOperands>,
    in_use: VecDeque<LaneOperands>,
}

/// The seed of the inputs for all threads and lanes.
const SEED: u8 = 7;

impl BatchRuns {
    /// The parts of all threads of a party.
    pub(super) fn all(
        party: Rep3Party,
        workload: &WorkloadProgram,
        cut: &BatchCut,
    ) -> Result<Vec<Self>, BoxError> {
        let inputs = &workload.deal(SEED, cut.instances).1[party.role().index()];
        let part = |party| -> Result<Self, BoxError> {
            let operands = || LaneOperands::new(workload, cut.instances, inputs.clone());
            Ok(Self {
                party,
                batches: cut.batches,
                begun: 0,
                ended: 0,
                ready: (0..cut.lanes).map(|_| operands()).collect(),
                in_use: VecDeque::new(),
            })
        };
        party.split(u32::try_from(cut.threads)?).into_iter().map(part).collect()
    }
}

impl three::PartyRuns for BatchRuns {
    type PartySteps = BatchRun;

    fn begin(&mut self) -> Result<Option<BatchRun>, BoxError> {
        (self.begun, self.ended) = (0, 0);
        Ok(None)
    }

    fn next(&mut self) -> Result<Option<BatchRun>, BoxError> {
        if self.begun == self.batches {
            return Ok(None);
        }
        self.begun += 1;
        let mut operands = self.ready.pop_front().ok_or("more batches in flight than lanes")?;
        let run = operands.begin(self.party.next_batch()?.context())?;
        self.in_use.push_back(operands);
        Ok(Some(run))
    }

    fn done(&mut self, run: BatchRun) -> Result<(), BoxError> {
        let mut operands = self.in_use.pop_front().ok_or("a batch ended twice")?;
        self.ended += 1;
        operands.done(run, self.ended == self.batches);
        self.ready.push_back(operands);
        Ok(())
    }
}

/// Opens the first thread's last result and compares it with plain evaluation.
pub(super) fn check(
    threads: &[Thread<BatchRuns>],
    workload: &WorkloadProgram,
    cut: &BatchCut,
    spoiled: bool,
) -> Result<(), BoxError> {
    let (inputs, _) = workload.deal(SEED, cut.instances);
    let mut expected = workload.expected(&inputs, cut.instances)?;
    expected[0] ^= u8::from(spoiled);
    let mut own: [Option<&[u8]>; 3] = [None; 3];
    for part in three::parts(threads) {
        // The most recently used operands are at the back.
        if let Some(share) = part.ready.back().and_then(LaneOperands::result) {
            own[part.party.role().index()].get_or_insert(share);
        }
    }
    let [Some(a), Some(b), Some(c)] = own else { return Err("a party has no result".into()) };
    compare([a, b, c], &expected)
}
