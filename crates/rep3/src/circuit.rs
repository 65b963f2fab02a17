//! Runs any circuit on shares, for many instances at once, layer by layer.
//!
//! **Functionality.** `instances` runs of a [`Program`] on shared bit planes → shared bit planes.
//! **Paper.** Araki et al. 2016 (multiplication). **Security.** Semi-honest, one corrupted party,
//! F = AES as PRF (κ = 128). **Rounds and bytes.** One message per layer of ANDs, one bit per AND:
//! see [`circuit_cost`]. **Constant time.** Values are secret; the program and the number of
//! instances are public.
//!
//! ```text
//! planes in and out: bit i of the inputs (outputs) in plane i, ⌈instances/8⌉ bytes;
//!                    instance j is bit j % 8 of byte j / 8
//! a stage's copies:  copy c of instance j is instance c·instances + j of the block
//! a layer's message: the ANDs' planes one after the other;
//!                    fewer than 8 block instances: bits without gaps
//! ```

use crate::layers::{Inputs, Outside, Told};
use crate::record::Record;
use crate::workspace::CircuitWorkspace;
use crate::{Context, Rep3, ShareError, Shares, pool};
use hushwire_block::{
    Wiped,
    bits::{put_range, xor_range},
};
use hushwire_circuit::{
    CircuitLayer, Layered, LeanLayer, Program, Registers, Stage, Walk, Wires, planes::plane_bytes,
};
use hushwire_machine::drive::{Exchanged, Latch, Round};
use hushwire_machine::{Cost, NetError, gated};
use std::{ops::Range, sync::Arc};

/// Bytes of a layer's message: `ands` ANDs of a block that runs on `width` instances.
fn message_bytes(ands: usize, width: usize) -> usize {
    if width < 8 { (ands * width).div_ceil(8) } else { ands * width.div_ceil(8) }
}

/// The distance in bits from one copy to the next in a block's plane: whole bytes, or fewer than 8
/// bits without gaps.
fn pitch(instances: usize) -> usize {
    if instances < 8 { instances } else { 8 * plane_bytes(instances) }
}

/// Message lengths of all layers, in order.
fn messages(program: &Program, instances: usize) -> Vec<usize> {
    let stages = program.stages();
    let mut lengths = vec![];
    for k in 0..stages.len() {
        let (block, copies) = stages.shape(k);
        let width = copies * pitch(instances);
        let ands = block.layers().iter().map(|layer| layer.ands.len()).filter(|n| *n > 0);
        lengths.extend(ands.map(|n| message_bytes(n, width)));
    }
    lengths
}

/// The cost of one batch for each party. Derived from the program, not from the code that runs it.
#[must_use]
pub fn circuit_cost(program: &Program, instances: usize) -> Cost {
    let lengths = messages(program, instances);
    Cost { rounds: lengths.len() as u64, bytes_sent: lengths.iter().map(|n| *n as u64).sum() }
}

/// The number of 128-bit words of zero-shares that each party draws for a batch, with two PRF calls
/// each.
#[must_use]
pub fn circuit_zero_words(program: &Program, instances: usize) -> u64 {
    messages(program, instances).iter().map(|n| n.div_ceil(16) as u64).sum()
}

/// One party's endpoint of running a program on shares.
pub struct CircuitBatch {
    program: Arc<Program>,
    instances: usize,
    lengths: Vec<usize>,
    walk: Walk,
    steps: Steps,
    latch: Latch,
}

/// The block of a program that has one stage, runs once, and takes inputs and outputs in their
/// order.
fn alone(program: &Program) -> Option<Arc<Layered>> {
    let stages = program.stages();
    if stages.len() != 1 || stages.shape(0).1 != 1 {
        return None;
    }
    let stage = stages.stage(0);
    let ordered = stage.reads.iter().copied().eq(0..program.input_bits() as u32);
    (ordered && stage.writes == program.output_registers()).then_some(stage.block)
}

/// The planes of a program that is one block. They are read and written in place, without registers
/// and without most slots.
struct Planes {
    inputs: Inputs,
    outputs: Shares,
}

