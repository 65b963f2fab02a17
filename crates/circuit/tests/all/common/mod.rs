//! Helpers of several tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

use hushwire_circuit::{Circuit, Gate, Program, eval};

/// Bits of a number, the lowest first.
pub(crate) fn bits(value: u128, width: usize) -> Vec<bool> {
    (0..width).map(|i| i < 128 && value >> i & 1 == 1).collect()
}

/// The number of the bits, the lowest first.
pub(crate) fn number(bits: &[bool]) -> u128 {
    bits.iter().rev().fold(0, |n, b| n << 1 | u128::from(*b))
}

/// Runs a circuit with both evaluators, which must agree.
pub(crate) fn run(circuit: &Circuit, inputs: &[Vec<bool>]) -> Vec<Vec<bool>> {
    let outputs = eval::eval_gates(circuit, inputs).unwrap();
    let program = Program::flat("test", circuit);
    assert_eq!(eval::eval_bits(&program, inputs).unwrap(), outputs, "the evaluators agree");
    outputs
}

/// Runs a program, and the circuit that its file holds. Returns the first output.
pub(crate) fn run_both(program: &Program, inputs: &[Vec<bool>]) -> Vec<bool> {
    let outputs = eval::eval_bits(program, inputs).unwrap();
    let circuit = program.to_circuit().unwrap();
    assert_eq!(eval::eval_gates(&circuit, inputs).unwrap(), outputs, "stages and gates agree");
    outputs.into_iter().next().unwrap()
}

/// Values of `width` bits as one bit string, value 0 first.
pub(crate) fn join(values: &[u64], width: usize) -> Vec<bool> {
    values.iter().flat_map(|v| (0..width).map(move |i| v >> i & 1 == 1)).collect()
}

/// The values of `width` bits of a bit string.
pub(crate) fn split(bits: &[bool], width: usize) -> Vec<u64> {
    bits.chunks(width).map(|bits| number(bits) as u64).collect()
}

pub(crate) fn sorted(mut values: Vec<u64>) -> Vec<u64> {
    values.sort_unstable();
    values
}

/// A small generator of numbers that are determined by a seed (splitmix64).
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn bits(&mut self, n: usize) -> Vec<bool> {
        (0..n).map(|_| self.next() & 1 == 1).collect()
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// A circuit with every kind of gate: equal operands, constants, copies of copies, wires that
/// nothing reads.
pub(crate) fn random_circuit(seed: u64, gates: usize, kinds: usize) -> Circuit {
    let mut rng = Rng(seed);
    let inputs: Vec<usize> = (0..1 + rng.below(3)).map(|_| rng.below(9)).collect();
    let bits: usize = inputs.iter().sum();
    let mut list = vec![];
    for out in bits as u32..(bits + gates) as u32 {
        // Operands near the end make deep circuits.
        let mut any = || {
            let near = (out as usize).min(if rng.below(2) == 0 { 6 } else { usize::MAX });
            out - 1 - rng.below(near) as u32
        };
        let (a, b) = if out == 0 { (0, 0) } else { (any(), any()) };
        let kind = if out == 0 { 4 } else { rng.below(kinds) };
        list.push(match kind {
            0 => Gate::Xor { a, b, out },
            1 => Gate::And { a, b, out },
            2 => Gate::Inv { a, out },
            3 => Gate::Copy { a, out },
            _ => Gate::Const { value: rng.below(2) == 0, out },
        });
    }
    let mut left = gates;
    let outputs = (0..1 + rng.below(3)).map(|_| {
        let width = rng.below(left + 1).min(12);
        left -= width;
        width
    });
    let outputs = outputs.collect();
    Circuit::new(inputs, outputs, bits + gates, list).unwrap()
}
