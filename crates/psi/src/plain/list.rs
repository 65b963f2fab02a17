//! Sorted lists of uniform values in the code of Elias and Fano: high bits in unary, low bits
//! unchanged.
//!
//! ```text
//! value      high bits: bucket │ low bits
//! high part  for each bucket a one for every value in it, then a zero         count + buckets bits
//! low part   the low bits of one value after the other, in messages of PIECE values
//! ```

use hushwire_prg::Prg;

/// AGREEMENT: the number of values of a message of low parts.
const PIECE: usize = 1 << 16;

/// The sizes of a list. AGREEMENT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ListShape {
    count: usize,
    bits: u32,
    low: u32,
}

impl ListShape {
    /// The sizes for `count` values of `bits` bits, count > 0.
    pub(super) fn new(count: usize, bits: u32) -> Self {
        // At least one bit is high, so that no shift is as long as a word.
        ListShape { count, bits, low: bits - count.ilog2().max(1) }
    }

    /// The number of values.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The mask of a value's bits.
    pub(super) fn mask(&self) -> u128 {
        mask(self.bits)
    }

    /// The number of bits of a value.
    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    fn buckets(&self) -> usize {
        1 << (self.bits - self.low)
    }

    pub(super) fn high_bytes(&self) -> usize {
        (self.count + self.buckets()).div_ceil(8)
    }

    pub(super) fn pieces(&self) -> usize {
        self.count.div_ceil(PIECE)
    }

    /// The range of values in message `piece` of low parts.
    fn piece(&self, piece: usize) -> core::ops::Range<usize> {
        piece * PIECE..self.count.min((piece + 1) * PIECE)
    }

    pub(super) fn low_bytes(&self, piece: usize) -> usize {
        (self.piece(piece).len() * self.low as usize).div_ceil(8)
    }
}

fn mask(bits: u32) -> u128 {
    u128::MAX >> (128 - bits)
}

/// Writes the high part of ascending values.
pub(super) fn write_high(shape: &ListShape, values: impl Iterator<Item = u128>, out: &mut [u8]) {
    out.fill(0);
    for (i, value) in values.enumerate() {
        let at = i + (value >> shape.low) as usize;
        out[at / 8] |= 1 << (at % 8);
    }
}

/// Writes message `piece` of low parts; `value` returns the i-th value.
pub(super) fn write_low(shape: &ListShape, piece: usize, value: impl Fn(usize) -> u128, out: &mut [u8]) {
    let (mut held, mut bits, mut at) = (0u128, 0, 0);
    for i in shape.piece(piece) {
        // At most 64 bits at a time, so that they fit after up to 63 held bits.
        let (mut rest, mut left) = (value(i) & mask(shape.low), shape.low);
        while left > 0 {
            let now = left.min(64);
            held |= (rest & mask(now)) << bits;
            (rest, left, bits) = (rest >> now, left - now, bits + now);
            if bits >= 64 {
                out[at..at + 8].copy_from_slice(&(held as u64).to_le_bytes());
                (held, bits, at) = (held >> 64, bits - 64, at + 8);
            }
        }
    }
    let last = &mut out[at..];
    last.copy_from_slice(&(held as u64).to_le_bytes()[..last.len()]);
}

/// A received list.
pub(super) struct List {
    shape: ListShape,
    /// The number of values before each bucket, and of all values.
    starts: Vec<u32>,
    /// The low parts; each message starts at a byte, and padding allows reads past the end.
    low: Vec<u8>,
}

impl List {
    /// A list from its high part; `None` if that does not have the right number of values.
    pub(super) fn new(shape: &ListShape, high: &[u8]) -> Option<Self> {
        let mut starts = Vec::with_capacity(shape.buckets() + 1);
        starts.push(0);
        let mut ones = 0u32;
        for (i, byte) in high.iter().enumerate() {
            for bit in 0..8 {
                if byte >> bit & 1 == 1 {
                    ones += 1;
                } else if 8 * i + bit < shape.count + shape.buckets() {
                    starts.push(ones);
                }
            }
        }
        // If there are as many zeros as buckets, there are as many ones as values, unless the last
        // byte has surplus bits.
        let fits = starts.len() == shape.buckets() + 1 && ones as usize == shape.count;
        fits.then(|| List { shape: *shape, starts, low: Vec::new() })
    }

    /// Takes the next message of low parts.
    pub(super) fn add_low(&mut self, message: &[u8]) {
        self.low.truncate(self.low.len().saturating_sub(PAD));
        self.low.extend_from_slice(message);
        self.low.extend_from_slice(&[0; PAD]);
    }

