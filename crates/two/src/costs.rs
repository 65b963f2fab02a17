//! Computes the cost of runs: of steps, and of the OTs and triples that they use. It follows from a
//! plan and the OT extension alone, and equals what a meter counts. Only the cost of sorts is an
//! estimate.

use crate::{
    distance::Distance,
    plan::{BEGIN, Plan},
    supply::CALL,
    tally::Tally,
};
use hushwire_ot::{Chunks, Protocol, Role};
use std::collections::BTreeMap;

/// The cost of a session's first run, without set-up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The total cost: OTs and triples, steps, the comparison of plans, and the opening of outputs.
    /// OTs have a lane of their own. As in a meter, rounds are those of the busier lane.
    pub all: Tally,
    /// The part for making OTs and triples.
    pub ots: Tally,
    /// The remaining part: steps, the comparison of plans, and the opening of outputs.
    pub steps: Tally,
    /// The OTs of the first lot, which no other work overlaps ([`Tally::ots`]).
    pub first: usize,
    /// The part of each node of the computation, by its number: making its OTs, and its steps.
    /// Pieces that share their rounds count for the node of the first piece.
    pub nodes: BTreeMap<usize, Tally>,
}

/// The lengths of messages that make OTs, at the session's current state. They follow from counts
/// alone.
#[derive(Clone)]
pub(crate) struct Ledger {
    /// One for each party as the sender.
    ways: [Chunks; 2],
}

impl Ledger {
    pub(crate) fn new(ot: Protocol) -> Self {
        Self { ways: [0, 1].map(|_| Chunks::new(ot)) }
    }

    /// The bytes of each window that party 0 and party 1 send. `counts` has the numbers of OTs in
    /// which each party is the sender.
    pub(crate) fn windows(&mut self, counts: [usize; 2], distance: Distance) -> [Vec<usize>; 2] {
        let mut said: [Vec<usize>; 2] = Default::default();
        for (sender, (way, count)) in self.ways.iter_mut().zip(counts).enumerate() {
            let speaker = if way.speaker() == Role::Sender { sender } else { 1 - sender };
            said[speaker] = way.call(count).chunks(distance.window()).map(|of| of.iter().sum()).collect();
        }
        said
    }

    fn cots(&mut self, counts: [usize; 2], distance: Distance) -> Tally {
        let said = self.windows(counts, distance);
        let window = |k: usize| said.each_ref().map(|of| of.get(k).copied().unwrap_or(0));
        let windows = said.each_ref().map(Vec::len).into_iter().max().unwrap_or(0);
        (0..windows).fold(Tally::default(), |sum, k| sum.then(Tally::message(window(k))))
    }

    /// The cost of pieces that share their rounds.
    fn lot(&mut self, tallies: &[Tally], distance: Distance) -> Tally {
        let sum = |party: usize| tallies.iter().map(|tally| tally.cots[party]).sum();
        let cots = self.cots([sum(0), sum(1)], distance);
        tallies.iter().fold(cots, |sum, tally| sum.then(self.triples(tally.triples, distance)))
    }

    fn triples(&mut self, count: u64, distance: Distance) -> Tally {
        let calls = (0..count).step_by(CALL as usize).map(|first| (count - first).min(CALL) as usize);
        calls.fold(Tally::default(), |sum, now| sum.then(self.cots([now; 2], distance)))
    }
}

impl Plan {
    /// Returns the cost of a run without making OTs and triples: the comparison of plans, the
    /// steps, and the opening of outputs.
    #[must_use]
    pub fn tally(&self, distance: Distance) -> Tally {
        self.walk(distance, None).steps
    }

    /// Returns the cost of a session's first run, with OTs and triples by such an extension. Later
    /// runs may send less, because they use OTs that earlier runs left over.
    #[must_use]
    pub fn costs(&self, ot: Protocol, distance: Distance) -> Costs {
        self.walk(distance, Some(Ledger::new(ot)))
    }

    fn walk(&self, distance: Distance, mut ledger: Option<Ledger>) -> Costs {
        let mut costs = Costs::default();
        let mut steps = Tally::message([BEGIN; 2]);
        for wave in self.steps.waves() {
            for group in self.groups(&wave, distance) {
                let node = costs.nodes.entry(self.steps[group[0].0].node).or_default();
                for tallies in self.lots_of(&group, distance) {
                    let ots =
                        ledger.as_mut().map_or(Tally::default(), |ledger| ledger.lot(&tallies, distance));
                    if costs.first == 0 {
                        costs.first = tallies.iter().map(Tally::ots).sum();
                    }
                    let used = tallies.into_iter().fold(Tally::default(), Tally::beside);
                    *node = node.then(ots).then(used);
                    (costs.ots, steps) = (costs.ots.then(ots), steps.then(used));
                }
            }
        }
        let due = |party: usize| self.outputs.iter().filter(move |o| o.to[party]);
        let bytes = |party| due(party).map(|o| self.opened_bytes(o)).sum();
        costs.steps = steps.then(Tally::message([bytes(1), bytes(0)]));
        costs.all = costs.steps.beside(costs.ots);
        costs
    }
}
