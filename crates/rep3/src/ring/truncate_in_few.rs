//! Exact truncation in few rounds: ⌊x / 2^f⌋ of numbers, toward −∞.
//!
//! ```text
//! x = u + v    t the highest bit    b = 1 if x_t is 0    c the carry into bit f
//! signed       (u ≫ f) + (v ≫ f) + c + 2^(k−f) e    shifts of numbers in two's complement
//!              e = u_t b if v_t is 1, else u_t + b − u_t b − 1
//! unsigned     (u ≫ f) + (v ≫ f) + c − 2^(k−f) e
//!              e = u_t b if v_t is 0, else u_t + b − u_t b
//!
//! dealt        words of u ≫ f, of u_t, of the masks of c and b, and of u_t times the mask of b
//! words        the sum, masked
//! ```
//!
//! **Rounds.** Five for 32 bits, six for 64. **Bytes.** For k = 32 and f = 13 each party sends 16.4
//! a row. **Source**, **security** and **time**: `carries` and `few_rounds`.

use super::{
    Word,
    column::Column,
    few_rounds::{Ending, FewRounds, OfDealer, OfOthers, bit, power, turned},
};
use crate::{Batch, ShareError, pool::Scratch};

/// The result is ⌊x / 2^f⌋.
pub struct Truncated {
    is_signed: bool,
}

/// One party's endpoint of a truncation.
pub type TruncateInFew<W> = FewRounds<W, Truncated>;

impl<W: Word> TruncateInFew<W> {
    /// ⌊x / 2^by⌋, row by row, of unsigned numbers, or in two's complement.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have the same number of rows, `by` is at least 1,
    /// and a number has more than `by` bits.
    pub fn new(batch: &mut Batch, x: &Column<W>, by: usize, is_signed: bool) -> Result<Self, ShareError> {
        if by == 0 {
            let (what, rows) = ("the bits that are cut", x.rows());
            return Err(ShareError::Operand { what, expected: (1, rows), found: (by, rows) });
        }
        FewRounds::of(batch, &[x], by..W::BITS, Truncated { is_signed })
    }

    /// Shares of the truncated numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        self.into_words().0
    }
}

impl Truncated {
    fn shifted<W: Word>(&self, word: W, by: usize) -> W {
        let shifted = W::of(word.number() >> by);
        let sign = if self.is_signed { bit(word, W::BITS - 1) } else { W::default() };
        shifted.minus(sign.times(power(W::BITS - by)))
    }
}

impl<W: Word> Ending<W> for Truncated {
    const STEP: &'static str = "truncations";

    fn words(&self) -> usize {
        5
    }

    fn deal(&self, of: &OfDealer<'_, W>, words: &mut Scratch<W>) {
        let high = |u: &W| bit(*u, W::BITS - 1);
        words.extend(of.u.iter().map(|u| self.shifted(*u, of.bits.start)));
        words.extend(of.u.iter().map(high));
        words.extend_from_slice(of.carry);
        words.extend_from_slice(of.sign);
        words.extend(of.u.iter().zip(of.sign).map(|(u, b)| b.times(high(u))));
    }

    fn share(&self, of: &OfOthers<'_, W>) -> Scratch<W> {
        let [u, high, of_carry, of_sign, of_both] = [0, 1, 2, 3, 4].map(|k| of.dealt(k));
        let (by, one) = (of.bits.start, W::of(1));
        let whole = power::<W>(W::BITS - by);
        let mut out = Scratch::room(of.rows);
        out.extend((0..of.rows).map(|i| {
            let (v, m, n) = (of.v[i], of.sign[i], of.carry[i]);
            let v_high = bit(v, W::BITS - 1);
            let b = of.adds.times(m).plus(turned(m).times(of_sign[i]));
            let both = m.times(high[i]).plus(turned(m).times(of_both[i]));
            let either = high[i].plus(b).minus(both);
            let carry = of.adds.times(n).plus(turned(n).times(of_carry[i]));
            let choose = |one_of: W, zero_of: W| v_high.times(one_of).plus(one.minus(v_high).times(zero_of));
            let high = match self.is_signed {
                true => choose(both, either.minus(of.adds)),
                false => W::default().minus(choose(either, both)),
            };
            u[i].plus(of.adds.times(self.shifted(v, by))).plus(carry).plus(whole.times(high))
        }));
        out
    }
}
