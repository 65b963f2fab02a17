//! Evaluates any circuit on shares: many instances at once, layer by layer.
//!
//! ```text
//! planes in and out: bit i of the inputs (outputs) in plane i, ⌈instances/8⌉ bytes;
//!                    instance j is bit j % 8 of byte j / 8
//! a stage's copies:  copy c of instance j is instance c·instances + j of the block
//! a message:         d of its ANDs, bits without gaps, to a whole byte; then e likewise
//! ```

use crate::Stock;
use crate::cost::{gates_in_part, messages, part_bytes};
use crate::slots::Slots;
use crate::stock::resize;
use hushwire_aes::Backend;
use hushwire_circuit::{Planes, Program, Registers, Slot, Stage, Walk, Wires};
use hushwire_machine::drive::{Exchanged, Latch, Round};
use hushwire_machine::{Cost, NetError, gated};
use std::ops::Range;
use zeroize::Zeroizing;

/// Buffers of one batch, which the next batch reuses.
#[derive(Default)]
pub struct CircuitWorkspace {
    /// This party's share of 1, which is 1 at party 0 and 0 at party 1.
    one: u8,
    slots: Slots,
    registers: Registers,
    /// Shares of the products of a layer, message by message.
    products: Zeroizing<Vec<u8>>,
    /// The triples of the current message.
    triple: [Zeroizing<Vec<u8>>; 3],
}

/// One party's machine that runs a program on shares. Triples come from a [`Stock`], which must
/// hold [`CircuitBatch::triples_due`] when the next message is made.
pub struct CircuitBatch<'p> {
    backend: Backend,
    program: &'p Program,
    lengths: Vec<usize>,
    /// The number of messages made so far.
    made: usize,
    walk: Walk,
    /// The number of ANDs of the next layer whose messages were made.
    sent: usize,
    /// The places of the products of the current message.
    pending: Range<usize>,
    stock: Stock,
    ws: CircuitWorkspace,
    latch: Latch,
}

impl<'p> CircuitBatch<'p> {
    /// A batch for a program; `inputs` is the share of party `index` of the planes of all inputs.
    ///
    /// # Panics
    /// If there are no instances, or the number of planes is not the number of input bits (the
    /// caller's bug).
    #[must_use]
    pub fn new(
        backend: Backend,
        index: usize,
        program: &'p Program,
        inputs: &Planes,
        stock: Stock,
        mut ws: CircuitWorkspace,
    ) -> CircuitBatch<'p> {
        let instances = inputs.instances();
        assert!(instances > 0, "a batch has at least one instance");
        ws.registers.begin(program, inputs, instances, instances);
        ws.one = if index == 0 { 0xff } else { 0 };
        let mut batch = CircuitBatch {
            backend,
            program,
            lengths: messages(program, instances),
            made: 0,
            walk: Walk::default(),
            sent: 0,
            pending: 0..0,
            stock,
            ws,
            latch: Latch::with_own(),
        };
        if batch.lengths.is_empty() {
            // No message is exchanged, so that no driver calls this machine.
            batch.advance(&mut []);
        }
        batch
    }

    /// The number of bytes of each share of triples that the next message takes; a byte has eight
    /// triples.
    #[must_use]
    pub fn triples_due(&self) -> usize {
        self.lengths.get(self.made).copied().unwrap_or(0)
    }

    /// The stock from which the triples come.
    pub fn stock(&mut self) -> &mut Stock {
        &mut self.stock
    }

    /// A share of the output planes, after the run. Bits past the last instance are 0.
    #[must_use]
    pub fn output(&self) -> Planes {
        self.ws.registers.outputs(self.program).trimmed()
    }

    /// The buffers and the remaining triples, for the next batch.
    #[must_use]
    pub fn into_parts(self) -> (CircuitWorkspace, Stock) {
        (self.ws, self.stock)
    }

    /// Computes the products of the current message.
    fn absorb(&mut self, arrived: Exchanged<'_>) {
        let len = self.pending.len();
        let CircuitWorkspace { one, products, triple: [a, b, c], .. } = &mut self.ws;
        let z = &mut products[self.pending.clone()];
        let ((d0, e0), (d1, e1)) = (arrived.own.split_at(len), arrived.heard.split_at(len));
        let (d1, e0, e1) = (&d1[..len], &e0[..len], &e1[..len]);
        let (a, b, c) = (&a[..len], &b[..len], &c[..len]);
        for i in 0..len {
            let (d, e) = (d0[i] ^ d1[i], e0[i] ^ e1[i]);
            // Only party 0 adds d e.
            z[i] = c[i] ^ d & b[i] ^ e & (a[i] ^ d & *one);
        }
    }

    /// Runs until a message is made or the program ends.
    fn advance(&mut self, message: &mut [u8]) {
        while let Some((block, layer)) = self.walk.next(self.program, &mut self.ws) {
            let layer = &block.layers()[layer];
            if self.sent == 0 {
                self.ws.arrive(&layer.products);
                self.ws.slots.xors(self.backend, &layer.xors);
            }
            if layer.ands.is_empty() {
                self.walk.ran(&mut self.ws);
                continue;
            }
            let width = self.ws.slots.width();
            let most = gates_in_part(width);
            if self.sent == 0 {
                resize(&mut self.ws.products, layer.ands.len().div_ceil(most) * part_bytes(most, width));
            }
            let gates = self.sent..layer.ands.len().min(self.sent + most);
            self.ws.open(&layer.ands[gates.clone()], &mut self.stock, message);
            let from = gates.start / most * part_bytes(most, width);
            self.pending = from..from + part_bytes(gates.len(), width);
            self.sent = gates.end;
            if self.sent == layer.ands.len() {
                self.sent = 0;
                self.walk.ran(&mut self.ws);
            }
            self.made += 1;
            return;
        }
    }
}

