//! Walks a program whose wires are rows of blocks, or of public bits.
//!
//! ```text
//! a slot      lane after lane, `width` cells each; lane = copy · instances + instance
//! ANDs        numbered in the order of the walk: layer after layer, AND after AND, lane after lane
//! ```

use crate::shares::{Blocks, blocks};
use hushwire_aes::Backend;
use hushwire_block::{Block, gates::xor_gates};
use hushwire_circuit::{ONE, Program, Slot, Stage, Walk, Wires, ZERO, input_slot};
use std::ops::{DerefMut, Range};

/// AGREEMENT: the number of lanes of a strip of copies, which has at least one copy. More lanes
/// take more memory and save no time.
const LANES: usize = 256;

/// The cells that rows are made of.
pub(crate) trait Cell: Copy {
    const ZERO: Self;
    type List: DerefMut<Target = [Self]>;

    fn list(len: usize) -> Self::List;

    /// Sets slot `c` to slot `a` ⊕ slot `b` for each gate [a, b, c], with `lane` cells each.
    fn xor(backend: Backend, slots: &mut [Self], lane: usize, gates: &[[Slot; 3]]);
}

impl Cell for Block {
    const ZERO: Block = Block::ZERO;
    type List = Blocks;

    fn list(len: usize) -> Blocks {
        blocks(len)
    }

    fn xor(backend: Backend, slots: &mut [Block], lane: usize, gates: &[[Slot; 3]]) {
        xor_gates(backend.tier(), slots, lane, gates);
    }
}

/// A public bit.
impl Cell for u8 {
    const ZERO: u8 = 0;
    type List = Vec<u8>;

    fn list(len: usize) -> Vec<u8> {
        vec![0; len]
    }

    fn xor(_: Backend, slots: &mut [u8], lane: usize, gates: &[[Slot; 3]]) {
        for gate in gates {
            let [a, b, c] = gate.map(|slot| slot as usize * lane);
            if lane == 1 {
                slots[c] = slots[a] ^ slots[b];
                continue;
            }
            for k in 0..lane {
                slots[c + k] = slots[a + k] ^ slots[b + k];
            }
        }
    }
}

/// The rows of registers and slots.
pub(crate) struct Rows<T: Cell> {
    walk: Walk,
    /// The number of ANDs so far.
    ands: usize,
    width: usize,
    instances: usize,
    registers: T::List,
    slots: T::List,
    lanes: usize,
    /// A lane of the constant 1.
    one: Vec<T>,
    written: T::List,
    products: T::List,
}

/// The ANDs of a layer.
pub(crate) struct AndLayer<'a, T> {
    pub(crate) operands: Operands<'a, T>,
    /// The number of the first AND.
    pub(crate) first: usize,
    /// The place for the products: AND after AND, lane after lane.
    pub(crate) products: &'a mut [T],
}

/// The operands of the ANDs of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a, T> {
    slots: &'a [T],
    ands: &'a [[Slot; 2]],
    lane: usize,
    width: usize,
}

impl<'a, T> Operands<'a, T> {
    /// The rows of operand 0 or 1, in the order of the ANDs' numbers.
    pub(crate) fn of(self, which: usize) -> impl Iterator<Item = &'a [T]> {
        let Operands { slots, ands, lane, width } = self;
        ands.iter().flat_map(move |gate| slots[gate[which] as usize * lane..][..lane].chunks_exact(width))
    }
}

impl<T: Cell> Rows<T> {
    /// Rows of `width` cells for a program, with the given rows of the inputs: bit after bit,
    /// instance after instance.
    pub(crate) fn new(
        program: &Program,
        instances: usize,
        width: usize,
        one: Vec<T>,
        inputs: impl Iterator<Item = T>,
    ) -> Rows<T> {
        let mut registers = T::list(program.registers() * instances * width);
        registers.iter_mut().zip(inputs).for_each(|(to, from)| *to = from);
        let none = || T::list(0);
        let (slots, written, products) = (none(), none(), none());
        let walk = Walk::default();
        Rows { walk, ands: 0, width, instances, registers, slots, lanes: 0, one, written, products }
    }

    /// Runs the program; `ands` computes the products of each layer that has ANDs.
    pub(crate) fn run(&mut self, backend: Backend, program: &Program, ands: impl FnMut(AndLayer<'_, T>)) {
        self.advance(backend, program, usize::MAX, ands);
    }

    /// Runs the program to its end, or to the first layer after which `until` ANDs are made.
    pub(crate) fn advance(
        &mut self,
        backend: Backend,
        program: &Program,
        until: usize,
        mut ands: impl FnMut(AndLayer<'_, T>),
    ) {
        let mut walk = std::mem::take(&mut self.walk);
        while self.ands < until
            && let Some((block, layer)) = walk.next(program, self)
        {
            let layer = &block.layers()[layer];
            let lane = self.lanes * self.width;
            for (slot, product) in layer.products.iter().zip(self.products.chunks_exact(lane)) {
                self.slots[*slot as usize * lane..][..lane].copy_from_slice(product);
            }
            T::xor(backend, &mut self.slots, lane, &layer.xors);
            resize::<T>(&mut self.products, layer.ands.len() * lane);
            if !layer.ands.is_empty() {
                let Rows { slots, products, width, ands: first, .. } = self;
                let products = &mut products[..layer.ands.len() * lane];
                let operands = Operands { slots, ands: &layer.ands, lane, width: *width };
                ands(AndLayer { operands, first: *first, products });
                self.ands += layer.ands.len() * self.lanes;
            }
            walk.ran(self);
        }
        self.walk = walk;
    }

    /// The rows of the outputs: bit after bit, instance after instance.
    pub(crate) fn outputs(&self, program: &Program) -> T::List {
        let len = self.instances * self.width;
        let mut out = T::list(program.output_bits() * len);
        for (to, register) in out.chunks_exact_mut(len).zip(program.output_registers()) {
            to.copy_from_slice(&self.registers[*register as usize * len..][..len]);
        }
        out
    }
}

/// Makes room for `len` cells. A list that is too short is replaced, and its blocks are wiped.
fn resize<T: Cell>(list: &mut T::List, len: usize) {
    if len > list.len() {
        *list = T::list(len);
    }
}

impl<T: Cell> Wires for Rows<T> {
    fn most(&self, _copies: usize) -> usize {
        (LANES / self.instances).max(1)
    }

    fn enter(&mut self, stage: &Stage, copies: Range<usize>) {
        let len = self.instances * self.width;
        self.lanes = copies.len() * self.instances;
        let lane = self.lanes * self.width;
        resize::<T>(&mut self.slots, stage.block.slots() * lane);
        self.slots[ZERO as usize * lane..][..lane].fill(T::ZERO);
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
        resize::<T>(&mut self.written, stage.writes.len() * len);
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
