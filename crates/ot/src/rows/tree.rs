//! GGM trees: complete at the receiver, and without one leaf at the sender.
//!
//! ```text
//! level 1      node x = key x of the tree's first base OT
//! level l+1    node 2x, 2x+1 = the two children of node x
//! correction   key c of base OT l  ⊕  sum of all nodes of level l whose last bit is c
//! ```
//!
//! The sender's path is α, most significant bit first; its base OT of a level chooses the side that
//! the path does not take. It stores node x = y ⊕ (the bits of α so far) at place y, so that the
//! node that it lacks is always at place 0. No index depends on α, and the leaves end up in the
//! order that its kernel needs.
//!
//! The two children are computed by two fixed-key calls each (`ggm_level`), not by a half tree. A
//! half tree fixes the sum of a parent's children, which is useful if leaves are shares of Δ; here
//! every leaf is a key of its own.

use blake3::Hasher;
use hushwire_aes::{Aes128, Backend, GgmKeys};
use hushwire_block::{Block, as_bytes};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use crate::{Check, Context, OtError, Sid};

use super::RowKind;

/// The domain that separates the digest from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot tree check v1";

/// Secret blocks, which are wiped.
pub(super) type Secret = Zeroizing<Vec<Block>>;

/// Zero blocks for secrets.
pub(super) fn secret(len: usize) -> Secret {
    Zeroizing::new(vec![Block::ZERO; len])
}

/// The session's public keys of the trees' PRG.
pub(super) fn ggm_keys(context: &Context) -> GgmKeys {
    let key = |index| {
        let name = context.sid.child("rows ggm key", index).0;
        let (key, _) = name.split_first_chunk().expect("32 bytes");
        Aes128::on(context.backend, key)
    };
    GgmKeys { left: key(0), right: key(1) }
}

/// Grows a whole tree from its base OTs' keys, and writes the corrections of its inner levels.
pub(super) fn grow(
    backend: Backend,
    keys: &GgmKeys,
    base: &[[Block; 2]],
    corrections: &mut [Block],
) -> Secret {
    let mut nodes = Zeroizing::new(base[0].to_vec());
    for (base, corrections) in base[1..].iter().zip(corrections.chunks_exact_mut(2)) {
        let mut children = secret(2 * nodes.len());
        backend.ggm_level(keys, &nodes, &mut children);
        corrections.copy_from_slice(base);
        for pair in children.chunks_exact(2) {
            corrections[0] ^= pair[0];
            corrections[1] ^= pair[1];
        }
        nodes = children;
    }
    nodes
}

/// Grows the same tree without leaf α, given as `path`; leaf α ⊕ y is at place y, and place 0 is
/// zero.
pub(super) fn regrow(
    backend: Backend,
    keys: &GgmKeys,
    path: &[u8],
    base: &[Block],
    corrections: &[Block],
) -> Secret {
    let mut nodes = Zeroizing::new(vec![Block::ZERO, base[0]]);
    for ((base, pair), turn) in base[1..].iter().zip(corrections.chunks_exact(2)).zip(&path[1..]) {
        let turn = Choice::from(*turn);
        let mut children = secret(2 * nodes.len());
        backend.ggm_level(keys, &nodes, &mut children);
        // The correction of the side that the path does not take: side 1 if the path goes to 0.
        let mut sibling = Block::conditional_select(&pair[1], &pair[0], turn) ^ *base;
        for (y, pair) in children.chunks_exact_mut(2).enumerate() {
            let (left, right) = pair.split_at_mut(1);
            Block::conditional_swap(&mut left[0], &mut right[0], turn);
            if y > 0 {
                sibling ^= right[0];
            }
        }
        children[0] = Block::ZERO;
        children[1] = sibling;
        nodes = children;
    }
    nodes
}

/// Turns every node into the leaf that is used and two blocks that only the check uses.
///
/// These are three blocks of AES in counter mode under the node, so that the check reveals nothing
/// about the leaf. The kernel makes four, because it makes a power of two for each key.
pub(super) fn split(backend: Backend, nodes: &Secret) -> (Secret, Vec<[Block; 2]>) {
    let counters = [0u128, 1, 2, 3].map(Block::from_u128);
    let mut blocks = Zeroizing::new(counters.repeat(nodes.len()));
    backend.rekeyed::<4>(nodes, &mut blocks);
    let leaves = blocks.chunks_exact(4).map(|b| b[0]).collect();
    (Zeroizing::new(leaves), blocks.chunks_exact(4).map(|b| [b[1], b[2]]).collect())
}

