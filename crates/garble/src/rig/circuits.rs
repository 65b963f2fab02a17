//! Circuits that have no name.

use hushwire_circuit::{Circuit, Gate, Wire};

/// `n` independent ANDs on pairs of `inputs` wires, all of them outputs.
pub(crate) fn wide(inputs: usize, n: usize) -> Circuit {
    let gate = |k: usize| {
        let (a, b) = (k * 37 % inputs, (k * 101 + k / inputs + 1) % inputs);
        Gate::And { a: a as Wire, b: b as Wire, out: (inputs + k) as Wire }
    };
    Circuit::new(vec![inputs], vec![n], inputs + n, (0..n).map(gate).collect()).expect("a circuit")
}

/// A circuit with a gate for every triple: its kind, and two numbers that choose operands among the
/// wires before it. `outputs` of the wires are outputs; inputs can be among them, through copies.
pub(crate) fn of_gates(inputs: Vec<usize>, gates: &[(u8, usize, usize)], outputs: usize) -> Circuit {
    let bits: usize = inputs.iter().sum();
    let mut list: Vec<Gate> = vec![];
    for (kind, a, b) in gates {
        let out = (bits + list.len()) as Wire;
        // Every second operand is a late wire, which makes circuits deep.
        let any = |x: usize| {
            let near = if x.is_multiple_of(2) { 5 } else { usize::MAX };
            out.checked_sub(1 + (x / 2 % (out as usize).clamp(1, near)) as Wire)
        };
        let (Some(a), Some(b)) = (any(*a), any(*b)) else {
            list.push(Gate::Const { value: *kind < 3, out });
            continue;
        };
        list.push(match kind {
            0 => Gate::Xor { a, b, out },
            1 | 2 => Gate::And { a, b, out },
            3 => Gate::And { a, b: a, out },
            4 => Gate::Inv { a, out },
            5 => Gate::Copy { a, out },
            _ => Gate::Const { value: b % 2 == 0, out },
        });
    }
    let wires = bits + list.len();
    let outputs = if wires == 0 { 0 } else { outputs };
    for k in 0..outputs {
        list.push(Gate::Copy { a: (k * 31 % wires) as Wire, out: (wires + k) as Wire });
    }
    Circuit::new(inputs, vec![outputs], wires + outputs, list).expect("wires are written once and in order")
}
