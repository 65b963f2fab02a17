//! The life of an endpoint: gate numbers grow through all runs, by whatever path, and results
//! depend on seeds and start points.

use super::{
    Rig,
    suite::{PlainFormulas, Recorded, named_program},
};
use crate::{
    Engine, Evaluate, Family, Garble, GateBackend, Memory, Scheme, SessionNonce, Transfer,
    deferred::DynamicBatcher,
};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Circuit, Program, Slot, named};
use hushwire_ot::{Role, SemiHonest, ideal, lockstep};
use hushwire_prg::Seed;
use std::collections::HashSet;

/// The label of an input, the same in every run, so that tables can differ only by the numbers of
/// their gates.
fn active(i: usize) -> Block {
    Block::from_u128(0x0123_4567_89ab_cdef_u128 << 64 | (i as u128) << 8)
}

/// The value of every input. In a scheme without privacy bit 0 of an active label is its value, and
/// it is 0 here.
const VALUE: u8 = 0;

/// The path on which gates reach an endpoint.
enum Path<'a> {
    Program(&'a Program, usize),
    DynamicBatcher(&'a Circuit),
}

impl Path<'_> {
    fn wires(&self) -> usize {
        match self {
            Path::Program(program, instances) => program.input_bits() * instances,
            Path::DynamicBatcher(circuit) => circuit.inputs().iter().sum(),
        }
    }

    /// Runs on an endpoint, and returns it for later runs.
    fn run<E: GateBackend>(&self, end: E, inputs: Vec<E::Wire>, tables: &mut Memory) -> (E, Vec<E::Wire>) {
        let runs = "whole tables";
        match self {
            Path::Program(program, instances) => {
                let mut engine = Engine::new(end);
                let mut registers = inputs;
                registers.resize(program.registers() * instances, E::Wire::default());
                engine.program(program, *instances, &mut registers, tables).expect(runs);
                let outputs = program.output_registers().iter();
                let out = outputs.flat_map(|r| registers[*r as usize * instances..][..*instances].to_vec());
                (engine.into_end(), out.collect())
            }
            Path::DynamicBatcher(circuit) => {
                let mut streamed = DynamicBatcher::new(end, circuit.wires() as u64).with_width(8);
                let out = streamed.run(*circuit, &inputs, tables).expect(runs);
                (streamed.into_end(), out.to_vec())
            }
        }
    }
}

/// Garbles on an endpoint, and returns it for later runs.
fn garble<E: Garble>(mut end: E, path: &Path<'_>) -> (E, Vec<u8>, Vec<E::Wire>) {
    let inputs = (0..path.wires()).map(|i| end.own(active(i), VALUE)).collect();
    let mut tables = Memory::new();
    let (end, out) = path.run(end, inputs, &mut tables);
    (end, tables.bytes().to_vec(), out)
}