/// The hash of all check blocks of all trees.
pub(super) struct Digest(Hasher);

impl Digest {
    pub(super) fn new(sid: &Sid, kind: RowKind) -> Self {
        let mut hasher = Hasher::new_derive_key(DOMAIN);
        hasher.update(&sid.0);
        hasher.update(kind.domain().as_bytes());
        Digest(hasher)
    }

    /// Adds the next tree's check blocks, leaf by leaf; returns their sum.
    pub(super) fn add(&mut self, checks: &[[Block; 2]]) -> [Block; 2] {
        self.0.update(as_bytes(checks.as_flattened()));
        sum(checks)
    }

    /// The same for a tree that lacks leaf α, with the sum that the receiver sent.
    pub(super) fn add_punctured(&mut self, path: &[u8], checks: &mut [[Block; 2]], total: [Block; 2]) {
        checks[0] = [Block::ZERO; 2];
        let others = sum(checks);
        checks[0] = [total[0] ^ others[0], total[1] ^ others[1]];
        // Reorders from place y = x ⊕ α back to x, one bit at a time.
        for (level, turn) in path.iter().rev().enumerate() {
            for x in (0..checks.len()).filter(|x| x >> level & 1 == 0) {
                let (low, high) = checks.split_at_mut(x + (1 << level));
                for (a, b) in low[x].iter_mut().zip(&mut high[0]) {
                    Block::conditional_swap(a, b, Choice::from(*turn));
                }
            }
        }
        self.0.update(as_bytes(checks.as_flattened()));
    }

    pub(super) fn finish(self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }

    /// Compares the digest with the one that the receiver sent.
    pub(super) fn verify(self, sent: &[u8]) -> Result<(), OtError> {
        if bool::from(self.finish().ct_eq(sent)) { Ok(()) } else { Err(OtError::abort(Check::Trees)) }
    }
}

fn sum(checks: &[[Block; 2]]) -> [Block; 2] {
    checks.iter().fold([Block::ZERO; 2], |[a, b], check| [a ^ check[0], b ^ check[1]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::cipher::{BlockCipherEncrypt, KeyInit};
    use std::collections::HashSet;

    fn nodes(count: u128) -> Secret {
        Zeroizing::new(
            (1..=count)
                .map(|i| Block::from_u128(i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)))
                .collect(),
        )
    }

    /// The sums and the digest give the sender the check blocks of the leaf that it lacks. That
    /// leaf must not be among them.
    #[test]
    fn what_the_check_reveals_is_no_leaf() {
        for backend in Backend::all() {
            let nodes = nodes(16);
            let (leaves, checks) = split(backend, &nodes);
            let mut seen = HashSet::new();
            for ((node, leaf), checks) in nodes.iter().zip(&*leaves).zip(&checks) {
                let cipher = aes::Aes128::new(&node.0.into());
                let stream = [0u128, 1, 2].map(|counter| {
                    let mut block = counter.to_le_bytes().into();
                    cipher.encrypt_block(&mut block);
                    Block(block.into())
                });
                assert_eq!([*leaf, checks[0], checks[1]], stream);
                assert!([*leaf, checks[0], checks[1], *node].iter().all(|block| seen.insert(*block)));
            }
        }
    }

    #[test]
    fn keys_of_trees_are_two_and_of_one_session() {
        let keys = [1, 2].map(|sid| {
            let keys = ggm_keys(&Context { sid: Sid([sid; 32]), backend: Backend::best() });
            [*keys.left.round_keys(), *keys.right.round_keys()]
        });
        let keys: HashSet<_> = keys.as_flattened().iter().collect();
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn the_digest_binds_session_kind_and_every_block() {
        let of = |sid, kind, change: usize| {
            let mut checks: Vec<[Block; 2]> = nodes(32).as_chunks().0.to_vec();
            if let Some(block) = checks.as_flattened_mut().get_mut(change) {
                *block ^= Block::from_u128(1 << 77);
            }
            let mut digest = Digest::new(&Sid([sid; 32]), kind);
            digest.add(&checks[..8]);
            digest.add(&checks[8..]);
            digest.finish()
        };
        let mut seen = HashSet::from([of(2, RowKind::SoftSpoken2, 32), of(1, RowKind::SoftSpoken4, 32)]);
        for change in 0..=32 {
            assert!(seen.insert(of(1, RowKind::SoftSpoken2, change)), "block {change}");
        }
    }
}
