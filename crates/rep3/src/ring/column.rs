//! Columns of words, columns of bits, and random columns.

use crate::{Batch, Rep3, Role, ShareError, Shares, pool, ring::Word};
use hushwire_circuit::planes::plane_bytes;
use std::sync::Arc;

/// One party's shares of a column: `own` = x_i, `next` = x_{i+1}, one word per row.
pub type Column<W> = Rep3<Vec<W>>;

impl<W: Word> Column<W> {
    /// A column of zeros.
    #[must_use]
    pub fn zeros(rows: usize) -> Self {
        Rep3 { own: pool::zeros(rows), next: pool::zeros(rows) }
    }

    /// Shares of numbers that all parties know: x_0 is the number, the other shares are zero.
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

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.own.len()
    }

    /// Checks that both shares have `rows` rows.
    ///
    /// # Errors
    /// [`ShareError::Length`], in bytes, if a share has another number.
    pub(crate) fn expect_rows(&self, what: &'static str, rows: usize) -> Result<(), ShareError> {
        let wrong = [&self.own, &self.next].into_iter().find(|share| share.len() != rows);
        wrong.map_or(Ok(()), |share| {
            let [expected, found] = [rows, share.len()].map(|rows| rows.saturating_mul(W::BYTES));
            Err(ShareError::Length { what, expected, found })
        })
    }
}

/// One party's shares of a column of strings of bits. Each share has `width` planes, one after the
/// other: plane `i` has bit `i` of every row, in ⌈rows/8⌉ bytes. Copies share their memory.
#[derive(Clone)]
pub struct Bits {
    width: usize,
    rows: usize,
    shares: Arc<Shares>,
}

impl Bits {
    /// Shares of planes, one after the other. Bits past the last row are ignored.
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
        Ok(Bits { width, rows, shares: Arc::new(shares) })
    }

    /// The number of bits of a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The shares of all planes.
    #[must_use]
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The same bits, with zeros past the last row. The bits there belong to no value and must be
    /// cleared before planes are opened.
    #[must_use]
    pub fn trimmed(mut self) -> Bits {
        let (used, height) = (self.rows % 8, plane_bytes(self.rows));
        if used > 0 {
            let Rep3 { own, next } = Arc::make_mut(&mut self.shares);
            for share in [own, next] {
                for plane in share.chunks_exact_mut(height) {
                    plane[height - 1] &= (1 << used) - 1;
                }
            }
        }
        self
    }

    /// The planes' shares, by value.
    #[must_use]
    pub fn into_shares(self) -> Shares {
        Arc::unwrap_or_clone(self.shares)
    }

    /// The planes' shares for writing, unless they are also held elsewhere.
    pub fn alone(&mut self) -> Option<&mut Shares> {
        Arc::get_mut(&mut self.shares)
    }

    /// The planes' shares for a caller that overwrites all of them. Until then they have their old
    /// contents, or zeros if the old ones are also held elsewhere.
    pub(crate) fn over(&mut self) -> &mut Shares {
        if Arc::get_mut(&mut self.shares).is_none() {
            let bytes = self.shares.len();
            self.shares = Arc::new(Rep3 { own: pool::zeros(bytes), next: pool::zeros(bytes) });
        }
        Arc::get_mut(&mut self.shares).expect("they are new, or nobody else has them")
    }

    /// The planes' shares, for callers that keep them without a copy.
    pub(crate) fn held(&self) -> &Arc<Shares> {
        &self.shares
    }
}

impl Batch {
    /// Shares of random numbers that no party knows; this takes no message.
    pub fn random_column<W: Word>(&mut self, rows: usize) -> Column<W> {
        self.context().random_column(0, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::test_support::{open_words, share_words};
    use hushwire_aes::Backend;
    use hushwire_prg::{Prg, Seed};

    #[test]
    fn a_dealers_shares_open_to_the_numbers() {
        let numbers: Vec<u16> = (0..99).map(|i| i * 555).collect();
        let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([1; 16]), "test");
        let shares = share_words(&mut prg, &numbers);
        assert_eq!(open_words(&shares), numbers);
        let known = Role::ALL.map(|role| Column::known(role, &numbers));
        assert_eq!(open_words(&known), numbers);
    }

    #[test]
    fn other_lengths_are_told_in_bytes() {
        let column = Rep3 { own: vec![0u16; 4], next: vec![0; 5] };
        let error = ShareError::Length { what: "a share", expected: 8, found: 10 };
        assert_eq!(column.expect_rows("a share", 4), Err(error));
        let planes = Shares { own: vec![0; 4], next: vec![0; 5] };
        let error = ShareError::Length { what: "a share of bits", expected: 4, found: 5 };
        assert_eq!(Bits::new(2, 9, planes).err(), Some(error));
    }

    #[test]
    fn trimmed_planes_end_with_the_last_row_and_copies_keep_theirs() {
        let full = || vec![0xff; 4];
        let mut bits = Bits::new(2, 11, Shares { own: full(), next: full() }).unwrap();
        let copy = bits.clone();
        assert!(bits.alone().is_none());
        bits = bits.trimmed();
        for share in [&bits.shares().own, &bits.shares().next] {
            assert_eq!(share[..], [0xff, 7, 0xff, 7]);
        }
        assert_eq!(copy.shares().own, full());
        assert!(bits.alone().is_some());
        // A plane of whole bytes has nothing past its last row.
        let whole = Bits::new(1, 32, Shares { own: full(), next: full() }).unwrap();
        assert_eq!(whole.trimmed().into_shares().own, full());
    }

    #[test]
    fn what_others_hold_is_not_overwritten() {
        let mut bits = Bits::new(1, 8, Shares { own: vec![1], next: vec![2] }).unwrap();
        assert_eq!(bits.over().own, [1]);
        let held = bits.held().clone();
        bits.over().own[0] = 3;
        assert_eq!((bits.shares().own[0], held.own[0]), (3, 1));
    }
}
