//! Any circuit on shares, compared with plain evaluation: few and many instances, stages, every
//! tier; pinned traces.

use hushwire_aes::Backend;
use hushwire_circuit::{Bit, Builder, Circuit, Gate, Layered, Planes, Program, Stage, planes::plane_bytes};
use hushwire_machine::drive::Machine;
use hushwire_rep3::{
    CircuitBatch, CircuitWorkspace, ShareError, Shares, circuit_cost, open, share, test_support::context,
};
use hushwire_testkit::{backends, lockstep, noise, picked_circuit, prg, world};
use proptest::prelude::*;
use std::sync::Arc;

/// Evaluates gate by gate, on planes, independently of layers, slots and stages.
fn plain(circuit: &Circuit, inputs: &[u8], plane: usize) -> Vec<u8> {
    let mut wires = vec![vec![0u8; plane]; circuit.wires()];
    for (wire, bits) in wires.iter_mut().zip(inputs.chunks_exact(plane)) {
        wire.copy_from_slice(bits);
    }
    for gate in circuit.gates() {
        let value: Vec<u8> = match *gate {
            Gate::Xor { a, b, .. } => zip(&wires, a, b, |a, b| a ^ b),
            Gate::And { a, b, .. } => zip(&wires, a, b, |a, b| a & b),
            Gate::Inv { a, .. } => zip(&wires, a, a, |a, _| !a),
            Gate::Copy { a, .. } => wires[a as usize].clone(),
            Gate::Const { value, .. } => vec![if value { 0xff } else { 0 }; plane],
        };
        wires[gate.out() as usize] = value;
    }
    wires[circuit.first_output()..].concat()
}

fn zip(wires: &[Vec<u8>], a: u32, b: u32, f: impl Fn(u8, u8) -> u8) -> Vec<u8> {
    wires[a as usize].iter().zip(&wires[b as usize]).map(|(a, b)| f(*a, *b)).collect()
}

/// Clears the bits past the last instance of every plane.
fn trimmed(planes: Vec<u8>, instances: usize) -> Vec<u8> {
    Planes::new(planes.len() / plane_bytes(instances), instances, planes).unwrap().trimmed().to_vec()
}

fn batches(backend: Backend, program: &Arc<Program>, inputs: &[u8], instances: usize) -> [CircuitBatch; 3] {
    let (w, shares) = (world(3, backend), share(&mut prg(4, "inputs"), inputs));
    [0, 1, 2].map(|i| {
        let ws = CircuitWorkspace::default();
        CircuitBatch::new(program.clone(), context(&w[i], 1, 2), &shares[i], instances, ws).unwrap()
    })
}

fn run(backend: Backend, program: &Arc<Program>, inputs: &[u8], instances: usize) -> Vec<u8> {
    let parties = batches(backend, program, inputs, instances);
    assert_eq!(parties[0].cost(), Some(circuit_cost(program, instances)));
    let done = lockstep(parties);
    let out = done.each_ref().map(CircuitBatch::output);
    for i in 0..3 {
        assert!(out[i].next == out[(i + 1) % 3].own, "party {i} holds a foreign share");
    }
    trimmed(open([&out[0].own, &out[1].own, &out[2].own]).unwrap(), instances)
}

fn inputs_of(program: &Program, instances: usize) -> Vec<u8> {
    trimmed(noise(instances as u64, program.input_bits() * plane_bytes(instances)), instances)
}

fn check(backend: Backend, circuit: &Circuit, instances: usize) {
    let program = Arc::new(Program::flat("test", circuit));
    let inputs = inputs_of(&program, instances);
    let want = trimmed(plain(circuit, &inputs, plane_bytes(instances)), instances);
    assert!(run(backend, &program, &inputs, instances) == want, "{instances} instances on {backend:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn random_circuits_of_any_batch(
        picks in prop::collection::vec(any::<(u8, u32, u32)>(), 1..120),
        widths in (1usize..6, 0usize..5),
        outputs in 1usize..20,
        instances in prop::sample::select(vec![1usize, 2, 3, 7, 8, 9, 64, 100, 511, 512, 513, 2048, 2100]),
    ) {
        let circuit = picked_circuit([widths.0, widths.1], &picks, outputs);
        check(Backend::best(), &circuit, instances);
    }
}

