//! Packed bits: bit `i` of a string is bit `i % 8` of byte `i / 8`.

use hushwire_aes::Backend;
pub(crate) use hushwire_block::bits::{put_range, xor_range};
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};

/// The number of bytes that hold `bits` bits.
#[must_use]
pub(crate) fn bytes(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Bit `i` as 0 or 1.
#[cfg(test)]
#[must_use]
pub(crate) fn bit(bits: &[u8], i: usize) -> u8 {
    bits[i / 8] >> (i % 8) & 1
}

/// Packs bit 0 of every block; unused bits of the last byte are 0.
pub(crate) fn lsbs(blocks: &[Block], out: &mut [u8]) {
    let (whole, rest) = blocks.as_chunks::<8>();
    for (blocks, out) in whole.iter().zip(out.iter_mut()) {
        *out = blocks.iter().rev().fold(0, |byte, block| byte << 1 | block.0[0] & 1);
    }
    if !rest.is_empty() {
        out[whole.len()] = rest.iter().rev().fold(0, |byte, block| byte << 1 | block.0[0] & 1);
    }
}

/// Packs bit 0 of both blocks of every pair; unused bits of the last bytes are 0.
pub(crate) fn pair_lsbs(pairs: &[[Block; 2]], zero: &mut [u8], one: &mut [u8]) {
    let bit = |byte: u8, block: &Block| byte << 1 | block.0[0] & 1;
    for (pairs, (zero, one)) in pairs.chunks(8).zip(zero.iter_mut().zip(one)) {
        (*zero, *one) = pairs.iter().rev().fold((0, 0), |(m0, m1), [a, b]| (bit(m0, a), bit(m1, b)));
    }
}

/// Makes masks for the blocks of a vector from their bits, in constant time. The bits are copied to
/// every byte, each lane keeps its own (1, 2, 4 or 8), and a shuffle turns it into all ones.
struct Masks<L: Lanes> {
    own: L::V,
    table: L::V,
}

impl<L: Lanes> Masks<L> {
    #[inline(always)]
    fn new(l: L) -> Self {
        let mut own = [0; 64];
        for (i, lane) in own.chunks_exact_mut(16).enumerate() {
            lane.fill(1 << i);
        }
        let mut table = [0; 16];
        for one in [1, 2, 4, 8] {
            table[one] = 0xff;
        }
        Masks { own: l.load(&own), table: l.splat(&table) }
    }

    /// For blocks `at..at + N`; `at` is a multiple of N.
    #[inline(always)]
    fn at(&self, l: L, bits: &[u8], at: usize) -> L::V {
        let bits = bits[at / 8] >> (at % 8) & 0x0f;
        l.shuffle(self.table, l.and(l.splat(&[bits; 16]), self.own))
    }
}

struct AddWhere<'a> {
    bits: &'a [u8],
    delta: Block,
    /// `None` if the blocks are those of `out`.
    blocks: Option<&'a [u8]>,
    out: &'a mut [u8],
    streamed: bool,
}

impl Kernel for AddWhere<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (masks, delta) = (Masks::new(l), l.splat(&self.delta.0));
        let mut to = self.out.chunks_exact_mut(L::BYTES);
        let mut at = 0;
        for out in &mut to {
            let block = l.load(self.blocks.map_or(&*out, |blocks| &blocks[16 * at..]));
            let added = l.and(delta, masks.at(l, self.bits, at));
            l.put(l.xor(block, added), out, self.streamed);
            at += L::N;
        }
        if self.streamed {
            l.fence();
        }
        let out = to.into_remainder();
        if !out.is_empty() {
            let mut buffer = [0; 64];
            buffer[..out.len()].copy_from_slice(self.blocks.map_or(&*out, |blocks| &blocks[16 * at..]));
            let added = l.and(delta, masks.at(l, self.bits, at));
            l.store(l.xor(l.load(&buffer), added), &mut buffer);
            out.copy_from_slice(&buffer[..out.len()]);
        }
    }
}

