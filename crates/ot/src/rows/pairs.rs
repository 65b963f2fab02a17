//! ALSZ15's check: hashes over pairs of rows.
//!
//! ```text
//! g_i^c            fold of the stream of row i's key c;
//!                  row i's message folds to d_i = g_i^0 ⊕ g_i^1 ⊕ x
//! h_{ij}^{pq}      H(segment, challenge, pair, g_i^p ⊕ g_j^q): four hashes a pair, from the
//!                  receiver
//! the sender       holds g_i^p and g_j^q, p = ¬Δ_i, q = ¬Δ_j, and with d_i ⊕ d_j also g_i^¬p ⊕
//!                  g_j^¬q: it checks two
//! ```
//!
//! Folds include the last column, which only the check uses, so that x has 128 bits that the sender
//! cannot guess. Without that column, the sender could test guesses of choices against the two
//! hashes that it cannot compute.
//!
//! A receiver that sends rows of different choices (e_i ≠ e_j, and therefore different folds,
//! except with probability 2^-128) can satisfy a pair of them for two of the four values of (Δ_i,
//! Δ_j), as if it guessed one of the two bits. Let B be the rows outside the largest class of equal
//! e, fixed before the pairs are drawn. To pass, the guessed rows T must cover every pair between
//! classes. Then the receiver knows T and B, and T costs it 2^-|T|. Unlike in the row check, U =
//! B∖T is free. The short Δ depends on U only if U holds a word of a code of distance 9
//! (`compress`); otherwise at most |T| bits of it are known at a cost of 2^-|T|, as in KOS.
//! Consider [`PARTNERS`] random partners for each row, and the sum over |T| of P(T exists that
//! leaves such a U) · 2^-|T|, where every U counts that can hold a word (two words of weight w
//! share at most w − 5 rows). For every B of 9 to 95 rows this sum is at most 2^-48 (the worst case
//! is 13; with 3 partners it would be 2^-37). If no class has half of the rows, the same holds for
//! two groups of classes with at least 47 rows each, whose pairs alone cost 2^-40. The authors of
//! ALSZ15 use 190 base OTs and 380 pairs for ρ = 40, and hash the rest of Δ.
//!
//! That probability is for one attempt: the sender draws the challenge when the segment is closed,
//! and a failed attempt ends it. 16 bytes for a hash suffice, because a receiver gains a guess only
//! if the two hashes of one given pair of values are equal.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::Block;
use hushwire_prg::{Prg, Seed};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::kind::PARTNERS;

/// The number of rows that are compared: all but row 0, which is the receiver's own and defines its
/// choices.
const ROWS: u64 = 191;

/// The pairs that the sender's challenge selects: every row with [`PARTNERS`] others.
pub(super) fn partners(backend: Backend, challenge: &[u8]) -> Vec<[usize; 2]> {
    let challenge = challenge.try_into().expect("a challenge of 16 bytes");
    let mut stream = Prg::new(backend, &Seed::from_bytes(challenge), "rows partners");
    let mut pairs = Vec::with_capacity(PARTNERS * ROWS as usize);
    for row in 0..ROWS {
        for _ in 0..PARTNERS {
            let step = 1 + stream.next_u64() % (ROWS - 1);
            pairs.push([1 + row as usize, 1 + ((row + step) % ROWS) as usize]);
        }
    }
    pairs
}

/// Sets `out[n] = H(sums[n])` for `N` sums of each pair, with pair number n / N: π(π(x) ⊕ i) ⊕
/// π(x), where π is keyed by the segment and the challenge. The hashes that the sender cannot
/// compute are of values that it knows, offset by x.
pub(super) fn hash<const N: usize>(
    backend: Backend,
    segment: &[u8; 32],
    challenge: &[u8],
    sums: &[Block],
    out: &mut [Block],
) {
    let name = blake3::keyed_hash(segment, challenge);
    let key = name.as_bytes().first_chunk().expect("32 bytes hold 16");
    backend.tccr::<N>(&Aes128::on(backend, key), 0, sums, out);
}

/// Whether `hashes[2 p + q]` is `wanted`; no index depends on `p` and `q`.
pub(super) fn matches(hashes: &[Block], [p, q]: [u8; 2], wanted: Block) -> subtle::Choice {
    let mut found = Block::ZERO;
    for (i, hash) in (0u8..).zip(hashes) {
        found.conditional_assign(hash, i.ct_eq(&(2 * p + q)));
    }
    found.0.ct_eq(&wanted.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    use std::collections::HashSet;

    #[test]
    fn every_row_is_compared_with_four_others_that_the_challenge_draws() {
        let draw = |challenge: u8| partners(Backend::best(), &[challenge; 16]);
        let pairs = draw(1);
        assert_eq!(pairs.len(), 4 * 191);
        let mut second = HashSet::new();
        for row in 1..192 {
            let of_row: Vec<usize> = pairs.iter().filter(|pair| pair[0] == row).map(|pair| pair[1]).collect();
            assert_eq!(of_row.len(), 4, "row {row}");
            assert!(of_row.iter().all(|other| (1..192).contains(other) && *other != row), "row {row}");
            let distinct: HashSet<_> = of_row.iter().collect();
            // Some of the four partners among 190 may coincide, which is rare.
            assert!(distinct.len() >= 3, "row {row}: {of_row:?}");
            second.extend(of_row);
        }
        assert!(second.len() > 170, "all rows are partners: {}", second.len());
        assert_ne!(draw(2), pairs);
    }

    #[test]
    fn hashes_are_of_the_segment_the_challenge_and_the_pair() {
        let sums: Vec<Block> = (0..12u128).map(|i| Block::from_u128(i << 60 | 5)).collect();
        let of = |segment: u8, challenge: u8| {
            let mut out = vec![Block::ZERO; sums.len()];
            hash::<4>(Backend::best(), &[segment; 32], &[challenge; 16], &sums, &mut out);
            out
        };
        let name = blake3::keyed_hash(&[3; 32], &[4; 16]);
        let key: [u8; 16] = *name.as_bytes().first_chunk().expect("32 bytes hold 16");
        let cipher = aes::Aes128::new(&key.into());
        let pi = |x: Block| {
            let mut block = x.0.into();
            cipher.encrypt_block(&mut block);
            Block(block.into())
        };
        let wanted: Vec<Block> =
            (0u128..).zip(&sums).map(|(n, sum)| pi(pi(*sum) ^ Block::from_u128(n / 4)) ^ pi(*sum)).collect();
        assert_eq!(of(3, 4), wanted);
        assert!(of(3, 5) != wanted && of(5, 4) != wanted);
    }
}
