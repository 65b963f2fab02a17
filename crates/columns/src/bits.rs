//! Borrowed bits, the lowest bit of a byte first.

/// Borrowed bits, the lowest bit of a byte first. They may begin within a byte.
#[derive(Clone, Copy, Debug)]
pub struct BitSlice<'a> {
    bytes: &'a [u8],
    offset: usize,
    length: usize,
}

impl<'a> BitSlice<'a> {
    /// `length` bits from bit `offset` on; `None` if the bytes have fewer.
    #[must_use]
    pub fn new(bytes: &'a [u8], offset: usize, length: usize) -> Option<Self> {
        let end = offset.checked_add(length)?;
        (end.div_ceil(8) <= bytes.len()).then_some(BitSlice { bytes, offset, length })
    }

    /// Bit `i`.
    ///
    /// # Panics
    /// If there is no such bit.
    #[must_use]
    pub fn get(self, i: usize) -> bool {
        assert!(i < self.length, "bit {i} of {}", self.length);
        let at = self.offset + i;
        self.bytes[at / 8] >> (at % 8) & 1 == 1
    }

    /// The number of bits.
    #[must_use]
    pub fn len(self) -> usize {
        self.length
    }

    /// Whether there are no bits.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.length == 0
    }

    /// At most `most` of the bits from bit `from` on.
    ///
    /// # Panics
    /// If `from` is greater than the number of bits.
    #[must_use]
    pub fn part(self, from: usize, most: usize) -> Self {
        assert!(from <= self.length, "bit {from} of {}", self.length);
        BitSlice { offset: self.offset + from, length: most.min(self.length - from), ..self }
    }

    /// Bits `64 k` to `64 k + 63`, with the first as the lowest bit of the word, and zeros behind
    /// the last bit.
    #[must_use]
    pub fn word(self, k: usize) -> u64 {
        let at = self.offset + 64 * k;
        let rest = self.length.saturating_sub(64 * k);
        if rest == 0 {
            return 0;
        }
        let (byte, shift) = (at / 8, at % 8);
        let mut nine = [0; 9];
        let there = self.bytes.len().min(byte + 9) - byte;
        if there == 9 {
            nine.copy_from_slice(&self.bytes[byte..byte + 9]);
        } else {
            nine[..there].copy_from_slice(&self.bytes[byte..byte + there]);
        }
        let [low @ .., high] = nine;
        let word = u64::from_le_bytes(low) >> shift | (u64::from(high) << 8 << (56 - shift as u32));
        if rest < 64 { word & ((1 << rest) - 1) } else { word }
    }

    /// Appends the bits as truth values.
    pub fn append_flags(self, to: &mut Vec<bool>) {
        to.extend((0..self.length).map(|i| self.get(i)));
    }

    /// The index of the first bit that is 0.
    #[must_use]
    pub fn first_zero(self) -> Option<usize> {
        let odd = |k: &usize| self.word(*k) != ones(self.length - 64 * k);
        let k = (0..self.length.div_ceil(64)).find(odd)?;
        Some(64 * k + (!self.word(k)).trailing_zeros() as usize)
    }

    /// Appends a byte for each bit: 1 if the bit is `is`, else 0.
    pub fn append_bytes(self, is: bool, to: &mut Vec<u8>) {
        let start = to.len();
        to.resize(start + self.length.next_multiple_of(64), 0);
        let flip = if is { 0 } else { LOWEST };
        for (k, bytes) in to[start..].chunks_exact_mut(64).enumerate() {
            let word = self.word(k).to_le_bytes();
            for (byte, eight) in word.iter().zip(bytes.chunks_exact_mut(8)) {
                // The mask keeps bit i in byte i; the sum moves it to the highest bit of byte i.
                let apart = u64::from(*byte).wrapping_mul(LOWEST) & 0x8040_2010_0804_0201;
                let high = apart.wrapping_add(0x0040_6070_787c_7e7f);
                eight.copy_from_slice(&(((high >> 7) & LOWEST) ^ flip).to_le_bytes());
            }
        }
        to.truncate(start + self.length);
    }
}

/// Packs truth values as bits, the first as the lowest bit of a byte.
#[must_use]
pub fn packed(flags: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag));
    flags.chunks(8).map(byte).collect()
}

/// The lowest bit of each byte.
const LOWEST: u64 = 0x0101_0101_0101_0101;

/// A word whose lowest `bits` bits are ones; `bits` is at most 64.
pub(crate) fn ones(bits: usize) -> u64 {
    if bits < 64 { (1 << bits) - 1 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_bytes_are_the_bits() {
        let bytes: Vec<u8> = (0..40u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect();
        for offset in 0..19 {
            for length in [0, 1, 7, 8, 63, 64, 65, 127, 128, 200, 320 - offset] {
                let bits = BitSlice::new(&bytes, offset, length).unwrap();
                let plain: Vec<bool> =
                    (offset..offset + length).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect();
                for k in 0..4 + length / 64 {
                    let bit = |i: usize| u64::from(plain.get(64 * k + i) == Some(&true)) << i;
                    assert_eq!(bits.word(k), (0..64).map(bit).sum::<u64>(), "{offset} {length} {k}");
                }
                assert_eq!(bits.first_zero(), plain.iter().position(|bit| !bit));
                assert!(plain.iter().enumerate().all(|(i, bit)| bits.get(i) == *bit));
                for is in [true, false] {
                    let mut made = vec![7];
                    bits.append_bytes(is, &mut made);
                    assert_eq!(made[0], 7);
                    assert!(made[1..].iter().zip(&plain).all(|(byte, bit)| *byte == u8::from(*bit == is)));
                    assert_eq!(made.len(), 1 + length);
                }
                let mut flags = vec![];
                bits.append_flags(&mut flags);
                assert_eq!(flags, plain);
                assert_eq!(
                    BitSlice::new(&packed(&flags), 0, length).map(BitSlice::first_zero),
                    Some(bits.first_zero())
                );
                if length > 9 {
                    let part = bits.part(5, 3);
                    assert_eq!((part.len(), part.get(2)), (3, plain[7]));
                }
            }
        }
        assert!(BitSlice::new(&bytes, 1, 320).is_none());
        assert_eq!(BitSlice::new(&[u8::MAX; 9], 3, 69).unwrap().first_zero(), None);
        assert!(BitSlice::new(&[], 0, 0).unwrap().is_empty());
    }
}