/// `out[i] = blocks[i] ⊕ bits[i] · delta`, in constant time.
pub(crate) fn add_where(backend: Backend, bits: &[u8], delta: Block, blocks: &[Block], out: &mut [Block]) {
    assert_eq!(blocks.len(), out.len(), "a block for each");
    let (blocks, streamed) = (Some(as_bytes(blocks)), backend.is_streamed());
    backend.run(AddWhere { bits, delta, blocks, out: as_bytes_mut(out), streamed });
}

/// `blocks[i] ^= bits[i] · delta`, in constant time.
pub(crate) fn add_where_here(backend: Backend, bits: &[u8], delta: Block, blocks: &mut [Block]) {
    backend.run(AddWhere { bits, delta, blocks: None, out: as_bytes_mut(blocks), streamed: false });
}

struct AddChosen<'a> {
    bits: &'a [u8],
    pairs: &'a [u8],
    blocks: &'a [u8],
    out: &'a mut [u8],
    streamed: bool,
}

impl AddChosen<'_> {
    /// Computes a vector of outputs.
    #[inline(always)]
    fn step<L: Lanes>(l: L, mask: L::V, pairs: &[u8], blocks: &[u8]) -> L::V {
        let (zero, one) = l.unzip(l.load(pairs), l.load(&pairs[L::BYTES..]));
        let chosen = l.xor(zero, l.and(mask, l.xor(zero, one)));
        l.xor(l.load(blocks), chosen)
    }
}

impl Kernel for AddChosen<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let masks = Masks::new(l);
        let mut from = self.blocks.chunks_exact(L::BYTES);
        let mut to = self.out.chunks_exact_mut(L::BYTES);
        let mut at = 0;
        for (block, out) in (&mut from).zip(&mut to) {
            let v = Self::step(l, masks.at(l, self.bits, at), &self.pairs[32 * at..], block);
            l.put(v, out, self.streamed);
            at += L::N;
        }
        if self.streamed {
            l.fence();
        }
        let (rest, out) = (from.remainder(), to.into_remainder());
        if !rest.is_empty() {
            let (mut pairs, mut block) = ([0; 128], [0; 64]);
            pairs[..2 * rest.len()].copy_from_slice(&self.pairs[32 * at..]);
            block[..rest.len()].copy_from_slice(rest);
            let v = Self::step(l, masks.at(l, self.bits, at), &pairs, &block);
            l.store(v, &mut block);
            out.copy_from_slice(&block[..rest.len()]);
        }
    }
}

/// `out[i] = blocks[i] ⊕ pairs[i][bits[i]]`, in constant time.
pub(crate) fn add_chosen(
    backend: Backend,
    bits: &[u8],
    pairs: &[[Block; 2]],
    blocks: &[Block],
    out: &mut [Block],
) {
    assert!(pairs.len() == out.len() && blocks.len() == out.len(), "a pair and a block for each");
    let (pairs, streamed) = (as_bytes(pairs.as_flattened()), backend.is_streamed());
    backend.run(AddChosen { bits, pairs, blocks: as_bytes(blocks), out: as_bytes_mut(out), streamed });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_by_bits(words in prop::collection::vec(any::<[u128; 3]>(), 0..40), delta in any::<u128>()) {
            let blocks: Vec<Block> = words.iter().map(|w| Block::from_u128(w[0])).collect();
            let pairs: Vec<_> = words.iter().map(|w| [Block::from_u128(w[1]), Block::from_u128(w[2])]).collect();
            let mut packed = vec![0; bytes(blocks.len())];
            lsbs(&blocks, &mut packed);
            for backend in Backend::all() {
                let (mut added, mut chosen) = (blocks.clone(), blocks.clone());
                add_where(backend, &packed, Block::from_u128(delta), &blocks, &mut added);
                let mut here = blocks.clone();
                add_where_here(backend, &packed, Block::from_u128(delta), &mut here);
                prop_assert_eq!(&here, &added);
                add_chosen(backend.streamed(true), &packed, &pairs, &blocks, &mut chosen);
                for (i, block) in blocks.iter().enumerate() {
                    prop_assert_eq!(bit(&packed, i) == 1, block.lsb());
                    let sum = *block ^ Block::from_u128(delta);
                    prop_assert_eq!(added[i], if block.lsb() { sum } else { *block });
                    prop_assert_eq!(chosen[i], *block ^ pairs[i][usize::from(block.lsb())]);
                }
            }
        }
    }
}
