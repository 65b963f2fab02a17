//! Circuits on the bits of shared numbers: numbers are converted to bits, and compared.
//!
//! ```text
//! x = u + x_2        party 0 deals the bits of u = x_0 + x_1 (1 round); those of x_2 are free;
//!                    one circuit adds
//!
//!              inputs dealt    output                    ANDs: ripple      rounds: ripple, prefix
//! to_bits      x               x                         k − 1             k, 2 + ⌈log(k − 1)⌉
//! some_bits    x               bits from … to − 1 of x   to − 1            to, 2 + ⌈log(to − 1)⌉
//! rectified    x               from … to − 2, max(x, 0)  2 to − from − 2   1 more
//! less         x, y (, x − y)  x < y                     3 k − 2           k + 1, 3 + ⌈log(k − 1)⌉
//! less_bounded x − y           sign of x − y             k − 1             k, 2 + ⌈log(k − 1)⌉
//! equal        x − y           x − y = 0                 k − 1             1 + log k
//! ```
//!
//! Each party sends ⌈rows/8⌉ bytes per AND. For every number dealt, party 0 sends k planes of as
//! many bytes more.
//!
//! **`less`** is exact over the full range. With the ripple adder, both numbers become bits while
//! they are compared, one bit per layer. With the prefix adder, three signs are enough, which take
//! half the layers and ANDs of two sums. Let d = x − y, and let X, Y, D be the highest bits. If X =
//! Y, then |x − y| < 2^(k−1) and x < y is D. Otherwise x < y is Y, or X for signed numbers.
//!
//! **`less_bounded`** is the sign of x − y. It is right if x − y fits k signed bits: both unsigned
//! below 2^(k−1), or both signed in −2^(k−2) … 2^(k−2) − 1. Otherwise its answer is wrong (1 <
//! 2^(k−1) + 1 has the sign of −2^(k−1)), so it is only for declared ranges.
//!
//! **`equal`** needs no adder: x − y = 0 if u = −x_2, whose bits are free.
//!
//! **Source.** D. Demmler, T. Schneider, M. Zohner, "ABY", NDSS 2015, for conversion by addition;
//! P. Mohassel, P. Rindal, "ABY3", CCS 2018, Sec. 5.3, for two summands instead of three, one of
//! them local to two parties. **Security.** Semi-honest, one corrupted party. The dealt message
//! that party 1 receives is masked by the key of parties 2 and 0; all other messages are those of a
//! circuit. Not for verified runs: a party 0 that deals another u changes x unnoticed.

use super::{
    column::{Bits, Column},
    deal::{Deal, Dealt},
    parts::{self, Parts, PhasePart, phased},
    summand::{FIRST, of_numbers, planes, rows, third},
    word::Word,
};
use crate::{
    Batch, CircuitBatch, Context, Rep3, ShareError, Shares, circuit_cost,
    kept::Function,
    pool::{self, Scratch},
};
use hushwire_circuit::{Adder, Bit, Builder, Circuit, Program, words};
use hushwire_machine::Cost;
use std::{ops::Range, sync::Arc};

/// One party's endpoint of a circuit on the bits of numbers; the machine is the same for every
/// circuit.
pub struct OnNumbers<W: Word> {
    program: Arc<Program>,
    cx: Option<Context>,
    rows: usize,
    /// The bits that are known without dealing.
    free: Option<Shares>,
    out: Option<Bits>,
    parts: Parts<Self, W>,
    cost: Cost,
}

impl<W: Word> OnNumbers<W> {
    /// Computes the bits of every number of `x`: [`Bits`] of [`Word::BITS`] bits.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have the same number of rows.
    pub fn to_bits(batch: &mut Batch, x: &Column<W>, adder: Adder) -> Result<Self, ShareError> {
        Self::run(batch, [x], Function::Sum(adder), |b, [(u, x_2)]| adder.sum(b, u, x_2))
    }

    /// Computes some bits of every number of `x`: its quotient by 2^from, rounded towards −∞,
    /// modulo 2^(to − from).
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless both shares have the same number of rows, and a word has
    /// these bits.
    pub fn some_bits(
        batch: &mut Batch,
        x: &Column<W>,
        bits: Range<usize>,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        Self::part(batch, x, bits, false, adder)
    }

    /// As [`some_bits`](Self::some_bits), for numbers of `to` bits in two's complement, with 0 in
    /// place of negative numbers. The sign, which is then 0, is left out.
    ///
    /// # Errors
    /// As [`some_bits`](Self::some_bits), and if there is no sign.
    pub fn rectified(
        batch: &mut Batch,
        x: &Column<W>,
        bits: Range<usize>,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        Self::part(batch, x, bits, true, adder)
    }

    fn part(
        batch: &mut Batch,
        x: &Column<W>,
        Range { start, end }: Range<usize>,
        rectified: bool,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        let least = start + usize::from(rectified);
        if !(least..=W::BITS).contains(&end) {
            let what = "the end of a number's bits";
            return Err(ShareError::Operand { what, expected: (W::BITS, x.rows()), found: (end, x.rows()) });
        }
        let function = Function::Part { adder, from: start, to: end, rectified };
        Self::run(batch, [x], function, |b, [(u, x_2)]| {
            let mut sum = adder.sum(b, &u[..end], &x_2[..end]).split_off(start);
            if rectified && let Some(sign) = sum.pop() {
                let positive = b.not(sign);
                sum.iter_mut().for_each(|bit| *bit = b.and(*bit, positive));
            }
            sum
        })
    }

