//! Circuits of gates that a computation carries, on strings of bits.

use crate::{ComputeError, MAX_STRING, Tensor};
use core::{fmt, hash};
use hushwire_circuit::{Bit, Builder, Circuit, Gate, Program, bristol, eval};
use std::{ops::Deref, sync::Arc};

/// The largest number of inputs of a circuit.
pub(crate) const MAX_INPUTS: usize = 64;

/// A circuit that all members have. It has up to 64 inputs of 1 to 4096 bits, and 1 to 4096 bits in
/// all outputs together. Every wire is written.
#[derive(Clone)]
pub struct Netlist {
    circuit: Arc<Circuit>,
    /// The BLAKE3 digest of the gates, by which circuits are compared.
    digest: [u8; 32],
}

impl Netlist {
    /// Makes a circuit that a computation may carry.
    ///
    /// # Errors
    /// The circuit has no input or no output, one of them is empty or too wide, or a wire is never
    /// written.
    pub fn new(circuit: Circuit) -> Result<Self, ComputeError> {
        let refuse = |cause: String, remedy: &str| Err(ComputeError::ty(cause, remedy));
        let bits: usize = circuit.inputs().iter().sum();
        let out: usize = circuit.outputs().iter().sum();
        let most = usize::from(MAX_STRING);
        let many = (1..=MAX_INPUTS).contains(&circuit.inputs().len());
        if !many || circuit.inputs().iter().any(|w| *w == 0 || *w > most) {
            return refuse(
                format!("a circuit has inputs of {} bits", shown(circuit.inputs())),
                "it has 1 to 64 inputs, each of 1 to 4096 bits",
            );
        }
        if out == 0 || out > most || circuit.outputs().contains(&0) {
            return refuse(
                format!("a circuit has outputs of {} bits", shown(circuit.outputs())),
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
        let digest = digest(&circuit);
        Ok(Netlist { circuit: Arc::new(circuit), digest })
    }

    /// The number of bits of all outputs together.
    pub(crate) fn output_bits(&self) -> usize {
        self.outputs().iter().sum()
    }

    /// Builds the gates and returns the outputs' bits.
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

    /// Runs the circuit on many elements side by side.
    pub(crate) fn run(&self, operands: &[Tensor], scalar: crate::Scalar, lengths: &[usize]) -> Tensor {
        let n = lengths.iter().product();
        let planes = hushwire_circuit::Planes::join(n, operands.iter().map(Tensor::to_planes));
        let made = eval::eval(&Program::flat("circuit", self), &planes).expect("the checker counts bits");
        Tensor::from_planes(scalar, lengths, &made)
    }

    /// The circuit as a Bristol Fashion file.
    pub(crate) fn text(&self) -> String {
        let mut out = vec![];
        bristol::write(&**self, bristol::Format::Fashion, &mut out).expect("a list of bytes takes all");
        String::from_utf8(out).expect("the format is ASCII")
    }
}

impl Deref for Netlist {
    type Target = Circuit;

    fn deref(&self) -> &Circuit {
        &self.circuit
    }
}

impl PartialEq for Netlist {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Netlist {}

impl hash::Hash for Netlist {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

/// Widths as text; only the first ones if there are many.
fn shown(widths: &[usize]) -> String {
    let more = if widths.len() > 8 { ", …" } else { "" };
    let first: Vec<String> = widths.iter().take(8).map(usize::to_string).collect();
    format!("{}{more}", first.join(", "))
}

fn digest(circuit: &Circuit) -> [u8; 32] {
    let mut hash = blake3::Hasher::new_derive_key("hushwire 2026 netlist 1");
    for widths in [circuit.inputs(), circuit.outputs()] {
        hash.update(&(widths.len() as u64).to_le_bytes());
        widths.iter().for_each(|w| {
            hash.update(&(*w as u64).to_le_bytes());
        });
    }
    let mut bytes = Vec::with_capacity(13 * 1024);
    for gates in circuit.gates().chunks(1024) {
        bytes.clear();
        for gate in gates {
            // The code of a gate is followed by its wires.
            let code: u8 = match gate {
                Gate::Xor { .. } => 0,
                Gate::And { .. } => 1,
                Gate::Inv { .. } => 2,
                Gate::Const { value, .. } => 3 + u8::from(*value),
                Gate::Copy { .. } => 5,
            };
            bytes.push(code);
            gate.reads().chain([gate.out()]).for_each(|w| bytes.extend(w.to_le_bytes()));
        }
        hash.update(&bytes);
    }
    *hash.finalize().as_bytes()
}

impl fmt::Debug for Netlist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Netlist({:?} to {:?}, {} gates)", self.inputs(), self.outputs(), self.gates().len())
    }
}
