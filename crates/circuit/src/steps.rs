//! Builds programs from steps: each is one block on many registers. The list of a step's registers
//! is made on demand.

use crate::{Layered, Program, Stage, Stages};
use std::sync::Arc;

/// Calls its argument with the registers that each copy reads and writes.
pub(crate) type Wiring = dyn Fn(&mut dyn FnMut(&[u32], &[u32])) + Send + Sync;

/// A stage whose registers are not listed yet.
struct PendingStage {
    block: Arc<Layered>,
    copies: usize,
    wiring: Box<Wiring>,
}

/// Steps in order.
#[derive(Default)]
pub(crate) struct ProgramSteps(Vec<PendingStage>);

impl ProgramSteps {
    /// Adds a step: `wiring` gives the registers of `copies` copies. A step without copies is left
    /// out.
    pub(crate) fn push(
        &mut self,
        block: &Arc<Layered>,
        copies: usize,
        wiring: impl Fn(&mut dyn FnMut(&[u32], &[u32])) + Send + Sync + 'static,
    ) {
        if copies > 0 {
            self.0.push(PendingStage { block: block.clone(), copies, wiring: Box::new(wiring) });
        }
    }

    /// The program of these steps.
    pub(crate) fn program(
        self,
        name: &str,
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        registers: usize,
        output_registers: Vec<u32>,
    ) -> Program {
        Program::new(name, inputs, outputs, registers, output_registers, Arc::new(self))
    }
}

impl Stages for ProgramSteps {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn shape(&self, k: usize) -> (Arc<Layered>, usize) {
        (self.0[k].block.clone(), self.0[k].copies)
    }

    fn stage(&self, k: usize) -> Stage {
        let PendingStage { block, copies, wiring } = &self.0[k];
        let mut reads = Vec::with_capacity(copies * block.input_bits());
        let mut writes = Vec::with_capacity(copies * block.output_slots().len());
        wiring(&mut |r, w| {
            reads.extend_from_slice(r);
            writes.extend_from_slice(w);
        });
        assert_eq!(reads.len(), copies * block.input_bits());
        assert_eq!(writes.len(), copies * block.output_slots().len());
        Stage { block: block.clone(), copies: *copies, reads, writes }
    }
}
