//! Tests of dynamic batching: every width and tier gives the same tables, and the outputs are those
//! of plain evaluation.

use super::*;
use crate::{
    Batches, Evaluate, Family, Garble, GarbleError, GateBackend, Memory, Scheme,
    half::HalfGates,
    prf::PrfOnly,
    privacy_free::PrivacyFree,
    rig::{
        Rig,
        circuits::{of_gates, wide},
    },
    three_halves::ThreeHalves,
};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Circuit, Gate, Gates, Program, bristol, eval, named};
use hushwire_prg::{Prg, Seed};
use proptest::prelude::*;

const WIDTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The results of one garbled run.
struct Shown {
    tables: Vec<u8>,
    /// The signals of truth value 0 of the outputs.
    permute_bits: Vec<u8>,
    outputs: Vec<bool>,
    batches: [Batches; 2],
}

fn bits(n: usize, seed: u8) -> Vec<bool> {
    let mut bytes = vec![0; n];
    Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "bits").fill(&mut bytes);
    bytes.iter().map(|b| b & 1 == 1).collect()
}

/// Garbles, lets `change` edit the tables, and evaluates. The two widths are the garbler's and the
/// evaluator's.
fn stream<F: Family>(
    rig: &Rig<F>,
    gates: &dyn Gates,
    inputs: &[bool],
    change: impl FnOnce(&mut Vec<u8>),
) -> Result<Shown, GarbleError> {
    let (mut garbler, evaluator) = (rig.garbler(), rig.evaluator());
    let mut prg = Prg::new(Backend::best(), &rig.seed, "labels");
    let (mut zeros, mut held) = (vec![], vec![]);
    for bit in inputs {
        let mut label: Block = prg.next_block();
        if rig.scheme == Scheme::PrivacyFree {
            label.0[0] = label.0[0] & 0xfe | u8::from(*bit);
        }
        zeros.push(garbler.own(label, u8::from(*bit)));
        held.push(evaluator.label(label));
    }
    let mut garble = DynamicBatcher::new(garbler, gates.wires()).with_width(rig.widths[0]);
    let mut memory = Memory::new();
    let zeros = garble.run(gates, &zeros, &mut memory)?;
    let mut tables = memory.bytes().to_vec();
    assert_eq!(tables.len() as u64, table_bytes::<F::Garbler>(gates)?, "declared bytes");
    let before = tables.clone();
    change(&mut tables);
    let mut evaluate = DynamicBatcher::new(evaluator, gates.wires()).with_width(rig.widths[1]);
    let held = evaluate.run(gates, &held, &mut Memory::of(tables))?;
    let batches = [garble.batches(), evaluate.batches()];
    let (garbler, evaluator) = (garble.into_end(), evaluate.into_end());
    assert_eq!(garbler.gates(), evaluator.gates(), "both ends number gates alike");
    let permute_bits: Vec<u8> = zeros.iter().map(|w| garbler.permute_bit(*w)).collect();
    let signals = held.iter().map(|w| evaluator.signal(*w));
    let outputs = signals.zip(&permute_bits).map(|(s, p)| s ^ p == 1).collect();
    Ok(Shown { tables: before, permute_bits, outputs, batches })
}

fn rig<F: Family>(scheme: Scheme, seed: u8, widths: [usize; 2]) -> Rig<F> {
    let mut rig = Rig::new(Backend::best(), scheme, seed);
    rig.widths = widths;
    rig
}

/// Plain evaluation in file order.
fn plain(circuit: &Circuit, inputs: &[bool]) -> Vec<bool> {
    let mut at = 0;
    let split = circuit.inputs().iter().map(|width| {
        at += width;
        inputs[at - width..at].to_vec()
    });
    eval::eval_gates(circuit, &split.collect::<Vec<_>>()).expect("inputs fit").concat()
}

fn check<F: Family>(rig: &Rig<F>, circuit: &Circuit, seed: u8) -> Shown {
    let inputs = bits(circuit.inputs().iter().sum(), seed);
    let shown = stream(rig, circuit, &inputs, |_| {}).expect("whole tables");
    assert!(shown.outputs == plain(circuit, &inputs), "{rig:?}");
    shown
}

