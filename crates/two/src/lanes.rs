//! The payload of long vectors in eight lanes of 64 bits. Eight numbers are packed at a time.
//!
//! Number i of a vector is in lane i mod 8. A row has one word of each lane. The numbers of a lane
//! are packed without gaps, the lowest bit first. Pads are read from their blocks in the same way.

use crate::ring::mask;
use hushwire_aes::Backend;
use hushwire_simd::{Kernel, Lanes};

/// The lanes of a row.
pub(crate) const LANES: usize = 8;

/// The bytes of a row.
const ROW: usize = 8 * LANES;

/// The most vectors of a row.
const VECTORS: usize = ROW / 16;

/// The bytes for `bits` bits in each lane.
pub(crate) const fn bytes(bits: usize) -> usize {
    bits.div_ceil(64) * ROW
}

/// A message, and the bits of the row that is not yet full.
pub(crate) struct Packer {
    bytes: Vec<u8>,
    held: [u8; ROW],
    bits: u32,
}

impl Packer {
    pub(crate) fn new(bytes: usize) -> Self {
        Packer { bytes: Vec::with_capacity(bytes), held: [0; ROW], bits: 0 }
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.bits > 0 {
            self.bytes.extend_from_slice(&self.held);
        }
        self.bytes
    }
}

/// The reverse of [`Packer`]. Past the end of the bytes it reads zeros.
pub(crate) struct Unpacker<'a> {
    bytes: &'a [u8],
    held: [u8; ROW],
    bits: u32,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Unpacker { bytes, held: [0; ROW], bits: 0 }
    }
}

/// A row in the vectors of a tier. Wide vectors are fewer.
type LaneRow<L> = [<L as Lanes>::V; VECTORS];

#[inline(always)]
fn load<L: Lanes>(l: L, bytes: &[u8; ROW]) -> LaneRow<L> {
    let mut row = [l.zero(); VECTORS];
    for (v, bytes) in row.iter_mut().zip(bytes.chunks_exact(L::BYTES)) {
        *v = l.load(bytes);
    }
    row
}

#[inline(always)]
fn store<L: Lanes>(l: L, row: &LaneRow<L>) -> [u8; ROW] {
    let mut bytes = [0; ROW];
    for (v, bytes) in row.iter().zip(bytes.chunks_exact_mut(L::BYTES)) {
        l.store(*v, bytes);
    }
    bytes
}

/// The same word in all lanes.
#[inline(always)]
fn word<L: Lanes>(l: L, word: u64) -> L::V {
    l.splat(&(u128::from(word) << 64 | u128::from(word)).to_le_bytes())
}

/// A [`Packer`] whose state is in registers.
struct OutRows<'a, L: Lanes> {
    to: &'a mut Packer,
    held: LaneRow<L>,
    bits: u32,
}

impl<'a, L: Lanes> OutRows<'a, L> {
    #[inline(always)]
    fn new(l: L, to: &'a mut Packer) -> Self {
        OutRows { held: load(l, &to.held), bits: to.bits, to }
    }

    /// Appends a number of at most `width` bits to each lane.
    #[inline(always)]
    fn push(&mut self, l: L, numbers: &LaneRow<L>, width: u32) {
        for (held, x) in self.held.iter_mut().zip(numbers) {
            *held = l.or(*held, l.shl64_by(*x, self.bits));
        }
        if self.bits + width < 64 {
            self.bits += width;
            return;
        }
        self.to.bytes.extend_from_slice(&store(l, &self.held));
        for (held, x) in self.held.iter_mut().zip(numbers) {
            *held = l.shr64_by(*x, 64 - self.bits);
        }
        self.bits = self.bits + width - 64;
    }

    #[inline(always)]
    fn end(self, l: L) {
        (self.to.held, self.to.bits) = (store(l, &self.held), self.bits);
    }
}

/// An [`Unpacker`] whose state is in registers.
struct InRows<'a, 'b, L: Lanes> {
    from: &'a mut Unpacker<'b>,
    held: LaneRow<L>,
    bits: u32,
}

