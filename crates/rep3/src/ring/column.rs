//! Columns of words, columns of bits, and the randomness that masks them.

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

    /// Checks that both shares have this many rows.
    ///
    /// # Errors
    /// [`ShareError::Length`], in bytes, if one has not.
    pub(crate) fn expect_rows(&self, what: &'static str, rows: usize) -> Result<(), ShareError> {
        let wrong = [&self.own, &self.next].into_iter().find(|share| share.len() != rows);
        wrong.map_or(Ok(()), |share| {
            let [expected, found] = [rows, share.len()].map(|rows| rows.saturating_mul(W::BYTES));
            Err(ShareError::Length { what, expected, found })
        })
    }
}

/// One party's shares of a column of strings of bits: plane `i` has bit `i` of every row, in
/// ⌈rows/8⌉ bytes.
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

    /// The planes' shares.
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

    /// The planes' shares for writing over all of them. They keep their old contents if they are
    /// held nowhere else, and are zero otherwise; the caller overwrites both.
    pub(crate) fn over(&mut self) -> &mut Shares {
        if Arc::get_mut(&mut self.shares).is_none() {
            let bytes = self.shares.len();
            self.shares = Arc::new(Rep3 { own: pool::zeros(bytes), next: pool::zeros(bytes) });
        }
        Arc::get_mut(&mut self.shares).expect("they are new, or nobody else has them")
    }

    /// A reference to the planes' shares, for callers that keep them.
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
    use hushwire_prg::Prg;

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
