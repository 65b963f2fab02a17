//! Random circuits.

use hushwire_circuit::{Bit, Builder, Circuit, Gate, Program};
use hushwire_prg::Prg;

/// A circuit of random gates on inputs of random widths: equal operands, constants, NOTs, outputs
/// that are inputs.
#[must_use]
pub fn random_program(prg: &mut Prg) -> Program {
    let mut below = |n: usize| (prg.next_u64() % n as u64) as usize;
    let mut builder = Builder::new();
    let mut wires = vec![Bit::ZERO, Bit::ONE];
    for _ in 0..1 + below(4) {
        wires.extend(builder.input(below(9)));
    }
    for _ in 0..below(80) {
        let (a, b) = (wires[below(wires.len())], wires[below(wires.len())]);
        wires.push(match below(4) {
            0 => builder.xor(a, b),
            1 => builder.not(a),
            _ => builder.and(a, b),
        });
    }
    let outputs: Vec<Vec<Bit>> =
        (0..1 + below(4)).map(|_| (0..below(9)).map(|_| wires[below(wires.len())]).collect()).collect();
    Program::flat("random", &builder.finish(&outputs))
}

/// A circuit from random choices of gates: equal operands, constants, copies, chains of NOTs and
/// unused wires all occur.
///
/// # Panics
/// If both inputs are empty.
#[must_use]
pub fn picked_circuit(inputs: [usize; 2], picks: &[(u8, u32, u32)], outputs: usize) -> Circuit {
    let mut wires = (inputs[0] + inputs[1]) as u32;
    let mut gates = vec![];
    for &(kind, a, b) in picks {
        let (a, b, out) = (a % wires, b % wires, wires);
        gates.push(match kind % 8 {
            0..=2 => Gate::And { a, b, out },
            3 | 4 => Gate::Xor { a, b, out },
            5 => Gate::Inv { a, out },
            6 => Gate::Copy { a, out },
            _ => Gate::Const { value: b % 2 == 1, out },
        });
        wires += 1;
    }
    let outputs = vec![outputs.min(picks.len())];
    Circuit::new(inputs.to_vec(), outputs, wires as usize, gates).expect("a circuit")
}
