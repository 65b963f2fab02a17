//! Numbers of any widths one behind the other without gaps, the lowest bit first.

/// The lower `bits` bits, at most 64.
#[must_use]
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Bytes of `count` numbers of `bits` bits without gaps.
#[must_use]
pub const fn packed(count: usize, bits: usize) -> usize {
    (count * bits).div_ceil(8)
}

/// Numbers of any widths one behind the other, the lowest bit first.
pub struct Packer {
    bytes: Vec<u8>,
    held: u128,
    bits: u32,
}

impl Packer {
    /// Of about so many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Packer { bytes: Vec::with_capacity(bytes + 8), held: 0, bits: 0 }
    }

    /// Appends a number that is no wider.
    #[inline(always)]
    pub fn push(&mut self, number: u64, bits: u32) {
        self.held |= u128::from(number) << self.bits;
        self.bits += bits;
        if self.bits >= 64 {
            self.bytes.extend_from_slice(&(self.held as u64).to_le_bytes());
            self.held >>= 64;
            self.bits -= 64;
        }
    }

    /// The bytes; the last one is filled up with zeros.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let left = self.bits.div_ceil(8) as usize;
        self.bytes.extend_from_slice(&self.held.to_le_bytes()[..left]);
        self.bytes
    }
}

/// The reverse of [`Packer`].
pub struct Unpacker<'a> {
    bytes: &'a [u8],
    held: u128,
    bits: u32,
}

impl<'a> Unpacker<'a> {
    /// Of these bytes.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Unpacker { bytes, held: 0, bits: 0 }
    }

    /// The next number. Past the end of the bytes there are zeros.
    #[inline(always)]
    pub fn pull(&mut self, bits: u32) -> u64 {
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
    }
}