/// All paths run twice, on one garbler, one evaluator and one garbler of the formulas.
pub(crate) fn numbers_grow<F: Family, P: PlainFormulas>(scheme: Scheme) {
    let (block, program) = (named_program("add:9"), named_program("sort:5x3"));
    let file = named::make("mul:4").expect("a circuit of ours");
    let paths = [Path::Program(&block, 1), Path::Program(&program, 3), Path::DynamicBatcher(&file)];
    let rig = Rig::<F>::new(Backend::best(), scheme, 21);
    let plain = Rig::<P>::new(Backend::best(), scheme, 21);
    let (mut garbler, mut evaluator, mut formulas) = (rig.garbler(), rig.evaluator(), plain.garbler());
    let (mut first, mut seen) = ([0; 3], HashSet::new());
    assert_eq!(garbler.gates(), 0);
    for round in 0..2 {
        for (k, path) in paths.iter().enumerate() {
            let before = garbler.gates();
            assert_eq!((evaluator.gates(), formulas.gates()), (before, before), "{scheme}: all count alike");
            let (garbled, tables, zeros) = garble(garbler, path);
            let (written, expected, _) = garble(formulas, path);
            (garbler, formulas) = (garbled, written);
            assert!(tables == expected, "{scheme}: round {round}, path {k}: tables are not the formulas'");
            let held = (0..path.wires()).map(|i| evaluator.label(active(i))).collect();
            let (evaluated, held) = path.run(evaluator, held, &mut Memory::of(tables.clone()));
            evaluator = evaluated;
            let numbered = garbler.gates() - before;
            assert!(numbered > 0 && (round == 0 || numbered == first[k]), "{scheme}: numbers go on");
            first[k] = numbered;
            // Sums, products and sorted lists of zeros are zeros.
            let value = |(z, h)| garbler.permute_bit(z) ^ evaluator.signal(h);
            assert!(zeros.into_iter().zip(held).all(|pair| value(pair) == VALUE), "{scheme}: round {round}");
            // A table has at least 128 random bits, and no two tables are equal.
            for block in tables.chunks_exact(16) {
                assert!(
                    seen.insert(block.to_vec()),
                    "{scheme}: round {round}, path {k}: a table came before"
                );
            }
        }
    }
    let tweaks: HashSet<u128> = formulas.tweaks().iter().copied().collect();
    assert_eq!(tweaks.len(), formulas.tweaks().len(), "{scheme}: a tweak serves twice");
}

/// Seeds change Δ and all tables. So do start points, in schemes that have one.
pub(crate) fn seeds_and_start_points_count<F: Family>(scheme: Scheme) {
    let program = named_program("mul:4");
    let path = Path::Program(&program, 1);
    let run = |seed: u8, start: u128| {
        let (seed, public) = (Seed::from_bytes([seed; 16]), SessionNonce(Block::from_u128(start)));
        let garbler = F::Garbler::new(Backend::best(), scheme, public, &seed, None);
        let (garbler, tables, _) = garble(garbler, &path);
        (tables, garbler)
    };
    let blocks = |tables: &[u8]| tables.chunks_exact(16).map(<[u8]>::to_vec).collect::<HashSet<_>>();
    let (first, _) = run(1, 5);
    assert!(run(1, 5).0 == first, "{scheme}: nothing but seed and start point counts");
    for seed in 2..8 {
        assert!(blocks(&first).is_disjoint(&blocks(&run(seed, 5).0)), "{scheme}: seed {seed}");
    }
    let has_start = !matches!(scheme, Scheme::Circ | Scheme::Prf);
    for bit in [0, 1, 63, 64, 127] {
        let other = run(1, 5 ^ 1 << bit).0;
        if has_start {
            assert!(blocks(&first).is_disjoint(&blocks(&other)), "{scheme}: bit {bit} of the start point");
        } else {
            assert!(first == other, "{scheme} has no start point");
        }
    }
}

/// SECURITY: the gate number at which a fixed key of `prp` ends; it does not matter in other
/// schemes.
const EPOCH: u64 = 1 << 20;
/// The number of gates in a call.
const CALL: usize = 4096;

