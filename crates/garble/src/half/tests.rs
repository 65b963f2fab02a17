use super::formulas::{self, Formulas};
use super::*;
use crate::rig::{Rig, flipped, life, suite, suite_of};
use crate::{End, Public, Scheme};
use hushwire_aes::Backend;
use hushwire_block::Block;

const SCHEMES: [Scheme; 3] = [Scheme::Prp, Scheme::Mi, Scheme::Circ];

suite_of!(prp: HalfGates, Scheme::Prp, pinned "d24f334c7c272a52360e2c40f450deec");
suite_of!(mi: HalfGates, Scheme::Mi, pinned "35df14923d71f2701db84534740f1b41");
suite_of!(circ: HalfGates, Scheme::Circ, pinned "7efd28bb929f4bdcf2a835454feaf1a1");

#[test]
fn tables_are_those_of_the_formulas_and_no_tweak_serves_twice() {
    for scheme in SCHEMES {
        suite::same_as_plain_formulas::<HalfGates, Formulas>(scheme);
        life::formulas_hold_across_an_epoch::<HalfGates, Formulas>(scheme);
    }
}

#[test]
fn numbers_grow_and_seeds_count() {
    for scheme in SCHEMES {
        life::numbers_grow::<HalfGates, Formulas>(scheme);
        life::seeds_and_start_points_count::<HalfGates>(scheme);
    }
}

#[test]
fn a_changed_table_is_no_error() {
    // Who garbles is trusted to do it right.
    let program = suite::named_program("less:8");
    let rig = Rig::<HalfGates>::new(Backend::best(), Scheme::Mi, 3);
    let inputs = rig.random_inputs(&program, 1);
    for bit in 0..256 {
        let changed = rig.run_through(&program, 1, &inputs, |t| flipped(t, bit)).expect("whole tables");
        assert_eq!(changed.outputs.len(), 1);
    }
}

#[test]
fn the_hash_has_sigma_and_a_tweak() {
    // Without σ, labels whose difference is that of two keys or tweaks would collide; of CIRC the label is the key.
    let public = Public(Block([9; 16]));
    let x = Block(std::array::from_fn(|i| i as u8 * 17));
    for scheme in SCHEMES {
        let h = |i, x| formulas::hash(scheme, public, i, x);
        assert!(h(4, x) != h(5, x), "{scheme}: the tweak counts");
        if scheme == Scheme::Prp {
            let i = Block::from_u128(4 ^ 5);
            assert!(h(4, x) != h(5, x ^ i), "the tweak does not cancel against a label");
        }
    }
}

#[test]
fn fixed_keys_end_after_two_to_the_twenty_gates() {
    // Eight gates around the end of a key, under every tier; the ends agree, and with the formulas.
    let first = hash::GATES_PER_KEY - 4;
    let labels: Vec<_> = (1..=16u8).map(|i| crate::end::Zero::new(Block([i; 16]))).collect();
    let pairs: Vec<[Slot; 2]> = (0..8).map(|i| [i, i + 8]).collect();
    let mut expected = [0; 256];
    let mut garbler = Rig::<Formulas>::new(Backend::best(), Scheme::Prp, 9).garbler();
    garbler.start_at(first);
    let mut out = [crate::end::Zero::default(); 8];
    garbler.ands(&labels, &pairs, &mut out, &mut expected, &mut []);
    for backend in Backend::all().into_iter().flat_map(|b| [b, b.unbatched()]) {
        let rig = Rig::<HalfGates>::new(backend, Scheme::Prp, 9);
        let mut garbler = rig.garbler();
        garbler.start_at(first);
        let mut tables = [0; 256];
        let mut zeros = [crate::end::Zero::default(); 8];
        garbler.ands(&labels, &pairs, &mut zeros, &mut tables, &mut []);
        assert!(tables == expected, "{backend:?}");
        // Value 0 on every wire.
        let mut evaluator = rig.evaluator();
        evaluator.start_at(first);
        let held: Vec<_> = labels.iter().map(|z| crate::end::Held::new(z.block())).collect();
        let mut active = [crate::end::Held::default(); 8];
        evaluator.ands(&held, &pairs, &mut active, &mut tables, &mut []);
        for (zero, active) in zeros.iter().zip(active) {
            assert!(zero.block() == active.block(), "{backend:?}");
        }
    }
}
