//! Numbers modulo 2^ℓ in 64-bit words, and messages of ℓ bits each.

/// The lower `bits` bits, at most 64.
pub(crate) const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Bytes of `count` numbers of `bits` bits without gaps.
pub(crate) const fn packed(count: usize, bits: usize) -> usize {
    (count * bits).div_ceil(8)
}

/// Numbers of any widths one behind the other, the lowest bit first.
pub(crate) struct Packer {
    bytes: Vec<u8>,
    held: u128,
    bits: u32,
}

impl Packer {
    pub(crate) fn new(bytes: usize) -> Self {
        Packer { bytes: Vec::with_capacity(bytes + 8), held: 0, bits: 0 }
    }

    /// Appends a number that is no wider.
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

    /// The next number. Past the end of the bytes there are zeros.
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

/// Packs bits that stand in bytes of their own.
pub(crate) fn pack_bits(bits: &[u8]) -> Vec<u8> {
    let (eights, rest) = bits.as_chunks::<8>();
    let mut out = Vec::with_capacity(eights.len() + 1);
    // Bit k of byte k comes to bit 56 + k: no two meet.
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
        // Byte k keeps bit k alone, and becomes 1 where it is there.
        let one = (u64::from(*byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        out.extend_from_slice(&(((one + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101).to_le_bytes());
    }
    out.truncate(count);
    out
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
    }
}
