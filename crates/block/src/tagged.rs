//! Blocks of one kind as a separate type.

use crate::Block;
use std::{marker::PhantomData, ops::BitXor};
use zeroize::Zeroize;

/// A block whose type tells what it represents, such as the label of a truth value. Secrets have
/// this type: it can be neither compared nor printed.
#[repr(transparent)]
pub struct Tagged<K>(Block, PhantomData<fn() -> K>);

impl<K> Tagged<K> {
    /// Gives a block its kind.
    #[inline]
    #[must_use]
    pub const fn new(block: Block) -> Self {
        Tagged(block, PhantomData)
    }

    /// The block.
    #[inline]
    #[must_use]
    pub const fn block(self) -> Block {
        self.0
    }

    /// The slice as blocks.
    #[inline]
    #[must_use]
    pub fn blocks(all: &[Self]) -> &[Block] {
        // SAFETY: `Tagged` is `repr(transparent)` over `Block`.
        unsafe { std::slice::from_raw_parts(all.as_ptr().cast(), all.len()) }
    }

    /// The slice as writable blocks.
    #[inline]
    #[must_use]
    pub fn blocks_mut(all: &mut [Self]) -> &mut [Block] {
        // SAFETY: as in `blocks`; every block is valid, and the borrow is unique.
        unsafe { std::slice::from_raw_parts_mut(all.as_mut_ptr().cast(), all.len()) }
    }
}

// Not derived, since a derived `Clone` would require `K: Clone`.
impl<K> Clone for Tagged<K> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Tagged<K> {}

impl<K> Default for Tagged<K> {
    #[inline]
    fn default() -> Self {
        Tagged::new(Block::ZERO)
    }
}

impl<K> BitXor for Tagged<K> {
    type Output = Self;
    #[inline]
    fn bitxor(self, other: Self) -> Self {
        Tagged::new(self.0 ^ other.0)
    }
}

impl<K> Zeroize for Tagged<K> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    enum TestLabel {}

    #[test]
    fn views_show_the_blocks() {
        let mut all = [1u128, 2].map(|x| Tagged::<TestLabel>::new(x.into()));
        Tagged::blocks_mut(&mut all)[0] = Block::ONES;
        assert_eq!(Tagged::blocks(&all), [Block::ONES, Block::from_u128(2)]);
        assert_eq!((all[0] ^ all[1]).block(), Block::ONES ^ Block::from_u128(2));
    }
}
