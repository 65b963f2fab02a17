//! Values of many instances, as bytes and as bit planes.
//!
//! ```text
//! values   instance after instance, ⌈width/8⌉ bytes each; bit i is bit i % 8 of byte i / 8
//! planes   plane after plane (bit 0 of every instance, then bit 1, …), ⌈n/8⌉ bytes each;
//!          instance j is bit j % 8 of byte j / 8
//! ```
//!
//! Bits past the width of a value, or past the last instance of a plane, are ignored when read and 0 when written.

use hushwire_block::transpose;
use hushwire_simd::cpu;

/// Bytes of one value of `width` bits.
#[must_use]
pub const fn value_bytes(width: usize) -> usize {
    width.div_ceil(8)
}

/// Bytes of one plane of `instances` bits.
#[must_use]
pub const fn plane_bytes(instances: usize) -> usize {
    instances.div_ceil(8)
}

/// Planes of `instances` values.
///
/// # Panics
/// If `values` is not `instances` × [`value_bytes`] long.
#[must_use]
pub fn pack(values: &[u8], width: usize, instances: usize) -> Vec<u8> {
    let bytes = value_bytes(width);
    assert_eq!(values.len(), bytes * instances, "{instances} values of {width} bits");
    let height = plane_bytes(instances);
    let mut planes = turn(values, 8 * bytes, instances, height);
    planes.truncate(width * height);
    planes
}

/// Values from the planes of `instances` of them.
///
/// # Panics
/// If `planes` is not `width` × [`plane_bytes`] long.
#[must_use]
pub fn unpack(planes: &[u8], width: usize, instances: usize) -> Vec<u8> {
    let height = plane_bytes(instances);
    assert_eq!(planes.len(), width * height, "{width} planes of {instances} bits");
    let bytes = value_bytes(width);
    let mut values = turn(planes, 8 * height, width, bytes);
    values.truncate(instances * bytes);
    values
}

/// Transposes `rows` rows of `cols` bits; rows up to the next multiple of 8 are zeros, `height` bytes of a result row.
fn turn(bits: &[u8], cols: usize, rows: usize, height: usize) -> Vec<u8> {
    let mut out = vec![0; cols * height];
    let padded;
    let from = if rows.is_multiple_of(8) {
        bits
    } else {
        let mut copy = Vec::with_capacity(8 * height * (cols / 8));
        copy.extend_from_slice(bits);
        copy.resize(8 * height * (cols / 8), 0);
        padded = copy;
        &padded[..]
    };
    transpose::bits(cpu().best(), from, 8 * height, cols, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bit(bytes: &[u8], i: usize) -> bool {
        bytes[i / 8] >> (i % 8) & 1 == 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn planes_hold_the_bits_of_values(width in 0usize..80, n in 0usize..140, seed in any::<u64>()) {
            let (bytes, height) = (value_bytes(width), plane_bytes(n));
            let byte = |i: usize| (seed.wrapping_mul(2 * i as u64 + 1) >> 29) as u8;
            let values: Vec<u8> = (0..bytes * n).map(byte).collect();
            let planes = pack(&values, width, n);
            prop_assert_eq!(planes.len(), width * height);
            for i in 0..width {
                for j in 0..8 * height {
                    let expected = j < n && bit(&values[j * bytes..], i);
                    prop_assert_eq!(bit(&planes[i * height..], j), expected);
                }
            }
            let back = unpack(&planes, width, n);
            prop_assert_eq!(back.len(), values.len());
            for (j, (a, b)) in back.chunks(bytes.max(1)).zip(values.chunks(bytes.max(1))).enumerate() {
                for i in 0..8 * bytes {
                    prop_assert_eq!(bit(a, i), i < width && bit(b, i), "bit {} of instance {}", i, j);
                }
            }
        }
    }
}