/// Gates on both sides of number 2^20 must match the formulas. The endpoints make all earlier
/// gates, while the formulas skip them.
pub(crate) fn formulas_hold_across_an_epoch<F: Family, P: PlainFormulas>(scheme: Scheme) {
    let (rig, plain) =
        (Rig::<F>::new(Backend::best(), scheme, 22), Rig::<P>::new(Backend::best(), scheme, 22));
    let (mut garbler, mut evaluator, mut formulas) = (rig.garbler(), rig.evaluator(), plain.garbler());
    let bit = |i: usize| (i / 2 % 2) as u8 * u8::from(scheme != Scheme::PrivacyFree);
    let zeros: Vec<_> = (0..8).map(|i| garbler.own(active(i), bit(i))).collect();
    let written: Vec<_> = (0..8).map(|i| formulas.own(active(i), bit(i))).collect();
    let held: Vec<_> = (0..8).map(|i| evaluator.label(active(i))).collect();
    let format = scheme.format();
    let room = |n: usize| (vec![0; n * format.and_bytes], vec![0; if format.and_bits > 0 { n } else { 0 }]);
    let pairs: Vec<[Slot; 2]> = (0..CALL as Slot).map(|k| [k % 8, k / 8 % 8]).collect();
    let (mut bytes, mut bits) = room(CALL);
    let mut made = vec![<F::Garbler as GateBackend>::Wire::default(); pairs.len()];
    let mut observed = vec![<F::Evaluator as GateBackend>::Wire::default(); pairs.len()];
    let mut left = EPOCH as usize - 5;
    while left > 0 {
        let n = left.min(CALL);
        left -= n;
        let bits = &mut bits[..if format.and_bits > 0 { n } else { 0 }];
        let bytes = &mut bytes[..n * format.and_bytes];
        garbler.ands(&zeros, &pairs[..n], &mut made[..n], bytes, bits);
        evaluator.ands(&held, &pairs[..n], &mut observed[..n], bytes, bits);
    }
    formulas.skip(EPOCH - 5);
    let n = 64;
    let (mut bytes, mut bits) = room(n);
    let (mut expected, mut expected_bits) = room(n);
    garbler.ands(&zeros, &pairs[..n], &mut made[..n], &mut bytes, &mut bits);
    let mut out = vec![<P::Garbler as GateBackend>::Wire::default(); n];
    formulas.ands(&written, &pairs[..n], &mut out, &mut expected, &mut expected_bits);
    assert!(bytes == expected, "{scheme}: tables are not the formulas'");
    let mask = ((1u32 << format.and_bits) - 1) as u8;
    assert!(bits.iter().zip(&expected_bits).all(|(x, y)| (x ^ y) & mask == 0), "{scheme}: bits of tables");
    evaluator.ands(&held, &pairs[..n], &mut observed[..n], &mut bytes, &mut bits);
    for (k, [a, b]) in pairs[..n].iter().enumerate() {
        let product = bit(*a as usize) & bit(*b as usize);
        let found = garbler.permute_bit(made[k]) ^ evaluator.signal(observed[k]);
        assert_eq!(found, product, "{scheme}: gate {k}");
    }
    assert_eq!((garbler.gates(), evaluator.gates()), (EPOCH + 59, EPOCH + 59));
}

/// The evaluator's inputs come through ideal OTs, and its wires must have the values of its
/// choices.
pub(crate) fn inputs_come_by_ideal_ots<F: Family>(scheme: Scheme) {
    type TransferOf<F> = <<F as Family>::Garbler as Garble>::Transfer;
    let (mut sender, mut receiver) = ideal::ends::<SemiHonest>(Role::Receiver, 50);
    let rig = Rig::<F>::new(Backend::best(), scheme, 23);
    let (delta, public) = (TransferOf::<F>::delta(&sender), rig.public());
    let mut garbler = F::Garbler::new(Backend::best(), scheme, public, &rig.seed, delta);
    let evaluator = rig.evaluator();
    let choices: Vec<u8> = (0..25).map(|i| (i * 37) as u8).collect();
    let (mut sent, mut received) = (vec![Default::default(); 200], vec![Block::ZERO; 200]);
    let mut send = sender.extend(TransferOf::<F>::send(&mut sent));
    let take = <<F::Evaluator as Evaluate>::Transfer as Transfer>::receive(&choices, &mut received);
    let mut receive = receiver.extend(take);
    lockstep(&mut send, &mut receive).expect("an honest dealer");
    send.finish().trust();
    receive.finish().trust();
    for (i, (sent, block)) in sent.into_iter().zip(received).enumerate() {
        let choice = choices[i / 8] >> (i % 8) & 1;
        let (zero, held) = (garbler.theirs(sent), evaluator.own(block, choice));
        assert_eq!(garbler.permute_bit(zero) ^ evaluator.signal(held), choice, "{scheme}: input {i}");
    }
}