    /// Whether x < y, row by row, exact over the full range, as unsigned numbers or in two's
    /// complement. The result is one plane.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless all four shares have the same number of rows.
    pub fn less(
        batch: &mut Batch,
        x: &Column<W>,
        y: &Column<W>,
        signed: bool,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        rows(&[x, y])?;
        let function = Function::SumsLess { adder, signed };
        match adder {
            Adder::Ripple => Self::run(batch, [x, y], function, |b, sums| {
                let [x, y] = [0, 1].map(|i| adder.sum(b, sums[i].0, sums[i].1));
                vec![adder.less(b, signed, &x, &y)]
            }),
            Adder::Prefix => Self::run(batch, [x, y, &minus(x, y)], function, |b, sums| {
                let [x, y, d] = [0, 1, 2].map(|i| adder.sign(b, sums[i].0, sums[i].1));
                let (differ, wins) = (b.xor(x, y), if signed { x } else { y });
                let change = b.xor(d, wins);
                let change = b.and(differ, change);
                vec![b.xor(d, change)]
            }),
        }
    }

    /// Whether x < y, row by row, by the sign of x − y, as one plane. For numbers whose difference
    /// fits [`Word::BITS`] signed bits: both unsigned below half the modulus, or both signed within
    /// a quarter of it. Otherwise the answer is wrong; [`less`](Self::less) has no such bound.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless all four shares have the same number of rows.
    pub fn less_bounded(
        batch: &mut Batch,
        x: &Column<W>,
        y: &Column<W>,
        adder: Adder,
    ) -> Result<Self, ShareError> {
        rows(&[x, y])?;
        Self::run(batch, [&minus(x, y)], Function::Sign(adder), |b, [(u, d_2)]| vec![adder.sign(b, u, d_2)])
    }

    /// Whether x = y, row by row, as one plane.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless all four shares have the same number of rows.
    pub fn equal(batch: &mut Batch, x: &Column<W>, y: &Column<W>) -> Result<Self, ShareError> {
        rows(&[x, y])?;
        Self::run(batch, [&minus(x, y)], Function::SumIsZero, |b, [(u, negative)]| {
            vec![words::equal(b, u, negative)]
        })
    }

    /// Deals u of each column, and runs a circuit on (u, x_2), or on (u, −x_2) if a sum is compared
    /// with zero.
    fn run<const N: usize>(
        batch: &mut Batch,
        columns: [&Column<W>; N],
        function: Function,
        make: impl FnOnce(&mut Builder, [(&[Bit], &[Bit]); N]) -> Vec<Bit>,
    ) -> Result<Self, ShareError> {
        let rows = rows(&columns)?;
        let (dealing, cx) = (batch.context(), batch.context());
        let role = cx.role;
        let program = cx.kept.program(function, W::BITS, || circuit(W::BITS, make));
        let width = program.output_bits();
        let mut known: Vec<Scratch<W>> = columns.iter().map(|column| of_numbers(role, column)).collect();
        if function == Function::SumIsZero && role != FIRST {
            known.iter_mut().flat_map(|x| x.iter_mut()).for_each(|x| *x = W::default().minus(*x));
        }
        let known: Vec<&[W]> = known.iter().map(|x| x.as_slice()).collect();
        let bits = planes(&cx, &known);
        let free = Some(third(role, &bits));
        let mut cost = Deal::<W>::cost(role, FIRST, bits.len(), 0);
        let mut machine =
            OnNumbers { program, cx: Some(cx), rows, free, out: None, parts: Parts::new(), cost };
        if rows == 0 {
            machine.out = Some(Bits::new(width, 0, Rep3 { own: vec![], next: vec![] })?);
        } else {
            let circuit = circuit_cost(&machine.program, rows);
            cost = Cost {
                rounds: cost.rounds + circuit.rounds,
                bytes_sent: cost.bytes_sent + circuit.bytes_sent,
            };
            machine.cost = cost;
            let dealt = Dealt { bits, numbers: Scratch::default() };
            machine.parts.add(PhasePart::Deal(Deal::new(&dealing, FIRST, &dealt), Self::dealt));
        }
        Ok(machine)
    }

    fn dealt(&mut self, deal: Deal<W>) {
        let (dealt, free) = (deal.finish().0, self.free.take().expect("one dealing"));
        let cx = self.cx.take().expect("one circuit");
        let batch = parts::circuit(&self.program, cx, vec![Arc::new(dealt), Arc::new(free)], self.rows);
        self.parts.add(PhasePart::Circuit(batch, Self::computed));
    }

    fn computed(&mut self, batch: CircuitBatch) {
        let out = Bits::new(self.program.output_bits(), self.rows, batch.into_output());
        self.out = Some(out.expect("planes of the program's outputs"));
    }

    /// The shared bits, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Bits {
        self.out.expect("finish comes after the last round")
    }
}

phased!([W: Word] OnNumbers<W>);

/// x − y, row by row; the columns have the same number of rows.
pub(super) fn minus<W: Word>(x: &Column<W>, y: &Column<W>) -> Column<W> {
    let of = |x: &[W], y: &[W]| pool::collect(x.iter().zip(y).map(|(x, y)| x.minus(*y)));
    Rep3 { own: of(&x.own, &y.own), next: of(&x.next, &y.next) }
}

/// A circuit whose inputs are the dealt words, followed by the free ones.
fn circuit<const N: usize>(
    bits: usize,
    make: impl FnOnce(&mut Builder, [(&[Bit], &[Bit]); N]) -> Vec<Bit>,
) -> Circuit {
    let mut b = Builder::new();
    let dealt: [Vec<Bit>; N] = std::array::from_fn(|_| b.input(bits));
    let free: [Vec<Bit>; N] = std::array::from_fn(|_| b.input(bits));
    let out = make(&mut b, std::array::from_fn(|i| (dealt[i].as_slice(), free[i].as_slice())));
    b.finish(&[out])
}
