//! The formulas of half gates as the paper gives them.

use super::HalfGates;
use crate::rig::{
    formulas::{Formula, MadeGate},
    oracle::aes,
};
use crate::{Format, Scheme, SessionNonce};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_prg::Seed;

/// The family that follows these formulas.
pub(crate) type Formulas = crate::rig::formulas::Formulas<TwoHalves>;

/// The hash, with two tweaks for each gate.
pub(crate) struct TwoHalves(Scheme, SessionNonce);

/// The key of the gates from `epoch` · 2^20 on.
fn fixed_key(public: SessionNonce, epoch: u64) -> Block {
    let material = [&public.0.0[..], &epoch.to_le_bytes()].concat();
    let key = blake3::derive_key("hushwire garble fixed key v1", &material);
    Block(*key.first_chunk().expect("32 bytes"))
}

/// σ(hi‖lo) = (hi ⊕ lo)‖hi, byte by byte.
fn sigma(x: Block) -> Block {
    Block(std::array::from_fn(|i| if i < 8 { x.0[8 + i] } else { x.0[i] ^ x.0[i - 8] }))
}

/// The blocks that tweak i of MI4 adds to the start point and to the input; eight consecutive
/// tweaks share a key.
pub(super) fn shared_key(i: u128) -> (Block, Block) {
    (Block((i - i % 8).to_le_bytes()), Block((i % 8).to_le_bytes()))
}

/// H_i(x) of gate i / 2.
pub(crate) fn hash(scheme: Scheme, public: SessionNonce, i: u128, x: Block) -> Block {
    let i_block = Block(i.to_le_bytes());
    match scheme {
        Scheme::Prp => {
            let y = sigma(x) ^ i_block;
            aes(fixed_key(public, (i / 2 / (1 << 20)) as u64), y) ^ y
        }
        Scheme::Circ => aes(x, i_block),
        Scheme::Mi4 => {
            let (key, tweak) = shared_key(i);
            let y = sigma(x) ^ tweak;
            aes(public.0 ^ key, y) ^ y
        }
        _ => aes(public.0 ^ i_block, sigma(x)) ^ sigma(x),
    }
}

impl Formula for TwoHalves {
    type Family = HalfGates;
    const FORMAT: Format = Format::HALF_GATES;

    fn new(_: Backend, scheme: Scheme, public: SessionNonce, _: &Seed) -> Self {
        TwoHalves(scheme, public)
    }

    fn gate(&mut self, number: u64, delta: Block, [a0, b0]: [Block; 2]) -> MadeGate {
        let [j, k] = [0, 1].map(|i| 2 * u128::from(number) + i);
        let h = |i, x| hash(self.0, self.1, i, x);
        let (pa, pb) = (a0.lsb(), b0.lsb());
        // The garbler's half gate is a ∧ pb. The evaluator's half gate is a ∧ (b ⊕ pb).
        let tg = h(j, a0) ^ h(j, a0 ^ delta) ^ delta.and_bit(pb);
        let wg = h(j, a0) ^ tg.and_bit(pa);
        let te = h(k, b0) ^ h(k, b0 ^ delta) ^ a0;
        let we = h(k, b0) ^ (te ^ a0).and_bit(pb);
        MadeGate { zero: wg ^ we, table: [tg.0, te.0].concat(), bits: 0 }
    }

    fn tweaks(number: u64) -> Vec<u128> {
        [0, 1].map(|i| 2 * u128::from(number) + i).to_vec()
    }
}
