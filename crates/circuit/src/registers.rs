//! Bit registers for protocols that share bits, with a plane for each register. Copies of a block
//! are adjacent in longer planes.

use crate::{
    Program, Slot, Stage, input_slot,
    planes::{Planes, plane_bytes},
};
use hushwire_block::Wiped;
use hushwire_block::bits::{put_range, xor_range};
use std::ops::Range;

/// One share of every register of a run. It keeps its memory from run to run; the contents are
/// wiped.
#[derive(Default)]
pub struct Registers {
    bytes: Wiped<Vec<u8>>,
    /// One input or output bit of a block, for all copies.
    plane: Wiped<Vec<u8>>,
    instances: usize,
    pitch: usize,
}

impl Registers {
    /// Prepares a run on `instances` sets of inputs, whose planes are `inputs`. In the planes of a
    /// block, the starts of two copies are `pitch` bits apart: `instances`, or its next multiple of
    /// 8. AGREEMENT: messages depend on it.
    ///
    /// # Panics
    /// If `inputs` are not planes of the program's inputs, or `pitch` has another value (the
    /// caller's bug).
    pub fn begin(&mut self, program: &Program, inputs: &[u8], instances: usize, pitch: usize) {
        let height = plane_bytes(instances);
        assert_eq!(inputs.len(), program.input_bits() * height, "a plane for every input bit");
        assert!(pitch == instances || pitch == 8 * height, "copies stand side by side, or at whole bytes");
        (self.instances, self.pitch) = (instances, pitch);
        let len = program.registers() * height;
        if len > self.bytes.capacity() {
            self.bytes = Wiped::new(Vec::with_capacity(len));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(inputs);
        self.bytes.resize(len, 0);
    }

    /// The number of bits of a plane of the stage's block, over all copies.
    #[must_use]
    pub fn width(&self, stage: &Stage) -> usize {
        stage.copies * self.pitch
    }

    /// Calls `put` with each of the block's input slots and the plane of its operands.
    pub fn gather(&mut self, stage: &Stage, mut put: impl FnMut(Slot, &[u8])) {
        let inputs = stage.block.input_bits();
        self.room(stage);
        for i in 0..inputs {
            for c in 0..stage.copies {
                let from = &self.bytes[self.place(stage.reads[c * inputs + i])];
                if self.pitch.is_multiple_of(8) {
                    self.plane[c * from.len()..][..from.len()].copy_from_slice(from);
                } else {
                    put_range(from, self.instances, &mut self.plane, c * self.pitch);
                }
            }
            put(input_slot(i), &self.plane);
        }
    }

    /// Calls `get` with each of the block's output slots to fill the plane of its results.
    pub fn scatter(&mut self, stage: &Stage, mut get: impl FnMut(Slot, &mut [u8])) {
        let outputs = stage.block.output_slots();
        self.room(stage);
        for (i, &slot) in outputs.iter().enumerate() {
            get(slot, &mut self.plane);
            for c in 0..stage.copies {
                let place = self.place(stage.writes[c * outputs.len() + i]);
                let to = &mut self.bytes[place];
                if self.pitch.is_multiple_of(8) {
                    to.copy_from_slice(&self.plane[c * to.len()..][..to.len()]);
                } else {
                    to.fill(0);
                    xor_range(&self.plane, c * self.pitch, self.instances, to);
                }
            }
        }
    }

    /// The planes of the outputs, after the run.
    #[must_use]
    pub fn outputs(&self, program: &Program) -> Planes {
        let mut out = Planes::zeros(program.output_bits(), self.instances);
        let height = plane_bytes(self.instances);
        for (to, register) in out.chunks_exact_mut(height).zip(program.output_registers()) {
            to.copy_from_slice(&self.bytes[self.place(*register)]);
        }
        out
    }

    fn place(&self, register: u32) -> Range<usize> {
        let height = plane_bytes(self.instances);
        register as usize * height..(register as usize + 1) * height
    }

    /// Makes space for a plane of all copies; bits after the last copy are 0.
    fn room(&mut self, stage: &Stage) {
        let len = self.width(stage).div_ceil(8);
        if len > self.plane.capacity() {
            self.plane = Wiped::new(vec![0; len]);
        }
        self.plane.resize(len, 0);
        self.plane[len - 1] = 0;
    }
}