/// The local steps of a batch.
struct Steps {
    cx: Context,
    /// The number of instances of the block that runs now.
    width: usize,
    /// The next unused word of the batch's zero-shares.
    word: u64,
    /// The number of rounds whose messages have been made.
    layer: usize,
    planes: Option<Planes>,
    ws: CircuitWorkspace,
    rec: Option<Box<dyn Record>>,
}

impl CircuitBatch {
    /// Starts a batch; `inputs` are shares of the input planes, one after the other.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares have `input bits · ⌈instances/8⌉` bytes.
    ///
    /// # Panics
    /// If there are no instances (the caller's bug).
    pub fn new(
        program: Arc<Program>,
        cx: Context,
        inputs: &Shares,
        instances: usize,
        ws: CircuitWorkspace,
    ) -> Result<CircuitBatch, ShareError> {
        Self::over(program, cx, vec![Arc::new(inputs.clone())], instances, ws)
    }

    /// As [`CircuitBatch::new`], on inputs in several buffers that are read in place. Their planes
    /// count through all buffers in order.
    ///
    /// # Errors
    /// As [`CircuitBatch::new`], for the total length.
    ///
    /// # Panics
    /// As [`CircuitBatch::new`].
    pub fn over(
        program: Arc<Program>,
        cx: Context,
        inputs: Vec<Arc<Shares>>,
        instances: usize,
        mut ws: CircuitWorkspace,
    ) -> Result<CircuitBatch, ShareError> {
        assert!(instances > 0, "a batch has at least one instance");
        let height = plane_bytes(instances);
        let expected = program.input_bits() * height;
        for share in 0..2 {
            let found = inputs.iter().map(|inputs| inputs.pair()[share].len()).sum();
            let whole = inputs.iter().all(|inputs| inputs.pair()[share].len().is_multiple_of(height));
            if found != expected || !whole {
                return Err(ShareError::Length { what: "a share of the inputs", expected, found });
            }
        }
        // Planes of less than a byte go through the registers.
        let alone = alone(&program).filter(|_| instances >= 8);
        let planes = if let Some(block) = alone {
            ws.slots.begin(cx.role, block.lean().slots(), height);
            let zeros = || pool::zeros(block.output_slots().len() * height);
            let outputs = Rep3 { own: zeros(), next: zeros() };
            Some(Planes { inputs: Inputs::new(inputs, height), outputs })
        } else {
            for (share, registers) in ws.registers.iter_mut().enumerate() {
                if let [whole] = &inputs[..] {
                    registers.begin(&program, whole.pair()[share], instances, pitch(instances));
                } else {
                    let parts = inputs.iter().map(|inputs| inputs.pair()[share]);
                    let joined = Wiped::new(parts.collect::<Vec<_>>().concat());
                    registers.begin(&program, &joined, instances, pitch(instances));
                }
            }
            None
        };
        let lengths = messages(&program, instances);
        let (walk, latch) = (Walk::default(), Latch::with_own());
        let width = pitch(instances);
        let steps = Steps { cx, width, word: 0, layer: 0, planes, ws, rec: None };
        let mut batch = CircuitBatch { program, instances, lengths, walk, steps, latch };
        if batch.lengths.is_empty() {
            // No message is exchanged, so no driver calls `advance`.
            batch.advance(Exchanged::NOTHING, &mut []);
        }
        Ok(batch)
    }

    /// Sets the recorder, which gets all that a verifier needs.
    pub fn record(&mut self, rec: Box<dyn Record>) {
        self.steps.rec = Some(rec);
    }

    /// Shares of the output planes, after the run.
    #[must_use]
    pub fn output(&self) -> Shares {
        if let Some(planes) = &self.steps.planes {
            return planes.outputs.clone();
        }
        let [own, next] = &self.steps.ws.registers;
        let pick = |registers: &Registers| registers.outputs(&self.program).to_vec();
        Rep3 { own: pick(own), next: pick(next) }
    }

    /// As [`CircuitBatch::output`], without a copy.
    #[must_use]
    pub fn into_output(mut self) -> Shares {
        match self.steps.planes.take() {
            Some(planes) => {
                self.steps.cx.kept.keep(self.steps.ws);
                planes.outputs
            }
            None => self.output(),
        }
    }

    /// Returns the buffers, for the next batch.
    #[must_use]
    pub fn into_workspace(self) -> CircuitWorkspace {
        self.steps.ws
    }

