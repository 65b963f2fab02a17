//! Tests of privacy-free half gates: the suite of all schemes, the formulas, and authenticity.

use super::*;
use crate::rig::formulas::{Formula, MadeGate};
use crate::rig::{Rig, circuits, flipped, life, suite, suite_of};
use crate::{Format, GateBackend, Scheme, SessionNonce};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::Program;
use hushwire_prg::Seed;

suite_of!(multi_instance: PrivacyFree, Scheme::PrivacyFree);

/// The formula, with its start point.
struct OneCiphertext(SessionNonce);

type Formulas = crate::rig::formulas::Formulas<OneCiphertext>;

fn hash(public: SessionNonce, gate: u64, x: Block) -> Block {
    let mut h = crate::half::formulas::hash(Scheme::Mi, public, gate.into(), x);
    h.0[0] &= 0xfe;
    h
}

impl Formula for OneCiphertext {
    type Family = PrivacyFree;
    const FORMAT: Format = Format::PRIVACY_FREE;
    const VALUES: bool = true;

    fn new(_: Backend, _: Scheme, public: SessionNonce, _: &Seed) -> Self {
        OneCiphertext(public)
    }

    fn gate(&mut self, number: u64, delta: Block, [a0, b0]: [Block; 2]) -> MadeGate {
        let h = |x| hash(self.0, number, x);
        MadeGate { zero: h(a0), table: (h(a0) ^ h(a0 ^ delta) ^ b0).0.to_vec(), bits: 0 }
    }

    fn tweaks(number: u64) -> Vec<u128> {
        vec![number.into()]
    }
}

#[test]
fn tables_are_those_of_the_formulas_and_no_tweak_serves_twice() {
    suite::same_as_plain_formulas::<PrivacyFree, Formulas>(Scheme::PrivacyFree);
    life::formulas_hold_across_an_epoch::<PrivacyFree, Formulas>(Scheme::PrivacyFree);
}

#[test]
fn numbers_grow_and_seeds_count() {
    life::numbers_grow::<PrivacyFree, Formulas>(Scheme::PrivacyFree);
    life::seeds_and_start_points_count::<PrivacyFree>(Scheme::PrivacyFree);
}

/// The evaluator's view of 14 ANDs: labels, tables and hashes of its labels; and Δ.
fn view(rig: &Rig<Formulas>) -> (Vec<Block>, Block) {
    let (inputs, n) = (6, 14);
    let program = Program::flat("wide", &circuits::wide(inputs, n));
    let values = rig.random_inputs(&program, 1);
    let (garbled, garbler) = rig.garble(&program, 1, &values);
    let mut view: Vec<Block> = garbled.held[..inputs].iter().map(|w| w.block()).collect();
    view.extend(hushwire_block::from_bytes(&garbled.tables));
    for gate in 0..n as u64 {
        // The evaluator may hash any of its labels with this gate's tweak.
        view.extend((0..inputs).map(|i| hash(rig.public(), gate, garbled.held[i].block())));
    }
    view.push(Block::from_u128(1));
    (view, garbler.delta)
}

/// Whether `x` is the sum of some blocks of `all`.
fn in_span(all: &[Block], x: Block) -> bool {
    let mut basis = [0u128; 128];
    let reduce = |basis: &[u128; 128], mut x: u128| {
        while x != 0 && basis[x.ilog2() as usize] != 0 {
            x ^= basis[x.ilog2() as usize];
        }
        x
    };
    for v in all {
        let v = reduce(&basis, v.to_u128());
        if v != 0 {
            basis[v.ilog2() as usize] = v;
        }
    }
    reduce(&basis, x.to_u128()) == 0
}

/// Authenticity, as far as a test can show it: no sum of blocks in the evaluator's view is Δ, and
/// so no sum of its label and those blocks is the other label. A random Δ would be a sum of 105
/// vectors with probability 2^−23. Other attacks are covered by the proof, not by this test.
#[test]
fn no_sum_of_what_the_evaluator_has_is_the_difference_of_labels() {
    for seed in 0..20 {
        let rig = Rig::<Formulas>::new(Backend::best(), Scheme::PrivacyFree, seed);
        let (mut view, delta) = view(&rig);
        assert!(view.len() < 110 && !in_span(&view, delta));
        // With the hash of a label that the evaluator does not hold, Δ is such a sum.
        let active = view[1];
        let gate = 0;
        view.push(hash(rig.public(), gate, view[0]) ^ hash(rig.public(), gate, active ^ delta) ^ delta);
        view.push(hash(rig.public(), gate, view[0]) ^ hash(rig.public(), gate, active ^ delta));
        assert!(in_span(&view, delta));
    }
}

/// A changed table gives the label of the wire's value or no label, never the label of the other
/// value, so that the garbler detects cheating.
#[test]
fn changed_tables_never_give_the_other_label() {
    let program = Program::flat("wide", &circuits::wide(9, 20));
    let rig = Rig::<PrivacyFree>::new(Backend::best(), Scheme::PrivacyFree, 3);
    let inputs = rig.random_inputs(&program, 1);
    let (garbled, garbler) = rig.garble(&program, 1, &inputs);
    let delta = garbler.constants()[1].block() ^ Block::from_u128(1);
    let (mut right, mut neither) = (0, 0);
    for bit in 0..8 * garbled.tables.len() {
        let mut held = garbled.held.clone();
        let mut engine = crate::Engine::new(rig.evaluator());
        let mut tables = crate::Memory::of(flipped(garbled.tables.clone(), bit));
        engine.program(&program, 1, &mut held, &mut tables).expect("whole tables");
        let out = 9 + bit / 128;
        let (zero, value) = (garbled.zeros[out].block(), plain_value(&rig, &program, &inputs, bit / 128));
        let (label, other) = (zero ^ delta.and_bit(value), zero ^ delta.and_bit(!value));
        assert!(held[out].block() != other, "bit {bit}");
        if held[out].block() == label { right += 1 } else { neither += 1 }
    }
    assert!(right > 0 && neither > 0, "both happen: {right} and {neither}");
}

fn plain_value(rig: &Rig<PrivacyFree>, program: &Program, inputs: &[Vec<u8>], k: usize) -> bool {
    rig.run(program, 1, inputs)[0][k / 8] >> (k % 8) & 1 == 1
}
