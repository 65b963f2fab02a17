//! Gates in the order of a file.

use crate::check::{Check, Fault};

/// A wire's number. Inputs come first, outputs last, as in Bristol files.
pub type Wire = u32;

/// One gate. A wire is written once, before it is read.
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
    /// The wire that it writes.
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

    /// The wires that it reads.
    pub fn reads(self) -> impl Iterator<Item = Wire> {
        let (a, b) = match self {
            Gate::Xor { a, b, .. } | Gate::And { a, b, .. } => (Some(a), Some(b)),
            Gate::Inv { a, .. } | Gate::Copy { a, .. } => (Some(a), None),
            Gate::Const { .. } => (None, None),
        };
        a.into_iter().chain(b)
    }
}

/// The reason why gates do not make a circuit.
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
    /// The widths do not fit the number of wires.
    #[error("inputs and outputs need {needed} wires, and there are {wires}")]
    TooFewWires { needed: usize, wires: usize },
}

/// Gates over wires `0..wires`: the inputs' wires first, one input after the other; the outputs' wires last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    wires: usize,
    gates: Vec<Gate>,
}

impl Circuit {
    /// Checks that every wire is written once before it is read, and every output is written. Inputs of width 0 may
    /// stand; an output wire may be an input wire only where the circuit has no gates between (the wires coincide).
    ///
    /// # Errors
    /// The first fault, by gate.
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
        let mut check = Check::new(input_bits, wires);
        for (number, gate) in gates.iter().enumerate() {
            check.gate(*gate).map_err(|fault| match fault {
                Fault::NoWire(wire) => CircuitError::NoWire { gate: number, wire, wires },
                Fault::Unwritten(wire) => CircuitError::Unwritten { gate: number, wire },
                Fault::Rewritten(wire) => CircuitError::Rewritten { gate: number, wire },
            })?;
        }
        match check.missing(output_bits) {
            Some(wire) => Err(CircuitError::NoOutput { wire }),
            None => Ok(Circuit { inputs, outputs, wires, gates }),
        }
    }

    /// A circuit whose gates [`Check`] has seen.
    pub(crate) fn checked(
        inputs: Vec<usize>,
        outputs: Vec<usize>,
        wires: usize,
        gates: Vec<Gate>,
    ) -> Circuit {
        Circuit { inputs, outputs, wires, gates }
    }

    /// Widths of the inputs, in bits.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// Widths of the outputs, in bits.
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

    /// The first output wire.
    #[must_use]
    pub fn first_output(&self) -> usize {
        self.wires - self.outputs.iter().sum::<usize>()
    }
}