    /// Runs until a message has been made or the program ends.
    fn advance(&mut self, mut arrived: Exchanged<'_>, message: &mut [u8]) {
        while let Some((block, layer)) = self.walk.next(&self.program, &mut self.steps) {
            let last = layer == block.depth();
            self.steps.run(block, layer, arrived, if last { &mut [] } else { message });
            self.walk.ran(&mut self.steps);
            if !last {
                return;
            }
            arrived = Exchanged::NOTHING;
        }
    }
}

impl Wires for Steps {
    fn enter(&mut self, stage: &Stage, _copies: Range<usize>) {
        let CircuitWorkspace { slots, registers, .. } = &mut self.ws;
        if self.planes.is_some() {
            return;
        }
        self.width = registers[0].width(stage);
        slots.begin(self.cx.role, stage.block.slots(), self.width.div_ceil(8));
        for (share, registers) in registers.iter_mut().enumerate() {
            registers.gather(stage, |slot, plane| slots.put(slot, share, plane));
        }
    }

    fn leave(&mut self, stage: &Stage, _copies: Range<usize>) {
        if self.planes.is_some() {
            return;
        }
        let CircuitWorkspace { slots, registers, .. } = &mut self.ws;
        for (share, registers) in registers.iter_mut().enumerate() {
            registers.scatter(stage, |slot, plane| slots.get(slot, share, plane));
        }
    }
}

impl Steps {
    /// Runs one layer of the block. With few instances, an AND takes a byte here and is packed on
    /// the wire.
    fn run(&mut self, block: &Layered, number: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let width = self.width;
        let (layer, outside): (&CircuitLayer, Outside<'_>) = match &mut self.planes {
            Some(Planes { inputs, outputs }) => {
                let LeanLayer { loads, gates, stores } = &block.lean().layers()[number];
                (gates, Outside { loads, inputs, stores, outputs: Some(outputs) })
            }
            None => (&block.layers()[number], Outside::default()),
        };
        let CircuitWorkspace { slots, products, arrived: unpacked, .. } = &mut self.ws;
        let few = width < 8;
        let mut pair = [arrived.own, arrived.heard];
        if few {
            for (unpacked, packed) in unpacked.iter_mut().zip(pair) {
                unpacked.set_len(layer.products.len());
                unpack(packed, width, unpacked);
            }
            pair = [&unpacked[0], &unpacked[1]];
        }
        if layer.ands.is_empty() {
            return slots.layer(&self.cx, (layer, self.layer), pair, &mut [], None, outside);
        }
        self.cx.prss.zero_words(self.cx.address, self.word, message);
        if let Some(rec) = &mut self.rec {
            rec.randomness(self.layer, message);
        }
        if few {
            products.set_len(layer.ands.len());
            unpack(message, width, products);
            let told = self.rec.as_deref_mut().map(|rec| Told { rec, offset: 0, bits: width });
            slots.layer(&self.cx, (layer, self.layer), pair, products, told, outside);
            for (i, byte) in products.iter().enumerate() {
                put_range(&[*byte], width, message, i * width);
            }
        } else {
            let told = self.rec.as_deref_mut().map(Told::all);
            slots.layer(&self.cx, (layer, self.layer), pair, message, told, outside);
        }
        if let Some(rec) = &mut self.rec {
            rec.message(self.layer, message);
        }
        self.word += message.len().div_ceil(16) as u64;
        self.layer += 1;
    }
}

/// Puts `width` bits of `packed`, which has no gaps, into each byte of `out`.
fn unpack(packed: &[u8], width: usize, out: &mut [u8]) {
    out.fill(0);
    for (i, byte) in out.iter_mut().enumerate() {
        xor_range(packed, i * width, width, std::slice::from_mut(byte));
    }
}

gated!(fused [] CircuitBatch, NetError;
    fn cost(&self) -> Option<Cost> {
        Some(circuit_cost(&self.program, self.instances))
    }
);

impl CircuitBatch {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        Some(Round::even("a circuit layer", *self.lengths.get(self.steps.layer)?))
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        self.answer(Exchanged::NOTHING, out)
    }

    fn answer(&mut self, message: Exchanged<'_>, out: &mut [u8]) -> Result<(), NetError> {
        self.advance(message, out);
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), NetError> {
        self.answer(message, &mut [])
    }
}
