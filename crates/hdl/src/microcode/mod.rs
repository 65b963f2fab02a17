//! Circuits as microcode for the hardware party (`hdl/`): straight-line instructions on slots of bits, many instances
//! side by side.
//!
//! ```text
//! Layered ─► symbolic sums (compile) ─► order and slots (schedule) ─► instructions ─► text file for $readmemh (text)
//! ```
//!
//! Inputs that are the same for all instances (common ones, as an expanded key) are not rows but **scalars**, and so
//! is the constant 1. Sums with them, NOT among these, cost no instruction of their own.
//!
//! **AGREEMENT.** ANDs stand in the order of [`hushwire_circuit::Layered`], and a sync begins every layer but the first, so that a
//! hardware party sends the bytes of a software one. Order of sums and choice of slots are LOCAL.
//!
//! A product is written at any time between its AND and the next sync: until then its slot must be neither read nor
//! written. [`Microcode::eval`] and [`Microcode::read`] check that.

mod compile;
mod eval;
mod instruction;
mod schedule;
mod sums;
mod text;

pub use eval::Hazard;
pub use instruction::{Instruction, Op};

/// Slots that an instruction can name.
pub const MAX_SLOTS: usize = 1 << 13;
/// Scalars that an instruction can name, 0 included.
pub const MAX_SCALARS: usize = 1 << 16;

/// A sum of common input bits and perhaps 1: the same for all instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Whether 1 is added.
    pub one: bool,
    /// Common bits, ascending: counted over the common inputs, one input after the other.
    pub bits: Vec<u32>,
}

/// A circuit's microcode and what a loader must know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Microcode {
    name: String,
    digest: [u8; 32],
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// Numbers of the common inputs, ascending.
    common: Vec<usize>,
    slots: usize,
    scalars: Vec<Scalar>,
    layer_ands: Vec<usize>,
    instructions: Vec<Instruction>,
}

/// The reason why there is no microcode, or why it does not run. Each message ends with what can be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MicrocodeError {
    /// A common input does not exist.
    #[error("common input {index}: the circuit has {inputs} inputs, counted from 0; name one of those")]
    NoInput { index: usize, inputs: usize },
    /// More bits are live at once than an instruction can name.
    #[error(
        "the circuit needs {slots} slots, and microcode has {MAX_SLOTS}; take a circuit with fewer live bits"
    )]
    Slots { slots: usize },
    /// More sums of common bits than an instruction can name.
    #[error(
        "the circuit needs {scalars} scalars, and microcode has {MAX_SCALARS}; make fewer inputs common ones"
    )]
    Scalars { scalars: usize },
    /// Sums of common bits that are too long to be listed.
    #[error("sums of common bits have more than {terms} terms in all; make fewer inputs common ones")]
    Terms { terms: usize },
    /// A file is not microcode.
    #[error("line {line}: {problem}; make the file again with `hushwire circuit make-microcode`")]
    Malformed { line: usize, problem: String },
    /// A file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The program breaks a rule.
    #[error("instruction {at}: {hazard}; compile the circuit again")]
    Hazard { at: usize, hazard: Hazard },
    /// Inputs of the wrong size.
    #[error("{what}: found {found} bits, expected {expected}")]
    Inputs { what: &'static str, found: usize, expected: usize },
}

impl Microcode {
    /// The circuit's name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// [`hushwire_circuit::Layered::digest`] of what was compiled.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Widths of the circuit's inputs, in bits, common ones included.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// Widths of the outputs, in bits.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The common inputs by number, ascending.
    #[must_use]
    pub fn common(&self) -> &[usize] {
        &self.common
    }

    /// Bits of the common inputs together.
    #[must_use]
    pub fn common_bits(&self) -> usize {
        self.common.iter().map(|i| self.inputs[*i]).sum()
    }

    /// The instructions; the last one, and no other, is END.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The instructions as words.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        self.instructions.iter().map(|i| i.word())
    }

    /// The number of slots that it needs.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Rows of the input stream: the bits of all inputs that are not common, in order.
    #[must_use]
    pub fn rows_in(&self) -> usize {
        self.inputs.iter().sum::<usize>() - self.common_bits()
    }

    /// Rows of the output stream: the bits of all outputs.
    #[must_use]
    pub fn rows_out(&self) -> usize {
        self.outputs.iter().sum()
    }

    /// The number of ANDs of each layer; each layer is one message.
    #[must_use]
    pub fn layer_ands(&self) -> &[usize] {
        &self.layer_ands
    }

    /// ANDs of one run.
    #[must_use]
    pub fn ands(&self) -> usize {
        self.layer_ands.iter().sum()
    }

    /// Scalars by number, which instructions add; number 0 is nothing.
    #[must_use]
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// One party's shares (own, next) of every scalar, from those of the common inputs' bits (bit `i` is bit `i % 8`
    /// of byte `i / 8`) and of the constant 1.
    ///
    /// # Panics
    /// If there are fewer common bits than [`Microcode::common_bits`].
    #[must_use]
    pub fn scalar_shares(&self, common: [&[u8]; 2], one: [bool; 2]) -> Vec<[bool; 2]> {
        self.scalars
            .iter()
            .map(|scalar| {
                std::array::from_fn(|share| {
                    let bit = |i: &u32| common[share][*i as usize / 8] >> (i % 8) & 1 == 1;
                    scalar.bits.iter().fold(scalar.one && one[share], |sum, i| sum ^ bit(i))
                })
            })
            .collect()
    }
}
