//! The memory of a run, from its plan alone.

use crate::{
    TwoError,
    ahead::AHEAD,
    plan::{Distance, Piece, Plan, Prim, Size, Slot, Step},
    supply::CALL,
    tally::Tally,
};
use hushwire_circuit::{Program, planes::plane_bytes};
use hushwire_compute::{Scalar, Tensor};

/// Bytes of a correlated OT: a block.
const OT: u64 = 16;

/// Bytes of work on an OT while it is used: choices, corrections and shares, a byte each, in
/// several copies.
const USED: u64 = 24;

/// A message exists three times: as it is made, as it is sent and as it is received.
const MESSAGES: u64 = 4;

/// Bytes for each triple of a call while triples are made: two blocks, their pads and bits.
const TRIPLE: u64 = 48;

/// LOCAL: bytes of a circuit's register in a program: places where it is written and read.
pub(crate) const REGISTER: u64 = 32;

impl Plan {
    /// The most bytes that values and work on them take at one party: every value from its step to
    /// the last step that reads it, the pieces that share their rounds, their OTs and triples, and
    /// the lists of the plan. The session's links and OT extension take memory on top, however
    /// short the run is.
    #[must_use]
    pub fn memory(&self, distance: Distance) -> u64 {
        let mut live = Live::new(self);
        let mut ran = vec![false; self.steps.len()];
        loop {
            let ready = |ran: &[bool], step: &Step| step.reads.iter().all(|slot| ran[*slot]);
            for (at, step) in self.steps.iter().enumerate() {
                if !ran[at] && !step.talks() && ready(&ran, step) {
                    live.comes(at);
                    live.beside(scratch(step, &self.sizes_read(at), step.size.rows()));
                    live.goes(step);
                    ran[at] = true;
                }
            }
            let wave: Vec<Slot> =
                (0..self.steps.len()).filter(|at| !ran[*at] && ready(&ran, &self.steps[*at])).collect();
            if wave.is_empty() {
                break;
            }
            wave.iter().for_each(|at| live.comes(*at));
            let groups = self.groups(&wave, distance);
            live.beside(groups.iter().map(|group| self.work(group, distance)).max().unwrap_or(0));
            for at in wave {
                live.goes(&self.steps[at]);
                ran[at] = true;
            }
        }
        let lists: u64 = self.steps.iter().map(Step::lists).fold(0, u64::saturating_add);
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

    fn sizes_read(&self, at: Slot) -> Vec<Size> {
        self.steps[at].reads.iter().map(|slot| self.steps[*slot].size).collect()
    }

    /// Bytes, besides OTs, of pieces that share their rounds.
    fn work(&self, group: &[Piece], distance: Distance) -> u64 {
        group.iter().map(|piece| self.work_of(piece, distance)).fold(0, u64::saturating_add)
    }

    fn work_of(&self, piece: &Piece, distance: Distance) -> u64 {
        let (at, rows) = (piece.0, piece.1.len());
        if self.steps[at].moves() {
            return self.work_of_moves(at, distance);
        }
        let (step, tally) = (&self.steps[at], self.tally_of(piece));
        // What is whole reads its values where they are.
        let copies = if self.is_whole(at) { 0 } else { 1 };
        let part = |size: Size| if copies == 0 { size } else { size.with_rows(rows) };
        let read: u64 = self.sizes_read(at).into_iter().map(|size| size_bytes(part(size))).sum();
        let made = size_bytes(part(step.size));
        let scratch = scratch(step, &self.sizes_read(at), rows);
        [copies * read, made, work_of_tally(&tally), scratch].into_iter().fold(0, u64::saturating_add)
    }

    /// Bytes of a step that moves rows: of its rows, and of the lot that takes most.
    fn work_of_moves(&self, at: Slot, distance: Distance) -> u64 {
        let step = &self.steps[at];
        let lot = |lot: Vec<Tally>| -> u64 { lot.iter().map(work_of_tally).sum() };
        let lots = self.lots_of(&[(at, 0..0)], distance).into_iter().map(lot).max().unwrap_or(0);
        lots + scratch(step, &self.sizes_read(at), step.size.rows())
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

/// Bytes of a tensor's elements.
pub(crate) fn tensor_bytes(scalar: Scalar, elements: usize) -> u64 {
    8 * (scalar.bits().div_ceil(64).max(1) as u64).saturating_mul(elements as u64)
}

/// Bytes of a value that is no tensor.
fn size_bytes(size: Size) -> u64 {
    match size {
        Size::Known(_) => 0,
        Size::Words(_, rows) => 8 * rows as u64,
        Size::Bits(width, rows) => (width as u64).saturating_mul(plane_bytes(rows) as u64),
        // Places, and of each stage the bits of a network's columns.
        Size::Order(rows, stages) => {
            let columns = 2 * u64::from(rows.max(2).next_power_of_two().ilog2());
            (stages.max(1) as u64) * rows as u64 * (4 + columns.div_ceil(8))
        }
    }
}

impl Step {
    /// Bytes of its value.
    fn bytes(&self) -> u64 {
        match &self.prim {
            Prim::Apply { scalar, .. } | Prim::Open { scalar, .. } => tensor_bytes(*scalar, self.size.rows()),
            // The plan has it.
            Prim::Known(_) => 0,
            _ => size_bytes(self.size),
        }
    }

    /// Bytes of the plan's lists for it.
    pub(crate) fn lists(&self) -> u64 {
        let tensor = |tensor: &Tensor| tensor_bytes(tensor.scalar(), tensor.len());
        let own = match &self.prim {
            Prim::Pick(picks) => 8 * picks.len() as u64,
            Prim::Known(known) => tensor(known),
            Prim::Flat(program) => REGISTER * program.registers() as u64,
            // Programs of bits have a row, and steps of one kind share them.
            Prim::ToBits(_)
            | Prim::Block(_)
            | Prim::InputWords(_)
            | Prim::InputBits(_)
            | Prim::Apply { .. }
            | Prim::AsBits
            | Prim::AsWords
            | Prim::Narrow
            | Prim::Gather { .. }
            | Prim::Sum { .. }
            | Prim::Scale
            | Prim::Shift(_)
            | Prim::Fold { .. }
            | Prim::SumEach(_)
            | Prim::MatMulKnown { .. }
            | Prim::ToWords
            | Prim::Product(_)
            | Prim::Rows(_)
            | Prim::MatMul(..)
            | Prim::Choose
            | Prim::Less { .. }
            | Prim::LessBounded
            | Prim::Equal
            | Prim::Widen
            | Prim::Truncate { .. }
            | Prim::Rectify { .. }
            | Prim::Extend
            | Prim::Part { .. }
            | Prim::Encrypted(_)
            | Prim::Sort { .. }
            | Prim::ToPlaces
            | Prim::AsOrder
            | Prim::Invert
            | Prim::Then
            | Prim::Permute { .. }
            | Prim::Open { .. } => 0,
        };
        own + 256
    }
}

/// Bytes of a step's work on some of its rows, besides the values that it reads and makes, its OTs
/// and its messages. Every kind of step has its own.
fn scratch(step: &Step, reads: &[Size], rows: usize) -> u64 {
    let (n, made) = (rows as u64, step.size.rows() as u64);
    match &step.prim {
        Prim::InputWords(_)
        | Prim::Known(_)
        | Prim::AsWords
        | Prim::Narrow
        | Prim::Part { .. }
        | Prim::Pick(_)
        | Prim::Shift(_)
        | Prim::Sum { .. }
        | Prim::Fold { .. }
        | Prim::SumEach(_) => 0,
        // Elements on their way to planes.
        Prim::InputBits(_) | Prim::AsBits => 2 * size_bytes(step.size).max(8 * made),
        Prim::Apply { .. } => step.bytes(),
        // Places as a tensor, as numbers and as a list, and the rows that there are.
        Prim::Gather { rows, .. } => 16 * made + 16 * *rows as u64,
        // The known factor as numbers.
        Prim::Scale => 8 * made,
        Prim::MatMulKnown { shape: [r, k, c], .. } => 8 * (r * k).max(k * c) as u64,
        Prim::ToBits(program) => {
            2 * size_bytes(step.size.with_rows(rows)) + slots(program, plane_bytes(rows))
        }
        Prim::Block(program) => {
            let read: u64 = reads.iter().map(|size| size_bytes(size.with_rows(rows))).sum();
            read + size_bytes(step.size.with_rows(rows)) + slots(program, plane_bytes(rows))
        }
        // A byte for every bit of an element.
        Prim::Flat(program) => {
            4 * (program.input_bits() + program.output_bits()) as u64
                + slots(program, 1)
                + program.registers() as u64
        }
        // A byte for every bit, and a number for its product.
        Prim::ToWords => match reads {
            [Size::Bits(width, _)] => 24 * *width as u64 * n,
            _ => 0,
        },
        Prim::Product(_) | Prim::Rows(_) => 24 * made,
        Prim::MatMul([r, k, c], _) => 24 * (r * k + k * c + r * c) as u64,
        Prim::Choose => 32 * n,
        Prim::Less { .. } => 96 * n,
        Prim::LessBounded
        | Prim::Equal
        | Prim::Widen
        | Prim::Truncate { .. }
        | Prim::Rectify { .. }
        | Prim::Extend => 64 * n,
        Prim::Encrypted(layer) => layer.memory(),
        // Strings and numbers of 16 bytes, both twice while they move; lists of rows, nodes and pairs; the network on its way.
        Prim::Sort { .. } => 160 * n,
        Prim::ToPlaces => 80 * n,
        // Rows in blocks, twice while they move.
        Prim::Permute { inner } => match reads {
            [Size::Words(_, elements), _] => 40 * *elements as u64,
            [x, Size::Order(rows, _)] => 40 * (*rows * (inner * x.width()).div_ceil(128)) as u64,
            _ => 0,
        },
        Prim::AsOrder | Prim::Invert | Prim::Then => 16 * made,
        Prim::Open { scalar, .. } => 3 * tensor_bytes(*scalar, step.size.rows()),
    }
}

/// Bytes of a circuit's wires, for planes of so many bytes.
fn slots(program: &Program, plane: usize) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        (block.slots() * plane * copies).max(64 * block.slots()) as u64
    };
    (0..stages.len()).map(of).max().unwrap_or(0)
}

/// Values that are there.
struct Live<'p> {
    plan: &'p Plan,
    readers: Vec<usize>,
    held: u64,
    most: u64,
}

