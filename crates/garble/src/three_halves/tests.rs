//! Tests of three halves: the suite of all schemes, the formulas, every case of a gate, and uniform
//! tables and control bits.

use super::*;
use crate::{
    Evaluate, Garble, GateBackend, Scheme, SessionNonce,
    gates::{ActiveLabel, ZeroLabel},
    rig::{life, suite, suite_of},
};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};

const SCHEME: Scheme = Scheme::ThreeHalves;

suite_of!(suite_of_three_halves: ThreeHalves, SCHEME);

/// Gates of all sixteen cases, `rounds` of each: permute bits and truth values are the low bits of
/// the gate's number.
pub(super) struct Gates {
    pub(super) public: SessionNonce,
    garbler: Garbler,
    evaluator: Evaluator,
    pub(super) delta: Block,
    pub(super) zeros: Vec<ZeroLabel>,
    pub(super) held: Vec<ActiveLabel>,
    pub(super) pairs: Vec<[Slot; 2]>,
}

impl Gates {
    pub(super) fn new(backend: Backend, n: usize) -> Self {
        let seed = Seed::from_bytes([7; 16]);
        let mut prg = Prg::new(backend, &seed, "gates");
        let mut delta = prg.next_block();
        delta.0[0] |= 1;
        let public = SessionNonce(prg.next_block());
        let garbler = <Garbler as Garble>::new(backend, SCHEME, public, &seed, Some(delta));
        let evaluator = <Evaluator as Evaluate>::new(backend, SCHEME, public);
        let (mut zeros, mut held, mut pairs) = (vec![], vec![], vec![]);
        for k in 0..n {
            pairs.push([zeros.len() as Slot, zeros.len() as Slot + 1]);
            for wire in 0..2 {
                let mut zero = prg.next_block();
                zero.0[0] = zero.0[0] & 0xfe | (k >> wire & 1) as u8;
                zeros.push(ZeroLabel::new(zero));
                held.push(ActiveLabel::new(zero ^ delta.and_bit(k >> (2 + wire) & 1 == 1)));
            }
        }
        Gates { public, garbler, evaluator, delta, zeros, held, pairs }
    }

    /// Labels of truth value 0, tables and control bits.
    pub(super) fn garble(&mut self) -> (Vec<ZeroLabel>, Vec<u8>, Vec<u8>) {
        let n = self.pairs.len();
        let (mut out, mut bytes, mut bits) = (vec![ZeroLabel::default(); n], vec![0; 24 * n], vec![0; n]);
        self.garbler.ands(&self.zeros, &self.pairs, &mut out, &mut bytes, &mut bits);
        (out, bytes, bits)
    }
}

#[test]
fn all_sixteen_cases_are_exact() {
    for backend in Backend::all() {
        let mut gates = Gates::new(backend, 16_000);
        let (zeros, mut bytes, mut bits) = gates.garble();
        let mut out = vec![ActiveLabel::default(); zeros.len()];
        gates.evaluator.ands(&gates.held, &gates.pairs, &mut out, &mut bytes, &mut bits);
        let mut exact = [0; 16];
        for (k, (zero, held)) in zeros.iter().zip(&out).enumerate() {
            let product = k >> 2 & k >> 3 & 1 == 1;
            exact[k % 16] += usize::from(held.block() == zero.block() ^ gates.delta.and_bit(product));
        }
        assert_eq!(exact, [1000; 16], "{backend:?}");
        // Sixteen gates are also compared with the paper's formulas.
        for (k, zero) in zeros.iter().enumerate().take(16) {
            let held = [gates.held[2 * k], gates.held[2 * k + 1]];
            let [a, b] = held.map(ActiveLabel::block);
            let t = 3 * k as u128;
            let hashes =
                [(t, a), (t + 1, b), (t + 2, a ^ b)].map(|(t, x)| formulas::hash(gates.public, t, x));
            let words = bytes[24 * k..].as_chunks::<8>().0;
            let g = [0, 1, 2].map(|w| u64::from_le_bytes(words[w]));
            let product = plain::evaluate(held, &hashes, g, bits[k]).block();
            assert_eq!(product, zero.block() ^ gates.delta.and_bit(k >> 2 & k >> 3 & 1 == 1));
        }
    }
}

