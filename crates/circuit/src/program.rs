//! Programs: layered blocks that run one after the other on bit registers, so that large repetitive
//! work stays small.

use crate::{Circuit, Layered};
use std::sync::{Arc, OnceLock};

/// A stage of a [`Program`]: a block that runs on many operands at once.
#[derive(Clone)]
pub struct Stage {
    /// The block to run.
    pub block: Arc<Layered>,
    /// The number of copies that run in parallel; at least 1.
    pub copies: usize,
    /// The registers that each copy reads: copy after copy, in the order of the block's input bits.
    pub reads: Vec<u32>,
    /// The registers that each copy writes, in the same form, all different. All reads come before
    /// the writes.
    pub writes: Vec<u32>,
}

/// The stages of a program, made on demand.
pub trait Stages: Send + Sync {
    /// The number of stages.
    fn len(&self) -> usize;
    /// Whether there are no stages.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The block of stage `k` and its number of copies, without registers.
    fn shape(&self, k: usize) -> (Arc<Layered>, usize);
    /// Stage `k`.
    fn stage(&self, k: usize) -> Stage;
}

/// A program in the form that protocols run: stages on bit registers. Register `i` starts as bit
/// `i` of the inputs.
#[derive(Clone)]
pub struct Program {
    name: String,
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    registers: usize,
    output_registers: Vec<u32>,
    stages: Arc<dyn Stages>,
    digest: Arc<OnceLock<[u8; 32]>>,
}

impl Program {
    /// A program of stages.
    ///
    /// # Panics
    /// If widths, registers and stages do not fit each other (the caller's bug).
    #[must_use]
    pub fn new(
        name: &str,
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        registers: usize,
        output_registers: Vec<u32>,
        stages: Arc<dyn Stages>,
    ) -> Program {
        assert!(inputs.iter().sum::<usize>() <= registers, "inputs start out in registers");
        assert_eq!(outputs.iter().sum::<usize>(), output_registers.len(), "a register for every output bit");
        assert!(output_registers.iter().all(|r| (*r as usize) < registers), "outputs end in registers");
        let (name, digest) = (name.to_owned(), Arc::default());
        Program { name, inputs, outputs, registers, output_registers, stages, digest }
    }

    /// A circuit as a program of a single stage.
    #[must_use]
    pub fn flat(name: &str, circuit: &Circuit) -> Program {
        Program::of_block(name, Arc::new(Layered::new(circuit)))
    }

    /// A block as a program of a single stage with one copy.
    #[must_use]
    pub fn of_block(name: &str, block: Arc<Layered>) -> Program {
        let (inputs, outputs) = (block.inputs().to_vec(), block.outputs().to_vec());
        let (n, m) = (block.input_bits() as u32, outputs.iter().sum::<usize>() as u32);
        let stage = Stage { block, copies: 1, reads: (0..n).collect(), writes: (n..n + m).collect() };
        Program::new(name, inputs, outputs, (n + m) as usize, (n..n + m).collect(), Arc::new(vec![stage]))
    }

    fn compute_digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire program v1");
        let mut list = |words: &mut dyn ExactSizeIterator<Item = u32>| {
            hash.update(&(words.len() as u64).to_le_bytes());
            for w in words {
                hash.update(&w.to_le_bytes());
            }
        };
        list(&mut self.inputs.iter().map(|n| *n as u32));
        list(&mut self.outputs.iter().map(|n| *n as u32));
        list(&mut self.output_registers.iter().copied());
        list(&mut [self.registers as u32, self.stages.len() as u32].into_iter());
        // The hash is fast on long runs of bytes, and large programs have gigabytes of registers.
        let mut bytes = Vec::with_capacity(1 << 16);
        let mut last: Option<(Arc<Layered>, [u8; 32])> = None;
        for k in 0..self.stages.len() {
            let stage = self.stages.stage(k);
            let digest = match last.take() {
                Some((block, digest)) if Arc::ptr_eq(&block, &stage.block) => digest,
                _ => stage.block.digest(),
            };
            hash.update(&digest);
            last = Some((stage.block.clone(), digest));
            for words in [&stage.reads, &stage.writes] {
                hash.update(&(words.len() as u64).to_le_bytes());
                for words in words.chunks(1 << 14) {
                    bytes.clear();
                    bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
                    hash.update(&bytes);
                }
            }
        }
        *hash.finalize().as_bytes()
    }

    /// The name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The widths of the inputs, in bits.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The number of bits of all inputs together.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// The widths of the outputs, in bits.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The number of bits of all outputs together.
    #[must_use]
    pub fn output_bits(&self) -> usize {
        self.output_registers.len()
    }

    /// The number of bit registers.
    #[must_use]
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// The registers of the output bits after the last stage, in order.
    #[must_use]
    pub fn output_registers(&self) -> &[u32] {
        &self.output_registers
    }

    /// The stages.
    #[must_use]
    pub fn stages(&self) -> &dyn Stages {
        &*self.stages
    }

    /// The number of AND gates of a run.
    #[must_use]
    pub fn ands(&self) -> u64 {
        self.shapes().map(|(block, copies)| block.ands() as u64 * copies as u64).sum()
    }

    /// The number of layers with ANDs; each takes one message.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.shapes().map(|(block, _)| block.depth()).sum()
    }

    fn shapes(&self) -> impl Iterator<Item = (Arc<Layered>, usize)> + '_ {
        (0..self.stages.len()).map(|k| self.stages.shape(k))
    }

    /// The digest that parties compare: 32 bytes over everything but the name, computed on the
    /// first call.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| self.compute_digest())
    }
}

impl Stages for Vec<Stage> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }
    fn shape(&self, k: usize) -> (Arc<Layered>, usize) {
        (self[k].block.clone(), self[k].copies)
    }
    fn stage(&self, k: usize) -> Stage {
        self[k].clone()
    }
}