impl<'p> Live<'p> {
    fn new(plan: &'p Plan) -> Self {
        let mut readers = vec![0; plan.steps.len()];
        let outputs = plan.outputs.iter().map(|output| &output.slot);
        plan.steps.iter().flat_map(|step| &step.reads).chain(outputs).for_each(|slot| readers[*slot] += 1);
        // Inputs as they were brought stay through the run, and outputs come as tensors.
        let elements = |lengths: &[usize]| lengths.iter().product::<usize>();
        let brought = |party: usize| -> u64 {
            let own = plan.inputs.iter().filter(|input| input.owner == party);
            own.map(|input| tensor_bytes(input.scalar, elements(&input.lengths))).sum()
        };
        let learnt = plan.outputs.iter().map(|o| 2 * tensor_bytes(o.scalar, o.elements())).sum::<u64>();
        let held = brought(0).max(brought(1)) + learnt;
        Live { plan, readers, held, most: held }
    }

    fn comes(&mut self, at: Slot) {
        self.held = self.held.saturating_add(self.plan.steps[at].bytes());
        self.beside(0);
        if self.readers[at] == 0 {
            self.held -= self.plan.steps[at].bytes();
        }
    }

    fn beside(&mut self, bytes: u64) {
        self.most = self.most.max(self.held.saturating_add(bytes));
    }

    fn goes(&mut self, step: &Step) {
        for slot in &step.reads {
            self.readers[*slot] -= 1;
            if self.readers[*slot] == 0 {
                self.held -= self.plan.steps[*slot].bytes();
            }
        }
    }
}
