//! A circuit as a list of gates, in the order of a file.

use crate::check::{GateFault, WireCheck};

/// A wire's number. Inputs have the first numbers, outputs the last, as in Bristol files.
pub type Wire = u32;

/// A gate. Each wire is written once and before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the formulas name the fields")]
pub enum Gate {
    /// `out = a ⊕ b`
    Xor { a: Wire, b: Wire, out: Wire },
    /// `out = a ∧ b`
    And { a: Wire, b: Wire, out: Wire },
    /// `out = ¬a`
    Inv { a: Wire, out: Wire },
    /// `out = value`
    Const { value: bool, out: Wire },
    /// `out = a`
    Copy { a: Wire, out: Wire },
}

impl Gate {
    /// The wire that the gate writes.
    #[must_use]
    pub fn out(self) -> Wire {
        match self {
            Gate::Xor { out, .. }
            | Gate::And { out, .. }
            | Gate::Inv { out, .. }
            | Gate::Const { out, .. }
            | Gate::Copy { out, .. } => out,
        }
    }

    /// The wires that the gate reads.
    pub fn reads(self) -> impl Iterator<Item = Wire> {
        let (a, b) = match self {
            Gate::Xor { a, b, .. } | Gate::And { a, b, .. } => (Some(a), Some(b)),
            Gate::Inv { a, .. } | Gate::Copy { a, .. } => (Some(a), None),
            Gate::Const { .. } => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// The reason why gates do not form a circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum CircuitError {
    /// A gate names a wire that does not exist.
    #[error("gate {gate} names wire {wire}, and there are {wires} wires")]
    NoWire { gate: usize, wire: Wire, wires: usize },
    /// A gate reads a wire that nothing has written yet.
    #[error("gate {gate} reads wire {wire} before anything writes it")]
    Unwritten { gate: usize, wire: Wire },
    /// Two gates write one wire, or a gate writes an input.
    #[error("gate {gate} writes wire {wire}, which is an input or was written before")]
    Rewritten { gate: usize, wire: Wire },
    /// An output wire is never written.
    #[error("output wire {wire} is never written")]
    NoOutput { wire: Wire },
    /// The inputs and outputs have more bits than there are wires.
    #[error("inputs and outputs need {needed} wires, and there are {wires}")]
    TooFewWires { needed: usize, wires: usize },
}

/// Gates over wires `0..wires`: the inputs' wires come first, one input after the other, and the
/// outputs' wires last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    wires: usize,
    gates: Vec<Gate>,
}

impl Circuit {
    /// Checks that each wire is written once and before it is read, and that each output is
    /// written. Inputs may have width 0. An output wire may be an input wire only if the two ranges
    /// of wires overlap.
    ///
    /// # Errors
    /// The first fault, in the order of gates.
    pub fn new(
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        wires: usize,
        gates: Vec<Gate>,
    ) -> Result<Circuit, CircuitError> {
        let total = |widths: &[usize]| widths.iter().fold(0usize, |sum, w| sum.saturating_add(*w));
        let (input_bits, output_bits) = (total(&inputs), total(&outputs));
        let needed = input_bits.max(output_bits);
        if needed > wires {
            return Err(CircuitError::TooFewWires { needed, wires });
        }
        let mut check = WireCheck::new(input_bits, wires);
        for (number, gate) in gates.iter().enumerate() {
            check.gate(*gate).map_err(|fault| match fault {
                GateFault::NoWire(wire) => CircuitError::NoWire { gate: number, wire, wires },
                GateFault::Unwritten(wire) => CircuitError::Unwritten { gate: number, wire },
                GateFault::Rewritten(wire) => CircuitError::Rewritten { gate: number, wire },
            })?;
        }
        match check.missing(output_bits) {
            Some(wire) => Err(CircuitError::NoOutput { wire }),
            None => Ok(Circuit { inputs, outputs, wires, gates }),
        }
    }

    /// A circuit whose gates [`WireCheck`] has accepted.
    pub(crate) fn checked(
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        wires: usize,
        gates: Vec<Gate>,
    ) -> Circuit {
        Circuit { inputs, outputs, wires, gates }
    }

    /// The widths of the inputs, in bits.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The widths of the outputs, in bits.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The number of wires.
    #[must_use]
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// The gates, in order.
    #[must_use]
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The number of the first output wire.
    #[must_use]
    pub fn first_output(&self) -> usize {
        self.wires - self.outputs.iter().sum::<usize>()
    }
}
