//! Tests of half gates: the suite of all schemes for each hash, the formulas, the keys of hashes,
//! and tables that reveal nothing about each other.

use super::formulas::{self, Formulas};
use super::*;
use crate::gates::{ActiveLabel, ZeroLabel};
use crate::rig::{Rig, flipped, life, suite, suite_of};
use crate::{GateBackend, Scheme, SessionNonce};
use hushwire_aes::Backend;
use hushwire_block::Block;

const SCHEMES: [Scheme; 4] = [Scheme::Prp, Scheme::Mi, Scheme::Mi4, Scheme::Circ];

suite_of!(prp: HalfGates, Scheme::Prp);
suite_of!(mi: HalfGates, Scheme::Mi);
suite_of!(mi4: HalfGates, Scheme::Mi4);
suite_of!(circ: HalfGates, Scheme::Circ);

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
    // The garbler is trusted to garble correctly.
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
    // Without σ, labels whose difference equals that of two keys or tweaks would collide. With CIRC
    // the label is the key.
    let public = SessionNonce(Block([9; 16]));
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

/// Runs gates from number `first` on, in every tier and width of batch. The endpoints must agree
/// with each other and with the formulas.
fn same_from(scheme: Scheme, first: u64, n: usize) {
    let labels: Vec<_> = (1..=16u8).map(|i| ZeroLabel::new(Block([i; 16]))).collect();
    let pairs: Vec<[Slot; 2]> = (0..n as Slot).map(|i| [i % 8, i * 3 % 8 + 8]).collect();
    let mut expected = vec![0; 32 * n];
    let mut garbler = Rig::<Formulas>::new(Backend::best(), scheme, 9).garbler();
    garbler.start_at(first);
    let mut out = vec![ZeroLabel::default(); n];
    garbler.ands(&labels, &pairs, &mut out, &mut expected, &mut []);
    let held: Vec<_> = labels.iter().map(|z| ActiveLabel::new(z.block())).collect();
    for backend in Backend::all().into_iter().flat_map(|b| [b, b.unbatched()]) {
        for width in [1, 2, 3, 5, 8, n] {
            let rig = Rig::<HalfGates>::new(backend, scheme, 9);
            let (mut garbler, mut evaluator) = (rig.garbler(), rig.evaluator());
            garbler.start_at(first);
            evaluator.start_at(first);
            let (mut tables, mut zeros) = (vec![0; 32 * n], vec![ZeroLabel::default(); n]);
            let mut active = vec![ActiveLabel::default(); n];
            for (k, pairs) in pairs.chunks(width).enumerate() {
                let (at, to) = (k * width, k * width + pairs.len());
                let table = &mut tables[32 * at..32 * to];
                garbler.ands(&labels, pairs, &mut zeros[at..to], table, &mut []);
                // The value is 0 on every wire.
                evaluator.ands(&held, pairs, &mut active[at..to], table, &mut []);
            }
            assert!(tables == expected, "{scheme}, {n} gates from {first}, {width} at a time: {backend:?}");
            for ((zero, active), out) in zeros.iter().zip(active).zip(&out) {
                assert!(zero.block() == active.block() && zero.block() == out.block(), "{backend:?}");
            }
        }
    }
}

#[test]
fn fixed_keys_end_after_two_to_the_twenty_gates() {
    same_from(Scheme::Prp, hash::GATES_PER_KEY - 4, 8);
}

#[test]
fn keys_are_those_of_the_gates_wherever_a_batch_begins() {
    let together = shared::GATES;
    for first in (together - 9..together + 4).chain([5 * together - 2, (1 << 40) - 3]) {
        same_from(Scheme::Mi4, first, 19);
    }
    same_from(Scheme::Mi4, 1, together as usize + 21);
    for scheme in [Scheme::Mi, Scheme::Circ, Scheme::Prp] {
        (1..40).for_each(|n| same_from(scheme, (1 << 40) - 3, n));
    }
}

#[test]
fn a_shared_key_has_eight_inputs_and_no_two_hashes_have_both_alike() {
    let mut seen = std::collections::HashMap::new();
    for i in 0..1 << 12 {
        let (key, tweak) = formulas::shared_key(i);
        let tweaks: &mut Vec<_> = seen.entry(key).or_default();
        assert!(!tweaks.contains(&tweak), "tweak {i}");
        tweaks.push(tweak);
    }
    assert!(seen.values().all(|tweaks| tweaks.len() == 8));
}

/// One ciphertext of every table.
fn halves(tables: &[u8], at: usize) -> impl Iterator<Item = Block> + '_ {
    tables.chunks_exact(32).map(move |t| Block(*t[at..].first_chunk().expect("16 bytes")))
}

#[test]
fn gates_on_the_same_wires_show_nothing_of_each_other() {
    // If two hashes were equal, the sum of two ciphertexts would be 0 or Δ, since their permute
    // bits are equal.
    for scheme in SCHEMES {
        let rig = Rig::<HalfGates>::new(Backend::best(), scheme, 4);
        let mut garbler = rig.garbler();
        let [_, delta] = garbler.constants().map(ZeroLabel::block);
        let labels = [3, 8].map(|i| ZeroLabel::new(Block([i; 16])));
        let mut tables = vec![0; 32 * 96];
        garbler.ands(&labels, &[[0, 1]; 96], &mut [ZeroLabel::default(); 96], &mut tables, &mut []);
        for at in [0, 16] {
            for (i, x) in halves(&tables, at).enumerate() {
                for y in halves(&tables, at).skip(i + 1) {
                    assert!(x != y && x ^ y != delta, "{scheme}: gate {i}, half {at}");
                }
            }
        }
        // The same wire is both operands.
        garbler.ands(&labels, &[[0, 0]; 96], &mut [ZeroLabel::default(); 96], &mut tables, &mut []);
        let right = halves(&tables, 16).map(|t| t ^ labels[0].block());
        let sums: std::collections::HashSet<_> = halves(&tables, 0).chain(right).collect();
        assert_eq!(sums.len(), 192, "{scheme}");
    }
}

#[test]
fn layers_need_room_for_all_cells_and_products() {
    let (block, _) = suite::named_program("less:8").stages().shape(0);
    let woven = block.woven();
    let runs = |wires: usize, tables: usize| {
        let mut garbler = Rig::<HalfGates>::new(Backend::best(), Scheme::Mi, 3).garbler();
        let (mut wires, mut tables) = (vec![ZeroLabel::default(); wires], vec![0; tables]);
        let all = 0..woven.layers().len();
        let run = std::panic::AssertUnwindSafe(|| garbler.layers(&mut wires, woven, all, &mut tables));
        std::panic::catch_unwind(run).is_ok()
    };
    let (room, bytes) = (woven.cells() + woven.products(), 32 * block.ands());
    assert!(runs(room, bytes));
    assert!(!runs(woven.cells(), bytes) && !runs(woven.cells() - 1, bytes) && !runs(room, bytes - 1));
}
