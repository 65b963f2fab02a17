//! Conversions between bit planes of many instances and the same bits without gaps.

use hushwire_circuit::planes::plane_bytes;
use zeroize::Zeroizing;

/// The bits of planes one after the other, without gaps between planes.
pub(super) fn tight(planes: &[u8], instances: usize) -> Zeroizing<Vec<u8>> {
    if instances.is_multiple_of(8) {
        return Zeroizing::new(planes.to_vec());
    }
    let height = plane_bytes(instances);
    let last = last_mask(instances);
    let bits = planes.len() / height * instances;
    let mut out = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    for (p, plane) in planes.chunks_exact(height).enumerate() {
        let (at, by) = (p * instances / 8, p * instances % 8);
        for (k, byte) in plane.iter().enumerate() {
            let byte = if k + 1 == height { byte & last } else { *byte };
            out[at + k] |= byte << by;
            // The bits past the last instance of the last plane are 0.
            if let Some(next) = out.get_mut(at + k + 1).filter(|_| by > 0) {
                *next |= byte >> (8 - by);
            }
        }
    }
    out
}

/// Undoes [`tight`]; `None` if bits past the last one are set.
pub(super) fn loose(bits: &[u8], planes: usize, instances: usize) -> Option<Zeroizing<Vec<u8>>> {
    if instances.is_multiple_of(8) {
        return Some(Zeroizing::new(bits.to_vec()));
    }
    let height = plane_bytes(instances);
    let (used, last) = (planes * instances, last_mask(instances));
    if !used.is_multiple_of(8) && bits[used / 8] >> (used % 8) != 0 {
        return None;
    }
    let mut out = Zeroizing::new(vec![0; planes * height]);
    for (p, plane) in out.chunks_exact_mut(height).enumerate() {
        let (at, by) = (p * instances / 8, p * instances % 8);
        for (k, byte) in plane.iter_mut().enumerate() {
            let low = bits[at + k] >> by;
            let high = bits.get(at + k + 1).filter(|_| by > 0).map_or(0, |next| next << (8 - by));
            *byte = low | high;
            if k + 1 == height {
                *byte &= last;
            }
        }
    }
    Some(out)
}

/// A mask of the bits of a plane's last byte that belong to instances.
fn last_mask(instances: usize) -> u8 {
    0xff >> ((8 - instances % 8) % 8)
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
        fn bits_lose_their_gaps_and_find_them_again(planes in 0usize..20, n in 0usize..40, seed in any::<u64>()) {
            let height = plane_bytes(n);
            let dirty: Vec<u8> =
                (0..planes * height).map(|i| (seed.wrapping_mul(2 * i as u64 + 1) >> 29) as u8).collect();
            let bits = tight(&dirty, n);
            prop_assert_eq!(bits.len(), (planes * n).div_ceil(8));
            for p in 0..planes {
                for j in 0..n {
                    prop_assert_eq!(bit(&bits, p * n + j), bit(&dirty[p * height..], j));
                }
            }
            let again = loose(&bits, planes, n).expect("no bit is left over");
            prop_assert_eq!(again.len(), dirty.len());
            for i in 0..8 * dirty.len() {
                let (p, j) = (i / (8 * height), i % (8 * height));
                prop_assert_eq!(bit(&again, i), j < n && bit(&dirty[p * height..], j));
            }
            if (planes * n) % 8 != 0 {
                let mut more = bits.to_vec();
                *more.last_mut().expect("there are bits") |= 0x80;
                prop_assert!(loose(&more, planes, n).is_none());
            }
        }
    }
}
