//! Tests whether numbers of k bits in two's complement are below 0, in few rounds; the result is
//! one plane.
//!
//! The masked sign is already a share, so no round follows it.
//!
//! **Rounds.** Three for up to 21 bits, four for up to 64. **Bytes.** For 32 bits each party sends
//! 7 a row. **Source**, **security** and **time**: `carries` and `few_rounds`.

use super::{
    Word,
    column::{Bits, Column},
    few_rounds::{Ending, FewRounds, OfDealer, OfOthers},
    on_numbers::minus,
};
use crate::{Batch, Rep3, Role, ShareError, pool::Scratch};

/// The result is the sign, at party `role`, for this many rows.
pub struct SignOf {
    role: Role,
    rows: usize,
}

/// One party's endpoint of the signs of numbers.
pub type NegativeInFew<W> = FewRounds<W, SignOf>;

impl<W: Word> NegativeInFew<W> {
    /// Whether x < y, row by row, if x − y fits in as many signed bits as a word has. Otherwise the
    /// answer is wrong.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless all four shares have the same number of rows.
    pub fn less_bounded(batch: &mut Batch, x: &Column<W>, y: &Column<W>) -> Result<Self, ShareError> {
        let rows = super::summand::rows(&[x, y])?;
        let role = batch.role();
        FewRounds::of(batch, &[&minus(x, y)], 0..W::BITS, SignOf { role, rows })
    }

    /// Shares of the signs, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Bits {
        let ([mut own, mut next], SignOf { role, rows }) = self.into_signs();
        // The machine's bit is 1 if a number is not below 0.
        match role.constant_slot() {
            Some(0) => own.iter_mut().for_each(|byte| *byte = !*byte),
            Some(_) => next.iter_mut().for_each(|byte| *byte = !*byte),
            None => {}
        }
        Bits::new(1, rows, Rep3 { own, next }).expect("a plane of all rows")
    }
}

impl<W: Word> Ending<W> for SignOf {
    const STEP: &'static str = "signs";
    const HAS_WORDS: bool = false;

    fn words(&self) -> usize {
        0
    }

    fn deal(&self, _: &OfDealer<'_, W>, _: &mut Scratch<W>) {}

    fn share(&self, _: &OfOthers<'_, W>) -> Scratch<W> {
        Scratch::default()
    }
}
