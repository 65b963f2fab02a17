//! Numbers modulo 2^ℓ in 64-bit words, and messages of ℓ bits each.

/// The parties that hold a factor: one party if it is private, both if it is shared.
pub(crate) type Holders = [bool; 2];

/// The lower `bits` bits, at most 64.
pub(crate) const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Bytes of `count` numbers of `bits` bits without gaps.
pub(crate) const fn packed(count: usize, bits: usize) -> usize {
    (count * bits).div_ceil(8)
}

/// Packs numbers of any widths one after the other, the lowest bit first.
pub(crate) struct Packer {
    bytes: Vec<u8>,
    held: u128,
    bits: u32,
}

impl Packer {
    pub(crate) fn new(bytes: usize) -> Self {
        Packer { bytes: Vec::with_capacity(bytes + 8), held: 0, bits: 0 }
    }

    /// Appends a number of at most `bits` bits.
    #[inline(always)]
    pub(crate) fn push(&mut self, number: u64, bits: u32) {
        self.held |= u128::from(number) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.bytes.extend_from_slice(&(self.held as u64).to_le_bytes());
            self.held >>= 64;
            self.bits -= 64;
        }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let left = self.bits.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.held.to_le_bytes()[..left]);
        self.bytes
    }
}

/// The reverse of [`Packer`].
pub(crate) struct Unpacker<'a> {
    bytes: &'a [u8],
    held: u128,
    bits: u32,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Unpacker { bytes, held: 0, bits: 0 }
    }

    /// The next number. Past the end of the bytes it reads zeros.
    #[inline(always)]
    pub(crate) fn pull(&mut self, bits: u32) -> u64 {
        if self.bits < bits {
            let mut word = [0; 8];
            let n = self.bytes.len().min(8);
            word[..n].copy_from_slice(&self.bytes[..n]);
            self.bytes = &self.bytes[n..];
            self.held |= u128::from(u64::from_le_bytes(word)) << self.bits;
            self.bits += 64;
        }
        let number = self.held as u64 & mask(bits);
        self.held >>= bits;
        self.bits -= bits;
        number
    }
}

/// Packs numbers of one width.
pub(crate) fn pack(numbers: &[u64], bits: u32) -> Vec<u8> {
    let mut packer = Packer::new(packed(numbers.len(), bits as usize));
    numbers.iter().for_each(|n| packer.push(*n & mask(bits), bits));
    packer.finish()
}

/// The reverse of [`pack`].
pub(crate) fn unpack(bytes: &[u8], count: usize, bits: u32) -> Vec<u64> {
    let mut unpacker = Unpacker::new(bytes);
    (0..count).map(|_| unpacker.pull(bits)).collect()
}

