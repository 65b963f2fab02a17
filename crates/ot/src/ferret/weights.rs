//! A tree's coefficients in the check.
//!
//! ```text
//! leaf      x = 256 p + j, p in 0 .. P
//! weight    χ_x = a_j · ρ^(P − 1 − p), a_j = AES_k(j), ρ = AES_k(256)
//! ```
//!
//! k is the tree's challenge. An error in any leaf makes the weighted sum of errors a polynomial in a and ρ that is not
//! zero; of degree P ≤ 32, so it vanishes with probability 2^−123. A coefficient of its own for every leaf would say 2^−128
//! and cost as many AES calls as half the tree.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Gf128};
use hushwire_prg::Seed;
use hushwire_simd::clmul::Clmul;

/// Leaves of a piece. SECURITY, for the bound above; AGREEMENT.
const PIECE: usize = 256;

/// The public weights of one tree, equal at both ends.
pub(crate) struct Weights {
    backend: Backend,
    clmul: Clmul,
    key: Aes128,
    piece: Vec<Gf128>,
    step: Gf128,
}

impl Weights {
    /// For a tree of `leaves` leaves.
    pub(crate) fn new(backend: Backend, challenge: &Seed, leaves: usize) -> Self {
        let key = Aes128::on(backend, challenge.expose());
        let mut stream = [Block::ZERO; PIECE + 1];
        backend.counter_blocks(&key, 0, &mut stream);
        let piece = stream[..PIECE.min(leaves)].iter().map(|a| Gf128::from(*a)).collect();
        Self { backend, clmul: Clmul::best(), key, piece, step: stream[PIECE].into() }
    }

    /// Σ χ_x · leaf_x.
    pub(crate) fn sum(&self, leaves: &[Block]) -> Gf128 {
        leaves.chunks(self.piece.len()).fold(Gf128::ZERO, |sum, piece| {
            sum.mul(self.step, self.clmul) + Gf128::inner_blocks(&self.piece, piece, self.clmul)
        })
    }

    /// χ at a secret place of a tree of `leaves` leaves: nothing is indexed or branched on by it.
    pub(crate) fn at(&self, place: usize, leaves: usize) -> Gf128 {
        // Both are powers of two, so that a place is cut by shifts.
        let len = self.piece.len();
        let mut at = [Block::from_u128((place & (len - 1)) as u128)];
        self.backend.ecb_encrypt(&self.key, &mut at);
        // P − 1 − p has p's bits turned.
        let pieces = leaves / len;
        let exponent = !(place >> len.ilog2()) & (pieces - 1);
        let (mut weight, mut power) = (Gf128::from(at[0]), self.step);
        for bit in 0..pieces.ilog2() {
            let by = 0u128.wrapping_sub((exponent >> bit & 1) as u128);
            let factor = Gf128(power.0 & by | !by & 1);
            weight = weight.mul(factor, self.clmul);
            power = power.square(self.clmul);
        }
        weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_weighted_leaves() {
        for leaves in [16, 256, 512, 8192] {
            for backend in Backend::all() {
                let weights = Weights::new(backend, &Seed::from_bytes([4; 16]), leaves);
                let mut all = vec![Block::ZERO; leaves];
                backend.counter_blocks(&Aes128::new(&[5; 16]), 0, &mut all);
                let naive = |sum, (x, leaf): (usize, &Block)| {
                    sum + weights.at(x, leaves).mul((*leaf).into(), Clmul::portable())
                };
                assert_eq!(weights.sum(&all), all.iter().enumerate().fold(Gf128::ZERO, naive));
            }
        }
    }

    #[test]
    fn weights_differ() {
        let weights = Weights::new(Backend::best(), &Seed::from_bytes([4; 16]), 1024);
        let mut all: Vec<u128> = (0..1024).map(|x| weights.at(x, 1024).0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1024);
    }
}
