//! Garbled tables as one stream of bytes, in the order of gates. [`Tables`] is the source or the
//! destination of the stream, and [`Stretch`] a slice of it in the hands of one endpoint.

use crate::GarbleError;

/// A one-way stream of tables: a garbler fills the slices that it gets, and an evaluator reads
/// them.
pub trait Tables {
    /// The next `len` bytes. The bytes of earlier calls are finished.
    ///
    /// # Errors
    /// The channel failed, or no bytes are left.
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError>;
}

/// A slice of tables in the hands of one endpoint: the garbler writes it, the evaluator reads it.
pub trait Stretch<'t>: Default {
    /// A stretch over these bytes.
    fn of(bytes: &'t mut [u8]) -> Self;
    /// Its length in bytes.
    fn bytes(&self) -> usize;
    /// Splits after the first `at` bytes.
    ///
    /// # Panics
    /// If there are fewer.
    fn split(self, at: usize) -> (Self, Self);
    /// At the evaluator, before it evaluates the gates: unpacks bits into the lower `width` bits of
    /// a byte each.
    fn unpack(&self, width: usize, bits: &mut [u8]);
    /// At the garbler, after it has made the gates: undoes [`Stretch::unpack`].
    fn pack(self, width: usize, bits: &[u8]);

    /// Splits off the first `bytes` bytes, and returns them.
    ///
    /// # Panics
    /// If there are fewer.
    fn take(&mut self, bytes: usize) -> Self {
        let (now, later) = std::mem::take(self).split(bytes);
        *self = later;
        now
    }
}

impl<'t> Stretch<'t> for &'t mut [u8] {
    fn of(bytes: &'t mut [u8]) -> Self {
        bytes
    }
    fn bytes(&self) -> usize {
        self.len()
    }
    fn split(self, at: usize) -> (Self, Self) {
        self.split_at_mut(at)
    }
    fn unpack(&self, _: usize, _: &mut [u8]) {}
    fn pack(self, width: usize, bits: &[u8]) {
        pack(bits, width, self);
    }
}

impl<'t> Stretch<'t> for &'t [u8] {
    fn of(bytes: &'t mut [u8]) -> Self {
        bytes
    }
    fn bytes(&self) -> usize {
        self.len()
    }
    fn split(self, at: usize) -> (Self, Self) {
        self.split_at(at)
    }
    fn unpack(&self, width: usize, bits: &mut [u8]) {
        unpack(self, width, bits);
    }
    fn pack(self, _: usize, _: &[u8]) {}
}

/// Packs the lower `width` bits of every byte, at most 8, one after the other; the rest of the last
/// byte is 0.
fn pack(bits: &[u8], width: usize, packed: &mut [u8]) {
    if width == 0 {
        return;
    }
    // Eight gates give `width` whole bytes.
    for (bits, packed) in bits.chunks(8).zip(packed.chunks_mut(width)) {
        let mut word = 0u64;
        for (k, bits) in bits.iter().enumerate() {
            word |= u64::from(bits & ((1 << width) - 1)) << (k * width);
        }
        packed.copy_from_slice(&word.to_le_bytes()[..packed.len()]);
    }
}

/// Undoes [`pack`].
fn unpack(packed: &[u8], width: usize, bits: &mut [u8]) {
    if width == 0 {
        return;
    }
    for (bits, packed) in bits.chunks_mut(8).zip(packed.chunks(width)) {
        let mut word = [0; 8];
        word[..packed.len()].copy_from_slice(packed);
        let word = u64::from_le_bytes(word);
        for (k, bits) in bits.iter_mut().enumerate() {
            *bits = (word >> (k * width)) as u8 & ((1 << width) - 1);
        }
    }
}

/// Tables in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    bytes: Vec<u8>,
    at: usize,
    grows: bool,
}

impl Memory {
    /// An empty memory that grows, for a garbler.
    #[must_use]
    pub fn new() -> Self {
        Memory { grows: true, ..Memory::default() }
    }

    /// A garbler's tables, for an evaluator to read from the front.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Memory { bytes, at: 0, grows: false }
    }

    /// Starts again at the first byte, and keeps the memory: later reads return what was written
    /// before.
    pub fn rewind(&mut self, grows: bool) {
        self.at = 0;
        self.grows = grows;
    }

    /// The bytes written or read so far.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.at]
    }
}

impl Tables for Memory {
    fn next(&mut self, len: usize) -> Result<&mut [u8], GarbleError> {
        let left = self.bytes.len() - self.at;
        if left < len {
            if !self.grows {
                return Err(GarbleError::Short { wanted: len, left });
            }
            self.bytes.resize(self.at + len, 0);
        }
        self.at += len;
        Ok(&mut self.bytes[self.at - len..self.at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_pack_and_unpack() {
        for width in [4, 5] {
            for n in [0usize, 1, 7, 8, 9, 100] {
                let bits: Vec<u8> = (0..n).map(|i| (i * 37 % (1 << width)) as u8).collect();
                let mut packed = vec![0xff; (n * width).div_ceil(8)];
                pack(&bits.iter().map(|b| b | 0xe0 << (width - 4)).collect::<Vec<_>>(), width, &mut packed);
                for i in 0..8 * packed.len() {
                    let expected = bits.get(i / width).is_some_and(|b| b >> (i % width) & 1 == 1);
                    assert_eq!(packed[i / 8] >> (i % 8) & 1 == 1, expected, "bit {i} of {n} times {width}");
                }
                let mut again = vec![0; n];
                unpack(&packed, width, &mut again);
                assert_eq!(again, bits);
            }
        }
    }
}
