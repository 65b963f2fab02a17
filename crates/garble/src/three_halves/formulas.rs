//! The paper's formulas, hash by hash.

use super::{ThreeHalves, plain};
use crate::rig::{
    formulas::{Formula, MadeGate},
    oracle,
};
use crate::{Format, Scheme, SessionNonce, gates::ZeroLabel};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_prg::{Prg, Seed};

/// The family that follows these formulas.
pub(crate) type Formulas = crate::rig::formulas::Formulas<ThreeHalvesFormula>;

/// The start point, and the stream of (r, r').
pub(crate) struct ThreeHalvesFormula {
    public: SessionNonce,
    coins: Prg,
}

/// AES_{S⊕t}(σ(x)) ⊕ σ(x).
pub(super) fn hash(public: SessionNonce, tweak: u128, x: Block) -> plain::Hash {
    (oracle::aes(public.0 ^ Block::from_u128(tweak), plain::sigma(x)) ^ plain::sigma(x)).into()
}

impl Formula for ThreeHalvesFormula {
    type Family = ThreeHalves;
    const FORMAT: Format = Format::THREE_HALVES;

    fn new(backend: Backend, _: Scheme, public: SessionNonce, seed: &Seed) -> Self {
        ThreeHalvesFormula { public, coins: Prg::new(backend, seed, "three halves coins") }
    }

    fn gate(&mut self, number: u64, delta: Block, zeros: [Block; 2]) -> MadeGate {
        let zeros = zeros.map(ZeroLabel::new);
        let [a, b] = zeros.map(|zero| plain::at_zero(delta, zero).block());
        let h = |i: u128, x| hash(self.public, 3 * u128::from(number) + i, x);
        let hashes = [h(0, a), h(0, a ^ delta), h(1, b), h(1, b ^ delta), h(2, a ^ b), h(2, a ^ b ^ delta)];
        let mut coin = [0];
        self.coins.fill(&mut coin);
        let gate = plain::garble(delta, zeros, &hashes, [coin[0] & 1 == 1, coin[0] & 2 == 2]);
        MadeGate { zero: gate.zero.block(), table: gate.g.map(u64::to_le_bytes).concat(), bits: gate.z }
    }

    fn tweaks(number: u64) -> Vec<u128> {
        [0, 1, 2].map(|i| 3 * u128::from(number) + i).to_vec()
    }

    fn skip(&mut self, gates: u64) {
        self.coins.fill(&mut vec![0; gates as usize]);
    }
}
