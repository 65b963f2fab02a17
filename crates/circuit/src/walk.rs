//! Walks a program layer by layer: stages, strips of copies, layers of blocks.
//!
//! ```text
//! a stage    strip of copies: registers ─► enter ─► layer, layer, … ─► leave ─► registers
//! ```
//!
//! A walk pauses between two layers, so that a caller that takes one step at a time, such as a
//! machine, can continue later.

use crate::{CircuitLayer, Layered, ONE, Program, Stage, ZERO, input_slot};
use std::ops::Range;

/// The wires of a running program, as one protocol represents them: registers, and the slots of a
/// strip.
pub trait Wires {
    /// The largest number of copies, of `copies`, that run together: all of them, unless fewer
    /// copies save memory.
    fn most(&self, copies: usize) -> usize {
        copies
    }

    /// Makes space for these copies of the stage's block, writes the constants, and copies
    /// registers to the slots of inputs.
    fn enter(&mut self, stage: &Stage, copies: Range<usize>);

    /// Takes the outputs from their slots. Registers change only after the stage's last copy has
    /// run, since other copies read them.
    fn leave(&mut self, stage: &Stage, copies: Range<usize>);
}

/// A position in a running program.
#[derive(Default)]
pub struct Walk {
    /// The number of stages begun.
    begun: usize,
    /// The current stage, its copies that run now, and the next layer.
    stage: Option<Stage>,
    copies: Range<usize>,
    layer: usize,
}

impl Walk {
    /// The next layer, as its block and its number in the block; its wires are ready. `None` at the
    /// end.
    ///
    /// # Panics
    /// If a stage does not have a register for every input and output bit of every copy (the
    /// program's bug).
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

    /// Records that the layer has run.
    pub fn ran<W: Wires>(&mut self, wires: &mut W) {
        self.layer += 1;
        if let Some(stage) = self.stage.take_if(|stage| self.layer > stage.block.depth()) {
            wires.leave(&stage, self.copies.clone());
            self.enter(stage, self.copies.end, wires);
        }
    }

    /// Begins the strip from copy `from` on, if copies are left.
    fn enter<W: Wires>(&mut self, stage: Stage, from: usize, wires: &mut W) {
        if from < stage.copies {
            let most = wires.most(stage.copies);
            (self.copies, self.layer) = (from..stage.copies.min(from + most), 0);
            wires.enter(&stage, self.copies.clone());
            self.stage = Some(stage);
        }
    }
}

/// The gates on one kind of values.
pub(crate) trait Logic {
    type LogicValue: Copy;
    type Error;
    fn constant(&self, one: bool) -> Self::LogicValue;
    fn xor(&mut self, a: Self::LogicValue, b: Self::LogicValue) -> Result<Self::LogicValue, Self::Error>;
    fn and(&mut self, a: Self::LogicValue, b: Self::LogicValue) -> Result<Self::LogicValue, Self::Error>;
}

/// The values of registers, and of the slots of one copy at a time.
pub(crate) struct WireValues<L: Logic> {
    pub(crate) logic: L,
    pub(crate) registers: Vec<L::LogicValue>,
    slots: Vec<L::LogicValue>,
    products: Vec<L::LogicValue>,
    /// The outputs of a stage, which become registers when all copies have read theirs.
    written: Vec<L::LogicValue>,
}

impl<L: Logic> WireValues<L> {
    /// Makes registers that hold 0.
    pub(crate) fn new(logic: L, program: &Program) -> Self {
        let registers = vec![logic.constant(false); program.registers()];
        WireValues { logic, registers, slots: vec![], products: vec![], written: vec![] }
    }

    /// Runs a program on the registers, gate by gate and copy by copy.
    pub(crate) fn run(&mut self, program: &Program) -> Result<(), L::Error> {
        let mut walk = Walk::default();
        while let Some((block, layer)) = walk.next(program, self) {
            self.layer(&block.layers()[layer])?;
            walk.ran(self);
        }
        Ok(())
    }

    fn layer(&mut self, layer: &CircuitLayer) -> Result<(), L::Error> {
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

impl<L: Logic> Wires for WireValues<L> {
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
