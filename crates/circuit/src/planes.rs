//! Values of many instances, as bytes and as bit planes.
//!
//! ```text
//! values   instance after instance, ⌈width/8⌉ bytes each; bit i is bit i % 8 of byte i / 8
//! planes   plane after plane (bit 0 of every instance, then bit 1, …), ⌈n/8⌉ bytes each;
//!          instance j is bit j % 8 of byte j / 8
//! ```
//!
//! Bits past the width of a value, or past the last instance of a plane, are ignored when read and
//! 0 when written.

use hushwire_block::{Wiped, transpose};
use hushwire_simd::cpu;
use std::{
    fmt,
    ops::{Deref, DerefMut},
};

/// The number of bytes of one value of `width` bits.
#[must_use]
pub const fn value_bytes(width: usize) -> usize {
    width.div_ceil(8)
}

/// The number of bytes of one plane of `instances` bits.
#[must_use]
pub const fn plane_bytes(instances: usize) -> usize {
    instances.div_ceil(8)
}

/// The error of bytes that are not planes of the given width and number of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{width} planes of {instances} bits: found {found} bytes, expected {}", .width * plane_bytes(*.instances))]
pub struct PlanesError {
    /// The width of a value, in bits.
    pub width: usize,
    /// The number of instances.
    pub instances: usize,
    /// The number of bytes that were given.
    pub found: usize,
}

/// Planes of values; if there are several values, one value's planes after the other's. The bytes
/// are wiped on drop.
#[derive(Clone, PartialEq, Eq)]
pub struct Planes {
    width: usize,
    instances: usize,
    bytes: Wiped<Vec<u8>>,
}

impl Planes {
    /// Takes planes of `width` bits of each of `instances`.
    ///
    /// # Errors
    /// There are not `width` × [`plane_bytes`] bytes.
    pub fn new(
        width: usize,
        instances: usize,
        bytes: impl Into<Wiped<Vec<u8>>>,
    ) -> Result<Planes, PlanesError> {
        let bytes = bytes.into();
        let found = bytes.len();
        if found == width * plane_bytes(instances) {
            Ok(Planes { width, instances, bytes })
        } else {
            Err(PlanesError { width, instances, found })
        }
    }

    /// Planes of zeros.
    #[must_use]
    pub fn zeros(width: usize, instances: usize) -> Planes {
        Planes { width, instances, bytes: Wiped::new(vec![0; width * plane_bytes(instances)]) }
    }

    /// Packs values into planes.
    ///
    /// # Panics
    /// If `values` is not `instances` × [`value_bytes`] long.
    #[must_use]
    pub fn pack(values: &[u8], width: usize, instances: usize) -> Planes {
        let bytes = value_bytes(width);
        assert_eq!(values.len(), bytes * instances, "{instances} values of {width} bits");
        let height = plane_bytes(instances);
        let mut planes = Wiped::new(turn(values, 8 * bytes, instances, height));
        planes.truncate(width * height);
        Planes { width, instances, bytes: planes }
    }

    /// The values of the planes; all bits of an instance are one value.
    #[must_use]
    pub fn unpack(&self) -> Vec<u8> {
        let bytes = value_bytes(self.width);
        let mut values = turn(&self.bytes, 8 * plane_bytes(self.instances), self.width, bytes);
        values.truncate(self.instances * bytes);
        values
    }

    /// Joins planes, one after the other.
    ///
    /// # Panics
    /// If one of them has another number of instances (the caller's bug).
    #[must_use]
    pub fn join(instances: usize, all: impl IntoIterator<Item = Planes>) -> Planes {
        let all: Vec<Planes> = all.into_iter().collect();
        assert!(all.iter().all(|planes| planes.instances == instances), "planes of as many instances");
        let mut bytes = Wiped::new(Vec::with_capacity(all.iter().map(|planes| planes.len()).sum()));
        all.iter().for_each(|planes| bytes.extend_from_slice(planes));
        Planes { width: all.iter().map(Planes::width).sum(), instances, bytes }
    }

    /// Splits the planes into values of these widths.
    ///
    /// # Panics
    /// If there are fewer planes (the caller's bug).
    pub fn split<'a>(&'a self, widths: &'a [usize]) -> impl Iterator<Item = Planes> + 'a {
        let (instances, height, mut at) = (self.instances, plane_bytes(self.instances), 0);
        widths.iter().map(move |&width| {
            let bytes = Wiped::new(self.bytes[at..at + width * height].to_vec());
            at += bytes.len();
            Planes { width, instances, bytes }
        })
    }

    /// Splits the planes into values of these widths and keeps those whose index `pick` accepts.
    #[must_use]
    pub fn select(&self, widths: &[usize], pick: impl Fn(usize) -> bool) -> Planes {
        Planes::join(self.instances, self.split(widths).enumerate().filter(|(i, _)| pick(*i)).map(|(_, v)| v))
    }

    /// The number of bits of all values of one instance.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of instances.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// Clears the bits past the last instance of every plane.
    #[must_use]
    pub fn trimmed(mut self) -> Planes {
        let used = self.instances % 8;
        if used > 0 {
            for plane in self.bytes.chunks_exact_mut(plane_bytes(self.instances)) {
                *plane.last_mut().expect("some bits are used") &= (1 << used) - 1;
            }
        }
        self
    }
}

impl Deref for Planes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Planes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl From<Planes> for Wiped<Vec<u8>> {
    fn from(planes: Planes) -> Self {
        planes.bytes
    }
}

impl fmt::Debug for Planes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} planes of {} bits", self.width, self.instances)
    }
}

/// Transposes `rows` rows of `cols` bits to rows of `height` bytes; rows up to the next multiple of
/// 8 are zeros.
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
            let planes = Planes::pack(&values, width, n);
            prop_assert_eq!(planes.len(), width * height);
            for i in 0..width {
                for j in 0..8 * height {
                    let expected = j < n && bit(&values[j * bytes..], i);
                    prop_assert_eq!(bit(&planes[i * height..], j), expected);
                }
            }
            let mut ones = planes.clone();
            ones.fill(0xff);
            let ones = ones.trimmed();
            prop_assert!((0..8 * planes.len()).all(|k| bit(&ones, k) == (k % (8 * height) < n)));
            prop_assert!(Planes::new(width, n, planes.to_vec()) == Ok(planes.clone()));
            prop_assert!(Planes::new(width + 1, n, planes.to_vec()).is_err() || n == 0);
            let widths = [width / 3, 0, width - width / 3];
            prop_assert!(Planes::join(n, planes.split(&widths)) == planes);
            let picked = planes.select(&widths, |i| i > 0);
            prop_assert!(picked.width() == widths[2] && picked[..] == planes[widths[0] * height..]);
            let back = planes.unpack();
            prop_assert_eq!(back.len(), values.len());
            for (j, (a, b)) in back.chunks(bytes.max(1)).zip(values.chunks(bytes.max(1))).enumerate() {
                for i in 0..8 * bytes {
                    prop_assert_eq!(bit(a, i), i < width && bit(b, i), "bit {} of instance {}", i, j);
                }
            }
        }
    }
}
