//! The owners of inputs and the recipients of outputs.

use hushwire_circuit::Program;

/// The party that brings each input of a program, and the parties that learn each output, in the
/// circuit's order. Roles are agreed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles {
    /// The owner of each input.
    pub owners: Vec<usize>,
    /// Whether party p learns output i, at `learns[i][p]`.
    pub learns: Vec<Vec<bool>>,
}

impl Roles {
    /// Roles among `n` parties.
    ///
    /// # Panics
    /// If the number of roles is not that of inputs, outputs or parties (the caller's bug).
    #[must_use]
    pub fn new(program: &Program, n: usize, owners: Vec<usize>, learns: Vec<Vec<bool>>) -> Roles {
        assert_eq!(owners.len(), program.inputs().len(), "an owner for every input");
        assert_eq!(learns.len(), program.outputs().len(), "recipients for every output");
        assert!(owners.iter().all(|p| *p < n), "parties are 0 to {}", n - 1);
        assert!(learns.iter().all(|learns| learns.len() == n), "every party learns an output or does not");
        Roles { owners, learns }
    }

    /// The number of bits of the inputs that `party` brings.
    #[must_use]
    pub fn input_bits(&self, program: &Program, party: usize) -> usize {
        self.owners.iter().zip(program.inputs()).filter(|(p, _)| **p == party).map(|(_, w)| w).sum()
    }

    /// The number of bits of the outputs that `party` learns.
    #[must_use]
    pub fn output_bits(&self, program: &Program, party: usize) -> usize {
        self.learns.iter().zip(program.outputs()).filter(|(l, _)| l[party]).map(|(_, w)| w).sum()
    }

    /// The places of the input bits that `party` brings: bit after bit, of every instance.
    pub(crate) fn inputs_of(&self, program: &Program, party: usize, instances: usize) -> Vec<u32> {
        places(program.inputs(), instances, |i| self.owners[i] == party)
    }

    /// The places of the output bits that `party` learns.
    pub(crate) fn outputs_of(&self, program: &Program, party: usize, instances: usize) -> Vec<u32> {
        places(program.outputs(), instances, |j| self.learns[j][party])
    }
}

/// The places of the bits of the values that `pick` selects by number, where `widths` are the
/// values' widths.
fn places(widths: &[usize], instances: usize, pick: impl Fn(usize) -> bool) -> Vec<u32> {
    let (mut places, mut at) = (vec![], 0);
    for (i, width) in widths.iter().enumerate() {
        if pick(i) {
            places.extend(at as u32..(at + width * instances) as u32);
        }
        at += width * instances;
    }
    places
}
