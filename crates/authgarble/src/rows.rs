//! The walk of a program whose wires are rows of blocks.
//!
//! ```text
//! a slot      lane after lane, `width` blocks each; lane = copy · instances + instance
//! ANDs        numbered in the order of the walk: layer after layer, AND after AND, lane after lane
//! ```

use crate::shares::{Blocks, blocks};
use hushwire_aes::Backend;
use hushwire_block::{Block, gates::xor_gates};
use hushwire_circuit::{ONE, Program, Slot, Stage, Walk, Wires, ZERO, input_slot};
use std::ops::Range;

/// AGREEMENT: lanes of a strip of copies, at least one copy: more take more memory and no less time.
const LANES: usize = 256;

/// Rows of registers and slots.
pub(crate) struct Rows {
    width: usize,
    instances: usize,
    registers: Blocks,
    slots: Blocks,
    lanes: usize,
    /// A lane of the constant 1.
    one: Vec<Block>,
    written: Blocks,
    products: Blocks,
}

/// The ANDs of a layer.
pub(crate) struct Layer<'a> {
    slots: &'a [Block],
    ands: &'a [[Slot; 2]],
    lane: usize,
    width: usize,
    /// The number of the first AND.
    pub(crate) first: usize,
    /// The place of the products: AND after AND, lane after lane.
    pub(crate) products: &'a mut [Block],
}

impl Layer<'_> {
    /// ANDs of all lanes.
    pub(crate) fn len(&self) -> usize {
        self.ands.len() * self.lane / self.width
    }

    /// The rows of an operand, 0 or 1, in the order of the ANDs' numbers.
    pub(crate) fn operand(&self, which: usize) -> impl Iterator<Item = &[Block]> {
        let slots = self.slots;
        let slot = move |gate: &[Slot; 2]| &slots[gate[which] as usize * self.lane..][..self.lane];
        self.ands.iter().flat_map(move |gate| slot(gate).chunks_exact(self.width))
    }
}

impl Rows {
    /// Rows of `width` blocks, with these rows of the inputs: bit after bit, instance after instance.
    pub(crate) fn new(
        program: &Program,
        instances: usize,
        width: usize,
        one: Vec<Block>,
        inputs: impl Iterator<Item = Block>,
    ) -> Rows {
        let mut registers = blocks(program.registers() * instances * width);
        registers.iter_mut().zip(inputs).for_each(|(to, from)| *to = from);
        let none = || blocks(0);
        let (slots, written, products) = (none(), none(), none());
        Rows { width, instances, registers, slots, lanes: 0, one, written, products }
    }

    /// Runs the program; `ands` makes the products of each layer that has any.
    pub(crate) fn run(&mut self, backend: Backend, program: &Program, mut ands: impl FnMut(Layer<'_>)) {
        let (mut walk, mut first) = (Walk::default(), 0);
        while let Some((block, layer)) = walk.next(program, self) {
            let layer = &block.layers()[layer];
            let lane = self.lanes * self.width;
            for (slot, product) in layer.products.iter().zip(self.products.chunks_exact(lane)) {
                self.slots[*slot as usize * lane..][..lane].copy_from_slice(product);
            }
            xor_gates(backend.tier(), &mut self.slots, lane, &layer.xors);
            resize(&mut self.products, layer.ands.len() * lane);
            if !layer.ands.is_empty() {
                let Rows { slots, products, width, .. } = self;
                let products = &mut products[..layer.ands.len() * lane];
                ands(Layer { slots, ands: &layer.ands, lane, width: *width, first, products });
                first += layer.ands.len() * self.lanes;
            }
            walk.ran(self);
        }
    }

    /// Rows of the outputs: bit after bit, instance after instance.
    pub(crate) fn outputs(&self, program: &Program) -> Blocks {
        let len = self.instances * self.width;
        let mut out = blocks(program.output_bits() * len);
        for (to, register) in out.chunks_exact_mut(len).zip(program.output_registers()) {
            to.copy_from_slice(&self.registers[*register as usize * len..][..len]);
        }
        out
    }
}

/// Makes room for `len` blocks; what grows out of its memory is wiped.
fn resize(list: &mut Blocks, len: usize) {
    if len > list.len() {
        *list = blocks(len);
    }
}

impl Wires for Rows {
    fn most(&self, _copies: usize) -> usize {
        (LANES / self.instances).max(1)
    }

    fn enter(&mut self, stage: &Stage, copies: Range<usize>) {
        let len = self.instances * self.width;
        self.lanes = copies.len() * self.instances;
        let lane = self.lanes * self.width;
        resize(&mut self.slots, stage.block.slots() * lane);
        self.slots[ZERO as usize * lane..][..lane].fill(Block::ZERO);
        for row in self.slots[ONE as usize * lane..][..lane].chunks_exact_mut(self.width) {
            row.copy_from_slice(&self.one);
        }
        let inputs = stage.block.input_bits();
        for (c, reads) in
            stage.reads[copies.start * inputs..copies.end * inputs].chunks_exact(inputs.max(1)).enumerate()
        {
            for (i, register) in reads.iter().enumerate() {
                let to = input_slot(i) as usize * lane + c * len;
                self.slots[to..to + len].copy_from_slice(&self.registers[*register as usize * len..][..len]);
            }
        }
    }

    fn leave(&mut self, stage: &Stage, copies: Range<usize>) {
        let len = self.instances * self.width;
        let lane = self.lanes * self.width;
        let outputs = stage.block.output_slots();
        resize(&mut self.written, stage.writes.len() * len);
        for (c, copy) in copies.clone().enumerate() {
            for (i, slot) in outputs.iter().enumerate() {
                let from = *slot as usize * lane + c * len;
                let to = (copy * outputs.len() + i) * len;
                self.written[to..to + len].copy_from_slice(&self.slots[from..from + len]);
            }
        }
        if copies.end == stage.copies {
            for (register, value) in stage.writes.iter().zip(self.written.chunks_exact(len)) {
                self.registers[*register as usize * len..][..len].copy_from_slice(value);
            }
        }
    }
}
