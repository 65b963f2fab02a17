//! A long program that needs little memory: AES blocks in stages, each on the results of the stage
//! before.

use std::sync::Arc;

use hushwire_circuit::{Layered, Program, Stage, Stages, named};

use crate::BoxError;

/// The number of AES blocks of a stage.
const COPIES: usize = 256;
/// The bits of the key and of a block.
const BITS: usize = 128;

struct Chain {
    block: Arc<Layered>,
    stages: usize,
}

/// A program of at least `ands` ANDs. Its inputs are a key and 256 blocks, which are encrypted
/// repeatedly.
pub(super) fn program(ands: u64) -> Result<Program, BoxError> {
    let block = Arc::new(Layered::new(&named::make("aes128")?));
    let stages = usize::try_from(ands.div_ceil(block.ands() as u64 * COPIES as u64))?;
    let registers = BITS + COPIES * BITS;
    let outputs = (BITS as u32..registers as u32).collect();
    let chain = Chain { block, stages };
    Ok(Program::new(
        "chain",
        vec![BITS, COPIES * BITS],
        vec![COPIES * BITS],
        registers,
        outputs,
        Arc::new(chain),
    ))
}

impl Stages for Chain {
    fn len(&self) -> usize {
        self.stages
    }

    fn shape(&self, _: usize) -> (Arc<Layered>, usize) {
        (self.block.clone(), COPIES)
    }

    fn stage(&self, _: usize) -> Stage {
        let data = |copy: usize| (BITS * (1 + copy)) as u32..(BITS * (2 + copy)) as u32;
        let reads = (0..COPIES).flat_map(|copy| (0..BITS as u32).chain(data(copy))).collect();
        let writes = (0..COPIES).flat_map(data).collect();
        Stage { block: self.block.clone(), copies: COPIES, reads, writes }
    }
}