fn made(name: &str) -> Circuit {
    named::make(name).expect("a circuit of ours")
}

/// The tests of every scheme.
fn suite<F: Family>(scheme: Scheme) {
    for (k, name) in ["aes128", "add:16", "less:32", "mul:8", "sort:4x5"].iter().enumerate() {
        check(&rig::<F>(scheme, 1, [WIDTHS[k], WIDTHS[5 - k]]), &made(name), k as u8);
    }
    // Every width and tier, at either endpoint.
    for circuit in [made("mul:6"), wide(40, 100)] {
        let whole = check(&rig::<F>(scheme, 2, [1, 1]), &circuit, 2);
        for backend in Backend::all().into_iter().flat_map(|b| [b, b.unbatched()]) {
            for (k, width) in WIDTHS.into_iter().enumerate() {
                let mut rig = rig::<F>(scheme, 2, [width, WIDTHS[5 - k]]);
                rig.backends = if k % 2 == 0 { [backend; 2] } else { [backend, Backend::best()] };
                let shown = check(&rig, &circuit, 2);
                assert!(shown.tables == whole.tables, "{rig:?}: tables");
                assert!(shown.permute_bits == whole.permute_bits, "{rig:?}: permute bits");
            }
        }
    }
    // Tables that end early.
    let circuit = made("add:4");
    for left in [0, 1] {
        let cut = stream(&rig::<F>(scheme, 3, [4, 4]), &circuit, &bits(8, 3), |tables| {
            tables.truncate(left * (tables.len() - 1));
        });
        assert!(matches!(cut, Err(GarbleError::Short { .. })), "{scheme}");
    }
    random(&|circuit, seed, widths| drop(check(&rig::<F>(scheme, seed, widths), circuit, seed)));
}

