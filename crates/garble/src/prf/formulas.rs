//! The formulas of GLNP15, gate by gate and by signal. Tests compare tables with them.

use super::{Evaluator, LABEL, LabelPair, OfTruth, Operand};
use crate::cursor::has_table;
use crate::rig::{oracle::aes, suite::Recorded};
use crate::{Format, Garble, GateBackend, Pairs, Role, Scheme, SessionNonce};
use hushwire_aes::Backend;
use hushwire_block::{Block, Tagged};
use hushwire_circuit::{ONE, Slot, ZERO};
use hushwire_prg::{Prg, Seed};

/// GLNP15 as the paper gives it.
pub(crate) enum Formulas {}

impl crate::Family for Formulas {
    type Garbler = Plain;
    type Evaluator = Evaluator;
}

/// The garbler.
pub(crate) struct Plain {
    gate: u64,
    choices: Prg,
    labels: Prg,
    constants: [LabelPair; 2],
    tweaks: Vec<u128>,
}

/// The label of a wire that has this signal.
fn of_signal(wire: LabelPair, signal: u8) -> Block {
    let [zero, one] = wire.map(Tagged::block);
    if u8::from(zero.lsb()) == signal { zero } else { one }
}

pub(super) fn permute_bit(wire: LabelPair) -> u8 {
    u8::from(wire[0].block().lsb())
}

fn pair(by_truth: [Block; 2], permute: u8) -> LabelPair {
    let mut pair = by_truth.map(|x| x & LABEL);
    pair[0].0[0] |= permute;
    pair[1].0[0] |= permute ^ 1;
    pair.map(Tagged::new)
}

impl Plain {
    /// F_X(g, r).
    fn f(&mut self, key: Block, row: u8, side: Operand) -> Block {
        let side = match side {
            Operand::Left => 0,
            Operand::Right => 4,
        };
        let input = Block::from_u128(u128::from(self.gate) | u128::from(row + side) << 64);
        self.tweaks.push(input.to_u128());
        aes(key, input)
    }

    /// Returns the result, T1 and T2, and c.
    pub(super) fn and(&mut self, left: LabelPair, right: LabelPair) -> (LabelPair, [Block; 2], u8) {
        let mut choice = [0];
        self.choices.fill(&mut choice);
        let permute = choice[0] & 1;
        let k = [0u8, 1, 2, 3].map(|r| {
            let (a, b) = (r >> 1, r & 1);
            self.f(of_signal(left, a), r, Operand::Left) ^ self.f(of_signal(right, b), r, Operand::Right)
        });
        self.gate += 1;
        let s = 2 * (1 - permute_bit(left)) + (1 - permute_bit(right));
        let t1 = if s & 2 == 2 { k[0] ^ k[1] } else { k[2] ^ k[3] };
        let t2 = if s & 1 == 1 { k[0] ^ k[2] } else { k[1] ^ k[3] };
        let mut labels = [k[0], k[1] ^ k[2] ^ k[3]];
        if s == 0 {
            labels.swap(0, 1);
        }
        let mut c = 0;
        for r in 0..4 {
            c |= (u8::from(k[r as usize].lsb()) ^ permute ^ u8::from(r == s)) << r;
        }
        (pair(labels, permute), [t1 & LABEL, t2 & LABEL], c)
    }

    /// Returns the result and T.
    pub(super) fn xor(&mut self, left: LabelPair, right: LabelPair) -> (LabelPair, Block) {
        let f = [0, 1].map(|a| self.f(of_signal(left, a), 0, Operand::Left));
        // Both calls use one input with the two labels of a wire, and count as one tweak.
        self.tweaks.pop();
        let d = f[0] ^ f[1];
        let t = self.f(of_signal(right, 1), 0, Operand::Right) ^ of_signal(right, 0) ^ d;
        self.gate += 1;
        let shifted = [of_signal(right, 0), of_signal(right, 0) ^ d];
        let by_truth =
            [0, 1].map(|v| f[(permute_bit(left) ^ v) as usize] ^ shifted[permute_bit(right) as usize]);
        (pair(by_truth, permute_bit(left) ^ permute_bit(right)), t & LABEL)
    }
}

impl GateBackend for Plain {
    type Wire = LabelPair;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::PRF;

    fn constants(&self) -> [LabelPair; 2] {
        self.constants
    }

    fn ands(
        &mut self,
        wires: &[LabelPair],
        pairs: &[[Slot; 2]],
        out: &mut [LabelPair],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        for (k, [a, b]) in pairs.iter().enumerate() {
            let (made, [t1, t2], c) = self.and(wires[*a as usize], wires[*b as usize]);
            out[k] = made;
            bytes[32 * k..][..16].copy_from_slice(&t1.0);
            bytes[32 * k + 16..][..16].copy_from_slice(&t2.0);
            bits[k] = c;
        }
    }

    fn xors(&mut self, wires: &mut [LabelPair], strip: usize, gates: &[[Slot; 3]], tables: &mut [u8]) {
        let mut tables = tables.chunks_exact_mut(16);
        for gate @ [a, b, out] in gates {
            for i in 0..strip {
                let [x, y] = [a, b].map(|s| wires[*s as usize * strip + i]);
                wires[*out as usize * strip + i] = match (*a, *b) {
                    (ZERO, _) => y,
                    (ONE, _) => [y[1], y[0]],
                    (_, ZERO) => x,
                    (_, ONE) => [x[1], x[0]],
                    _ => {
                        assert!(has_table(gate));
                        let (made, t) = self.xor(x, y);
                        tables.next().expect("room for every table").copy_from_slice(&t.0);
                        made
                    }
                };
            }
        }
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Garble for Plain {
    type Transfer = Pairs;

    fn new(backend: Backend, _: Scheme, _: SessionNonce, seed: &Seed, _: Option<Block>) -> Self {
        let mut labels = Prg::new(backend, seed, "garble labels");
        let [zero, one] = [0, 1].map(|_| Tagged::<OfTruth>::new(labels.next_block()));
        let held = Tagged::new(Block::ZERO);
        let signal = |x: Tagged<OfTruth>| Tagged::new(x.block() & LABEL ^ Block::from_u128(1));
        let constants = [[held, signal(zero)], [signal(one), held]];
        let choices = Prg::new(backend, seed, "garble permute bits");
        Plain { gate: 0, choices, labels, constants, tweaks: vec![] }
    }

    fn theirs(&mut self, messages: [Block; 2]) -> LabelPair {
        // The message of choice b has signal b.
        pair(messages, 0)
    }

    fn own(&mut self, active: Block, bit: u8) -> LabelPair {
        let other = self.labels.next_block();
        let permute = u8::from(active.lsb()) ^ bit;
        pair(if bit == 0 { [active, other] } else { [other, active] }, permute)
    }

    fn permute_bit(&self, wire: LabelPair) -> u8 {
        permute_bit(wire)
    }
}

impl Recorded for Plain {
    fn tweaks(&self) -> &[u128] {
        &self.tweaks
    }

    fn skip(&mut self, gates: u64) {
        self.gate += gates;
        self.choices.fill(&mut vec![0; gates as usize]);
    }
}
