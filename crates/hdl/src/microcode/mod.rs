//! Circuits as microcode for the hardware party (`hdl/`): straight-line instructions on slots of
//! bits, many instances side by side.
//!
//! ```text
//! Layered ─► symbolic sums (compile) ─► order and slots (schedule) ─► instructions
//!         ─► text file for $readmemh (text)
//! ```
//!
//! Inputs that are the same for all instances (common inputs, such as an expanded key) are not rows
//! but **scalars**, and so is the constant 1. Sums with scalars, including NOT, need no extra
//! instruction.
//!
//! **AGREEMENT.** ANDs have the order of [`hushwire_circuit::Layered`], and a sync begins every
//! layer but the first, so that a hardware party sends the same bytes as a software party. The
//! order of sums and the choice of slots are LOCAL.
//!
//! A product is written at any time between its AND and the next sync. Until then its slot must be
//! neither read nor written; [`Microcode::eval`] and [`Microcode::read`] check that.

mod compile;
mod eval;
mod instruction;
mod schedule;
mod sums;
mod text;

pub use eval::Hazard;
pub use instruction::{Instruction, Opcode};

/// The number of slots that an instruction can name.
pub const MAX_SLOTS: usize = 1 << 13;
/// The number of scalars that an instruction can name, including 0.
pub const MAX_SCALARS: usize = 1 << 16;

/// A sum of common input bits and possibly 1, which is the same for all instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// Whether 1 is added.
    pub one: bool,
    /// The common bits of the sum, ascending. A bit's number counts over all common inputs.
    pub bits: Vec<u32>,
}

/// A circuit's microcode, and the sizes that a loader needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Microcode {
    name: String,
    digest: [u8; 32],
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    /// The indices of the common inputs, ascending.
    common: Vec<usize>,
    slots: usize,
    scalars: Vec<Scalar>,
    layer_ands: Vec<usize>,
    instructions: Vec<Instruction>,
}

/// The reason why there is no microcode, or why it cannot run. Each message ends with a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum MicrocodeError {
    /// A common input does not exist.
    #[error("common input {index}: the circuit has {inputs} inputs, counted from 0; name one of those")]
    NoInput { index: usize, inputs: usize },
    /// More bits are live at once than instructions can name slots.
    #[error(
        "the circuit needs {slots} slots, and microcode has {MAX_SLOTS}; take a circuit with fewer live bits"
    )]
    Slots { slots: usize },
    /// There are more sums of common bits than an instruction can name.
    #[error(
        "the circuit needs {scalars} scalars, and microcode has {MAX_SCALARS}; make fewer inputs common ones"
    )]
    Scalars { scalars: usize },
    /// The sums of common bits have too many terms.
    #[error("sums of common bits have more than {terms} terms in all; make fewer inputs common ones")]
    Terms { terms: usize },
    /// A file is not microcode.
    #[error("line {line}: {problem}; make the file again with `hushwire circuit make-microcode`")]
    Malformed { line: usize, problem: String },
    /// A file cannot be read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// The program violates a rule.
    #[error("instruction {at}: {hazard}; compile the circuit again")]
    Hazard { at: usize, hazard: Hazard },
    /// The number of input bits is wrong.
    #[error("{what}: found {found} bits, expected {expected}")]
    Inputs { what: &'static str, found: usize, expected: usize },
}

impl Microcode {
    /// The circuit's name, for messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The [`hushwire_circuit::Layered::digest`] of the compiled circuit.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The widths of the circuit's inputs, in bits, including common inputs.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The widths of the outputs, in bits.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The indices of the common inputs, ascending.
    #[must_use]
    pub fn common(&self) -> &[usize] {
        &self.common
    }

    /// The number of bits of all common inputs together.
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

    /// The number of slots that the program needs.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of rows of the input stream: the bits of all inputs that are not common, in
    /// order.
    #[must_use]
    pub fn rows_in(&self) -> usize {
        self.inputs.iter().sum::<usize>() - self.common_bits()
    }

    /// The number of rows of the output stream: the bits of all outputs.
    #[must_use]
    pub fn rows_out(&self) -> usize {
        self.outputs.iter().sum()
    }

    /// The number of ANDs of each layer; each layer is one message.
    #[must_use]
    pub fn layer_ands(&self) -> &[usize] {
        &self.layer_ands
    }

    /// The number of ANDs of one run.
    #[must_use]
    pub fn ands(&self) -> usize {
        self.layer_ands.iter().sum()
    }

    /// The scalars that instructions add, by number; number 0 is the empty sum.
    #[must_use]
    pub fn scalars(&self) -> &[Scalar] {
        &self.scalars
    }

    /// One party's shares (own, next) of every scalar, from its shares of the common inputs' bits
    /// (bit `i` is bit `i % 8` of byte `i / 8`) and of the constant 1.
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
