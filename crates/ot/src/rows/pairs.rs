//! ALSZ15's check: hashes over pairs of rows.
//!
//! ```text
//! g_i^c            fold of the stream of row i's key c        row i's message folds to d_i = g_i^0 ⊕ g_i^1 ⊕ x
//! h_{ij}^{pq}      H(segment, pair, p, q, g_i^p ⊕ g_j^q)      four hashes a pair, from the receiver
//! the sender       holds g_i^p and g_j^q, p = ¬Δ_i, q = ¬Δ_j, and with d_i ⊕ d_j also g_i^¬p ⊕ g_j^¬q: it checks two
//! ```

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_prg::{Prg, Seed};
use subtle::{ConditionallySelectable, ConstantTimeEq};

use super::kind::PARTNERS;

/// Rows that are compared: all but row 0, which is the receiver's own and defines its choices.
const ROWS: u64 = 191;

/// The pairs that the sender's challenge names: every row with [`PARTNERS`] others.
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

/// One hash; `p` and `q` may be secret.
pub(super) fn hash(segment: &[u8; 32], pair: usize, [p, q]: [u8; 2], sum: Block) -> Block {
    let mut input = [0; 32];
    input[..8].copy_from_slice(&(pair as u64).to_le_bytes());
    (input[8], input[9]) = (p, q);
    input[16..].copy_from_slice(&sum.0);
    let digest = blake3::keyed_hash(segment, &input);
    let (first, _) = digest.as_bytes().split_first_chunk().expect("32 bytes");
    Block(*first)
}

/// Whether `hashes[2 p + q]` is `wanted`; nothing is indexed by `p` and `q`.
pub(super) fn matches(hashes: &[Block], [p, q]: [u8; 2], wanted: Block) -> subtle::Choice {
    let mut found = Block::ZERO;
    for (i, hash) in (0u8..).zip(hashes) {
        found.conditional_assign(hash, i.ct_eq(&(2 * p + q)));
    }
    found.0.ct_eq(&wanted.0)
}
