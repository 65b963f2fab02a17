//! One party's shares of the wires of a block, as bit planes.
//!
//! A block on `width` instances has planes of ⌈width/8⌉ bytes. They are stored strip by strip, so
//! that all wires of a circuit for some instances lie together in the cache; a strip's length is
//! LOCAL:
//!
//! ```text
//! strip 0: slot 0, slot 1, …    strip 1: slot 0, slot 1, …
//! packed operands: `width` bits of AND 0, of AND 1, …, without gaps
//! ```

use crate::stock::resize;
use hushwire_aes::Backend;
use hushwire_block::bits::{put_range, xor_range};
use hushwire_circuit::{Layered, ONE, Slot, ZERO};
use hushwire_simd::{Kernel, Lanes};
use std::ops::Range;
use zeroize::Zeroizing;

/// LOCAL: the number of bytes of the planes of a short strip. Long strips share the work of reading
/// a gate among several vectors; short ones keep large circuits in the cache.
const SHORT: usize = 64;
const LONG: usize = 256;
/// LOCAL: the largest number of bytes for all slots of a long strip.
const LONG_BYTES: usize = 1 << 20;

#[derive(Default)]
pub(crate) struct Slots {
    bytes: Zeroizing<Vec<u8>>,
    count: usize,
    width: usize,
    strip: usize,
}

impl Slots {
    /// Makes room for a run of `circuit` on `width` instances, and writes the constants; `one` is
    /// this party's share of 1.
    pub(crate) fn begin(&mut self, one: u8, circuit: &Layered, width: usize) {
        let plane = width.div_ceil(8);
        let long = plane >= LONG && circuit.slots() * LONG <= LONG_BYTES;
        self.strip = if long { LONG } else { SHORT };
        (self.count, self.width) = (circuit.slots(), width);
        let strips = plane.div_ceil(self.strip);
        resize(&mut self.bytes, strips * self.strip * self.count);
        for s in 0..strips {
            self.strip_mut(s, ZERO).fill(0);
            self.strip_mut(s, ONE).fill(one);
        }
    }

    /// The number of instances of the block.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The strips, and the instances in each.
    fn strips(&self) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let (width, bits) = (self.width, 8 * self.strip);
        (0..width.div_ceil(bits)).map(move |s| (s, s * bits..width.min((s + 1) * bits)))
    }

    fn strip_mut(&mut self, s: usize, slot: Slot) -> &mut [u8] {
        let from = (s * self.count + slot as usize) * self.strip;
        &mut self.bytes[from..from + self.strip]
    }

    fn strip(&self, s: usize, slot: Slot) -> &[u8] {
        let from = (s * self.count + slot as usize) * self.strip;
        &self.bytes[from..from + self.strip]
    }

    /// Writes `width` bits to a slot, from bit `start` of `bits` on.
    pub(crate) fn put(&mut self, slot: Slot, bits: &[u8], start: usize) {
        for (s, range) in self.strips() {
            let (at, len) = (start + range.start, range.len());
            let strip = self.strip_mut(s, slot);
            strip[..len.div_ceil(8)].fill(0);
            xor_range(bits, at, len, strip);
        }
    }

    /// Reads `width` bits of a slot into `bits`, from bit `start` on.
    pub(crate) fn get(&self, slot: Slot, bits: &mut [u8], start: usize) {
        for (s, range) in self.strips() {
            let (at, len) = (start + range.start, range.len());
            if at.is_multiple_of(8) && len.is_multiple_of(8) {
                bits[at / 8..][..len / 8].copy_from_slice(&self.strip(s, slot)[..len / 8]);
            } else {
                put_range(self.strip(s, slot), len, bits, at);
            }
        }
    }

    /// Runs XORs in order.
    pub(crate) fn xors(&mut self, backend: Backend, gates: &[[Slot; 3]]) {
        backend.run(Xors { gates, slots: self });
    }
}

struct Xors<'a> {
    gates: &'a [[Slot; 3]],
    slots: &'a mut Slots,
}

impl Kernel for Xors<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (strip, all) = (self.slots.strip, self.slots.strip * self.slots.count);
        for slots in self.slots.bytes.chunks_exact_mut(all) {
            for [a, b, out] in self.gates {
                let [a, b, out] = [a, b, out].map(|slot| *slot as usize * strip);
                for at in (0..strip).step_by(L::BYTES) {
                    let sum = l.xor(l.load(&slots[a + at..]), l.load(&slots[b + at..]));
                    l.store(sum, &mut slots[out + at..]);
                }
            }
        }
    }
}
