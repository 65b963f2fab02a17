//! Any circuit on shares: many instances at once, layer by layer.
//!
//! **Functionality.** `instances` runs of a [`Program`] on shared bit planes → shared bit planes. **Paper.** Araki et
//! al. 2016 (multiplication). **Security.** Semi-honest, one corrupted party, F = AES as PRF (κ = 128). **Rounds and
//! bytes.** One message a layer of ANDs, one bit an AND: see [`circuit_cost`]. **Constant time.** Values are secret;
//! the program and the number of instances are public.
//!
//! ```text
//! planes in and out: bit i of the inputs (outputs) in plane i, ⌈instances/8⌉ bytes; instance j is bit j % 8 of byte j / 8
//! a stage's copies:  copy c of instance j is instance c·instances + j of the block
//! a layer's message: the ANDs' planes one after the other; fewer than 8 block instances: bits without gaps
//! ```

use crate::layers::{Slots, Told};
use crate::record::Record;
use crate::{Context, Rep3, Role, ShareError, Shares};
use hushwire_block::Buffer;
use hushwire_circuit::{Program, Stage, input_slot};
use hushwire_wire::drive::{Exchanged, Machine, Round};
use hushwire_wire::{Cost, NetError};
use std::sync::Arc;

/// Bytes of a plane of `instances` bits.
#[must_use]
pub const fn plane_bytes(instances: usize) -> usize {
    instances.div_ceil(8)
}

/// Bytes of the message of a layer of `ands` ANDs of a block that runs on `width` instances.
fn message_bytes(ands: usize, width: usize) -> usize {
    if width < 8 { (ands * width).div_ceil(8) } else { ands * width.div_ceil(8) }
}

/// The number of instances of a block that a stage of `copies` runs: whole bytes for each copy, or few bits without gaps.
fn block_width(copies: usize, instances: usize) -> usize {
    if instances < 8 { copies * instances } else { copies * 8 * plane_bytes(instances) }
}

