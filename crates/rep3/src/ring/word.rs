//! The elements of rings.

use crate::pool::Element;

mod sealed {
    pub trait Sealed {}
}

/// An element of Z_2^8, Z_2^16, Z_2^32 or Z_2^64. All arithmetic wraps.
pub trait Word: sealed::Sealed + Copy + Default + Eq + core::fmt::Debug + Element + Sync {
    /// The bits of a word.
    const BITS: usize;
    /// The bytes on the wire, little-endian.
    const BYTES: usize;
    /// The word in which sums of products are computed: the word itself, or the next wider one if
    /// vectors of it cannot be multiplied.
    type Wide: Word;
    /// The same number in [`Word::Wide`].
    #[must_use]
    fn widen(self) -> Self::Wide;
    /// The number, reduced to this ring.
    #[must_use]
    fn narrow(wide: Self::Wide) -> Self;
    /// a + b.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// a − b.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// a b.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The number, reduced to the ring.
    fn of(number: u64) -> Self;
    /// The representative that is not negative.
    fn number(self) -> u64;
    /// Reads [`Word::BYTES`] bytes.
    fn read(bytes: &[u8]) -> Self;
    /// Writes [`Word::BYTES`] bytes.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! words {
    ($($word:ident: $wide:ident)*) => {$(
        impl sealed::Sealed for $word {}
        impl Word for $word {
            const BITS: usize = $word::BITS as usize;
            const BYTES: usize = size_of::<$word>();
            type Wide = $wide;
            #[inline(always)]
            #[allow(clippy::useless_conversion)]
            fn widen(self) -> $wide {
                $wide::from(self)
            }
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::unnecessary_cast)]
            fn narrow(wide: $wide) -> Self {
                wide as $word
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)]
            fn of(number: u64) -> Self {
                number as $word
            }
            #[inline(always)]
            #[allow(clippy::useless_conversion)]
            fn number(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                let mut word = [0; size_of::<$word>()];
                word.copy_from_slice(&bytes[..size_of::<$word>()]);
                $word::from_le_bytes(word)
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                bytes[..size_of::<$word>()].copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

words!(u8: u16 u16: u16 u32: u32 u64: u64);
