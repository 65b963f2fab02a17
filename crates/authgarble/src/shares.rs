//! Authenticated shares of bits, and the local operations on them.
//!
//! Party i holds x_i of x = x_0 ⊕ … ⊕ x_{n−1}. For every peer j it holds a MAC M = K ⊕ x_i Δ_j,
//! where j holds the key K, and it holds a key of the peer's x_j. Bit 0 of every Δ is 1 and bit 0
//! of every K is 0, so that bit 0 of every M is x_i: MACs carry their bit.

use crate::sealed::Reader;
use hushwire_block::{Block, Buffer, Wipe, abreast, as_bytes_mut};
use std::ops::{Deref, DerefMut, Range};
use subtle::ConstantTimeEq;

/// Blocks that are wiped as bytes when they are dropped: this is a fill of memory, where `zeroize`
/// writes byte after byte. They never grow, since a move would leave a copy behind. Long lists use
/// huge pages: the first touch of small pages took longer than the work on them.
#[derive(Default)]
pub(crate) struct Blocks(Buffer);

pub(crate) fn blocks(len: usize) -> Blocks {
    let mut buffer = Buffer::new();
    buffer.set_len(16 * len);
    Blocks(buffer)
}

impl Blocks {
    /// The blocks that an iterator gives.
    pub(crate) fn of(from: impl ExactSizeIterator<Item = Block>) -> Blocks {
        let mut list = blocks(from.len());
        list.iter_mut().zip(from).for_each(|(to, from)| *to = from);
        list
    }

    /// Reads `len` blocks of a plaintext.
    pub(crate) fn read(plain: &mut Reader<'_>, len: usize) -> Option<Blocks> {
        let bytes = plain.bytes(len.checked_mul(16)?)?;
        let mut list = blocks(len);
        as_bytes_mut(&mut list).copy_from_slice(bytes);
        Some(list)
    }

    /// Keeps the first `len` blocks, and wipes the others.
    pub(crate) fn truncate(&mut self, len: usize) {
        if let Some(rest) = self.0.get_mut(16 * len..) {
            rest.wipe();
            self.0.set_len(16 * len);
        }
    }
}

#[cfg(test)]
impl Clone for Blocks {
    fn clone(&self) -> Blocks {
        Blocks::of(self.iter().copied())
    }
}

impl Deref for Blocks {
    type Target = [Block];
    #[inline]
    fn deref(&self) -> &[Block] {
        self.0.blocks()
    }
}

impl DerefMut for Blocks {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.blocks_mut()
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// LOCAL: a list of fewer blocks is finished before another thread would have started.
const SHORT: usize = 1 << 12;

/// The number of threads that are worth starting for lists of `len` blocks.
pub(crate) fn worth(threads: usize, len: usize) -> usize {
    if len < SHORT { 1 } else { threads }
}

/// This party's part of `len` shared bits: for every peer a MAC of its own bit and a key of the
/// peer's.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Shares {
    pub(crate) macs: Vec<Blocks>,
    pub(crate) keys: Vec<Blocks>,
}

impl Shares {
    /// Shares of zeros. The threads share this work, since the first touch of fresh memory takes
    /// long.
    pub(crate) fn zeros(threads: usize, slots: usize, len: usize) -> Shares {
        let mut macs = abreast(worth(threads, len), vec![(); 2 * slots], |()| blocks(len));
        let keys = macs.split_off(slots);
        Shares { macs, keys }
    }

    /// Drops shares, which wipes them.
    pub(crate) fn wipe<const N: usize>(threads: usize, all: [Shares; N]) {
        let threads = worth(threads, all.iter().map(Shares::len).max().unwrap_or(0));
        abreast(
            threads,
            all.into_iter().flat_map(|shares| [shares.macs, shares.keys]).flatten().collect(),
            drop,
        );
    }

    /// Reads shares of `len` bits from a plaintext: MACs by peer, then keys by peer.
    pub(crate) fn read(plain: &mut Reader<'_>, slots: usize, len: usize) -> Option<Shares> {
        let mut lists = || (0..slots).map(|_| Blocks::read(plain, len)).collect::<Option<_>>();
        Some(Shares { macs: lists()?, keys: lists()? })
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

    /// All blocks, mutable, in the order of [`lists`](Self::lists).
    pub(crate) fn lists_mut(&mut self) -> impl Iterator<Item = &mut Blocks> {
        self.macs.iter_mut().chain(&mut self.keys)
    }

    /// Copies the shares in this range.
    pub(crate) fn part(&self, range: &Range<usize>) -> Shares {
        let list = |list: &Blocks| Blocks::of(list[range.clone()].iter().copied());
        Shares { macs: self.macs.iter().map(list).collect(), keys: self.keys.iter().map(list).collect() }
    }

    /// Adds public bits to the shares from number `first` on; party 0 adds them to its own bits.
    pub(crate) fn add_public(&mut self, threads: usize, me: usize, delta: Block, first: usize, bits: &[u8]) {
        let one = one(me, delta);
        let lists = if me == 0 { &mut self.macs[..] } else { &mut self.keys[..1] };
        abreast(worth(threads, bits.len()), lists.iter_mut().collect(), |list: &mut Blocks| {
            for (block, bit) in list[first..].iter_mut().zip(bits) {
                *block ^= one.and_bit(*bit == 1);
            }
        });
    }
}

/// The share of a public 1: added to the MACs of party 0, it flips party 0's bit; the other parties
/// add it to their keys of that bit.
pub(crate) fn one(me: usize, delta: Block) -> Block {
    let bit = Block::from_u128(1);
    if me == 0 { bit } else { delta ^ bit }
}

/// `to[k] ⊕= from[k]`.
pub(crate) fn add(to: &mut [Block], from: &[Block]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to ^= *from);
}

/// Packs bits, one a byte, eight to a byte.
pub(crate) fn pack(bits: &[u8]) -> Vec<u8> {
    bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit & 1)).collect()
}

/// Unpacks the first `len` bits, one a byte.
pub(crate) fn unpack(packed: &[u8], len: usize) -> Vec<u8> {
    (0..len).map(|i| packed[i / 8] >> (i % 8) & 1).collect()
}

/// Whether `packed` has exactly the bytes of `len` bits, and no bit past the last is set.
pub(crate) fn is_packed(packed: &[u8], len: usize) -> bool {
    let clear = len.is_multiple_of(8) || packed[len / 8] >> (len % 8) == 0;
    clear && packed[len.div_ceil(8)..].iter().all(|byte| *byte == 0)
}

/// Whether two secrets are equal, in constant time.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}
