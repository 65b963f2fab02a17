//! The owners of inputs and the recipients of outputs in two-party computation.

use crate::Program;

/// The owners of inputs and the recipients of outputs, in the circuit's order; parties are 0 and 1.
/// The parties agree on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TwoParty {
    /// The owner of each input, 0 or 1.
    pub owners: Vec<usize>,
    /// For each output: whether party 0 learns it, and whether party 1 does.
    pub learns: Vec<[bool; 2]>,
}

impl TwoParty {
    /// Owners and recipients for a program.
    ///
    /// # Panics
    /// If their numbers differ from the program's inputs and outputs, or a party is neither 0 nor 1
    /// (the caller's bug).
    #[must_use]
    pub fn new(program: &Program, owners: Vec<usize>, learns: Vec<[bool; 2]>) -> Self {
        assert_eq!(owners.len(), program.inputs().len(), "an owner for every input");
        assert_eq!(learns.len(), program.outputs().len(), "recipients for every output");
        assert!(owners.iter().all(|p| *p < 2), "parties are 0 and 1");
        TwoParty { owners, learns }
    }

    /// The number of bits of the inputs that `party` owns.
    #[must_use]
    pub fn input_bits(&self, program: &Program, party: usize) -> usize {
        self.owners.iter().zip(program.inputs()).filter(|(p, _)| **p == party).map(|(_, w)| w).sum()
    }

    /// The number of bits of the outputs that `party` learns.
    #[must_use]
    pub fn output_bits(&self, program: &Program, party: usize) -> usize {
        self.learns.iter().zip(program.outputs()).filter(|(l, _)| l[party]).map(|(_, w)| w).sum()
    }
}
