//! Writes the binary form.

use crate::{Dim, Netlist, Range, Scalar, Shape};
use hushwire_circuit::Gate;
use std::collections::HashMap;

/// The bytes so far, and the numbers of the computation's circuits.
pub(crate) struct Writer<'c> {
    pub(crate) bytes: Vec<u8>,
    pub(crate) circuits: HashMap<&'c Netlist, usize>,
}

impl Writer<'_> {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn strings(&mut self, all: &[String]) {
        self.number(all.len() as u64);
        all.iter().for_each(|s| self.string(s));
    }

    pub(crate) fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Bool => self.byte(0),
            Scalar::Int { signed, bits } => {
                self.byte(1 + u8::from(signed));
                self.byte(bits);
            }
            Scalar::Fixed { bits, frac } => [3, bits, frac].into_iter().for_each(|b| self.byte(b)),
            Scalar::Bits(n) => {
                self.byte(4);
                self.number(n.into());
            }
            Scalar::Place => self.byte(5),
        }
    }

    pub(crate) fn shape(&mut self, shape: &Shape) {
        self.number(shape.rank() as u64);
        for dim in &shape.0 {
            match dim {
                Dim::Known(n) => {
                    self.byte(0);
                    self.number(*n);
                }
                Dim::Symbol(name) => {
                    self.byte(1);
                    self.string(name);
                }
            }
        }
    }

    pub(crate) fn circuit(&mut self, circuit: &Netlist) {
        for widths in [circuit.inputs(), circuit.outputs()] {
            self.number(widths.len() as u64);
            widths.iter().for_each(|w| self.number(*w as u64));
        }
        self.number(circuit.gates().len() as u64);
        for gate in circuit.gates() {
            let (code, wires): (u8, &[u32]) = match gate {
                Gate::Xor { a, b, out } => (0, &[*a, *b, *out]),
                Gate::And { a, b, out } => (1, &[*a, *b, *out]),
                Gate::Inv { a, out } => (2, &[*a, *out]),
                Gate::Const { value, out } => (3 + u8::from(*value), &[*out]),
                Gate::Copy { a, out } => (5, &[*a, *out]),
            };
            self.byte(code);
            wires.iter().for_each(|w| self.number(u64::from(*w)));
        }
    }

    /// Writes no range, or both ends of one, each as two words.
    pub(crate) fn promise(&mut self, promised: Option<Range>) {
        self.byte(u8::from(promised.is_some()));
        for end in promised.iter().flat_map(|r| [r.low, r.high]) {
            self.number(end as u64);
            self.number((end >> 64) as u64);
        }
    }
}
