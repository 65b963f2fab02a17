//! The greatest of two or three numbers in few rounds, if their differences fit in k signed bits.
//!
//! ```text
//! two          b + [a ≥ b] (a − b)
//! three        c + [a ≥ b] [a ≥ c] (a − c) + (1 − [a ≥ b]) [b ≥ c] (b − c)
//!
//! d = u + v    a difference; the dealer knows u, which R and L already hold shares of
//! [s = m ⊕ λ]  s d = m d + (1 − 2 m) (λ u + λ v), and so on for products of two signs
//! dealt        words λ and λ u: two for two numbers, eleven for three
//! words        the products, masked; a summand is added at the end
//! ```
//!
//! Three numbers take as many rounds as two. This costs one more comparison but saves a level of a
//! tree.
//!
//! **Rounds.** Four for up to 21 bits, five for up to 64. **Bytes.** For 19 bits in words of 32
//! each party sends 10.2 a row for two numbers, and 32 for three. **Source**, **security** and
//! **time**: `carries` and `few_rounds`. The choice among three by products of signs is this
//! module's own.

use super::{
    Word,
    column::Column,
    few_rounds::{Ending, FewRounds, OfDealer, OfOthers, turned},
    inject::zip,
    on_numbers::minus,
};
use crate::{Batch, ShareError, pool::Scratch};

/// The result is the greatest of two or three numbers; this is the last of them.
pub struct GreatestOf<W: Word> {
    last: Column<W>,
    differences: usize,
}

/// One party's endpoint of the greatest of two or three numbers, row by row.
pub type Greatest<W> = FewRounds<W, GreatestOf<W>>;

impl<W: Word> Greatest<W> {
    /// The greatest number of each row, in two's complement. The difference of any two must fit in
    /// `bits` signed bits; otherwise the answer is wrong.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless there are two or three columns, all of them have the same
    /// number of rows, and a word has the bits.
    pub fn new(batch: &mut Batch, columns: &[&Column<W>], bits: usize) -> Result<Self, ShareError> {
        let all = super::summand::rows(columns)?;
        let (differences, last) = match *columns {
            [a, b] => (vec![minus(a, b)], b),
            [a, b, c] => (vec![minus(a, b), minus(b, c), minus(a, c)], c),
            _ => {
                let what = "the columns of which the greatest is asked";
                return Err(ShareError::Operand { what, expected: (3, all), found: (columns.len(), all) });
            }
        };
        let columns: Vec<&Column<W>> = differences.iter().collect();
        let ending = GreatestOf { last: last.clone(), differences: columns.len() };
        FewRounds::of(batch, &columns, 0..bits, ending)
    }

    /// Shares of the numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        let (less, GreatestOf { last, .. }) = self.into_words();
        zip(&less, &last, W::plus)
    }
}

/// The share of the product of two signs and a number u + v. Each sign has its masked bit, and the
/// factor by which its mask counts.
struct SignProduct<W> {
    masked: [W; 2],
    turned: [W; 2],
    /// Shares of the masks, and of their product.
    masks: [W; 3],
    /// Shares of those masks times u.
    with_u: [W; 3],
    u: W,
    v: W,
    adds: W,
}

impl<W: Word> SignProduct<W> {
    fn share(self) -> W {
        let ([m, n], [s, t]) = (self.masked, self.turned);
        let [of_m, of_n, of_both] = [0, 1, 2].map(|k| self.with_u[k].plus(self.masks[k].times(self.v)));
        let known = m.times(n).times(self.u.plus(self.adds.times(self.v)));
        known.plus(s.times(n).times(of_m)).plus(m.times(t).times(of_n)).plus(s.times(t).times(of_both))
    }
}

impl<W: Word> Ending<W> for GreatestOf<W> {
    const STEP: &'static str = "greatest numbers";

    fn words(&self) -> usize {
        if self.differences == 1 { 2 } else { 11 }
    }

    fn deal(&self, of: &OfDealer<'_, W>, words: &mut Scratch<W>) {
        let product = |x: &[W], y: &[W], words: &mut Scratch<W>| {
            words.extend(x.iter().zip(y).map(|(x, y)| x.times(*y)));
        };
        words.extend_from_slice(of.sign);
        if self.differences == 1 {
            return product(of.sign, of.u, words);
        }
        let [a, b, c] = [0, 1, 2].map(|k| &of.sign[k * of.rows..][..of.rows]);
        let [u_b, u_a] = [1, 2].map(|k| &of.u[k * of.rows..][..of.rows]);
        let mut both = Scratch::room(2 * of.rows);
        product(a, b, &mut both);
        product(a, c, &mut both);
        words.extend_from_slice(&both);
        let (a_b, a_c) = both.split_at(of.rows);
        for (masks, u) in [(a, u_a), (c, u_a), (a_c, u_a), (a, u_b), (b, u_b), (a_b, u_b)] {
            product(masks, u, words);
        }
    }

    fn share(&self, of: &OfOthers<'_, W>) -> Scratch<W> {
        let mut out = Scratch::room(of.rows);
        if self.differences == 1 {
            let [mask, with_u] = [0, 1].map(|k| of.dealt(k));
            out.extend((0..of.rows).map(|i| {
                let (m, v) = (of.sign[i], of.v[i]);
                let of_mask = with_u[i].plus(mask[i].times(v));
                m.times(of.u[i].plus(of.adds.times(v))).plus(turned(m).times(of_mask))
            }));
            return out;
        }
        let (rows, one) = (of.rows, W::of(1));
        let dealt: [&[W]; 11] = std::array::from_fn(|k| of.dealt(k));
        out.extend((0..rows).map(|i| {
            let [a, b, c] = [0, 1, 2].map(|k| of.sign[k * rows + i]);
            let number = |k: usize| (of.u[k * rows + i], of.v[k * rows + i]);
            let words = |all: [usize; 3]| all.map(|k| dealt[k][i]);
            let (u, v) = number(2);
            let first = SignProduct {
                masked: [a, c],
                turned: [turned(a), turned(c)],
                masks: words([0, 2, 4]),
                with_u: words([5, 6, 7]),
                u,
                v,
                adds: of.adds,
            };
            let (u, v) = number(1);
            let second = SignProduct {
                masked: [one.minus(a), b],
                turned: [W::default().minus(turned(a)), turned(b)],
                masks: words([0, 1, 3]),
                with_u: words([8, 9, 10]),
                u,
                v,
                adds: of.adds,
            };
            first.share().plus(second.share())
        }));
        out
    }
}