    fn low(&self, i: usize) -> u128 {
        // Messages are whole bytes long: each but the last one has PIECE times `low` bits, a
        // multiple of eight.
        let bit = i * self.shape.low as usize;
        let (at, shift) = (bit / 8, bit % 8);
        let mut word = [0; 16];
        word.copy_from_slice(&self.low[at..at + 16]);
        let value = u128::from_le_bytes(word) >> shift;
        let beyond = if shift > 0 { u128::from(self.low[at + 16]) << (128 - shift) } else { 0 };
        (value | beyond) & mask(self.shape.low)
    }

    /// Reads the places of a few values at once. One after the other, each would wait for memory
    /// twice.
    pub(super) fn warm(&self, values: &[u128]) {
        let mut starts = [0; AHEAD];
        for (start, value) in starts.iter_mut().zip(values) {
            *start = self.starts[(value >> self.shape.low) as usize] as usize;
        }
        let read = |start: &usize| self.low[start * self.shape.low as usize / 8];
        core::hint::black_box(starts.iter().fold(0, |sum, start| sum ^ read(start)));
    }

    /// The index of the value in the list.
    pub(super) fn find(&self, value: u128) -> Option<usize> {
        let bucket = (value >> self.shape.low) as usize;
        let low = value & mask(self.shape.low);
        (self.starts[bucket] as usize..self.starts[bucket + 1] as usize).find(|i| self.low(*i) == low)
    }
}

#[cfg(test)]
impl List {
    /// All values, ascending.
    pub(super) fn each(&self) -> Vec<u128> {
        let all = self.starts.windows(2).enumerate().flat_map(|(bucket, span)| {
            (span[0]..span[1]).map(move |i| (bucket as u128) << self.shape.low | self.low(i as usize))
        });
        all.collect()
    }
}

/// LOCAL: the number of values that are looked up together.
pub(super) const AHEAD: usize = 64;
/// The number of bytes that a read may go past a list's end.
const PAD: usize = 17;

/// A random value.
pub(super) fn random(shape: &ListShape, prg: &mut Prg) -> u128 {
    prg.next_block().to_u128() & shape.mask()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(shape: &ListShape, values: &[u128]) -> List {
        let mut high = vec![0xff; shape.high_bytes()];
        write_high(shape, values.iter().copied(), &mut high);
        let mut list = List::new(shape, &high).expect("as many values");
        for piece in 0..shape.pieces() {
            let mut low = vec![0xff; shape.low_bytes(piece)];
            write_low(shape, piece, |i| values[i], &mut low);
            list.add_low(&low);
        }
        list
    }

    proptest! {
        #[test]
        fn every_value_is_found_and_no_other(
            mut values in prop::collection::vec(any::<u128>(), 1..200),
            bits in prop::sample::select(vec![41u32, 48, 57, 64, 80, 88, 96, 127, 128]),
            others in prop::collection::vec(any::<u128>(), 10),
        ) {
            values.iter_mut().for_each(|value| *value &= mask(bits));
            values.sort_unstable();
            values.dedup();
            let shape = ListShape::new(values.len(), bits);
            let list = list(&shape, &values);
            for (i, value) in values.iter().enumerate() {
                prop_assert_eq!(list.find(*value), Some(i));
            }
            for other in others.iter().map(|other| other & mask(bits)) {
                prop_assert_eq!(list.find(other), values.binary_search(&other).ok());
            }
        }
    }

    #[test]
    fn several_messages_of_low_parts_are_one_list() {
        let values: Vec<u128> = (0..150_000u128).map(|i| i << 45 | ((i * i) & 0xff)).collect();
        let shape = ListShape::new(values.len(), 63);
        assert_eq!(shape.pieces(), 3);
        let list = list(&shape, &values);
        for i in (0..values.len()).step_by(97) {
            assert_eq!(list.find(values[i]), Some(i));
            assert_eq!(list.find(values[i] + (1 << 44)), None);
        }
    }

    #[test]
    fn a_high_part_of_another_number_of_values_is_refused() {
        let shape = ListShape::new(5, 50);
        let mut high = vec![0; shape.high_bytes()];
        write_high(&shape, (0..5).map(|i| i << 47), &mut high);
        assert!(List::new(&shape, &high).is_some());
        // Nine bits in two bytes: one flip inside, one beyond.
        for bit in 0..16 {
            let mut other = high.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(List::new(&shape, &other).is_none(), "bit {bit}");
        }
    }
}
