//! The writer.

use super::{FIRST_PLAIN, PLAIN};
use crate::{Comparison, Dim, Netlist, Op, Range, Reduction, Scalar, Scan, Shape, Steps, Type, Visibility};
use hushwire_circuit::Gate;
use std::collections::HashMap;

pub(super) struct Writer(pub(super) Vec<u8>);

impl Writer {
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(super) fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    pub(super) fn string(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(super) fn strings(&mut self, all: &[String]) {
        self.number(all.len() as u64);
        all.iter().for_each(|s| self.string(s));
    }

    pub(super) fn scalar(&mut self, scalar: Scalar) {
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

    pub(super) fn shape(&mut self, shape: &Shape) {
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

    pub(super) fn circuit(&mut self, circuit: &Netlist) {
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

    /// Nothing, or both ends, each as two words.
    pub(super) fn promise(&mut self, promised: Option<Range>) {
        self.byte(u8::from(promised.is_some()));
        for end in promised.iter().flat_map(|r| [r.low, r.high]) {
            self.number(end as u64);
            self.number((end >> 64) as u64);
        }
    }

    pub(super) fn steps(&mut self, steps: Steps) {
        steps.strides.iter().chain(&steps.padding).for_each(|n| self.number(u64::from(*n)));
    }

    pub(super) fn op(&mut self, op: &Op, ty: &Type, circuits: &HashMap<&Netlist, usize>) {
        match op {
            Op::Input(name) => {
                self.byte(0);
                self.string(name);
                self.scalar(ty.scalar);
                self.shape(&ty.shape);
                self.number(match ty.visibility {
                    Visibility::Public => 0,
                    Visibility::Secret => 1,
                    Visibility::Private(member) => 2 + u64::from(member.0),
                });
            }
            Op::Constant(tensor) => {
                self.byte(1);
                self.scalar(tensor.scalar());
                self.shape(&ty.shape);
                tensor.words().iter().for_each(|w| self.number(*w));
            }
            Op::Compare(c) => {
                self.byte(2);
                self.byte(Comparison::ALL.iter().position(|x| x == c).expect("it is one of all") as u8);
            }
            Op::ShiftLeft(by) => {
                self.byte(3);
                self.number(u64::from(*by));
            }
            Op::ShiftRight(by) => {
                self.byte(4);
                self.number(u64::from(*by));
            }
            Op::Rescale(by) => [5, *by].into_iter().for_each(|b| self.byte(b)),
            Op::Cast(to) => {
                self.byte(6);
                self.scalar(*to);
            }
            Op::Reduce(r, axis) => {
                let r = Reduction::ALL.iter().position(|x| x == r).expect("it is one of all") as u8;
                [7, r, *axis].into_iter().for_each(|b| self.byte(b));
            }
            Op::PrefixSum(axis) => [8, *axis].into_iter().for_each(|b| self.byte(b)),
            Op::Broadcast(shape) => {
                self.byte(9);
                self.shape(shape);
            }
            Op::Reshape(shape) => {
                self.byte(10);
                self.shape(shape);
            }
            Op::Transpose(axes) => {
                self.byte(11);
                self.number(axes.len() as u64);
                self.0.extend_from_slice(axes);
            }
            Op::Slice { axis, from, to } => {
                [12, *axis].into_iter().for_each(|b| self.byte(b));
                self.number(*from);
                self.number(*to);
            }
            Op::Concat(axis) => [13, *axis].into_iter().for_each(|b| self.byte(b)),
            Op::Order { descending } => {
                self.byte(14);
                self.number(descending.len() as u64);
                descending.iter().for_each(|d| self.byte(u8::from(*d)));
            }
            Op::Compact { rows } => {
                self.byte(15);
                self.number(*rows);
            }
            Op::Reveal(to) => {
                self.byte(16);
                self.number(to.map_or(0, |m| 1 + u64::from(m.0)));
            }
            Op::Scan(scan) => {
                let scan = Scan::ALL.iter().position(|x| x == scan).expect("it is one of all") as u8;
                [17, scan].into_iter().for_each(|b| self.byte(b));
            }
            Op::Conv2d { steps, groups } => {
                self.byte(18);
                self.steps(*steps);
                self.number(u64::from(*groups));
            }
            Op::Pool { reduction, size, steps } => {
                let r = Reduction::ALL.iter().position(|x| x == reduction).expect("it is one of all") as u8;
                [19, r].into_iter().for_each(|b| self.byte(b));
                size.iter().for_each(|n| self.number(u64::from(*n)));
                self.steps(*steps);
            }
            Op::Circuit(circuit) => {
                self.byte(20);
                self.number(circuits[circuit] as u64);
            }
            Op::Part { from, to } => {
                self.byte(21);
                self.number(u64::from(*from));
                self.number(u64::from(*to));
            }
            Op::Meet { first } => {
                self.byte(22);
                self.number(*first);
            }
            plain => {
                let at = PLAIN
                    .iter()
                    .position(|p| p == plain)
                    .expect("operations without parameters stand in the list");
                self.byte(FIRST_PLAIN + at as u8);
            }
        }
    }
}
