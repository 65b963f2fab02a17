//! Tests of PRF garbling: the suite of all schemes, the formulas, every case of a gate, and
//! dependent XORs in the queue.

use super::formulas::{Formulas, Plain};
use super::*;
use crate::rig::{Rig, life, suite, suite_of};
use crate::{Evaluate, Garble, GateBackend, cursor::has_table};
use hushwire_aes::Backend;
use hushwire_circuit::{ONE, Slot, ZERO};
use hushwire_prg::{Prg, Seed};
use std::collections::HashSet;

suite_of!(prf: PrfOnly, Scheme::Prf);

#[test]
fn tables_are_those_of_the_formulas_and_no_tweak_serves_twice() {
    suite::same_as_plain_formulas::<PrfOnly, Formulas>(Scheme::Prf);
    life::formulas_hold_across_an_epoch::<PrfOnly, Formulas>(Scheme::Prf);
}

#[test]
fn numbers_grow_and_seeds_count() {
    life::numbers_grow::<PrfOnly, Formulas>(Scheme::Prf);
    life::seeds_and_start_points_count::<PrfOnly>(Scheme::Prf);
}

fn ends(backend: Backend) -> (Garbler, Evaluator) {
    let rig = Rig::<PrfOnly>::new(backend, Scheme::Prf, 7);
    (rig.garbler(), rig.evaluator())
}

fn formulas() -> Plain {
    Rig::<Formulas>::new(Backend::best(), Scheme::Prf, 7).garbler()
}

fn noise(label: &str) -> Prg {
    Prg::new(Backend::best(), &Seed::from_bytes([1; 16]), label)
}

/// A wire with this permute bit.
fn wire(prg: &mut Prg, permute: u8) -> LabelPair {
    [with_signal(prg.next_block(), permute), with_signal(prg.next_block(), permute ^ 1)].map(Tagged::new)
}

fn held(wire: LabelPair, value: u8) -> crate::gates::ActiveLabel {
    Tagged::new(wire[value as usize].block())
}

/// Whether the held label is the one of this value.
fn stands_for(held: crate::gates::ActiveLabel, wire: LabelPair, value: u8) -> bool {
    held.block() == wire[value as usize].block()
}

/// All permute bits of two operands with all their values, several times.
fn cases() -> impl Iterator<Item = [u8; 4]> {
    (0..80u8).map(|i| [i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1])
}

#[test]
fn every_case_of_an_and() {
    for backend in Backend::all() {
        let (mut g, mut e) = ends(backend);
        let mut prg = noise("and");
        let wires: Vec<[LabelPair; 2]> =
            cases().map(|[p, q, ..]| [wire(&mut prg, p), wire(&mut prg, q)]).collect();
        let holds: Vec<_> =
            cases().zip(&wires).flat_map(|([.., x, y], [l, r])| [held(*l, x), held(*r, y)]).collect();
        let n = wires.len();
        let pairs: Vec<[Slot; 2]> = (0..n as Slot).map(|k| [2 * k, 2 * k + 1]).collect();
        let (mut bytes, mut bits) = (vec![0; 32 * n], vec![0; n]);
        let mut made = vec![LabelPair::default(); n];
        g.ands(wires.as_flattened(), &pairs, &mut made, &mut bytes, &mut bits);
        let mut got = vec![Tagged::default(); n];
        e.ands(&holds, &pairs, &mut got, &mut bytes, &mut bits);
        for (k, [.., x, y]) in cases().enumerate() {
            assert!(stands_for(got[k], made[k], x & y), "case {k} on {backend:?}");
        }
        let mut plain = formulas();
        for (k, [l, r]) in wires.iter().enumerate() {
            let (out, tables, c) = plain.and(*l, *r);
            assert_eq!(hushwire_block::from_bytes(&bytes)[2 * k..2 * k + 2], tables);
            assert_eq!((bits[k], made[k].map(Tagged::block)), (c, out.map(Tagged::block)));
        }
    }
}

