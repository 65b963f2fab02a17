//! The bit positions of the answers to a level's pairs. [`hushwire_circuit::ranking`] asks for the
//! answers.

use super::planes::TILE;
pub(super) use hushwire_circuit::ranking::{
    RankedPair, Ranking, likely_levels, most_comparisons, most_levels, most_pairs,
};

/// AGREEMENT: the position, among those of `pairs` pairs, of the bit that answers pair `i`. Whole
/// tiles have their bits in transposed order.
pub(super) fn bit_of(i: usize, pairs: usize) -> usize {
    let (tile, at) = (i / TILE, i % TILE);
    if (tile + 1) * TILE > pairs { i } else { tile * TILE + at % 16 * (TILE / 16) + at / 16 }
}

/// The answer to pair `i` of `pairs` pairs.
pub(super) fn answer(answers: &[u8], i: usize, pairs: usize) -> bool {
    let bit = bit_of(i, pairs);
    answers[bit / 8] >> (bit % 8) & 1 == 1
}