#[test]
fn one_wrong_bit_gives_another_label() {
    // The evaluator uses each bit of the table at some signals, and only there.
    for bit in 0..197 {
        let mut gates = Gates::new(Backend::best(), 16);
        let (_, mut bytes, mut bits) = gates.garble();
        let evaluator = || Gates::new(Backend::best(), 16).evaluator;
        let (mut right, mut wrong) = (vec![ActiveLabel::default(); 16], vec![ActiveLabel::default(); 16]);
        evaluator().ands(&gates.held, &gates.pairs, &mut right, &mut bytes, &mut bits);
        for k in 0..16 {
            if bit < 192 {
                bytes[24 * k + bit / 8] ^= 1 << (bit % 8);
            } else {
                bits[k] ^= 1 << (bit - 192);
            }
        }
        evaluator().ands(&gates.held, &gates.pairs, &mut wrong, &mut bytes, &mut bits);
        for k in 0..16 {
            let [i, j] = [0, 1].map(|w| gates.held[2 * k + w].block().lsb());
            let used = match (bit / 64, bit % 64) {
                (0, _) => i,
                (1, _) => j,
                (2, _) => i ^ j,
                (_, 0 | 1) => true,
                (_, 2) => i,
                (_, 3) => j,
                (_, _) => i ^ j,
            };
            assert_eq!(right[k].block() != wrong[k].block(), used, "bit {bit}, gate {k}");
        }
    }
}

#[test]
fn control_bits_tell_nothing() {
    // Over (r, r') and the three bits of hashes that the evaluator does not know, its view takes
    // every value exactly once.
    for case in 0..16u32 {
        let [a, b, i, j] = [0, 1, 2, 3].map(|k| case >> k & 1 == 1);
        let mut seen = [false; 256];
        for random in 0..256u32 {
            let bit = |k: usize| random >> k & 1 == 1;
            let m = [2, 3, 4, 5, 6, 7].map(bit);
            let z = plain::control_bits([a, b], [bit(0), bit(1)], m);
            let known = [m[usize::from(i)], m[2 + usize::from(j)], m[4 + usize::from(i ^ j)]];
            assert_eq!(
                plain::opened(z, known, i, j),
                plain::coins([a, b], [bit(0), bit(1)], i, j),
                "the evaluator finds (r, r') of its signals"
            );
            let view = known.iter().fold(usize::from(z), |v, m| v << 1 | usize::from(*m));
            assert!(!std::mem::replace(&mut seen[view], true));
        }
    }
}

/// Checks counts against the uniform distribution with χ². With d = counts − 1 degrees of freedom,
/// χ² exceeds d + 2 √(d x) + 2x with probability at most e^−x (Laurent and Massart, Annals of
/// Statistics 2000, lemma 1). x is 20.
fn assert_uniform(counts: &[u32], what: &str) {
    let (total, d) = (f64::from(counts.iter().sum::<u32>()), counts.len() as f64 - 1.0);
    let mean = total / counts.len() as f64;
    let chi: f64 = counts.iter().map(|c| (f64::from(*c) - mean).powi(2) / mean).sum();
    assert!(chi < d + 2.0 * (20.0 * d).sqrt() + 40.0, "{what}: {counts:?}");
}

#[test]
fn what_is_sent_is_uniform_whatever_the_wires_are() {
    let mut gates = Gates::new(Backend::best(), 64_000);
    let (zeros, bytes, bits) = gates.garble();
    // `z` counts z by permute bits; `rr` counts the (r, r') that the evaluator opens, also by its
    // signals.
    let mut z = [[0; 32]; 4];
    let mut rr = [[0; 4]; 16];
    let mut ones = [0; 192];
    let mut permute = [[0; 2]; 4];
    for k in 0..zeros.len() {
        z[k % 4][usize::from(bits[k])] += 1;
        permute[k % 4][usize::from(zeros[k].block().lsb())] += 1;
        let [a, b] = [gates.held[2 * k].block(), gates.held[2 * k + 1].block()];
        let t = 3 * k as u128;
        let m = [(t, a), (t + 1, b), (t + 2, a ^ b)].map(|(t, x)| formulas::hash(gates.public, t, x).m);
        let [r, r_] = plain::opened(bits[k], m, a.lsb(), b.lsb());
        rr[k % 16][usize::from(r) + 2 * usize::from(r_)] += 1;
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += u32::from(bytes[24 * k + bit / 8] >> (bit % 8) & 1);
        }
    }
    for p in 0..4 {
        assert_uniform(&z[p], "z");
        assert_uniform(&permute[p], "the output's permute bit");
    }
    for case in rr {
        assert_uniform(&case, "(r, r')");
    }
    for ones in ones {
        assert_uniform(&[ones, zeros.len() as u32 - ones], "a bit of G");
    }
}

#[test]
fn tables_are_those_of_the_formulas_and_no_tweak_serves_twice() {
    suite::same_as_plain_formulas::<ThreeHalves, formulas::Formulas>(SCHEME);
    life::formulas_hold_across_an_epoch::<ThreeHalves, formulas::Formulas>(SCHEME);
}

#[test]
fn numbers_grow_and_seeds_count() {
    life::numbers_grow::<ThreeHalves, formulas::Formulas>(SCHEME);
    life::seeds_and_start_points_count::<ThreeHalves>(SCHEME);
}