impl<'a, 'b, L: Lanes> InRows<'a, 'b, L> {
    #[inline(always)]
    fn new(l: L, from: &'a mut Unpacker<'b>) -> Self {
        InRows { held: load(l, &from.held), bits: from.bits, from }
    }

    /// The next number of each lane. The bits above its `width` are arbitrary.
    #[inline(always)]
    fn pull(&mut self, l: L, width: u32) -> LaneRow<L> {
        let mut numbers = self.held;
        if self.bits >= width {
            for held in &mut self.held {
                *held = l.shr64_by(*held, width);
            }
            self.bits -= width;
            return numbers;
        }
        let (next, rest) = self.from.bytes.split_first_chunk().unwrap_or((&[0; ROW], &[]));
        self.from.bytes = rest;
        for ((x, held), next) in numbers.iter_mut().zip(&mut self.held).zip(load(l, next)) {
            *x = l.or(*x, l.shl64_by(next, self.bits));
            *held = l.shr64_by(next, width - self.bits);
        }
        self.bits = 64 + self.bits - width;
        numbers
    }

    #[inline(always)]
    fn end(self, l: L) {
        (self.from.held, self.from.bits) = (store(l, &self.held), self.bits);
    }
}

/// A piece of a vector that is masked by its pads.
struct Say<'a, 'b> {
    vector: &'a [[u64; LANES]],
    pads: [&'b [u8]; 2],
    width: u32,
    shares: &'a mut [[u64; LANES]],
    packer: &'a mut Packer,
}

impl Kernel for Say<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (width, one, ones) = (self.width, word(l, 1), word(l, u64::MAX));
        let mask = word(l, mask(width));
        let [mut zero, mut other] = self.pads.map(Unpacker::new);
        let [mut zero, mut other] = [InRows::new(l, &mut zero), InRows::new(l, &mut other)];
        let mut out = OutRows::new(l, self.packer);
        for (vector, shares) in self.vector.iter().zip(self.shares) {
            let (pad, other) = (zero.pull(l, width), other.pull(l, width));
            let mut said = [l.zero(); VECTORS];
            for j in 0..ROW / L::BYTES {
                // −x is ¬x + 1.
                let difference = l.add64(l.add64(pad[j], one), l.xor(other[j], ones));
                let words = 2 * L::N * j;
                said[j] = l.and(l.add64(l.load64(&vector[words..]), difference), mask);
                l.store64(l.and(l.add64(l.xor(pad[j], ones), one), mask), &mut shares[words..]);
            }
            out.push(l, &said, width);
        }
        out.end(l);
    }
}

/// Appends H_0 − H_1 + v for each number v of a vector, whose length is a multiple of [`LANES`].
/// The shares become −H_0. All numbers are modulo 2^width.
pub(crate) fn say(
    backend: Backend,
    vector: &[u64],
    pads: [&[u8]; 2],
    width: u32,
    shares: &mut [u64],
    packer: &mut Packer,
) {
    let (vector, shares) = (vector.as_chunks().0, shares.as_chunks_mut().0);
    backend.run(Say { vector, pads, width, shares, packer });
}

/// A received piece of a vector.
struct Hear<'a, 'b> {
    pads: &'a [u8],
    chosen: u64,
    width: u32,
    shares: &'a mut [[u64; LANES]],
    unpacker: &'a mut Unpacker<'b>,
}

impl Kernel for Hear<'_, '_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (width, chosen, mask) = (self.width, word(l, self.chosen), word(l, mask(self.width)));
        let mut pads = Unpacker::new(self.pads);
        let (mut pads, mut said) = (InRows::new(l, &mut pads), InRows::new(l, self.unpacker));
        for shares in self.shares {
            let (pad, said) = (pads.pull(l, width), said.pull(l, width));
            for j in 0..ROW / L::BYTES {
                let share = l.and(l.add64(pad[j], l.and(said[j], chosen)), mask);
                l.store64(share, &mut shares[2 * L::N * j..]);
            }
        }
        said.end(l);
    }
}