/// Circuits of all kinds of gates: equal operands, constants, chains of NOT and copies, unused
/// wires.
fn random(check: &dyn Fn(&Circuit, u8, [usize; 2])) {
    let gates = proptest::collection::vec((0..7u8, 0..1usize << 20, 0..1usize << 20), 0..80);
    let all = (proptest::collection::vec(0..7usize, 1..4), gates, 0..12usize, 0..36usize, any::<u8>());
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let result = runner.run(&all, |(inputs, gates, outputs, widths, seed)| {
        check(&of_gates(inputs, &gates, outputs), seed, [WIDTHS[widths % 6], WIDTHS[widths / 6]]);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn half_gates() {
    [Scheme::Prp, Scheme::Mi, Scheme::Mi4, Scheme::Circ].into_iter().for_each(suite::<HalfGates>);
}

#[test]
fn prf() {
    suite::<PrfOnly>(Scheme::Prf);
}

#[test]
fn three_halves() {
    suite::<ThreeHalves>(Scheme::ThreeHalves);
}

#[test]
fn privacy_free() {
    suite::<PrivacyFree>(Scheme::PrivacyFree);
}

/// The same gates, in the order of layers.
fn by_depth(circuit: &Circuit) -> Circuit {
    Program::flat("by depth", circuit).to_circuit().expect("a small circuit")
}

/// Our circuits, and the published ones if the checkout has them.
fn written_down() -> Vec<(String, Circuit)> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits");
    let mut all: Vec<_> = ["aes128", "sha256"].map(|name| (name.to_owned(), made(name))).into();
    for name in ["aes_128.txt", "sha256.txt"] {
        match std::fs::read(dir.join(name)) {
            Ok(bytes) => all.push((name.to_owned(), bristol::read(&bytes[..]).expect("a Bristol file").0)),
            Err(e) => println!("skipped {name}: {e}; the published files are not part of this repository"),
        }
    }
    all
}

#[test]
fn depth_order_fills_batches_and_file_order_does_not() {
    for (name, file) in written_down() {
        let depth = by_depth(&file);
        let mean = |circuit: &Circuit| {
            let [garble, evaluate] = check(&rig::<HalfGates>(Scheme::Prp, 5, [16, 16]), circuit, 5).batches;
            assert_eq!(garble, evaluate, "batches depend on gates and width alone");
            assert_eq!(garble.gates, circuit.counts().and);
            garble.mean()
        };
        let (file, depth) = (mean(&file), mean(&depth));
        println!("{name}: {file:.2} gates a batch in file order, {depth:.2} in depth order");
        assert!(1.0 <= file && 2.0 * file < depth && depth <= 16.0, "{name}: {file} {depth}");
    }
}

#[test]
fn gates_wait_until_they_are_referred_to() {
    let rig = rig::<HalfGates>(Scheme::Mi, 6, [4, 4]);
    let mut garbler = rig.garbler();
    let labels: Vec<_> = (1..5).map(|i| garbler.own(Block([i; 16]), 0)).collect();
    let mut streamed = DynamicBatcher::new(garbler, 20).with_width(4);
    let tables = &mut Memory::new();
    for (wire, label) in labels.iter().enumerate() {
        streamed.set(wire as u32, *label);
    }
    let mut run = |gate, calls, gates| {
        streamed.gate(gate, tables).expect("memory grows");
        assert_eq!(streamed.batches(), Batches { calls, gates }, "{gate:?}");
        assert_eq!(tables.bytes().len() as u64, 32 * gates);
    };
    run(Gate::And { a: 0, b: 1, out: 4 }, 0, 0);
    run(Gate::And { a: 2, b: 3, out: 5 }, 0, 0);
    run(Gate::Xor { a: 0, b: 3, out: 6 }, 0, 0);
    run(Gate::Copy { a: 5, out: 7 }, 0, 0);
    run(Gate::Const { value: true, out: 8 }, 0, 0);
    // A copy of a wire that waits.
    run(Gate::Inv { a: 7, out: 9 }, 1, 2);
    run(Gate::And { a: 9, b: 8, out: 10 }, 1, 2);
    run(Gate::And { a: 10, b: 8, out: 11 }, 2, 3);
    // Three more ANDs fill the queue.
    run(Gate::And { a: 0, b: 1, out: 12 }, 2, 3);
    run(Gate::And { a: 0, b: 2, out: 13 }, 2, 3);
    run(Gate::And { a: 0, b: 0, out: 14 }, 3, 7);
    run(Gate::And { a: 4, b: 14, out: 15 }, 3, 7);
    let waited = streamed.get(15, tables).expect("memory grows");
    assert_eq!(streamed.batches(), Batches { calls: 4, gates: 8 });
    let again = streamed.get(15, tables).expect("memory grows");
    assert!(waited.block() == again.block() && waited.block() != Block::ZERO);
}

#[test]
fn circuits_follow_each_other() {
    let (first, second) =
        (made("add:5"), of_gates(vec![10], &[(1, 3, 4), (6, 0, 0), (5, 2, 2), (0, 1, 4)], 4));
    let rig = rig::<HalfGates>(Scheme::Mi, 7, [8, 8]);
    let mut garbler = rig.garbler();
    let zeros: Vec<_> = (0..10).map(|i| garbler.own(Block([i; 16]), 0)).collect();
    let mut garble = DynamicBatcher::new(garbler, first.counts().total().max(second.counts().total()) + 10);
    let mut evaluate =
        DynamicBatcher::new(rig.evaluator(), first.counts().total().max(second.counts().total()) + 10);
    let held: Vec<_> = (0..10).map(|i| evaluate.end().label(Block([i; 16]))).collect();
    let (mut out, mut tables) = (Memory::new(), vec![]);
    for circuit in [&first, &second, &first] {
        let zero = garble.run(circuit, &zeros, &mut out).expect("memory grows");
        tables.push((zero, out.bytes().to_vec()));
        out = Memory::new();
    }
    for (circuit, (zero, tables)) in [&first, &second, &first].into_iter().zip(tables) {
        let held = evaluate.run(circuit, &held, &mut Memory::of(tables)).expect("whole tables");
        let outputs: Vec<bool> = zero
            .iter()
            .zip(held.iter())
            .map(|(z, h)| garble.end().permute_bit(*z) ^ evaluate.end().signal(*h) == 1)
            .collect();
        assert_eq!(outputs, plain(circuit, &[false; 10]));
    }
}