#[test]
fn every_case_of_an_xor() {
    for backend in Backend::all() {
        let (mut g, mut e) = ends(backend);
        let mut prg = noise("xor");
        let mut wires = vec![LabelPair::default(); 2];
        let mut holds = vec![Tagged::default(); 2];
        let mut gates = vec![];
        for [p, q, x, y] in cases() {
            let (l, r) = (wire(&mut prg, p), wire(&mut prg, q));
            let at = wires.len() as Slot;
            gates.push([at, at + 1, at + 2]);
            wires.extend([l, r, LabelPair::default()]);
            holds.extend([held(l, x), held(r, y), Tagged::default()]);
        }
        let before = wires.clone();
        let mut bytes = vec![0; 16 * gates.len()];
        g.xors(&mut wires, 1, &gates, &mut bytes);
        e.xors(&mut holds, 1, &gates, &bytes);
        let mut plain = formulas();
        for (k, ([l, r, out], [.., x, y])) in
            gates.iter().map(|g| g.map(|s| s as usize)).zip(cases()).enumerate()
        {
            assert!(stands_for(holds[out], wires[out], x ^ y), "case {k} on {backend:?}");
            let (made, t) = plain.xor(before[l], before[r]);
            assert_eq!(hushwire_block::from_bytes(&bytes)[k], t);
            assert_eq!(wires[out].map(Tagged::block), made.map(Tagged::block));
        }
        assert_eq!(
            (g.xor_batches().calls, g.xor_batches().gates),
            (1, 80),
            "they do not wait for each other"
        );
        assert_eq!(e.xor_batches(), g.xor_batches());
    }
}

/// XORs over few slots in strips, with constants among their operands: results overwrite operands,
/// results, and wires that the queue reads. The outputs must equal those of running one gate after
/// the other.
#[test]
fn xors_that_depend_on_each_other() {
    const SLOTS: usize = 30;
    for (strip, count) in [(1, 3000), (3, 300), (33, 60), (65, 20)] {
        let mut prg = noise("dependent");
        let mut pick = |from: u64, to: u64| from + prg.next_u64() % (to - from);
        let gates: Vec<[Slot; 3]> = (0..count)
            .map(|_| {
                let [a, b] = [0, 1].map(|_| if pick(0, 4) == 0 { pick(0, 2) } else { pick(2, SLOTS as u64) });
                [a, b, pick(2, SLOTS as u64)].map(|s| s as Slot)
            })
            .collect();
        let (mut g, mut e) = ends(Backend::best());
        let (mut wires, mut holds, mut values) = (vec![], vec![], vec![]);
        for i in 0..SLOTS * strip {
            let (slot, value) = (i / strip, prg.next_u64() as u8 & 1);
            let new = wire(&mut prg, value);
            wires.push(if slot < 2 { g.constants()[slot] } else { new });
            holds.push(if slot < 2 { e.constants()[slot] } else { held(new, value) });
            values.push(if slot < 2 { slot as u8 } else { value });
        }
        let mut one_by_one = wires.clone();
        let mut tables = vec![0; 16 * strip * gates.iter().filter(|gate| has_table(gate)).count()];
        let mut expected = tables.clone();
        g.xors(&mut wires, strip, &gates, &mut tables);
        e.xors(&mut holds, strip, &gates, &tables);
        let mut plain = formulas();
        plain.xors(&mut one_by_one, strip, &gates, &mut expected);
        assert!(tables == expected && g.gates() == plain.gates() && e.gates() == g.gates());
        for [a, b, out] in gates.iter().map(|g| g.map(|s| s as usize * strip)) {
            for i in 0..strip {
                values[out + i] = values[a + i] ^ values[b + i];
            }
        }
        for i in 2 * strip..SLOTS * strip {
            assert_eq!(wires[i].map(Tagged::block), one_by_one[i].map(Tagged::block));
            assert!(stands_for(holds[i], wires[i], values[i]));
        }
    }
}

