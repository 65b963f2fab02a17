//! The additions by which shares make up a value.

use super::word::Word;
use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// The addition by which a column is the sum of its shares.
pub trait Group: sealed::Sealed + Send + Sync + 'static {
    /// An element.
    type Word: Word;
    /// x + y.
    #[must_use]
    fn plus(x: Self::Word, y: Self::Word) -> Self::Word;
    /// x − y.
    #[must_use]
    fn minus(x: Self::Word, y: Self::Word) -> Self::Word;
}

/// Addition modulo 2^k: a [`Column`](super::Column) of numbers.
pub struct Sum<W>(PhantomData<W>);

/// Addition bit by bit: a column whose words are strings of bits, each the XOR of its shares.
pub struct Xor<W>(PhantomData<W>);

impl<W> sealed::Sealed for Sum<W> {}
impl<W> sealed::Sealed for Xor<W> {}

impl<W: Word> Group for Sum<W> {
    type Word = W;
    #[inline(always)]
    fn plus(x: W, y: W) -> W {
        x.plus(y)
    }
    #[inline(always)]
    fn minus(x: W, y: W) -> W {
        x.minus(y)
    }
}

impl<W: Word> Group for Xor<W> {
    type Word = W;
    #[inline(always)]
    fn plus(x: W, y: W) -> W {
        W::of(x.number() ^ y.number())
    }
    #[inline(always)]
    fn minus(x: W, y: W) -> W {
        Self::plus(x, y)
    }
}
