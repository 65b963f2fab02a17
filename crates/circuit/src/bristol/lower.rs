//! Lowers the kinds of gates that [`Gate`] lacks to XORs, ANDs and INVs on new wires.
//!
//! ```text
//! OR    x = a ⊕ b   y = a ∧ b   out = x ⊕ y          XNOR  x = a ⊕ b   out = ¬x
//! NOR   x = ¬a      y = ¬b      out = x ∧ y          NAND  x = a ∧ b   out = ¬x
//! ```
//!
//! A file's last wires are its outputs. While lines are read, new wires get numbers after them. In
//! the end the new wires move in front of the outputs.

use crate::{
    Circuit, Gate, Wire,
    check::{GateFault, WireCheck},
};

/// A gate with two inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryGate {
    Xor,
    And,
    Or,
    Nand,
    Nor,
    Xnor,
}

/// The reason why a gate cannot be added.
pub(super) enum GateRefusal {
    Fault(GateFault),
    /// Its new wires would need numbers of more than 32 bits.
    TooManyWires,
}

impl From<GateFault> for GateRefusal {
    fn from(fault: GateFault) -> Self {
        GateRefusal::Fault(fault)
    }
}

/// A circuit under construction.
pub(super) struct Gathered {
    check: WireCheck,
    gates: Vec<Gate>,
    /// The number of wires that the file has.
    wires: u32,
    /// The number of new wires so far.
    more: u32,
}

impl Gathered {
    pub(super) fn new(input_bits: usize, wires: u32, capacity: usize) -> Self {
        let check = WireCheck::new(input_bits, wires as usize);
        Self { check, gates: Vec::with_capacity(capacity), wires, more: 0 }
    }

    pub(super) fn wires(&self) -> u32 {
        self.wires
    }

    pub(super) fn gates(&self) -> usize {
        self.gates.len()
    }

    /// The first output wire that no gate has written.
    pub(super) fn missing(&self, output_bits: usize) -> Option<Wire> {
        self.check.missing(output_bits)
    }

    /// Adds a gate of the file.
    pub(super) fn plain(&mut self, gate: Gate) -> Result<(), GateRefusal> {
        self.check.gate(gate)?;
        self.gates.push(gate);
        Ok(())
    }

    /// Adds ANDs that all read before any of them writes.
    pub(super) fn ands(&mut self, reads: &[Wire], outs: &[Wire]) -> Result<(), GateRefusal> {
        reads.iter().try_for_each(|wire| self.check.read(*wire))?;
        outs.iter().try_for_each(|wire| self.check.write(*wire))?;
        let (left, right) = reads.split_at(outs.len());
        let both = left.iter().zip(right).zip(outs);
        self.gates.extend(both.map(|((a, b), out)| Gate::And { a: *a, b: *b, out: *out }));
        Ok(())
    }

    pub(super) fn binary(
        &mut self,
        kind: BinaryGate,
        a: Wire,
        b: Wire,
        out: Wire,
    ) -> Result<(), GateRefusal> {
        match kind {
            BinaryGate::Xor => return self.plain(Gate::Xor { a, b, out }),
            BinaryGate::And => return self.plain(Gate::And { a, b, out }),
            _ => {}
        }
        [a, b].iter().try_for_each(|wire| self.check.read(*wire))?;
        self.check.write(out)?;
        let x = self.own()?;
        match kind {
            BinaryGate::Xnor => self.gates.extend([Gate::Xor { a, b, out: x }, Gate::Inv { a: x, out }]),
            BinaryGate::Nand => self.gates.extend([Gate::And { a, b, out: x }, Gate::Inv { a: x, out }]),
            BinaryGate::Nor => {
                let y = self.own()?;
                let gates =
                    [Gate::Inv { a, out: x }, Gate::Inv { a: b, out: y }, Gate::And { a: x, b: y, out }];
                self.gates.extend(gates);
            }
            BinaryGate::Or | BinaryGate::Xor | BinaryGate::And => {
                let y = self.own()?;
                let gates =
                    [Gate::Xor { a, b, out: x }, Gate::And { a, b, out: y }, Gate::Xor { a: x, b: y, out }];
                self.gates.extend(gates);
            }
        }
        Ok(())
    }

    /// Adds a wire that the file does not have.
    fn own(&mut self) -> Result<Wire, GateRefusal> {
        let wire = self.wires.checked_add(self.more).ok_or(GateRefusal::TooManyWires)?;
        self.more += 1;
        Ok(wire)
    }

    /// Returns the circuit after all lines have been read. Where wires move, an output that is also
    /// an input becomes a copy of it.
    ///
    /// `None` if wires would need numbers of more than 32 bits.
    pub(super) fn circuit(mut self, inputs: Vec<usize>, outputs: Vec<usize>) -> Option<Circuit> {
        let (input_bits, output_bits) = (inputs.iter().sum::<usize>(), outputs.iter().sum::<usize>());
        let first_output = self.wires as usize - output_bits;
        if self.more == 0 {
            return Some(Circuit::checked(inputs, outputs, self.wires as usize, self.gates));
        }
        let first_own = first_output.max(input_bits);
        let shift = first_own - first_output + self.more as usize;
        let wires = self.wires as usize + shift;
        if wires > 1 << 32 {
            return None;
        }
        let place = |wire: Wire| match wire as usize {
            own if own >= self.wires as usize => (first_own + own - self.wires as usize) as Wire,
            input if input < input_bits => wire,
            output if output >= first_output => wire + shift as Wire,
            _ => wire,
        };
        for gate in &mut self.gates {
            *gate = renamed(*gate, place);
        }
        let copies = first_output..first_own;
        self.gates.extend(copies.map(|wire| Gate::Copy { a: wire as Wire, out: (wire + shift) as Wire }));
        Some(Circuit::checked(inputs, outputs, wires, self.gates))
    }
}

/// The gate with its wires renumbered by `place`.
fn renamed(gate: Gate, place: impl Fn(Wire) -> Wire) -> Gate {
    match gate {
        Gate::Xor { a, b, out } => Gate::Xor { a: place(a), b: place(b), out: place(out) },
        Gate::And { a, b, out } => Gate::And { a: place(a), b: place(b), out: place(out) },
        Gate::Inv { a, out } => Gate::Inv { a: place(a), out: place(out) },
        Gate::Const { value, out } => Gate::Const { value, out: place(out) },
        Gate::Copy { a, out } => Gate::Copy { a: place(a), out: place(out) },
    }
}
