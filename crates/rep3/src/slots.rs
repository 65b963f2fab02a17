//! Shares of a circuit's wires, strip by strip; [`layers`](crate::layers) describes the layout.

use crate::Role;
use hushwire_block::Buffer;
use hushwire_circuit::{ONE, Slot, ZERO};
use hushwire_simd::Lanes;

/// LOCAL: the bytes of a strip's planes. Long strips spread the work of reading a gate over several
/// vectors; short ones keep large circuits in the cache.
pub(crate) const SHORT: usize = 64;
pub(crate) const LONG: usize = 256;
/// LOCAL: the most bytes that all slots of a long strip may take.
const LONG_BYTES: usize = 2 << 20;

/// 64 bytes, the length of the longest vector.
pub(crate) const LONGEST: usize = 64;

/// Both shares of every live wire of one batch.
#[derive(Default)]
pub(crate) struct Slots {
    pub(crate) bytes: Buffer,
    /// The most bytes that were in use.
    most: usize,
    pub(crate) count: usize,
    pub(crate) plane: usize,
    pub(crate) strip: usize,
}

impl Slots {
    /// Makes room for a run of a circuit of `slots` slots on planes of `plane` bytes, and writes
    /// the constants.
    pub(crate) fn begin(&mut self, role: Role, slots: usize, plane: usize) {
        let long = plane >= LONG && slots * 2 * LONG <= LONG_BYTES;
        self.strip = if long { LONG } else { SHORT };
        (self.count, self.plane) = (slots, plane);
        let bytes = plane.div_ceil(self.strip) * self.strip_bytes();
        self.most = self.most.max(bytes);
        self.bytes.set_len(bytes);
        for s in 0..plane.div_ceil(self.strip) {
            for share in 0..2 {
                self.at(s, ZERO, share).fill(0);
                self.at(s, ONE, share).fill(if role.constant_slot() == Some(share) { 0xff } else { 0 });
            }
        }
    }

    /// The most bytes that were in use.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    #[inline(always)]
    pub(crate) fn strip_bytes(&self) -> usize {
        2 * self.strip * self.count
    }

    /// A share (0 own, 1 next) of a slot in strip `s`.
    pub(crate) fn at(&mut self, s: usize, slot: Slot, share: usize) -> &mut [u8] {
        let from = self.place(s, slot, share);
        &mut self.bytes[from..from + self.strip]
    }

    /// The first byte of a share of a slot in strip `s`.
    pub(crate) fn place(&self, s: usize, slot: Slot, share: usize) -> usize {
        s * self.strip_bytes() + (2 * slot as usize + share) * self.strip
    }

    /// Writes a plane of one share (0 own, 1 next).
    pub(crate) fn put(&mut self, slot: Slot, share: usize, plane: &[u8]) {
        for (s, part) in plane.chunks(self.strip).enumerate() {
            self.at(s, slot, share)[..part.len()].copy_from_slice(part);
        }
    }

    /// Reads a plane of one share (0 own, 1 next).
    pub(crate) fn get(&self, slot: Slot, share: usize, plane: &mut [u8]) {
        for (s, part) in plane.chunks_mut(self.strip).enumerate() {
            let from = self.place(s, slot, share);
            part.copy_from_slice(&self.bytes[from..from + part.len()]);
        }
    }

    /// One vector of a share (0 own, 1 next) of a slot, from byte `at` of the plane on. `at` is a
    /// multiple of the vector's length.
    #[inline(always)]
    pub(crate) fn vector<L: Lanes>(&self, l: L, slot: Slot, share: usize, at: usize) -> L::V {
        let strip = self.strip;
        let place = at / strip * self.strip_bytes() + (2 * slot as usize + share) * strip + at % strip;
        l.load(&self.bytes[place..])
    }
}

/// Loads the front of `s`; missing bytes of the vector read as zero.
#[inline(always)]
pub(crate) fn load_part<L: Lanes>(l: L, s: &[u8]) -> L::V {
    if s.len() >= L::BYTES {
        return l.load(s);
    }
    let mut whole = [0; LONGEST];
    whole[..s.len()].copy_from_slice(s);
    l.load(&whole)
}

/// Stores the front of a vector to `s`, as much as fits.
#[inline(always)]
pub(crate) fn store_part<L: Lanes>(l: L, v: L::V, s: &mut [u8]) {
    if s.len() >= L::BYTES {
        return l.store(v, s);
    }
    let mut whole = [0; LONGEST];
    l.store(v, &mut whole);
    s.copy_from_slice(&whole[..s.len()]);
}
