//! The coefficients of the check for the leaves of a chunk's trees, one tree after the other.
//!
//! ```text
//! leaf      x = 256 p + j, p in 0 .. P
//! weight    χ_x = a_j · ρ^(P − 1 − p), a_j = AES_k(j), ρ = AES_k(256)
//! ```
//!
//! k is the chunk's challenge. An error in any leaf makes the weighted sum of errors a nonzero
//! polynomial in a and ρ, of degree P ≤ 32, so that it vanishes with probability at most 2^−123.
//! With an independent coefficient for every leaf, the probability would be 2^−128, but the AES
//! calls would cost half as much as the tree.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Gf128};
use hushwire_prg::Seed;
use hushwire_simd::clmul::Clmul;

use super::params::CHUNK;

/// The number of leaves in a piece. SECURITY, for the bound above; AGREEMENT.
const PIECE: usize = 256;
/// The number of squarings for a power of ρ: P ≤ 2^`SQUARES`.
const SQUARES: usize = (CHUNK / PIECE).ilog2() as usize;

/// The public weights of up to [`CHUNK`] leaves, the same at both endpoints.
pub(crate) struct Weights {
    backend: Backend,
    clmul: Clmul,
    key: Aes128,
    piece: [Gf128; PIECE],
    /// ρ, ρ^2, ρ^4, ..
    steps: [Gf128; SQUARES],
    pieces: usize,
}

impl Weights {
    /// The weights of `leaves` leaves.
    pub(crate) fn new(backend: Backend, challenge: &Seed, leaves: usize) -> Self {
        assert!(leaves <= CHUNK, "the bound on errors is for at most {CHUNK} leaves");
        let (clmul, key) = (Clmul::best(), Aes128::on(backend, challenge.expose()));
        let mut stream = [Block::ZERO; PIECE + 1];
        backend.counter_blocks(&key, 0, &mut stream);
        let mut steps = [Gf128::from(stream[PIECE]); SQUARES];
        for i in 1..SQUARES {
            steps[i] = steps[i - 1].square(clmul);
        }
        let piece = core::array::from_fn(|j| stream[j].into());
        Self { backend, clmul, key, piece, steps, pieces: leaves.div_ceil(PIECE) }
    }

    /// Σ χ_x · leaf_x over all leaves.
    pub(crate) fn sum(&self, leaves: &[Block]) -> Gf128 {
        assert_eq!(leaves.len().div_ceil(PIECE), self.pieces, "all leaves");
        leaves.chunks(PIECE).fold(Gf128::ZERO, |sum, leaves| {
            let piece = &self.piece[..leaves.len()];
            sum.mul(self.steps[0], self.clmul) + Gf128::inner_blocks(piece, leaves, self.clmul)
        })
    }

    /// χ at a secret place: nothing is indexed or branched on by it.
    pub(crate) fn at(&self, place: usize) -> Gf128 {
        // A piece is a power of two, so that shifts split a place.
        let mut at = [Block::from_u128((place % PIECE) as u128)];
        self.backend.ecb_encrypt(&self.key, &mut at);
        let exponent = self.pieces - 1 - place / PIECE;
        self.steps.iter().enumerate().fold(at[0].into(), |weight: Gf128, (bit, step)| {
            let by = 0u128.wrapping_sub((exponent >> bit & 1) as u128);
            weight.mul(Gf128(step.0 & by | !by & 1), self.clmul)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_weighted_leaves() {
        for leaves in [16, 48, 256, 512, 272, 6 * 1024, 8192] {
            for backend in Backend::all() {
                let weights = Weights::new(backend, &Seed::from_bytes([4; 16]), leaves);
                let mut all = vec![Block::ZERO; leaves];
                backend.counter_blocks(&Aes128::new(&[5; 16]), 0, &mut all);
                let naive = |sum, (x, leaf): (usize, &Block)| {
                    sum + weights.at(x).mul((*leaf).into(), Clmul::portable())
                };
                assert_eq!(weights.sum(&all), all.iter().enumerate().fold(Gf128::ZERO, naive));
            }
        }
    }

    #[test]
    fn weights_differ() {
        let weights = Weights::new(Backend::best(), &Seed::from_bytes([4; 16]), 1024);
        let mut all: Vec<u128> = (0..1024).map(|x| weights.at(x).0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 1024);
    }
}