/// The circuit of `a + b` modulo 2^width, with one AND per bit.
fn adder(width: usize) -> Circuit {
    let mut g = Builder::new();
    let (a, b) = (g.input(width), g.input(width));
    let mut carry = Bit::ZERO;
    let mut sum = vec![];
    for (a, b) in a.into_iter().zip(b) {
        let (ac, bc) = (g.xor(a, carry), g.xor(b, carry));
        sum.push(g.xor(ac, b));
        let t = g.and(ac, bc);
        carry = g.xor(t, carry);
    }
    g.finish(&[sum])
}

#[test]
fn an_adder_on_every_capability() {
    let circuit = adder(24);
    for backend in backends() {
        for instances in [1, 5, 8, 130, 512, 2048, 4000] {
            check(backend, &circuit, instances);
        }
    }
}

/// A program that adds `2^stages` numbers pairwise: each stage runs the adder on half as many
/// operands, all at once.
fn tree(width: usize, stages: u32) -> Program {
    let block = Arc::new(Layered::new(&adder(width)));
    let w = width as u32;
    let registers = |number: u32| number * w..(number + 1) * w;
    let stage = |k: u32| {
        let copies = 1u32 << (stages - 1 - k);
        let pairs = (0..copies).flat_map(|c| registers((2 * c) << k).chain(registers((2 * c + 1) << k)));
        let sums = (0..copies).flat_map(|c| registers((2 * c) << k));
        Stage {
            block: block.clone(),
            copies: copies as usize,
            reads: pairs.collect(),
            writes: sums.collect(),
        }
    };
    let numbers = 1usize << stages;
    Program::new(
        "tree",
        vec![width; numbers],
        vec![width],
        width * numbers,
        registers(0).collect(),
        Arc::new((0..stages).map(stage).collect::<Vec<_>>()),
    )
}

#[test]
fn stages_run_copies_side_by_side() {
    let program = Arc::new(tree(16, 4));
    assert_eq!((program.ands(), program.depth()), (15 * 15, 4 * 15));
    for backend in [Backend::best(), Backend::named("portable").unwrap()] {
        for instances in [1, 3, 7, 8, 70, 600] {
            let plane = plane_bytes(instances);
            let inputs = inputs_of(&program, instances);
            let out = run(backend, &program, &inputs, instances);
            let number = |planes: &[u8], at: usize, j: usize| -> u16 {
                (0..16).map(|i| u16::from(planes[(at * 16 + i) * plane + j / 8] >> (j % 8) & 1) << i).sum()
            };
            for j in 0..instances {
                let want = (0..16).fold(0u16, |sum, at| sum.wrapping_add(number(&inputs, at, j)));
                assert_eq!(number(&out, 0, j), want, "instance {j} of {instances}");
            }
        }
    }
}

#[test]
fn programs_without_ands_need_no_message() {
    let mut g = Builder::new();
    let a = g.input(3);
    let (x, n) = (g.xor(a[0], a[1]), g.not(a[2]));
    check(Backend::best(), &g.finish(&[vec![x, n, a[0], Bit::ONE]]), 11);
}

#[test]
fn one_bit_an_and_is_sent() {
    let program = Program::flat("adder", &adder(64));
    for (instances, bytes) in [(1, 63), (8, 63), (512, 63 * 64), (4096, 63 * 512)] {
        let cost = circuit_cost(&program, instances);
        assert_eq!((cost.rounds, cost.bytes_sent), (63, bytes), "{instances} instances");
    }
    let mut g = Builder::new();
    let (a, b) = (g.input(64), g.input(64));
    let out = a.into_iter().zip(b).map(|(a, b)| g.and(a, b)).collect();
    let cost = circuit_cost(&Program::flat("wide", &g.finish(&[out])), 3);
    assert_eq!((cost.rounds, cost.bytes_sent), (1, 3 * 64 / 8));
}

#[test]
fn shares_of_wrong_lengths_are_refused() {
    let (w, program) = (world(1, Backend::best()), Arc::new(Program::flat("adder", &adder(8))));
    let short = Shares { own: vec![0; 31], next: vec![0; 32] };
    let ws = CircuitWorkspace::default();
    let refused = CircuitBatch::new(program, context(&w[0], 0, 0), &short, 9, ws);
    assert!(matches!(refused.err(), Some(ShareError::Length { expected: 32, found: 31, .. })));
}
