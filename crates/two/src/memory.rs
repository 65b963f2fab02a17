//! Computes the memory of a run from its plan alone. It follows the values through a simulated run.
//! For each group of pieces it adds their work, their OTs and triples, and the lists of the plan.

use crate::{
    TwoError,
    ahead::AHEAD,
    distance::Distance,
    plan::Plan,
    prim::{StepWay, way},
    room::{StepRoom, room, size_bytes, tensor_bytes},
    supply::CALL,
    tally::Tally,
};
use hushwire_plan::{Slot, StepPiece, Watch};

/// The bytes of a correlated OT: one block.
const OT: u64 = 16;

/// The bytes of work on an OT while it is used: choices, corrections and shares of a byte each, in
/// several copies.
const USED: u64 = 24;

/// A message exists three times: when it is made, sent and received. The factor allows for one more
/// copy.
const MESSAGES: u64 = 4;

/// The bytes for each triple of a call while triples are made: two blocks, their pads and bits.
const TRIPLE: u64 = 48;

impl Plan {
    /// Returns the most bytes that values and the work on them take at one party. Every value
    /// counts from its step to its last reader. The pieces that share their rounds are added, with
    /// their OTs and triples, and the lists of the plan. The session's links and OT extension take
    /// additional memory, even in a short run.
    #[must_use]
    pub fn memory(&self, distance: Distance) -> u64 {
        let mut live = Live::new(self, distance);
        self.steps.walk(&mut live);
        let lists = (0..self.steps.len()).map(|at| self.room(at, 0).lists).fold(0, u64::saturating_add);
        live.most.saturating_add(lists).saturating_add(self.ots_held(distance))
    }

    /// Refuses a run that takes more bytes than allowed ([`Self::memory`]).
    ///
    /// # Errors
    /// The run takes more than `may` bytes.
    pub fn within(&self, distance: Distance, may: u64) -> Result<(), TwoError> {
        let takes = self.memory(distance);
        if takes <= may { Ok(()) } else { Err(TwoError::Memory { takes, may }) }
    }

    /// The bytes of a step, with the work on `rows` of its rows.
    fn room(&self, at: Slot, rows: usize) -> StepRoom {
        room(&self.steps[at], &self.steps.sizes_read(at), rows)
    }

    /// The bytes, besides OTs, of pieces that share their rounds.
    fn work(&self, group: &[StepPiece], distance: Distance) -> u64 {
        group.iter().map(|piece| self.work_of(piece, distance)).fold(0, u64::saturating_add)
    }

    fn work_of(&self, piece: &StepPiece, distance: Distance) -> u64 {
        let (at, rows) = (piece.0, piece.1.len());
        if let StepWay::Reorder(_) = way(&self.steps[at]) {
            // The rows of the step, and its largest lot.
            let lot = |lot: Vec<Tally>| -> u64 { lot.iter().map(work_of_tally).sum() };
            let lots = self.lots_of(&[(at, 0..0)], distance).into_iter().map(lot).max().unwrap_or(0);
            return lots + self.room(at, self.steps[at].size.rows()).work;
        }
        let (reads, made) = self.steps.piece_sizes(at, rows);
        // A step that runs whole reads its operands in place.
        let copied = if self.is_whole(at) { 0 } else { reads.into_iter().map(size_bytes).sum() };
        let (tally, work) = (work_of_tally(&self.tally_of(piece)), self.room(at, rows).work);
        [copied, size_bytes(made), tally, work].into_iter().fold(0, u64::saturating_add)
    }

    /// The bytes of OTs and triples, both those in use and those being made.
    fn ots_held(&self, distance: Distance) -> u64 {
        let (mut most, mut all, mut call) = (0, 0u64, 0);
        for lot in self.lots(distance) {
            let ots: u64 = lot.iter().map(bytes_of_ots).sum();
            (most, all) = (ots.max(most), all.saturating_add(ots));
            let triples = lot.iter().map(|tally| tally.triples).max().unwrap_or(0);
            call = call.max(triples.min(CALL) * TRIPLE);
        }
        let ahead = (OT * AHEAD as u64).max(most);
        most + ahead.min(all - most.min(all)) + call
    }
}

/// The bytes of work on the OTs and triples of a piece, and of its messages.
fn work_of_tally(tally: &Tally) -> u64 {
    let [a, b] = tally.bytes;
    USED * (tally.cots[0] + tally.cots[1]) as u64 + MESSAGES * (a + b) + tally.triples
}

/// The bytes of the OTs and triples of a piece. A triple has three bits.
fn bytes_of_ots(tally: &Tally) -> u64 {
    OT * (tally.cots[0] + tally.cots[1]) as u64 + tally.triples.div_ceil(8) * 3
}

/// The values that are present.
struct Live<'p> {
    plan: &'p Plan,
    distance: Distance,
    held: u64,
    most: u64,
}

impl<'p> Live<'p> {
    fn new(plan: &'p Plan, distance: Distance) -> Self {
        // The given inputs stay through the run, and outputs are returned as tensors.
        let elements = |lengths: &[usize]| lengths.iter().product::<usize>();
        let brought = |party: usize| -> u64 {
            let own = plan.inputs.iter().filter(|input| input.owner == party);
            own.map(|input| tensor_bytes(input.scalar, elements(&input.lengths))).sum()
        };
        let learnt = plan.outputs.iter().map(|o| 2 * tensor_bytes(o.scalar, o.elements())).sum::<u64>();
        let held = brought(0).max(brought(1)) + learnt;
        Live { plan, distance, held, most: held }
    }

    fn comes(&mut self, at: Slot) {
        self.held = self.held.saturating_add(self.plan.room(at, 0).value);
        self.beside(0);
    }

    fn beside(&mut self, bytes: u64) {
        self.most = self.most.max(self.held.saturating_add(bytes));
    }
}

impl Watch for Live<'_> {
    fn local(&mut self, at: Slot) {
        self.comes(at);
        self.beside(self.plan.room(at, self.plan.steps[at].size.rows()).work);
    }

    fn wave(&mut self, wave: &[Slot], _: usize) {
        wave.iter().for_each(|at| self.comes(*at));
        let groups = self.plan.groups(wave, self.distance);
        let work = groups.iter().map(|group| self.plan.work(group, self.distance));
        self.beside(work.max().unwrap_or(0));
    }

    fn goes(&mut self, at: Slot) {
        self.held -= self.plan.room(at, 0).value;
    }
}
