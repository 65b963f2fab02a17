//! Bit strings that begin inside a byte: bit `i` of a string is bit `i % 8` of byte `i / 8`.

/// XORs bits `start..start + len` of `bits` into the first `len` bits of `out`, and clears the
/// unused bits of the last byte that it writes.
///
/// # Panics
/// If `bits` or `out` is too short (the caller's bug).
pub fn xor_range(bits: &[u8], start: usize, len: usize, out: &mut [u8]) {
    let out = &mut out[..len.div_ceil(8)];
    let (first, shift) = (start / 8, start % 8);
    if shift == 0 {
        out.iter_mut().zip(&bits[first..]).for_each(|(out, bits)| *out ^= bits);
    } else {
        // Words of eight bytes, while a ninth byte follows.
        let from = &bits[first..];
        let behind = from.iter().skip(8).step_by(8);
        let (words, _) = out.as_chunks_mut::<8>();
        let whole = words.len().min(from.len().saturating_sub(1) / 8);
        for ((out, word), behind) in words[..whole].iter_mut().zip(from.as_chunks::<8>().0).zip(behind) {
            let word = u64::from_le_bytes(*word) >> shift | u64::from(*behind) << (64 - shift);
            *out = (u64::from_le_bytes(*out) ^ word).to_le_bytes();
        }
        for (i, out) in out.iter_mut().enumerate().skip(8 * whole) {
            let high = from.get(i + 1).map_or(0, |b| b << (8 - shift));
            *out ^= from[i] >> shift | high;
        }
    }
    if let (Some(last), used @ 1..) = (out.last_mut(), len % 8) {
        *last &= (1 << used) - 1;
    }
}

/// Writes the first `len` bits of `from` to bits `start..start + len` of `out`; no other bit
/// changes.
///
/// # Panics
/// If `from` or `out` is too short (the caller's bug).
pub fn put_range(from: &[u8], len: usize, out: &mut [u8], start: usize) {
    let from = &from[..len.div_ceil(8)];
    let mut first = 0;
    if start.is_multiple_of(8) {
        first = len / 8;
        out[start / 8..][..first].copy_from_slice(&from[..first]);
    }
    for (i, &from) in from.iter().enumerate().skip(first) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit(bits: &[u8], i: usize) -> u8 {
        bits[i / 8] >> (i % 8) & 1
    }

    proptest! {
        #[test]
        fn ranges(
            bits in prop::collection::vec(any::<u8>(), 1..40),
            start in 0usize..320,
            len in 0usize..320,
            aligned in any::<bool>(),
        ) {
            let total = 8 * bits.len();
            // Half of the cases start at a byte boundary, where whole bytes are copied.
            let start = if aligned { start / 8 * 8 } else { start }.min(total);
            let len = len.min(total - start);
            let mut out = vec![0; len.div_ceil(8)];
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
    }
}
