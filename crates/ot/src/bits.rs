//! Packed bits: bit `i` of a string is bit `i % 8` of byte `i / 8`.

use hushwire_block::Block;

/// How many bytes hold `bits` bits.
#[must_use]
pub(crate) fn bytes(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Bit `i` as 0 or 1.
#[inline]
#[must_use]
pub(crate) fn bit(bits: &[u8], i: usize) -> u8 {
    bits[i / 8] >> (i % 8) & 1
}

/// Xors bits `start..start + len` of `bits` into the front of `out`, whose last byte is filled up with zeros.
pub(crate) fn xor_range(bits: &[u8], start: usize, len: usize, out: &mut [u8]) {
    let out = &mut out[..bytes(len)];
    let (first, shift) = (start / 8, start % 8);
    if shift == 0 {
        out.iter_mut().zip(&bits[first..]).for_each(|(out, bits)| *out ^= bits);
    } else {
        for (i, out) in out.iter_mut().enumerate() {
            let high = bits.get(first + i + 1).map_or(0, |b| b << (8 - shift));
            *out ^= bits[first + i] >> shift | high;
        }
    }
    if let (Some(last), used @ 1..) = (out.last_mut(), len % 8) {
        *last &= (1 << used) - 1;
    }
}

/// Writes the first `len` bits of `from` to bits `start..start + len` of `out`; no other bit changes.
pub(crate) fn put_range(from: &[u8], len: usize, out: &mut [u8], start: usize) {
    for (i, &from) in from[..bytes(len)].iter().enumerate() {
        let (at, used) = (start + 8 * i, (len - 8 * i).min(8));
        let (byte, shift) = (at / 8, at % 8);
        let mask = 0xff_u16 >> (8 - used) << shift;
        let from = u16::from(from) << shift;
        for (part, byte) in [byte, byte + 1].into_iter().enumerate() {
            let (mask, from) = (mask.to_le_bytes()[part], from.to_le_bytes()[part]);
            if mask != 0 {
                out[byte] = out[byte] & !mask | from & mask;
            }
        }
    }
}

/// Bit 0 of every block, packed; the last byte is filled up with zeros.
pub(crate) fn lsbs(blocks: &[Block], out: &mut [u8]) {
    let (whole, rest) = blocks.as_chunks::<8>();
    for (blocks, out) in whole.iter().zip(out.iter_mut()) {
        *out = blocks.iter().rev().fold(0, |byte, block| byte << 1 | block.0[0] & 1);
    }
    if !rest.is_empty() {
        out[whole.len()] = rest.iter().rev().fold(0, |byte, block| byte << 1 | block.0[0] & 1);
    }
}

/// All ones where bit `i` is set, else zero.
#[inline]
fn mask(bits: &[u8], i: usize) -> u128 {
    0u128.wrapping_sub(u128::from(bit(bits, i)))
}

/// `blocks[i] ^= bits[i] · delta`.
pub(crate) fn add_where(bits: &[u8], delta: Block, blocks: &mut [Block]) {
    let delta = delta.to_u128();
    for (i, block) in blocks.iter_mut().enumerate() {
        *block = Block::from_u128(block.to_u128() ^ delta & mask(bits, i));
    }
}

/// `out[i] ^= pairs[i][bit start + i of bits]`, in constant time.
pub(crate) fn add_chosen(bits: &[u8], start: usize, pairs: &[[Block; 2]], out: &mut [Block]) {
    for (i, (pair, out)) in pairs.iter().zip(out).enumerate() {
        let [zero, one] = [pair[0].to_u128(), pair[1].to_u128()];
        *out = Block::from_u128(out.to_u128() ^ zero ^ (zero ^ one) & mask(bits, start + i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges(bits in prop::collection::vec(any::<u8>(), 1..40), start in 0usize..320, len in 0usize..320) {
            let total = 8 * bits.len();
            let start = start.min(total);
            let len = len.min(total - start);
            let mut out = vec![0; bytes(len)];
            xor_range(&bits, start, len, &mut out);
            for i in 0..8 * out.len() {
                prop_assert_eq!(bit(&out, i), if i < len { bit(&bits, start + i) } else { 0 });
            }
            let mut back: Vec<u8> = bits.iter().map(|b| !b).collect();
            put_range(&out, len, &mut back, start);
            for i in 0..total {
                let inside = (start..start + len).contains(&i);
                prop_assert_eq!(bit(&back, i) == bit(&bits, i), inside);
            }
        }

        #[test]
        fn blocks_by_bits(words in prop::collection::vec(any::<[u128; 3]>(), 0..40), delta in any::<u128>()) {
            let blocks: Vec<Block> = words.iter().map(|w| Block::from_u128(w[0])).collect();
            let pairs: Vec<_> = words.iter().map(|w| [Block::from_u128(w[1]), Block::from_u128(w[2])]).collect();
            let mut packed = vec![0; bytes(blocks.len())];
            lsbs(&blocks, &mut packed);
            let (mut added, mut chosen) = (blocks.clone(), blocks.clone());
            add_where(&packed, Block::from_u128(delta), &mut added);
            add_chosen(&packed, 0, &pairs, &mut chosen);
            for (i, block) in blocks.iter().enumerate() {
                prop_assert_eq!(bit(&packed, i) == 1, block.lsb());
                prop_assert_eq!(added[i], if block.lsb() { *block ^ Block::from_u128(delta) } else { *block });
                prop_assert_eq!(chosen[i], *block ^ pairs[i][usize::from(block.lsb())]);
            }
        }
    }
}
