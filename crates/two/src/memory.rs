//! The memory of a run, from its plan alone.

use crate::{
    TwoError,
    ahead::AHEAD,
    distance::Distance,
    lower::{lists, tensor_bytes},
    plan::{Piece, Plan, Step, moves},
    prim::{OwnLocal, OwnTalk},
    supply::CALL,
    tally::Tally,
};
use hushwire_circuit::{Program, planes::plane_bytes};
use hushwire_plan::{Local, Prim, Size, Slot, Talk, Watch, wires};

/// Bytes of a correlated OT: a block.
const OT: u64 = 16;

/// Bytes of work on an OT while it is used: choices, corrections and shares, a byte each, in
/// several copies.
const USED: u64 = 24;

/// A message exists three times: as it is made, as it is sent and as it is received.
const MESSAGES: u64 = 4;

/// Bytes for each triple of a call while triples are made: two blocks, their pads and bits.
const TRIPLE: u64 = 48;

impl Plan {
    /// The most bytes that values and work on them take at one party: every value from its step to
    /// the last step that reads it, the pieces that share their rounds, their OTs and triples, and
    /// the lists of the plan. The session's links and OT extension take memory on top, however
    /// short the run is.
    #[must_use]
    pub fn memory(&self, distance: Distance) -> u64 {
        let mut live = Live::new(self, distance);
        self.steps.walk(&mut live);
        let lists: u64 = self.steps.iter().map(lists).fold(0, u64::saturating_add);
        live.most.saturating_add(lists).saturating_add(self.ots_held(distance))
    }

    /// Refuses a run that takes more bytes than it may ([`Self::memory`]).
    ///
    /// # Errors
    /// It takes more.
    pub fn within(&self, distance: Distance, may: u64) -> Result<(), TwoError> {
        let takes = self.memory(distance);
        if takes <= may { Ok(()) } else { Err(TwoError::Memory { takes, may }) }
    }

    /// Bytes, besides OTs, of pieces that share their rounds.
    fn work(&self, group: &[Piece], distance: Distance) -> u64 {
        group.iter().map(|piece| self.work_of(piece, distance)).fold(0, u64::saturating_add)
    }

    fn work_of(&self, piece: &Piece, distance: Distance) -> u64 {
        let (at, rows) = (piece.0, piece.1.len());
        if moves(&self.steps[at]) {
            return self.work_of_moves(at, distance);
        }
        let (step, tally) = (&self.steps[at], self.tally_of(piece));
        // What is whole reads its values where they are.
        let copies = if self.is_whole(at) { 0 } else { 1 };
        let part = |size: Size| if copies == 0 { size } else { size.with_rows(rows) };
        let read: u64 = self.steps.sizes_read(at).into_iter().map(|size| size_bytes(part(size))).sum();
        let made = size_bytes(part(step.size));
        let scratch = scratch(step, &self.steps.sizes_read(at), rows);
        [copies * read, made, work_of_tally(&tally), scratch].into_iter().fold(0, u64::saturating_add)
    }

    /// Bytes of a step that moves rows: of its rows, and of the lot that takes most.
    fn work_of_moves(&self, at: Slot, distance: Distance) -> u64 {
        let step = &self.steps[at];
        let lot = |lot: Vec<Tally>| -> u64 { lot.iter().map(work_of_tally).sum() };
        let lots = self.lots_of(&[(at, 0..0)], distance).into_iter().map(lot).max().unwrap_or(0);
        lots + scratch(step, &self.steps.sizes_read(at), step.size.rows())
    }