#[test]
fn equal_operands_and_constants() {
    let (mut g, mut e) = ends(Backend::best());
    let mut prg = noise("equal");
    for (permute, value) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let x = wire(&mut prg, permute);
        let [zero, one] = g.constants();
        let mut wires = vec![zero, one, x, LabelPair::default(), LabelPair::default()];
        let [h0, h1] = e.constants();
        let mut holds = vec![h0, h1, held(x, value), Tagged::default(), Tagged::default()];
        assert!(stands_for(h0, zero, 0) && stands_for(h1, one, 1));
        let pairs = [[2, 2], [2, ZERO], [ONE, 2], [ZERO, ONE], [ONE, ONE], [ZERO, ZERO]];
        let (mut bytes, mut bits) = ([0; 32 * 6], [0; 6]);
        let (mut made, mut got) = ([LabelPair::default(); 6], [Tagged::default(); 6]);
        g.ands(&wires, &pairs, &mut made, &mut bytes, &mut bits);
        e.ands(&holds, &pairs, &mut got, &mut bytes, &mut bits);
        for (k, result) in [value, 0, value, 0, 1, 0].into_iter().enumerate() {
            assert!(stands_for(got[k], made[k], result), "{:?}", pairs[k]);
        }
        // Only the first XOR has a table. Slot 3 becomes 0, then 1, and slot 4 becomes slot 2 after
        // three NOTs.
        let gates = [[2, 2, 3], [3, ONE, 3], [2, ONE, 4], [4, ONE, 4], [ONE, 4, 4], [4, ZERO, 4]];
        let mut table = [0; 16];
        g.xors(&mut wires, 1, &gates, &mut table);
        e.xors(&mut holds, 1, &gates, &table);
        assert!(stands_for(holds[3], wires[3], 1) && stands_for(holds[4], wires[4], value ^ 1));
        assert!(holds[4].block() == x[value as usize].block(), "NOT changes no label");
    }
}

#[test]
fn inputs() {
    let (mut g, e) = ends(Backend::best());
    for bit in [0, 1] {
        for active in [Block::ZERO, Block::ONES] {
            let wire = g.own(active, bit);
            assert!(stands_for(e.label(active), wire, bit));
            assert_ne!(wire[0].block().lsb(), wire[1].block().lsb());
            assert_ne!(wire[0].block() & LABEL, wire[1].block() & LABEL);
            assert_eq!(g.permute_bit(wire) ^ e.signal(e.label(active)), bit);
        }
        for message in [Block::ZERO, Block::ONES] {
            let wire = g.theirs([message, message ^ Block::ONES]);
            let mine = e.own([message, message ^ Block::ONES][bit as usize], bit);
            assert!(stands_for(mine, wire, bit) && e.signal(mine) == bit && g.permute_bit(wire) == 0);
        }
    }
    let others = [g.own(Block::ZERO, 0)[1], g.own(Block::ZERO, 0)[1]].map(Tagged::block);
    assert_ne!(others[0], others[1], "a label serves one wire");
}

#[test]
fn tweaks_are_unique() {
    let mut seen = HashSet::new();
    for gate in (0..500).chain(u64::MAX - 500..=u64::MAX) {
        for row in 0..4 {
            for side in [Operand::Left, Operand::Right] {
                assert!(seen.insert(tweak(gate, row, side)));
            }
        }
    }
}

/// Over 2^14 gates on the same values, each bit of the tables, c_r and the results' signals is 1 in
/// half of them, within six standard deviations. Bit 0 of a ciphertext is 0.
#[test]
fn tables_and_signals_are_uniform() {
    const N: usize = 1 << 14;
    let off = |ones: usize| ones.abs_diff(N / 2) > 6 * 64;
    for [p, q] in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let mut prg = noise("uniform");
        let (mut g, mut e) = ends(Backend::best());
        let wires: Vec<LabelPair> = (0..2 * N).map(|k| wire(&mut prg, [p, q][k % 2])).collect();
        let holds: Vec<_> = wires.iter().map(|w| held(*w, 0)).collect();
        let pairs: Vec<[Slot; 2]> = (0..N as Slot).map(|k| [2 * k, 2 * k + 1]).collect();
        let (mut bytes, mut bits) = (vec![0; 32 * N], vec![0; N]);
        let (mut made, mut got) = (vec![LabelPair::default(); N], vec![Tagged::default(); N]);
        g.ands(&wires, &pairs, &mut made, &mut bytes, &mut bits);
        e.ands(&holds, &pairs, &mut got, &mut bytes, &mut bits);
        for i in 0..256 {
            let ones =
                hushwire_block::from_bytes(&bytes).chunks(2).filter(|t| t[i / 128].bit(i % 128)).count();
            assert!(if i % 128 == 0 { ones == 0 } else { !off(ones) }, "bit {i} of T1 and T2: {ones}");
        }
        for r in 0..4 {
            assert!(!off(bits.iter().filter(|b| *b >> r & 1 == 1).count()), "c_{r}");
        }
        assert!(!off(got.iter().filter(|w| w.block().lsb()).count()), "signals");
    }
}
