//! Any circuit on shares: many instances at once, layer by layer.
//!
//! ```text
//! planes in and out: bit i of the inputs (outputs) in plane i, ⌈instances/8⌉ bytes; instance j is bit j % 8 of byte j / 8
//! a stage's copies:  copy c of instance j is instance c·instances + j of the block
//! a message:         d of its ANDs, bits without gaps, to a whole byte; then e likewise
//! ```

use crate::Stock;
use crate::cost::{block_width, gates_in_part, messages, part_bytes};
use crate::slots::Slots;
use crate::stock::resize;
use hushwire_aes::Backend;
use hushwire_block::bits::{put_range, xor_range};
use hushwire_circuit::{Program, Stage, input_slot, planes::plane_bytes};
use hushwire_wire::drive::{Exchanged, Machine, Round};
use hushwire_wire::{Cost, NetError};
use std::ops::Range;
use zeroize::Zeroizing;

/// Buffers of one batch, kept from batch to batch.
#[derive(Default)]
pub struct CircuitWorkspace {
    slots: Slots,
    registers: Zeroizing<Vec<u8>>,
    /// A block's input or output bit.
    plane: Zeroizing<Vec<u8>>,
    /// Shares of the products of a layer, message by message.
    products: Zeroizing<Vec<u8>>,
    /// The triples of the message under way.
    triple: [Zeroizing<Vec<u8>>; 3],
}

/// One party's side of running a program on shares. Triples come from a [`Stock`] that must hold
/// [`CircuitBatch::triples_due`] when the next message is made.
pub struct CircuitBatch<'p> {
    backend: Backend,
    index: usize,
    program: &'p Program,
    instances: usize,
    lengths: Vec<usize>,
    /// The round under way, and messages made so far.
    round: usize,
    made: usize,
    /// The stage under way, the layer of its block that comes next or is not all sent, and what is sent of it.
    stage: Option<Stage>,
    stage_number: usize,
    block_layer: usize,
    sent: usize,
    /// The places of the products of the message under way.
    pending: Range<usize>,
    stock: Stock,
    ws: CircuitWorkspace,
}

impl<'p> CircuitBatch<'p> {
    /// `inputs` is party `index`'s share of the input planes, one after the other.
    ///
    /// # Panics
    /// If there are no instances, or `inputs` has not `input bits · ⌈instances/8⌉` bytes (the caller's bug).
    #[must_use]
    pub fn new(
        backend: Backend,
        index: usize,
        program: &'p Program,
        inputs: &[u8],
        instances: usize,
        stock: Stock,
        mut ws: CircuitWorkspace,
    ) -> CircuitBatch<'p> {
        assert!(instances > 0, "a batch has at least one instance");
        let plane = plane_bytes(instances);
        assert_eq!(inputs.len(), program.input_bits() * plane, "a plane for every input bit");
        resize(&mut ws.registers, program.registers() * plane);
        ws.registers[..inputs.len()].copy_from_slice(inputs);
        let lengths = messages(program, instances);
        let mut batch = CircuitBatch {
            backend,
            index,
            program,
            instances,
            lengths,
            round: 0,
            made: 0,
            stage: None,
            stage_number: 0,
            block_layer: 0,
            sent: 0,
            pending: 0..0,
            stock,
            ws,
        };
        if batch.lengths.is_empty() {
            // Nothing is exchanged, so that no driver calls.
            batch.advance(&mut []);
        }
        batch
    }

    /// Bytes of each share of triples that the next message takes: eight triples each.
    #[must_use]
    pub fn triples_due(&self) -> usize {
        self.lengths.get(self.made).copied().unwrap_or(0)
    }

    /// The stock that its triples come from.
    pub fn stock(&mut self) -> &mut Stock {
        &mut self.stock
    }

    /// A share of the output planes, after the run. Bits past the last instance are 0.
    #[must_use]
    pub fn output(&self) -> Zeroizing<Vec<u8>> {
        let plane = plane_bytes(self.instances);
        let registers = self.program.output_registers();
        let mut out = Zeroizing::new(Vec::with_capacity(registers.len() * plane));
        for register in registers {
            out.extend_from_slice(&self.ws.registers[*register as usize * plane..][..plane]);
        }
        trim(&mut out, self.instances);
        out
    }

    /// The buffers and the triples that are left, for the next batch.
    #[must_use]
    pub fn into_parts(self) -> (CircuitWorkspace, Stock) {
        (self.ws, self.stock)
    }

    /// The products of the message under way.
    fn absorb(&mut self, arrived: Exchanged<'_>) {
        let len = self.pending.len();
        let CircuitWorkspace { products, triple: [a, b, c], .. } = &mut self.ws;
        let z = &mut products[self.pending.clone()];
        let ((d0, e0), (d1, e1)) = (arrived.own.split_at(len), arrived.heard.split_at(len));
        let (d1, e0, e1) = (&d1[..len], &e0[..len], &e1[..len]);
        let (a, b, c) = (&a[..len], &b[..len], &c[..len]);
        // Party 0 adds d e.
        let both = if self.index == 0 { 0xff } else { 0 };
        for i in 0..len {
            let (d, e) = (d0[i] ^ d1[i], e0[i] ^ e1[i]);
            z[i] = c[i] ^ d & b[i] ^ e & (a[i] ^ d & both);
        }
    }

    fn at(&self, round: usize) -> Option<Round> {
        Some(Round::even("a circuit layer", 2 * self.lengths.get(round)?))
    }

    /// Runs on until a message is made or the program ends.
    fn advance(&mut self, message: &mut [u8]) {
        loop {
            let Some(stage) = self.stage.take().or_else(|| self.next_stage()) else { return };
            let width = block_width(stage.copies, self.instances);
            let layer = &stage.block.layers()[self.block_layer];
            if self.sent == 0 {
                self.arrive(&layer.products, width);
                self.ws.slots.xors(self.backend, &layer.xors);
            }
            if layer.ands.is_empty() {
                self.scatter(&stage);
                self.stage_number += 1;
                continue;
            }
            let most = gates_in_part(width);
            let gates = self.sent..layer.ands.len().min(self.sent + most);
            self.open(&layer.ands[gates.clone()], width, message);
            let from = gates.start / most * part_bytes(most, width);
            self.pending = from..from + part_bytes(gates.len(), width);
            resize_kept(&mut self.ws.products, self.pending.end);
            self.sent = gates.end;
            if self.sent == layer.ands.len() {
                self.block_layer += 1;
                self.sent = 0;
            }
            self.stage = Some(stage);
            self.made += 1;
            return;
        }
    }

    /// The products of the layer before to their slots.
    fn arrive(&mut self, slots: &[u32], width: usize) {
        let most = gates_in_part(width);
        for (j, slot) in slots.iter().enumerate() {
            let from = j / most * part_bytes(most, width);
            self.ws.slots.put(*slot, &self.ws.products[from..], j % most * width);
        }
    }

    /// The message of some ANDs: operands under a share of their triples.
    fn open(&mut self, gates: &[[u32; 2]], width: usize, message: &mut [u8]) {
        let CircuitWorkspace { slots, triple, .. } = &mut self.ws;
        let len = part_bytes(gates.len(), width);
        let taken = self.stock.take(len);
        for (kept, share) in triple.iter_mut().zip([taken.a, taken.b, taken.c]) {
            resize(kept, len);
            kept.copy_from_slice(share);
        }
        for (operand, message) in message.chunks_exact_mut(len).enumerate() {
            message[len - 1] = 0;
            for (j, gate) in gates.iter().enumerate() {
                slots.get(gate[operand], message, j * width);
            }
            message.iter_mut().zip(triple[operand].iter()).for_each(|(x, mask)| *x ^= mask);
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
        // Party 0 holds the constant 1.
        let one = if self.index == 0 { 0xff } else { 0 };
        self.ws.slots.begin(one, &stage.block, width);
        self.gather(&stage, width);
        Some(stage)
    }

    /// The stage's registers to the block's inputs.
    fn gather(&mut self, stage: &Stage, width: usize) {
        let (inputs, plane) = (stage.block.input_bits(), plane_bytes(self.instances));
        let CircuitWorkspace { slots, registers, plane: out, .. } = &mut self.ws;
        resize(out, width.div_ceil(8));
        for i in 0..inputs {
            for c in 0..stage.copies {
                let from = &registers[stage.reads[c * inputs + i] as usize * plane..][..plane];
                place(out, c, self.instances, from);
            }
            slots.put(input_slot(i), out, 0);
        }
    }

    /// The block's outputs to the stage's registers.
    fn scatter(&mut self, stage: &Stage) {
        let (outputs, plane) = (stage.block.output_slots(), plane_bytes(self.instances));
        let CircuitWorkspace { slots, registers, plane: from, .. } = &mut self.ws;
        for (i, &slot) in outputs.iter().enumerate() {
            slots.get(slot, from, 0);
            for c in 0..stage.copies {
                let register = stage.writes[c * outputs.len() + i] as usize;
                take(from, c, self.instances, &mut registers[register * plane..][..plane]);
            }
        }
    }
}