/// Message lengths of all layers, in order.
fn messages(program: &Program, instances: usize) -> Vec<usize> {
    let stages = program.stages();
    let mut lengths = vec![];
    for k in 0..stages.len() {
        let (block, copies) = stages.shape(k);
        let width = block_width(copies, instances);
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

/// 128-bit words of zero-shares that each party draws for a batch: two PRF calls each.
#[must_use]
pub fn circuit_zero_words(program: &Program, instances: usize) -> u64 {
    messages(program, instances).iter().map(|n| n.div_ceil(16) as u64).sum()
}

/// Buffers of one batch, kept from batch to batch.
#[derive(Default)]
pub struct CircuitWorkspace {
    slots: Slots,
    registers: [Buffer; 2],
    /// Planes of a block's input or output bit, and of few-bit messages.
    planes: [Buffer; 2],
    arrived: [Buffer; 2],
}

/// One party's side of running a program on shares.
pub struct CircuitBatch {
    role: Role,
    program: Arc<Program>,
    cx: Context,
    instances: usize,
    lengths: Vec<usize>,
    /// The round under way.
    round: usize,
    /// The stage under way, and the layer of its block that comes next.
    stage: Option<Stage>,
    stage_number: usize,
    block_layer: usize,
    /// The next unused word of the batch's zero-shares.
    word: u64,
    /// Layers so far, for the verifier.
    layer: usize,
    ws: CircuitWorkspace,
    rec: Option<Box<dyn Record>>,
}

impl CircuitBatch {
    /// `inputs` are shares of the input planes, one after the other.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares have `input bits · ⌈instances/8⌉` bytes.
    ///
    /// # Panics
    /// If there are no instances (the caller's bug).
    pub fn new(
        role: Role,
        program: Arc<Program>,
        cx: Context,
        inputs: &Shares,
        instances: usize,
        mut ws: CircuitWorkspace,
    ) -> Result<CircuitBatch, ShareError> {
        assert!(instances > 0, "a batch has at least one instance");
        let plane = plane_bytes(instances);
        let expected = program.input_bits() * plane;
        for (registers, share) in ws.registers.iter_mut().zip(inputs.pair()) {
            if share.len() != expected {
                let what = "a share of the inputs";
                return Err(ShareError::Length { what, expected, found: share.len() });
            }
            registers.set_len(program.registers() * plane);
            registers[..expected].copy_from_slice(share);
        }
        let lengths = messages(&program, instances);
        let mut batch = CircuitBatch {
            role,
            program,
            cx,
            instances,
            lengths,
            round: 0,
            stage: None,
            stage_number: 0,
            block_layer: 0,
            word: 0,
            layer: 0,
            ws,
            rec: None,
        };
        if batch.lengths.is_empty() {
            // Nothing is exchanged, so that no driver calls.
            batch.advance(Exchanged::NOTHING, &mut []);
        }
        Ok(batch)
    }

    /// Hears what a verifier needs.
    pub fn record(&mut self, rec: Box<dyn Record>) {
        self.rec = Some(rec);
    }

    /// Shares of the output planes, after the run.
    #[must_use]
    pub fn output(&self) -> Shares {
        let plane = plane_bytes(self.instances);
        let pick = |registers: &Buffer| -> Vec<u8> {
            let chosen = self.program.output_registers().iter();
            chosen.flat_map(|r| &registers[*r as usize * plane..][..plane]).copied().collect()
        };
        Rep3 { own: pick(&self.ws.registers[0]), next: pick(&self.ws.registers[1]) }
    }

    /// The buffers, for the next batch.
    #[must_use]
    pub fn into_workspace(self) -> CircuitWorkspace {
        self.ws
    }

    /// Runs on until a message is made or the program ends.
    fn advance(&mut self, arrived: Exchanged<'_>, message: &mut [u8]) {
        let mut arrived = arrived;
        loop {
            let Some(stage) = self.stage.take().or_else(|| self.next_stage()) else { return };
            let width = block_width(stage.copies, self.instances);
            let layer = &stage.block.layers()[self.block_layer];
            if layer.ands.is_empty() {
                self.run(&stage, width, arrived, &mut []);
                self.scatter(&stage);
                self.stage_number += 1;
                arrived = Exchanged::NOTHING;
            } else {
                self.run(&stage, width, arrived, message);
                self.block_layer += 1;
                self.stage = Some(stage);
                return;
            }
        }
    }

    /// The next stage, its operands in place.
    fn next_stage(&mut self) -> Option<Stage> {
        let stages = self.program.stages();
        if self.stage_number == stages.len() {
            return None;
        }
        let stage = stages.stage(self.stage_number);
        self.block_layer = 0;
        let width = block_width(stage.copies, self.instances);
        self.ws.slots.begin(self.role, &stage.block, width.div_ceil(8));
        self.gather(&stage);
        Some(stage)
    }

    /// One layer of the block. Few instances are computed a byte an AND, and packed on the wire.
    fn run(&mut self, stage: &Stage, width: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let layer = &stage.block.layers()[self.block_layer];
        let CircuitWorkspace { slots, planes, arrived: unpacked, .. } = &mut self.ws;
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
            return slots.layer(&self.cx, layer, self.layer, pair, &mut [], None);
        }
        self.cx.prss.zero_words(self.cx.address, self.word, message);
        if let Some(rec) = &mut self.rec {
            rec.randomness(self.layer, message);
        }
        if few {
            let products = &mut planes[0];
            products.set_len(layer.ands.len());
            products.fill(0);
            slots.layer(
                &self.cx,
                layer,
                self.layer,
                pair,
                products,
                self.rec.as_deref_mut().map(|rec| Told { rec, offset: 0, bits: width }),
            );
            pack_xor(products, width, message);
        } else {
            slots.layer(&self.cx, layer, self.layer, pair, message, self.rec.as_deref_mut().map(Told::all));
        }
        if let Some(rec) = &mut self.rec {
            rec.message(self.layer, message);
        }
        self.word += message.len().div_ceil(16) as u64;
        self.layer += 1;
    }

    /// The stage's registers to the block's inputs.
    fn gather(&mut self, stage: &Stage) {
        let (inputs, plane) = (stage.block.input_bits(), plane_bytes(self.instances));
        let width = block_width(stage.copies, self.instances);
        let CircuitWorkspace { slots, registers, planes, .. } = &mut self.ws;
        for i in 0..inputs {
            for (out, registers) in planes.iter_mut().zip(&*registers) {
                out.set_len(width.div_ceil(8));
                out.fill(0);
                for c in 0..stage.copies {
                    let from = &registers[stage.reads[c * inputs + i] as usize * plane..][..plane];
                    place(out, c, self.instances, from);
                }
            }
            slots.put(input_slot(i), [&planes[0], &planes[1]]);
        }
    }

    /// The block's outputs to the stage's registers.
    fn scatter(&mut self, stage: &Stage) {
        let (outputs, plane) = (stage.block.output_slots(), plane_bytes(self.instances));
        let width = block_width(stage.copies, self.instances);
        let CircuitWorkspace { slots, registers, planes, .. } = &mut self.ws;
        planes.iter_mut().for_each(|p| p.set_len(width.div_ceil(8)));
        for (i, &slot) in outputs.iter().enumerate() {
            let [own, next] = &mut *planes;
            slots.get(slot, [own, next]);
            for (from, registers) in planes.iter().zip(&mut *registers) {
                for c in 0..stage.copies {
                    let register = stage.writes[c * outputs.len() + i] as usize;
                    take(from, c, self.instances, &mut registers[register * plane..][..plane]);
                }
            }
        }
    }
}

/// Puts copy `c`'s plane in its place.
fn place(out: &mut [u8], c: usize, instances: usize, from: &[u8]) {
    if instances >= 8 {
        out[c * from.len()..][..from.len()].copy_from_slice(from);
        return;
    }
    for j in 0..instances {
        let bit = c * instances + j;
        out[bit / 8] |= (from[0] >> j & 1) << (bit % 8);
    }
}

/// The reverse of [`place`].
fn take(from: &[u8], c: usize, instances: usize, out: &mut [u8]) {
    if instances >= 8 {
        out.copy_from_slice(&from[c * out.len()..][..out.len()]);
        return;
    }
    out[0] = 0;
    for j in 0..instances {
        let bit = c * instances + j;
        out[0] |= (from[bit / 8] >> (bit % 8) & 1) << j;
    }
}

/// Adds `width` bits of every byte to `out`, without gaps.
fn pack_xor(bytes: &[u8], width: usize, out: &mut [u8]) {
    for (i, byte) in bytes.iter().enumerate() {
        for j in 0..width {
            let bit = i * width + j;
            out[bit / 8] ^= (byte >> j & 1) << (bit % 8);
        }
    }
}

/// `width` bits to every byte.
fn unpack(packed: &[u8], width: usize, out: &mut [u8]) {
    for (i, byte) in out.iter_mut().enumerate() {
        *byte = 0;
        for j in 0..width {
            let bit = i * width + j;
            *byte |= (packed[bit / 8] >> (bit % 8) & 1) << j;
        }
    }
}

impl CircuitBatch {
    fn at(&self, round: usize) -> Option<Round> {
        Some(Round::even("a circuit layer", *self.lengths.get(round)?))
    }
}

impl Machine for CircuitBatch {
    type Error = NetError;

    fn round(&self, _slot: usize) -> Option<Round> {
        self.at(self.round)
    }

    fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        self.advance(Exchanged::NOTHING, out);
        Ok(())
    }

    fn upcoming(&self) -> Option<Round> {
        self.at(self.round + 1)
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.round += 1;
        self.advance(messages[0], out);
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.round = self.lengths.len();
        self.advance(messages[0], &mut []);
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        Some(circuit_cost(&self.program, self.instances))
    }
}
