//! Builds circuits gate by gate and folds constants.

use crate::{Circuit, Gate, Wire};
use hushwire_simd::sbox::Gates;

/// A bit of a circuit under construction: a wire or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bit(BitKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BitKind {
    Const(bool),
    Wire(Wire),
}

impl Bit {
    /// Constant 0.
    pub const ZERO: Bit = Bit(BitKind::Const(false));
    /// Constant 1.
    pub const ONE: Bit = Bit(BitKind::Const(true));

    /// A constant.
    #[must_use]
    pub const fn constant(value: bool) -> Bit {
        Bit(BitKind::Const(value))
    }
}

/// Records gates. Declare inputs first, then add gates, then name the outputs with
/// [`Builder::finish`].
#[derive(Default)]
pub struct Builder {
    inputs: Vec<usize>,
    wires: Wire,
    gates: Vec<Gate>,
}

impl Builder {
    /// A builder without inputs or gates.
    #[must_use]
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Declares the next input, of `width` bits, wire 0 first.
    ///
    /// # Panics
    /// If a gate was added before (the caller's bug).
    pub fn input(&mut self, width: usize) -> Vec<Bit> {
        assert!(self.gates.is_empty(), "inputs are declared before gates");
        self.inputs.push(width);
        (0..width).map(|_| self.wire()).map(|w| Bit(BitKind::Wire(w))).collect()
    }

    fn wire(&mut self) -> Wire {
        self.wires += 1;
        self.wires - 1
    }

    fn gate(&mut self, make: impl FnOnce(Wire) -> Gate) -> Bit {
        let out = self.wire();
        self.gates.push(make(out));
        Bit(BitKind::Wire(out))
    }

    /// `a ⊕ b`
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.0, b.0) {
            (BitKind::Const(x), BitKind::Const(y)) => Bit::constant(x ^ y),
            (BitKind::Const(false), _) => b,
            (_, BitKind::Const(false)) => a,
            (BitKind::Const(true), _) => self.not(b),
            (_, BitKind::Const(true)) => self.not(a),
            (BitKind::Wire(x), BitKind::Wire(y)) if x == y => Bit::ZERO,
            (BitKind::Wire(a), BitKind::Wire(b)) => self.gate(|out| Gate::Xor { a, b, out }),
        }
    }

    /// `a ∧ b`
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        match (a.0, b.0) {
            (BitKind::Const(false), _) | (_, BitKind::Const(false)) => Bit::ZERO,
            (BitKind::Const(true), _) => b,
            (_, BitKind::Const(true)) => a,
            (BitKind::Wire(x), BitKind::Wire(y)) if x == y => a,
            (BitKind::Wire(a), BitKind::Wire(b)) => self.gate(|out| Gate::And { a, b, out }),
        }
    }

    /// `¬a`
    pub fn not(&mut self, a: Bit) -> Bit {
        match a.0 {
            BitKind::Const(value) => Bit::constant(!value),
            BitKind::Wire(a) => self.gate(|out| Gate::Inv { a, out }),
        }
    }

    /// The circuit with these outputs. Gates that no output needs are left out. The output wires
    /// come last, in order; an output that is an input, a constant or a repeated wire gets its own
    /// gate.
    ///
    /// # Panics
    /// If a bit belongs to another builder (the caller's bug).
    #[must_use]
    pub fn finish(self, outputs: &[Vec<Bit>]) -> Circuit {
        let Builder { inputs, wires, gates } = self;
        let input_bits: usize = inputs.iter().sum();
        let bits: Vec<Bit> = outputs.iter().flatten().copied().collect();
        let mut needed = vec![false; wires as usize];
        for bit in &bits {
            if let BitKind::Wire(w) = bit.0 {
                needed[w as usize] = true;
            }
        }
        for gate in gates.iter().rev().copied() {
            if needed[gate.out() as usize] {
                gate.reads().for_each(|w| needed[w as usize] = true);
            }
        }
        // For each wire, the output that it becomes, if a gate makes it and no output has it
        // already.
        let mut output_of = vec![None; wires as usize];
        let mut extra = vec![];
        for (i, bit) in bits.iter().enumerate() {
            match bit.0 {
                BitKind::Wire(w) if w as usize >= input_bits && output_of[w as usize].is_none() => {
                    output_of[w as usize] = Some(i);
                }
                kind => extra.push((i, kind)),
            }
        }
        let kept: Vec<Gate> = gates.into_iter().filter(|g| needed[g.out() as usize]).collect();
        let inner = kept.iter().filter(|g| output_of[g.out() as usize].is_none()).count();
        let first_output = input_bits + inner;
        let mut name: Vec<Wire> = (0..wires).collect();
        let mut next = input_bits as Wire;
        let mut out_gates = Vec::with_capacity(kept.len() + extra.len());
        for gate in kept {
            let old = gate.out() as usize;
            name[old] = match output_of[old] {
                Some(i) => (first_output + i) as Wire,
                None => {
                    next += 1;
                    next - 1
                }
            };
            let n = |w: Wire| name[w as usize];
            out_gates.push(match gate {
                Gate::Xor { a, b, out } => Gate::Xor { a: n(a), b: n(b), out: n(out) },
                Gate::And { a, b, out } => Gate::And { a: n(a), b: n(b), out: n(out) },
                Gate::Inv { a, out } => Gate::Inv { a: n(a), out: n(out) },
                Gate::Const { value, out } => Gate::Const { value, out: n(out) },
                Gate::Copy { a, out } => Gate::Copy { a: n(a), out: n(out) },
            });
        }
        for (i, kind) in extra {
            let out = (first_output + i) as Wire;
            out_gates.push(match kind {
                BitKind::Const(value) => Gate::Const { value, out },
                BitKind::Wire(w) => Gate::Copy { a: name[w as usize], out },
            });
        }
        let widths = outputs.iter().map(Vec::len).collect();
        Circuit::new(inputs, widths, first_output + bits.len(), out_gates)
            .expect("a builder writes every wire before it is read")
    }
}

impl Gates for Builder {
    type W = Bit;
    fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        Builder::xor(self, a, b)
    }
    fn and(&mut self, a: Bit, b: Bit) -> Bit {
        Builder::and(self, a, b)
    }
    fn not(&mut self, a: Bit) -> Bit {
        Builder::not(self, a)
    }
}