/// Puts copy `c`'s plane in its place.
fn place(out: &mut [u8], c: usize, instances: usize, from: &[u8]) {
    if instances.is_multiple_of(8) {
        out[c * from.len()..][..from.len()].copy_from_slice(from);
    } else {
        put_range(from, instances, out, c * instances);
    }
}

/// The reverse of [`place`].
fn take(from: &[u8], c: usize, instances: usize, out: &mut [u8]) {
    if instances.is_multiple_of(8) {
        out.copy_from_slice(&from[c * out.len()..][..out.len()]);
    } else {
        out.fill(0);
        xor_range(from, c * instances, instances, out);
    }
}

/// Makes room without losing what is there; what is left behind is wiped.
fn resize_kept(bytes: &mut Zeroizing<Vec<u8>>, len: usize) {
    if len > bytes.capacity() {
        let mut grown = Zeroizing::new(vec![0; len.max(2 * bytes.len())]);
        grown[..bytes.len()].copy_from_slice(bytes);
        *bytes = grown;
    } else if len > bytes.len() {
        bytes.resize(len, 0);
    }
}

/// Clears what lies past the last instance of every plane.
pub(crate) fn trim(planes: &mut [u8], instances: usize) {
    if !instances.is_multiple_of(8) {
        let mask = (1 << (instances % 8)) - 1;
        for plane in planes.chunks_exact_mut(plane_bytes(instances)) {
            plane[instances / 8] &= mask;
        }
    }
}

impl Machine for CircuitBatch<'_> {
    type Error = NetError;

    fn round(&self, _slot: usize) -> Option<Round> {
        self.at(self.round)
    }

    fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        self.advance(out);
        Ok(())
    }

    fn upcoming(&self) -> Option<Round> {
        self.at(self.round + 1)
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.round += 1;
        self.absorb(messages[0]);
        self.advance(out);
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.round = self.lengths.len();
        self.absorb(messages[0]);
        self.advance(&mut []);
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        let bytes: u64 = self.lengths.iter().map(|bytes| 2 * *bytes as u64).sum();
        Some(Cost { rounds: self.lengths.len() as u64, bytes_sent: bytes })
    }
}