    /// Bytes of OTs and triples, both in use and being made.
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

/// Bytes of work on the OTs and triples of a piece, and of its messages.
fn work_of_tally(tally: &Tally) -> u64 {
    let [a, b] = tally.bytes;
    USED * (tally.cots[0] + tally.cots[1]) as u64 + MESSAGES * (a + b) + tally.triples
}

/// Bytes of the OTs and triples of a piece: a triple has three bits.
fn bytes_of_ots(tally: &Tally) -> u64 {
    OT * (tally.cots[0] + tally.cots[1]) as u64 + tally.triples.div_ceil(8) * 3
}

/// Bytes of a value that is no tensor.
fn size_bytes(size: Size) -> u64 {
    match size {
        Size::Known(..) => 0,
        Size::Words(_, rows) => 8 * rows as u64,
        Size::Bits(width, rows) => (width as u64).saturating_mul(plane_bytes(rows) as u64),
        // Places, and of each stage the bits of a network's columns.
        Size::Order(rows, stages) => {
            let columns = 2 * u64::from(rows.max(2).next_power_of_two().ilog2());
            (stages.max(1) as u64) * rows as u64 * (4 + columns.div_ceil(8))
        }
    }
}

/// Bytes of a step's value. The plan has what it knows.
fn bytes(step: &Step) -> u64 {
    match &step.prim {
        Prim::Local(Local::Apply { scalar, .. }) | Prim::Talk(Talk::Open { scalar, .. }) => {
            tensor_bytes(*scalar, step.size.rows())
        }
        Prim::Local(_) | Prim::Talk(_) => size_bytes(step.size),
    }
}

/// Bytes of a step's work on some of its rows, besides the values that it reads and makes, its OTs
/// and its messages. Every kind of step has its own.
fn scratch(step: &Step, reads: &[Size], rows: usize) -> u64 {
    let (n, made) = (rows as u64, step.size.rows() as u64);
    let part = |size: Size| size_bytes(size.with_rows(rows));
    let read = || reads.iter().map(|size| part(*size)).sum::<u64>();
    // A byte for every bit of an element.
    let flat = |program: &Program| {
        let bits = program.input_bits() + program.output_bits();
        4 * bits as u64 + wires(program, 1, 1) + program.registers() as u64
    };
    match &step.prim {
        Prim::Local(local) => match local {
            // Elements on their way to planes.
            Local::Input(_, Size::Bits(..)) | Local::AsBits => 2 * size_bytes(step.size).max(8 * made),
            Local::Input(..)
            | Local::Known(_)
            | Local::AsWords(_)
            | Local::Narrow(_)
            | Local::Pick(_)
            | Local::Shift(_)
            | Local::Sum { .. }
            | Local::Fold { .. }
            | Local::PoolSum(_)
            | Local::Own(OwnLocal::Part { .. }) => 0,
            Local::Apply { .. } => bytes(step),
            // Places as a tensor, as numbers and as a list, and the rows that there are.
            Local::Gather { rows, .. } => 16 * made + 16 * *rows as u64,
            // The known factor as numbers.
            Local::Scale => 8 * made,
            Local::MatMulKnown { shape: [r, k, c], .. } => 8 * (r * k).max(k * c) as u64,
            Local::Block(program) => read() + part(step.size) + wires(program, plane_bytes(rows), 1),
            Local::Flat(program, _) => flat(program),
            Local::Invert | Local::Own(OwnLocal::AsOrder | OwnLocal::Then) => 16 * made,
        },
        Prim::Talk(talk) => match talk {
            Talk::Block(program) => read() + part(step.size) + wires(program, plane_bytes(rows), 1),
            Talk::Flat(program, _) => flat(program),
            // A byte for every bit, and a number for its product.
            Talk::ToWords(_) => 24 * reads[0].width() as u64 * n,
            Talk::Product(_) => 24 * made,
            Talk::MatMul([r, k, c], _) => 24 * (r * k + k * c + r * c) as u64,
            Talk::Choose => 32 * n,
            Talk::Less { .. } => 96 * n,
            Talk::LessBounded | Talk::Equal | Talk::Truncate { .. } => 64 * n,
            // Strings and numbers of 16 bytes, both twice while they move; lists of rows, nodes and pairs; the network on its way.
            Talk::Sort { .. } => 160 * n,
            Talk::ToOrder => 80 * n,
            // Rows in blocks, twice while they move.
            Talk::Permute { inner } => match reads[0] {
                Size::Words(_, elements) => 40 * elements as u64,
                x => 40 * (reads[1].rows() * (inner * x.width()).div_ceil(128)) as u64,
            },
            Talk::Open { scalar, .. } => 3 * tensor_bytes(*scalar, step.size.rows()),
            Talk::Own(own) => match own {
                OwnTalk::ToBits(program) => 2 * part(step.size) + wires(program, plane_bytes(rows), 1),
                OwnTalk::Rows(_) => 24 * made,
                OwnTalk::Widen | OwnTalk::Rectify { .. } | OwnTalk::Extend(_) => 64 * n,
                OwnTalk::Encrypted(layer) => layer.memory(),
            },
        },
    }
}

/// Values that are there.
struct Live<'p> {
    plan: &'p Plan,
    distance: Distance,
    held: u64,
    most: u64,
}

impl<'p> Live<'p> {
    fn new(plan: &'p Plan, distance: Distance) -> Self {
        // Inputs as they were brought stay through the run, and outputs come as tensors.
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
        self.held = self.held.saturating_add(bytes(&self.plan.steps[at]));
        self.beside(0);
    }

    fn beside(&mut self, bytes: u64) {
        self.most = self.most.max(self.held.saturating_add(bytes));
    }
}

impl Watch for Live<'_> {
    fn local(&mut self, at: Slot) {
        self.comes(at);
        let step = &self.plan.steps[at];
        self.beside(scratch(step, &self.plan.steps.sizes_read(at), step.size.rows()));
    }

    fn wave(&mut self, wave: &[Slot], _: usize) {
        wave.iter().for_each(|at| self.comes(*at));
        let groups = self.plan.groups(wave, self.distance);
        let work = groups.iter().map(|group| self.plan.work(group, self.distance));
        self.beside(work.max().unwrap_or(0));
    }

    fn goes(&mut self, at: Slot) {
        self.held -= bytes(&self.plan.steps[at]);
    }
}