/// Computes shares H + m modulo 2^width, where m is the sent number if `chosen` is all ones, and 0
/// if `chosen` is 0.
pub(crate) fn hear(
    backend: Backend,
    pads: &[u8],
    chosen: u64,
    width: u32,
    shares: &mut [u64],
    unpacker: &mut Unpacker<'_>,
) {
    backend.run(Hear { pads, chosen, width, shares: shares.as_chunks_mut().0, unpacker });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packs a message by its definition: number i is the next one of lane i mod 8.
    fn packed(numbers: &[(u64, u32)]) -> Vec<u8> {
        let mut lanes: Vec<Vec<bool>> = vec![vec![]; LANES];
        for (i, (number, width)) in numbers.iter().enumerate() {
            lanes[i % LANES].extend((0..*width).map(|k| number >> k & 1 == 1));
        }
        let mut out = vec![0u8; lanes.iter().map(|lane| bytes(lane.len())).max().unwrap_or(0)];
        for (lane, bits) in lanes.iter().enumerate() {
            for (k, bit) in bits.iter().enumerate().filter(|(_, bit)| **bit) {
                out[k / 64 * ROW + 8 * lane + k % 64 / 8] |= u8::from(*bit) << (k % 8);
            }
        }
        out
    }

    proptest! {
        /// Consecutive vectors of any widths, on every tier, compared with plain arithmetic. The
        /// receiver's shares complete the sender's.
        #[test]
        fn vectors_are_packed_as_their_definition_says(
            vectors in prop::collection::vec((1u32..=64, 1usize..20), 1..6),
            seed in any::<[u8; 32]>(),
        ) {
            let mut rng = proptest::test_runner::TestRng::from_seed(
                proptest::test_runner::RngAlgorithm::ChaCha, &seed);
            let mut word = || rng.next_u64();
            for backend in Backend::all() {
                let mut packer = Packer::new(0);
                let (mut want, mut all) = (vec![], vec![]);
                for (width, groups) in &vectors {
                    let (width, n) = (*width, LANES * groups);
                    let mut pads = || (0..bytes(groups * width as usize)).map(|_| word() as u8).collect::<Vec<_>>();
                    let [zeros, ones] = [pads(), pads()];
                    let pad = |pads: &[u8], i: usize| (0..width).fold(0, |number, k| {
                        let at = i / LANES * width as usize + k as usize;
                        let byte = pads[at / 64 * ROW + 8 * (i % LANES) + at % 64 / 8];
                        number | u64::from(byte >> (at % 8) & 1) << k
                    });
                    let vector: Vec<u64> = (0..n).map(|_| word() & mask(width)).collect();
                    let mut shares = vec![0; n];
                    say(backend, &vector, [&zeros, &ones], width, &mut shares, &mut packer);
                    for i in 0..n {
                        let [zero, one] = [pad(&zeros, i), pad(&ones, i)];
                        want.push((zero.wrapping_sub(one).wrapping_add(vector[i]) & mask(width), width));
                        prop_assert_eq!(shares[i], zero.wrapping_neg() & mask(width));
                    }
                    all.push((width, vector, zeros, ones, shares));
                }
                let message = packer.finish();
                prop_assert_eq!(&message, &packed(&want));
                let [mut nothing, mut chosen] = [Unpacker::new(&message), Unpacker::new(&message)];
                for (width, vector, zeros, ones, own) in &all {
                    let mut shares = vec![0; vector.len()];
                    let sum = |shares: &[u64]| -> Vec<u64> {
                        shares.iter().zip(own).map(|(a, b)| a.wrapping_add(*b) & mask(*width)).collect()
                    };
                    hear(backend, zeros, 0, *width, &mut shares, &mut nothing);
                    prop_assert!(sum(&shares).iter().all(|x| *x == 0));
                    hear(backend, ones, u64::MAX, *width, &mut shares, &mut chosen);
                    prop_assert_eq!(&sum(&shares), vector);
                }
            }
        }
    }

    #[test]
    fn a_short_message_ends_in_zeros() {
        let mut shares = [1; LANES];
        hear(Backend::best(), &[0; ROW], u64::MAX, 64, &mut shares, &mut Unpacker::new(&[7; 63]));
        assert_eq!(shares, [0; LANES]);
    }
}
