//! Circuits that a computation carries, gate by gate, for strings of bits.

use crate::{ComputeError, MAX_STRING, Tensor};
use core::{fmt, hash};
use hushwire_circuit::{Bit, Builder, Circuit, Gate, Program, bristol, eval};
use std::{ops::Deref, sync::Arc};

/// A circuit that every member has: its inputs and all its outputs together have 1 to 4096 bits, and every wire is written.
#[derive(Clone, PartialEq, Eq)]
pub struct Netlist(Arc<Circuit>);

impl Netlist {
    /// A circuit that a computation may carry.
    ///
    /// # Errors
    /// It has no input or no output, one of them is empty or too wide, or a wire is never written.
    pub fn new(circuit: Circuit) -> Result<Self, ComputeError> {
        let refuse = |cause: String, remedy: &str| Err(ComputeError::ty(cause, remedy));
        let bits: usize = circuit.inputs().iter().sum();
        let out: usize = circuit.outputs().iter().sum();
        let most = usize::from(MAX_STRING);
        if circuit.inputs().is_empty() || circuit.inputs().iter().any(|w| *w == 0 || *w > most) {
            return refuse(
                format!("a circuit has inputs of {:?} bits", circuit.inputs()),
                "it has an input or more, each of 1 to 4096 bits",
            );
        }
        if out == 0 || out > most || circuit.outputs().contains(&0) {
            return refuse(
                format!("a circuit has outputs of {:?} bits", circuit.outputs()),
                "they have 1 to 4096 bits together, and none is empty",
            );
        }
        if circuit.wires() != bits + circuit.gates().len() {
            return refuse(
                format!(
                    "a circuit has {} wires and writes {}",
                    circuit.wires(),
                    bits + circuit.gates().len()
                ),
                "number the wires without gaps",
            );
        }
        Ok(Netlist(Arc::new(circuit)))
    }

    /// Bits of all outputs together.
    pub(crate) fn output_bits(&self) -> usize {
        self.outputs().iter().sum()
    }

    /// The outputs' bits, gate by gate.
    pub(crate) fn build(&self, b: &mut Builder, inputs: &[Vec<Bit>]) -> Vec<Bit> {
        let mut wires = inputs.concat();
        wires.resize(self.wires(), Bit::ZERO);
        for gate in self.gates() {
            let w = |wire: u32| wires[wire as usize];
            wires[gate.out() as usize] = match *gate {
                Gate::Xor { a, b: c, .. } => b.xor(w(a), w(c)),
                Gate::And { a, b: c, .. } => b.and(w(a), w(c)),
                Gate::Inv { a, .. } => b.not(w(a)),
                Gate::Const { value, .. } => Bit::constant(value),
                Gate::Copy { a, .. } => w(a),
            };
        }
        wires.split_off(self.first_output())
    }

    /// Runs it on elements side by side.
    pub(crate) fn run(&self, operands: &[Tensor], scalar: crate::Scalar, lengths: &[usize]) -> Tensor {
        let n = lengths.iter().product();
        let planes = hushwire_circuit::Planes::join(n, operands.iter().map(Tensor::to_planes));
        let made = eval::eval(&Program::flat("circuit", self), &planes).expect("the checker counts bits");
        Tensor::from_planes(scalar, lengths, &made)
    }

    /// The Bristol Fashion file.
    pub(crate) fn text(&self) -> String {
        let mut out = vec![];
        bristol::write(&**self, bristol::Format::Fashion, &mut out).expect("a list of bytes takes all");
        String::from_utf8(out).expect("the format is ASCII")
    }
}

impl Deref for Netlist {
    type Target = Circuit;

    fn deref(&self) -> &Circuit {
        &self.0
    }
}

impl hash::Hash for Netlist {
    /// Of its sizes alone: equal circuits have equal ones.
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        (self.inputs(), self.outputs(), self.gates().len()).hash(state);
    }
}

impl fmt::Debug for Netlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Netlist({:?} to {:?}, {} gates)", self.inputs(), self.outputs(), self.gates().len())
    }
}
