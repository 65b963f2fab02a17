//! The paper's formulas, gate by gate and hash by hash: what tables are compared with.

use super::{Evaluator, plain};
use crate::rig::{oracle, suite::Recorded};
use crate::{
    Correlated, Format, Garble, GateBackend, Role, Scheme, SessionNonce, gates::ZeroLabel, half::free_xors,
};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::Slot;
use hushwire_prg::{Prg, Seed};

/// Three halves as the paper has them.
pub(crate) enum Formulas {}

impl crate::Family for Formulas {
    type Garbler = Plain;
    type Evaluator = Evaluator;
}

/// The garbler.
pub(crate) struct Plain {
    public: SessionNonce,
    delta: Block,
    coins: Prg,
    gate: u64,
    tweaks: Vec<u128>,
}

/// AES_{S⊕t}(σ(x)) ⊕ σ(x).
pub(super) fn hash(public: SessionNonce, tweak: u128, x: Block) -> plain::Hash {
    (oracle::aes(public.0 ^ Block::from_u128(tweak), plain::sigma(x)) ^ plain::sigma(x)).into()
}

impl GateBackend for Plain {
    type Wire = ZeroLabel;
    type Bytes<'t> = &'t mut [u8];
    const ROLE: Role = Role::Garbler;
    const FORMAT: Format = Format::THREE_HALVES;

    fn constants(&self) -> [ZeroLabel; 2] {
        [ZeroLabel::new(Block::ZERO), ZeroLabel::new(self.delta)]
    }

    fn ands(
        &mut self,
        wires: &[ZeroLabel],
        pairs: &[[Slot; 2]],
        out: &mut [ZeroLabel],
        bytes: &mut [u8],
        bits: &mut [u8],
    ) {
        for (k, pair) in pairs.iter().enumerate() {
            let zeros = pair.map(|s| wires[s as usize]);
            let [a, b] = zeros.map(|zero| plain::at_zero(self.delta, zero).block());
            let t = [0, 1, 2].map(|t| 3 * u128::from(self.gate) + t);
            self.tweaks.extend(t);
            self.gate += 1;
            let (delta, h) = (self.delta, |t, x| hash(self.public, t, x));
            let hashes = [
                h(t[0], a),
                h(t[0], a ^ delta),
                h(t[1], b),
                h(t[1], b ^ delta),
                h(t[2], a ^ b),
                h(t[2], a ^ b ^ delta),
            ];
            let mut coin = [0];
            self.coins.fill(&mut coin);
            let gate = plain::garble(delta, zeros, &hashes, [coin[0] & 1 == 1, coin[0] & 2 == 2]);
            (out[k], bits[k]) = (gate.zero, gate.z);
            bytes[24 * k..][..24].copy_from_slice(&gate.g.map(u64::to_le_bytes).concat());
        }
    }

    fn xors(&mut self, wires: &mut [ZeroLabel], strip: usize, gates: &[[Slot; 3]], _: &mut [u8]) {
        free_xors(wires, strip, gates);
    }

    fn gates(&self) -> u64 {
        self.gate
    }
}

impl Garble for Plain {
    type Transfer = Correlated;

    fn new(backend: Backend, _: Scheme, public: SessionNonce, seed: &Seed, delta: Option<Block>) -> Self {
        let mut delta = delta.unwrap_or_else(|| Prg::new(backend, seed, "garble delta").next_block());
        delta.0[0] |= 1;
        let coins = Prg::new(backend, seed, "three halves coins");
        Plain { public, delta, coins, gate: 0, tweaks: vec![] }
    }

    fn theirs(&mut self, q: Block) -> ZeroLabel {
        ZeroLabel::new(q)
    }

    fn own(&mut self, active: Block, bit: u8) -> ZeroLabel {
        ZeroLabel::new(if bit == 1 { active ^ self.delta } else { active })
    }

    fn permute_bit(&self, wire: ZeroLabel) -> u8 {
        u8::from(wire.block().lsb())
    }
}

impl Recorded for Plain {
    fn tweaks(&self) -> &[u128] {
        &self.tweaks
    }

    fn skip(&mut self, gates: u64) {
        self.gate += gates;
        self.coins.fill(&mut vec![0; gates as usize]);
    }
}
