//! Numbers modulo 2^ℓ in 64-bit words, and messages of ℓ bits each.

pub(crate) use hushwire_block::pack::{Packer, Unpacker, mask, packed};

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
        fn columns_come_back(numbers in prop::collection::vec(any::<u64>(), 0..50), bits in 1u32..=64) {
            let cut: Vec<u64> = numbers.iter().map(|n| n & mask(bits)).collect();
            prop_assert_eq!(unpack(&pack(&numbers, bits), numbers.len(), bits), cut);
            let ones: Vec<u8> = numbers.iter().map(|n| (n & 1) as u8).collect();
            prop_assert_eq!(unpack_bits(&pack_bits(&ones), ones.len()), ones);
        }
    }
}
