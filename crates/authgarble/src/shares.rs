//! Authenticated shares of bits, and what a party does with them alone.
//!
//! Party i holds x_i of x = x_0 ⊕ … ⊕ x_{n−1} and, for every peer j, M = K ⊕ x_i Δ_j, where j holds K; and K of the
//! peer's x_j. Bit 0 of every Δ is 1 and bit 0 of every K is 0, so that bit 0 of every M is x_i: MACs carry their bit.

use hushwire_block::Block;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Blocks that are wiped in the end. They never grow: a vector that moves leaves a copy behind.
pub(crate) type Blocks = Zeroizing<Vec<Block>>;

pub(crate) fn blocks(len: usize) -> Blocks {
    Zeroizing::new(vec![Block::ZERO; len])
}

/// This party's part of `len` shared bits: for every peer a MAC of its own bit and a key of the peer's.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Shares {
    pub(crate) macs: Vec<Blocks>,
    pub(crate) keys: Vec<Blocks>,
}

impl Shares {
    /// Shares of zeros.
    pub(crate) fn zeros(slots: usize, len: usize) -> Shares {
        let many = || (0..slots).map(|_| blocks(len)).collect();
        Shares { macs: many(), keys: many() }
    }

    pub(crate) fn len(&self) -> usize {
        self.macs.first().map_or(0, |macs| macs.len())
    }

    pub(crate) fn slots(&self) -> usize {
        self.macs.len()
    }

    /// This party's bit of share `k`.
    pub(crate) fn bit(&self, k: usize) -> bool {
        self.macs[0][k].lsb()
    }

    /// All blocks: MACs by peer, then keys by peer.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &Blocks> {
        self.macs.iter().chain(&self.keys)
    }

    /// The same, to be changed.
    pub(crate) fn lists_mut(&mut self) -> impl Iterator<Item = &mut Blocks> {
        self.macs.iter_mut().chain(&mut self.keys)
    }

    /// The shares of `of` at these places, in this order.
    pub(crate) fn pick<I: Iterator<Item = usize>>(&self, of: impl Fn() -> I) -> Shares {
        let list = |list: &Blocks| Zeroizing::new(of().map(|k| list[k]).collect::<Vec<_>>());
        Shares { macs: self.macs.iter().map(list).collect(), keys: self.keys.iter().map(list).collect() }
    }

    /// Adds `other`, share by share.
    pub(crate) fn add(&mut self, other: &Shares) {
        for (to, from) in self.lists_mut().zip(other.lists()) {
            add(to, from);
        }
    }

    /// Adds `other` where `bits`, which are public, are 1.
    pub(crate) fn add_where(&mut self, bits: &[u8], other: &Shares) {
        for (to, from) in self.lists_mut().zip(other.lists()) {
            for ((to, from), bit) in to.iter_mut().zip(from.iter()).zip(bits) {
                *to ^= from.and_bit(*bit == 1);
            }
        }
    }

    /// Adds public bits, which party 0 takes upon itself.
    pub(crate) fn add_public(&mut self, me: usize, delta: Block, bits: &[u8]) {
        let one = one(me, delta);
        let lists = if me == 0 { &mut self.macs[..] } else { &mut self.keys[..1] };
        for list in lists {
            for (block, bit) in list.iter_mut().zip(bits) {
                *block ^= one.and_bit(*bit == 1);
            }
        }
    }
}

/// The share of a public 1: it adds to the MACs of party 0, which flips its bit, and to the keys that others hold of it.
pub(crate) fn one(me: usize, delta: Block) -> Block {
    let bit = Block::from_u128(1);
    if me == 0 { bit } else { delta ^ bit }
}

/// `to[k] ⊕= from[k]`.
pub(crate) fn add(to: &mut [Block], from: &[Block]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= *from);
}

/// Bits, one a byte, eight to a byte.
pub(crate) fn pack(bits: &[u8]) -> Vec<u8> {
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)).collect()
}

/// The first `len` of packed bits, one a byte.
pub(crate) fn unpack(packed: &[u8], len: usize) -> Vec<u8> {
    (0..len).map(|i| packed[i / 8] >> (i % 8) & 1).collect()
}

/// Whether packed bits are `len`, and nothing is set past the last.
pub(crate) fn is_packed(packed: &[u8], len: usize) -> bool {
    let clear = len.is_multiple_of(8) || packed[len / 8] >> (len % 8) == 0;
    clear && packed[len.div_ceil(8)..].iter().all(|byte| *byte == 0)
}

/// Whether two secrets are the same, in constant time.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}