/// Packs bits, given one in each byte.
pub(crate) fn pack_bits(bits: &[u8]) -> Vec<u8> {
    let (eights, rest) = bits.as_chunks::<8>();
    let mut out = Vec::with_capacity(eights.len() + 1);
    // Bit k of byte k moves to bit 56 + k. No two bits collide.
    out.extend(
        eights.iter().map(|b| (u64::from_le_bytes(*b).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8),
    );
    if !rest.is_empty() {
        out.push(rest.iter().rev().fold(0, |byte, bit| byte << 1 | bit));
    }
    out
}

/// The reverse of [`pack_bits`].
pub(crate) fn unpack_bits(bytes: &[u8], count: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(count.next_multiple_of(8));
    for byte in &bytes[..count.div_ceil(8)] {
        // Byte k keeps only bit k, and becomes 1 if that bit is set.
        let one = (u64::from(*byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        out.extend_from_slice(&(((one + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101).to_le_bytes());
    }
    out.truncate(count);
    out
}

/// Packs numbers of `bits` bits, 1 or 2, given one in each byte. Each call begins a byte.
pub(crate) fn pack_few(few: &[u8], bits: u32, out: &mut Vec<u8>) {
    if bits == 1 {
        return out.extend(pack_bits(few));
    }
    let (eights, rest) = few.as_chunks::<8>();
    for b in eights {
        let x = u64::from_le_bytes(*b);
        let x = (x | x >> 6) & 0x000f_000f_000f_000f;
        let x = (x | x >> 12) & 0x0000_00ff_0000_00ff;
        out.extend_from_slice(&((x | x >> 24) as u16).to_le_bytes());
    }
    out.extend(rest.chunks(4).map(|four| four.iter().rev().fold(0, |byte, x| byte << 2 | x)));
}

/// The reverse of [`pack_few`]. Returns `count` numbers and the following bytes.
pub(crate) fn unpack_few(bytes: &[u8], count: usize, bits: u32) -> (Vec<u8>, &[u8]) {
    let (own, rest) = bytes.split_at(packed(count, bits as usize));
    if bits == 1 {
        return (unpack_bits(own, count), rest);
    }
    let mut out = Vec::with_capacity(count.next_multiple_of(4));
    for byte in own {
        let x = u32::from(*byte);
        let x = (x | x << 12) & 0x000f_000f;
        out.extend_from_slice(&((x | x << 6) & 0x0303_0303).to_le_bytes());
    }
    out.truncate(count);
    (out, rest)
}

/// Appends numbers of `bits` bits, at most 32. Each call begins a byte.
pub(crate) fn pack_words(words: &[u32], bits: u32, out: &mut Vec<u8>) {
    if bits == 32 {
        return out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }
    let mut packer = Packer::new(packed(words.len(), bits as usize));
    words.iter().for_each(|word| packer.push(u64::from(*word) & mask(bits), bits));
    out.extend(packer.finish());
}

/// The reverse of [`pack_words`]. Returns `count` numbers and the following bytes.
pub(crate) fn unpack_words(bytes: &[u8], count: usize, bits: u32) -> (Vec<u32>, &[u8]) {
    let (own, rest) = bytes.split_at(packed(count, bits as usize));
    if bits == 32 {
        return (own.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect(), rest);
    }
    let mut unpacker = Unpacker::new(own);
    ((0..count).map(|_| unpacker.pull(bits) as u32).collect(), rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec((any::<u64>(), 1u32..=64), 0..50)) {
            let bits: u32 = numbers.iter().map(|n| n.1).sum();
            let mut packer = Packer::new(0);
            numbers.iter().for_each(|(n, bits)| packer.push(n & mask(*bits), *bits));
            let bytes = packer.finish();
            prop_assert_eq!(bytes.len(), packed(1, bits as usize));
            let mut unpacker = Unpacker::new(&bytes);
            for (n, bits) in numbers {
                prop_assert_eq!(unpacker.pull(bits), n & mask(bits));
            }
        }

        #[test]
        fn columns_come_back(numbers in prop::collection::vec(any::<u64>(), 0..50), bits in 1u32..=64) {
            let cut: Vec<u64> = numbers.iter().map(|n| n & mask(bits)).collect();
            prop_assert_eq!(unpack(&pack(&numbers, bits), numbers.len(), bits), cut);
            let ones: Vec<u8> = numbers.iter().map(|n| (n & 1) as u8).collect();
            prop_assert_eq!(unpack_bits(&pack_bits(&ones), ones.len()), ones);
        }

        /// Consecutive columns, each from the start of a byte, as [`pack`] makes them.
        #[test]
        fn few_bits_and_words_come_back(
            runs in prop::collection::vec((prop::collection::vec(any::<u32>(), 0..40), 1u32..=5), 0..5),
        ) {
            let (mut few, mut words, mut want) = (vec![], vec![], [vec![], vec![]]);
            for (numbers, d) in &runs {
                let wide: Vec<u64> = numbers.iter().map(|n| u64::from(*n)).collect();
                let small: Vec<u8> = numbers.iter().map(|n| *n as u8 & mask(1 + d % 2) as u8).collect();
                pack_few(&small, 1 + d % 2, &mut few);
                pack_words(numbers, 1 << d, &mut words);
                want[0].extend(pack(&wide, 1 + d % 2));
                want[1].extend(pack(&wide, 1 << d));
            }
            prop_assert_eq!([&few, &words], [&want[0], &want[1]]);
            let (mut few, mut words) = (&few[..], &words[..]);
            for (numbers, d) in runs {
                let [small, wide]: [Vec<u32>; 2];
                let (own, rest) = unpack_few(few, numbers.len(), 1 + d % 2);
                (small, few) = (own.into_iter().map(u32::from).collect(), rest);
                (wide, words) = unpack_words(words, numbers.len(), 1 << d);
                let cut = |bits: u32| numbers.iter().map(|n| n & mask(bits) as u32).collect::<Vec<_>>();
                prop_assert_eq!([small, wide], [cut(1 + d % 2), cut(1 << d)]);
            }
            prop_assert!(few.is_empty() && words.is_empty());
        }
    }
}