impl CircuitWorkspace {
    /// Moves the products of the previous layer to their slots.
    fn arrive(&mut self, slots: &[Slot]) {
        let width = self.slots.width();
        let most = gates_in_part(width);
        for (j, slot) in slots.iter().enumerate() {
            let from = j / most * part_bytes(most, width);
            self.slots.put(*slot, &self.products[from..], j % most * width);
        }
    }

    /// Makes the message of some ANDs: their operands, masked by their triples.
    fn open(&mut self, gates: &[[Slot; 2]], stock: &mut Stock, message: &mut [u8]) {
        let CircuitWorkspace { slots, triple, .. } = self;
        let width = slots.width();
        let len = part_bytes(gates.len(), width);
        let taken = stock.take(len);
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
}

impl Wires for CircuitWorkspace {
    fn enter(&mut self, stage: &Stage, _copies: Range<usize>) {
        let CircuitWorkspace { slots, registers, .. } = self;
        slots.begin(self.one, &stage.block, registers.width(stage));
        registers.gather(stage, |slot, plane| slots.put(slot, plane, 0));
    }

    fn leave(&mut self, stage: &Stage, _copies: Range<usize>) {
        let CircuitWorkspace { slots, registers, .. } = self;
        registers.scatter(stage, |slot, plane| slots.get(slot, plane, 0));
    }
}

gated!(fused [] CircuitBatch<'_>, NetError;
    fn cost(&self) -> Option<Cost> {
        let bytes: u64 = self.lengths.iter().map(|bytes| 2 * *bytes as u64).sum();
        Some(Cost { rounds: self.lengths.len() as u64, bytes_sent: bytes })
    }
);

impl CircuitBatch<'_> {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        Some(Round::even("a circuit layer", 2 * self.lengths.get(self.made)?))
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        self.advance(out);
        Ok(())
    }

    fn answer(&mut self, message: Exchanged<'_>, out: &mut [u8]) -> Result<(), NetError> {
        self.absorb(message);
        self.say(out)
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), NetError> {
        self.answer(message, &mut [])
    }
}
