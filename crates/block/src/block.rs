//! The block, and views of slices as other types. Only this module, `buffer`, `gates` and `tagged`
//! have `unsafe` code.

use crate::Gf128;
use std::ops::{BitAnd, BitXor, BitXorAssign};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, optimization_barrier};

/// 128 bits. Comparing and printing are for public data: a secret of this shape is a newtype that
/// has neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Block(pub [u8; 16]);

impl Block {
    /// All bits 0.
    pub const ZERO: Block = Block([0; 16]);
    /// All bits 1.
    pub const ONES: Block = Block([0xff; 16]);

    /// Bit `i` of the block is bit `i` of the number.
    #[inline]
    #[must_use]
    pub const fn from_u128(x: u128) -> Self {
        Block(x.to_le_bytes())
    }

    /// The number whose bit `i` is bit `i` of the block.
    #[inline]
    #[must_use]
    pub const fn to_u128(self) -> u128 {
        u128::from_le_bytes(self.0)
    }

    /// Bit 0: the permute bit of a label, the choice bit of a correlated OT.
    #[inline]
    #[must_use]
    pub const fn lsb(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// Bit `i`, where `i < 128`.
    #[inline]
    #[must_use]
    pub const fn bit(self, i: usize) -> bool {
        self.0[i / 8] >> (i % 8) & 1 == 1
    }

    /// This block if `bit` is set, otherwise zero; without a branch on `bit`.
    #[inline]
    #[must_use]
    pub fn and_bit(self, bit: bool) -> Self {
        Block::from_u128(self.to_u128() & 0u128.wrapping_sub(u128::from(bit)))
    }

    /// σ(hi‖lo) = (hi⊕lo)‖hi, the linear orthomorphism inside every correlation-robust hash (GKWY,
    /// ePrint 2019/074, section 7.3). hi is bytes 8 to 15.
    #[inline]
    #[must_use]
    pub const fn sigma(self) -> Self {
        let x = self.to_u128();
        let hi = x >> 64;
        Block::from_u128((hi ^ (x & 0xffff_ffff_ffff_ffff)) << 64 | hi)
    }
}

impl From<u128> for Block {
    #[inline]
    fn from(x: u128) -> Self {
        Block::from_u128(x)
    }
}

impl From<Block> for u128 {
    #[inline]
    fn from(b: Block) -> u128 {
        b.to_u128()
    }
}

impl From<[u8; 16]> for Block {
    #[inline]
    fn from(b: [u8; 16]) -> Self {
        Block(b)
    }
}

impl BitXor for Block {
    type Output = Block;
    #[inline]
    fn bitxor(self, other: Block) -> Block {
        Block::from_u128(self.to_u128() ^ other.to_u128())
    }
}

impl BitXorAssign for Block {
    #[inline]
    fn bitxor_assign(&mut self, other: Block) {
        *self = *self ^ other;
    }
}

impl BitAnd for Block {
    type Output = Block;
    #[inline]
    fn bitand(self, other: Block) -> Block {
        Block::from_u128(self.to_u128() & other.to_u128())
    }
}

impl ConditionallySelectable for Block {
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        Block::from_u128(u128::conditional_select(&a.to_u128(), &b.to_u128(), choice))
    }
}

impl Zeroize for Block {
    fn zeroize(&mut self) {
        // This is one store; `zeroize` on bytes would make sixteen.
        *self = Block::ZERO;
        optimization_barrier(self);
    }
}

/// The blocks' bytes, in order.
#[inline]
#[must_use]
pub fn as_bytes(blocks: &[Block]) -> &[u8] {
    // SAFETY: `Block` is `repr(transparent)` over `[u8; 16]`, so that a slice of n blocks is 16 n
    // initialised bytes.
    unsafe { std::slice::from_raw_parts(blocks.as_ptr().cast(), size_of_val(blocks)) }
}

/// The blocks' bytes, in order, writable.
#[inline]
#[must_use]
pub fn as_bytes_mut(blocks: &mut [Block]) -> &mut [u8] {
    // SAFETY: as in `as_bytes`; every bit pattern is a valid `Block`, and the borrow is unique.
    unsafe { std::slice::from_raw_parts_mut(blocks.as_mut_ptr().cast(), size_of_val(blocks)) }
}

/// The bytes as blocks, without a copy.
///
/// # Panics
/// If the length is not a multiple of 16 (the caller's bug).
#[inline]
#[must_use]
pub fn from_bytes(bytes: &[u8]) -> &[Block] {
    assert!(bytes.len().is_multiple_of(16), "{} bytes are not whole blocks", bytes.len());
    // SAFETY: `Block` is `repr(transparent)` over `[u8; 16]`, of alignment 1, and every bit pattern
    // is valid.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / 16) }
}

/// The bytes as writable blocks, without a copy.
///
/// # Panics
/// As [`from_bytes`].
#[inline]
#[must_use]
pub fn from_bytes_mut(bytes: &mut [u8]) -> &mut [Block] {
    assert!(bytes.len().is_multiple_of(16), "{} bytes are not whole blocks", bytes.len());
    // SAFETY: as in `from_bytes`, and the borrow is unique.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), bytes.len() / 16) }
}

/// The elements as polynomials.
#[inline]
pub(crate) fn coefficients(elements: &[Gf128]) -> &[u128] {
    // SAFETY: `Gf128` is `repr(transparent)` over `u128`.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_each_other_s_inverse() {
        let mut bytes: Vec<u8> = (0..48).collect();
        let blocks = from_bytes(&bytes).to_vec();
        assert_eq!(blocks[1].0[0], 16);
        assert_eq!(as_bytes(&blocks), bytes);
        from_bytes_mut(&mut bytes)[2] = Block::ONES;
        assert_eq!(bytes[32..], [0xff; 16]);
    }

    #[test]
    #[should_panic(expected = "17 bytes are not whole blocks")]
    fn part_of_a_block_is_none() {
        let _ = from_bytes(&[0; 17]);
    }
}
