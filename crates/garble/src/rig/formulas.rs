//! A garbler that follows a family's formula gate by gate; tests compare tables with it. It shares
//! no code with the kernels' endpoints: every gate is made from its number alone.

use super::suite::Recorded;
use crate::{Correlated, Family, Format, Garble, GateBackend, Role, Scheme, SessionNonce, gates::ZeroLabel};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};
use std::marker::PhantomData;

/// A family's formula of an AND, as the paper gives it.
pub(crate) trait Formula: Sized + Send {
    /// The family whose evaluator uses the tables.
    type Family: Family;
    const FORMAT: Format;
    /// Whether bit 0 of the evaluator's label is the value.
    const VALUES: bool = false;

    fn new(backend: Backend, scheme: Scheme, public: SessionNonce, seed: &Seed) -> Self;
    /// Garbles gate `number` on labels of truth value 0.
    fn gate(&mut self, number: u64, delta: Block, zeros: [Block; 2]) -> MadeGate;
    /// Everything that distinguishes the hash calls of this gate from others.
    fn tweaks(number: u64) -> Vec<u128>;
    /// Skips this number of gates.
    fn skip(&mut self, _gates: u64) {}
}

/// A garbled gate.
pub(crate) struct MadeGate {
    /// The output's label of truth value 0.
    pub(crate) zero: Block,
    pub(crate) table: Vec<u8>,
    pub(crate) bits: u8,
}

/// The family of a formula.
pub(crate) struct Formulas<F>(PhantomData<F>);

impl<F: Formula> Family for Formulas<F> {
    type Garbler = Plain<F>;
    type Evaluator = <F::Family as Family>::Evaluator;
}

/// The garbler.
pub(crate) struct Plain<F> {
    formula: F,
    pub(crate) delta: Block,
    gate: u64,
    tweaks: Vec<u128>,
}

impl<F> Plain<F> {
    /// Continues with another gate.
    pub(crate) fn start_at(&mut self, gate: u64) {
        self.gate = gate;
    }
}

impl<F: Formula> GateBackend for Plain<F> {
    type Wire = ZeroLabel;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = F::FORMAT;

    fn constants(&self) -> [ZeroLabel; 2] {
        let value = if F::VALUES { Block::from_u128(1) } else { Block::ZERO };
        [ZeroLabel::new(Block::ZERO), ZeroLabel::new(self.delta ^ value)]
    }

    fn ands(
        &mut self,
        wires: &[ZeroLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ZeroLabel],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        let size = F::FORMAT.and_bytes;
        for (k, pair) in pairs.iter().enumerate() {
            let number = self.gate + k as u64;
            let made = self.formula.gate(number, self.delta, pair.map(|slot| wires[slot as usize].block()));
            out[k] = ZeroLabel::new(made.zero);
            bytes[k * size..(k + 1) * size].copy_from_slice(&made.table);
            bits.iter_mut().skip(k).take(1).for_each(|bits| *bits = made.bits);
            self.tweaks.extend(F::tweaks(number));
        }
        self.gate += pairs.len() as u64;
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        for [a, b, out] in gates {
            for i in 0..strip {
                let [a, b, out] = [a, b, out].map(|s| *s as usize * strip + i);
                wires[out] = wires[a] ^ wires[b];
            }
        }
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl<F: Formula> Garble for Plain<F> {
    type Transfer = Correlated;

    fn new(
        backend: Backend,
        scheme: Scheme,
        public: SessionNonce,
        seed: &Seed,
        delta: Option<Block>,
    ) -> Self {
        let mut delta = delta.unwrap_or_else(|| Prg::new(backend, seed, "garble delta").next_block());
        delta.0[0] |= 1;
        Plain { formula: F::new(backend, scheme, public, seed), delta, gate: 0, tweaks: vec![] }
    }

    fn theirs(&mut self, q: Block) -> ZeroLabel {
        ZeroLabel::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> ZeroLabel {
        let mut zero = if bit == 1 { active ^ self.delta } else { active };
        if F::VALUES {
            zero.0[0] &= 0xfe;
        }
        ZeroLabel::new(zero)
    }

    fn permute_bit(&self, wire: ZeroLabel) -> u8 {
        if F::VALUES { 0 } else { u8::from(wire.block().lsb()) }
    }
}

impl<F: Formula> Recorded for Plain<F> {
    fn tweaks(&self) -> &[u128] {
        &self.tweaks
    }

    fn skip(&mut self, gates: u64) {
        self.gate += gates;
        self.formula.skip(gates);
    }
}
