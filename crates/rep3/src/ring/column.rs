//! Columns of words, columns of bits, and the randomness that masks them.

use crate::{Batch, Context, Rep3, Role, ShareError, Shares};
use hushwire_circuit::planes::plane_bytes;
use zeroize::{Zeroize, Zeroizing};

mod sealed {
    pub trait Sealed {}
}

/// An element of Z_2^8, Z_2^16, Z_2^32 or Z_2^64. All arithmetic wraps.
pub trait Word:
    sealed::Sealed + Copy + Default + Eq + core::fmt::Debug + Zeroize + Send + Sync + 'static
{
    /// Bits of the modulus.
    const BITS: usize;
    /// Bytes on the wire, little-endian.
    const BYTES: usize;
    /// a + b.
    #[must_use]
    fn plus(self, other: Self) -> Self;
    /// a − b.
    #[must_use]
    fn minus(self, other: Self) -> Self;
    /// a b.
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// The number modulo the ring's.
    fn of(number: u64) -> Self;
    /// The representative from 0 on.
    fn number(self) -> u64;
    /// Reads [`Word::BYTES`] bytes.
    fn read(bytes: &[u8]) -> Self;
    /// Writes [`Word::BYTES`] bytes.
    fn write(self, bytes: &mut [u8]);
}

macro_rules! words {
    ($($word:ident)*) => {$(
        impl sealed::Sealed for $word {}
        impl Word for $word {
            const BITS: usize = $word::BITS as usize;
            const BYTES: usize = size_of::<$word>();
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

words!(u8 u16 u32 u64);

/// One party's shares of a column: `own` = x_i, `next` = x_{i+1}, a word a row.
pub type Column<W> = Rep3<Vec<W>>;

impl<W: Word> Column<W> {
    /// A column of zeros.
    #[must_use]
    pub fn zeros(rows: usize) -> Self {
        Rep3 { own: vec![W::default(); rows], next: vec![W::default(); rows] }
    }

    /// Shares of numbers that all parties know: x_0 is the number, the others are zero.
    #[must_use]
    pub fn known(role: Role, numbers: &[W]) -> Self {
        let mut column = Self::zeros(numbers.len());
        match role.constant_slot() {
            Some(0) => column.own.copy_from_slice(numbers),
            Some(_) => column.next.copy_from_slice(numbers),
            None => {}
        }
        column
    }

    /// Rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.own.len()
    }
}

/// One party's shares of a column of strings of bits: plane `i` has bit `i` of every row, ⌈rows/8⌉ bytes.
#[derive(Clone)]
pub struct Bits {
    width: usize,
    rows: usize,
    shares: Shares,
}

impl Bits {
    /// Shares of planes, one after the other. Bits past the last row mean nothing.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares have `width · ⌈rows/8⌉` bytes.
    pub fn new(width: usize, rows: usize, shares: Shares) -> Result<Bits, ShareError> {
        let expected = width * plane_bytes(rows);
        for share in [&shares.own, &shares.next] {
            if share.len() != expected {
                return Err(ShareError::Length { what: "a share of bits", expected, found: share.len() });
            }
        }
        Ok(Bits { width, rows, shares })
    }

    /// Bits of a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The planes' shares.
    #[must_use]
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The planes' shares, for good.
    #[must_use]
    pub fn into_shares(self) -> Shares {
        self.shares
    }
}

impl Batch {
    /// Shares of random numbers that nobody knows, without a message.
    pub fn random_column<W: Word>(&mut self, rows: usize) -> Column<W> {
        self.context().random_column(0, rows)
    }
}

impl Context {
    /// Adds this party's zero-shares to `out`, from the stream's word `first` on: α_i = F_{k_i}(ctr) − F_{k_{i−1}}(ctr), which the
    /// three parties' sum to zero. Takes ⌈bytes/16⌉ words of the stream, which serve once.
    pub(crate) fn add_zeros<W: Word>(&self, first: u64, out: &mut [W]) {
        let mut keyed = [Zeroizing::new([0u8; PIECE]), Zeroizing::new([0u8; PIECE])];
        for (i, out) in out.chunks_mut(PIECE / W::BYTES).enumerate() {
            let bytes = out.len() * W::BYTES;
            let [own, prev] = &mut keyed;
            let (own, prev) = (&mut own[..bytes], &mut prev[..bytes]);
            self.prss.random_words(self.address, first + (i * PIECE / 16) as u64, own, prev);
            let pairs = own.chunks_exact(W::BYTES).zip(prev.chunks_exact(W::BYTES));
            for (out, (own, prev)) in out.iter_mut().zip(pairs) {
                *out = out.plus(W::read(own)).minus(W::read(prev));
            }
        }
    }

    /// Shares of random numbers that nobody knows, from the stream's word `first` on, without a message.
    pub(crate) fn random_column<W: Word>(&self, first: u64, rows: usize) -> Column<W> {
        let mut bytes = [0; 2].map(|_: u8| Zeroizing::new(vec![0; rows * W::BYTES]));
        let [own, next] = &mut bytes;
        // Of a random word, x_{i+1} is made with this party's own key, x_i with the one before.
        self.prss.random_words(self.address, first, next, own);
        let words = |bytes: &[u8]| bytes.chunks_exact(W::BYTES).map(W::read).collect();
        Rep3 { own: words(own), next: words(next) }
    }
}

/// LOCAL: bytes of each key's stream that are made at a time, so that they stay in the first cache. A multiple of 16.
pub(super) const PIECE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Party,
        ring::test_support::{open_words, share_words},
    };
    use hushwire_aes::Backend;
    use hushwire_prg::Prg;

    fn zeros_of<W: Word>() {
        let contexts = Party::three(Backend::best()).map(|mut p| p.next_batch().unwrap().context());
        for rows in [0, 1, 5, 511, 513, 1025, 2000] {
            let shares = contexts.each_ref().map(|cx| {
                let mut out = vec![W::default(); rows];
                cx.add_zeros(7, &mut out);
                out
            });
            for row in 0..rows {
                let sum = shares.iter().fold(W::default(), |sum, share| sum.plus(share[row]));
                assert_eq!(sum, W::default());
            }
            assert!(rows < 100 || shares[0].iter().filter(|w| **w == W::default()).count() < rows / 10);
        }
    }

    #[test]
    fn zero_shares_sum_to_zero_and_are_none() {
        zeros_of::<u8>();
        zeros_of::<u16>();
        zeros_of::<u32>();
        zeros_of::<u64>();
    }

    #[test]
    fn random_columns_are_replicated() {
        let columns =
            Party::three(Backend::best()).map(|mut p| p.next_batch().unwrap().random_column::<u32>(9));
        for i in 0..3 {
            assert_eq!(columns[i].next, columns[(i + 1) % 3].own);
        }
    }

    #[test]
    fn a_dealers_shares_open_to_the_numbers() {
        let numbers: Vec<u16> = (0..99).map(|i| i * 555).collect();
        let mut prg = Prg::new(Backend::best(), &hushwire_prg::Seed::random(), "test");
        let shares = share_words(&mut prg, &numbers);
        assert_eq!(open_words(&shares), numbers);
        let known = Role::ALL.map(|role| Column::known(role, &numbers));
        assert_eq!(open_words(&known), numbers);
    }
}
