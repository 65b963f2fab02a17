//! The walk of a program, layer by layer: stages, strips of copies, layers of blocks.
//!
//! ```text
//! a stage    strip of copies: registers ─► enter ─► layer, layer, … ─► leave ─► registers
//! ```
//!
//! A walk stands still between two layers, so that what takes a step at a time, such as a machine, goes on when it likes.

use crate::{Layer, Layered, ONE, Program, Stage, ZERO, input_slot};
use std::ops::Range;

/// The wires of a program under way, as one protocol keeps them: registers, and the slots of a strip.
pub trait Wires {
    /// Of `copies` of a block, the most that run side by side: all of them, unless wires of fewer take less memory.
    fn most(&self, copies: usize) -> usize {
        copies
    }

    /// Makes room for these copies of the stage's block, writes the constants, and brings registers to the slots of inputs.
    fn enter(&mut self, stage: &Stage, copies: Range<usize>);

    /// Takes outputs from their slots. Registers change when the stage's last copy has run, for the others read them.
    fn leave(&mut self, stage: &Stage, copies: Range<usize>);
}

/// The place in a program up to which it has run.
#[derive(Default)]
pub struct Walk {
    /// Stages begun.
    begun: usize,
    /// The stage under way, its copies that run now, and the layer that comes next.
    stage: Option<Stage>,
    copies: Range<usize>,
    layer: usize,
}

impl Walk {
    /// The layer that comes next, by its block and its number there: the wires are ready for it. `None` at the end.
    ///
    /// # Panics
    /// If a stage has not a register for every input and output bit of every copy (the program's bug).
    pub fn next<W: Wires>(&mut self, program: &Program, wires: &mut W) -> Option<(&Layered, usize)> {
        while self.stage.is_none() && self.begun < program.stages().len() {
            let stage = program.stages().stage(self.begun);
            let (block, copies) = (&stage.block, stage.copies);
            assert_eq!(stage.reads.len(), copies * block.input_bits(), "a register for every input bit");
            assert_eq!(
                stage.writes.len(),
                copies * block.output_slots().len(),
                "a register for every output bit"
            );
            self.begun += 1;
            self.enter(stage, 0, wires);
        }
        self.stage.as_ref().map(|stage| (&*stage.block, self.layer))
    }

    /// Goes on, once the layer has run.
    pub fn ran<W: Wires>(&mut self, wires: &mut W) {
        self.layer += 1;
        if let Some(stage) = self.stage.take_if(|stage| self.layer > stage.block.depth()) {
            wires.leave(&stage, self.copies.clone());
            self.enter(stage, self.copies.end, wires);
        }
    }

    /// Begins the strip from copy `from` on, if there are any.
    fn enter<W: Wires>(&mut self, stage: Stage, from: usize, wires: &mut W) {
        if from < stage.copies {
            let most = wires.most(stage.copies);
            (self.copies, self.layer) = (from..stage.copies.min(from + most), 0);
            wires.enter(&stage, self.copies.clone());
            self.stage = Some(stage);
        }
    }
}

/// The results of gates on values of some kind.
pub(crate) trait Logic {
    type Value: Copy;
    type Error;
    fn constant(&self, one: bool) -> Self::Value;
    fn xor(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    fn and(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
}

/// Values of registers, and of the slots of one copy after the other.
pub(crate) struct Values<L: Logic> {
    pub(crate) logic: L,
    pub(crate) registers: Vec<L::Value>,
    slots: Vec<L::Value>,
    products: Vec<L::Value>,
    /// Outputs of a stage, which become registers when all copies have read theirs.
    written: Vec<L::Value>,
}

impl<L: Logic> Values<L> {
    /// Registers that hold 0.
    pub(crate) fn new(logic: L, program: &Program) -> Self {
        let registers = vec![logic.constant(false); program.registers()];
        Values { logic, registers, slots: vec![], products: vec![], written: vec![] }
    }

    /// Runs a program on what the registers hold, gate by gate and copy by copy.
    pub(crate) fn run(&mut self, program: &Program) -> Result<(), L::Error> {
        let mut walk = Walk::default();
        while let Some((block, layer)) = walk.next(program, self) {
            self.layer(&block.layers()[layer])?;
            walk.ran(self);
        }
        Ok(())
    }

    fn layer(&mut self, layer: &Layer) -> Result<(), L::Error> {
        let slots = &mut self.slots[..];
        for (slot, product) in layer.products.iter().zip(&self.products) {
            slots[*slot as usize] = *product;
        }
        for [a, b, out] in &layer.xors {
            slots[*out as usize] = self.logic.xor(slots[*a as usize], slots[*b as usize])?;
        }
        self.products.clear();
        for [a, b] in &layer.ands {
            self.products.push(self.logic.and(slots[*a as usize], slots[*b as usize])?);
        }
        Ok(())
    }
}

impl<L: Logic> Wires for Values<L> {
    fn most(&self, _copies: usize) -> usize {
        1
    }

    fn enter(&mut self, stage: &Stage, copies: Range<usize>) {
        let (zero, one) = (self.logic.constant(false), self.logic.constant(true));
        self.slots.resize(self.slots.len().max(stage.block.slots()), zero);
        self.slots[ZERO as usize] = zero;
        self.slots[ONE as usize] = one;
        let n = stage.block.input_bits();
        for (i, register) in stage.reads[copies.start * n..][..n].iter().enumerate() {
            self.slots[input_slot(i) as usize] = self.registers[*register as usize];
        }
    }

    fn leave(&mut self, stage: &Stage, copies: Range<usize>) {
        self.written.extend(stage.block.output_slots().iter().map(|slot| self.slots[*slot as usize]));
        if copies.end == stage.copies {
            for (register, value) in stage.writes.iter().zip(self.written.drain(..)) {
                self.registers[*register as usize] = value;
            }
        }
    }
}
