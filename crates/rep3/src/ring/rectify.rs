//! Rectifiers in few rounds: max(⌊x / 2^f⌋, 0) of numbers of k bits in two's complement.
//!
//! ```text
//! x = u + v    b = x ≥ 0    c the carry into bit f    t the highest bit
//! x ≥ 0:       ⌊x / 2^f⌋ = (u ≫ f) + (v ≫ f) + c − 2^(k−f) (u_t ∨ v_t)
//!
//! dealt        words of the masks, and of (u ≫ f) − 2^(k−f) (u_t ∨ v_t) for either v_t, alone and
//!              times the mask of b
//! words        b ((u ≫ f) + …) + b c, masked
//! ```
//!
//! **Rounds.** Five for 32 bits of which 13 are cut, six for 64. **Bytes.** For k = 32 and f = 13
//! each party sends 19 a row. **Source**, **security** and **time**: `carries` and `few_rounds`.

use super::{
    Word,
    column::Column,
    few_rounds::{Ending, FewRounds, OfDealer, OfOthers, bit, low, power, turned},
};
use crate::{Batch, ShareError, pool::Scratch};
use std::ops::Range;

/// The result is max(⌊x / 2^f⌋, 0).
pub struct Rectified {
    has_carry: bool,
}

/// One party's endpoint of a rectifier from numbers to numbers.
pub type Rectify<W> = FewRounds<W, Rectified>;

impl<W: Word> Rectify<W> {
    /// max(⌊x / 2^from⌋, 0), row by row, of numbers of `to` bits in two's complement.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have the same number of rows, and a word has the
    /// bits, the sign among them.
    pub fn new(batch: &mut Batch, x: &Column<W>, bits: Range<usize>) -> Result<Self, ShareError> {
        let has_carry = bits.start > 0;
        FewRounds::of(batch, &[x], bits, Rectified { has_carry })
    }

    /// Shares of the numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        self.into_words().0
    }
}

impl<W: Word> Ending<W> for Rectified {
    const STEP: &'static str = "rectifiers";

    fn words(&self) -> usize {
        if self.has_carry { 7 } else { 5 }
    }

    fn deal(&self, of: &OfDealer<'_, W>, words: &mut Scratch<W>) {
        let Range { start: cut, end } = *of.bits;
        let (sign, carry) = (of.sign, of.carry);
        let whole = power::<W>(end - cut);
        let shifted = |u: &W| W::of(low(*u, end).number() >> cut);
        let of_zero = |u: &W| shifted(u).minus(whole.times(bit(*u, end - 1)));
        let of_one = |u: &W| shifted(u).minus(whole);
        words.extend_from_slice(sign);
        if self.has_carry {
            words.extend_from_slice(carry);
            words.extend(carry.iter().zip(sign).map(|(c, b)| c.times(*b)));
        }
        words.extend(of.u.iter().map(of_zero));
        words.extend(of.u.iter().map(of_one));
        words.extend(of.u.iter().zip(sign).map(|(u, b)| b.times(of_zero(u))));
        words.extend(of.u.iter().zip(sign).map(|(u, b)| b.times(of_one(u))));
    }

    fn share(&self, of: &OfOthers<'_, W>) -> Scratch<W> {
        let Range { start: cut, end } = *of.bits;
        let before = if self.has_carry { 3 } else { 1 };
        let (of_sign, [u_0, u_1, b_0, b_1]) = (of.dealt(0), [0, 1, 2, 3].map(|k| of.dealt(before + k)));
        let carries = self.has_carry.then(|| [of.carry, of.dealt(1), of.dealt(2)]);
        let one = W::of(1);
        let mut out = Scratch::room(of.rows);
        out.extend((0..of.rows).map(|i| {
            let (v, m) = (of.v[i], of.sign[i]);
            let (high, shifted, s) = (bit(v, end - 1), W::of(low(v, end).number() >> cut), turned(m));
            let choose = |zero: W, other: W| zero.times(one.minus(high)).plus(high.times(other));
            let (u, b) = (choose(u_0[i], u_1[i]), choose(b_0[i], b_1[i]));
            let of_u =
                m.times(u.plus(of.adds.times(shifted))).plus(s.times(b.plus(shifted.times(of_sign[i]))));
            carries.map_or(of_u, |[carry, of_carry, of_both]| {
                let (n, t) = (carry[i], turned(carry[i]));
                let both = of.adds.times(m.times(n)).plus(m.times(t).times(of_carry[i]));
                both.plus(n.times(s).times(of_sign[i])).plus(s.times(t).times(of_both[i])).plus(of_u)
            })
        }));
        out
    }
}
