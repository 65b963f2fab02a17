//! Turns shared bits into numbers 0 and 1, and selects between numbers by shared bits.
//!
//! ```text
//! b = a ⊕ b_2      party 0 knows a = b_0 ⊕ b_1 and deals it as a number; b_2 is free     1 round
//! b = a + b_2 − 2 a b_2                                                         a product: 1 round
//!
//! b d = a d + b_2 d − 2 a b_2 d       with w = b_2 d, whose factors are shared already:
//!     w while a is dealt                                                                   1 round
//!     a (d − 2 w) + w                                                                      1 round
//! b ? x : y = y + b (x − y)
//! ```
//!
//! A selection takes as many rounds as an injection, and two products. **Bytes.** Each party sends
//! a word per row and product; party 0 sends a word per row more. **Source.** P. Mohassel, P.
//! Rindal, "ABY3", CCS 2018, Sec. 5.4. Instead of its oblivious transfer, one summand is dealt and
//! one is free. **Security.** Semi-honest, one corrupted party, as for dealing and [`Product`].

use super::{
    column::{Bits, Column},
    deal::{Deal, Dealt},
    mul::Product,
    on_numbers::minus,
    parts::{Parts, PhasePart, phased},
    summand::{FIRST, numbers, of_bits, rows, same, shape, third},
    word::Word,
};
use crate::{
    Batch, Context, Rep3, Role, ShareError,
    pool::{self, Scratch},
};
use hushwire_machine::Cost;
use std::sync::Arc;

/// One party's endpoint of the conversion of bits to numbers 0 and 1.
pub struct Inject<W: Word> {
    cx: Option<Context>,
    /// First b_2, then a + b_2, then b.
    out: Column<W>,
    parts: Parts<Self, W>,
    cost: Cost,
    done: bool,
}

impl<W: Word> Inject<W> {
    /// Makes a number of every bit: those of the first plane, then those of the second, and so on.
    pub fn new(batch: &mut Batch, bits: &Bits) -> Self {
        let contexts = [batch.context(), batch.context()];
        Self::of(contexts, bits)
    }

    pub(super) fn of([dealing, cx]: [Context; 2], bits: &Bits) -> Self {
        let role = cx.role;
        let known: Scratch<W> = numbers(cx.backend, &of_bits(role, bits.shares()), bits.rows());
        let rows = known.len();
        let out = third(role, &known);
        let mut parts = Parts::new();
        if rows > 0 {
            let dealt = Dealt { bits: Scratch::default(), numbers: known };
            parts.add(PhasePart::Deal(Deal::new(&dealing, FIRST, &dealt), Self::dealt));
        }
        let cost = Self::cost_of(role, rows);
        Inject { cx: Some(cx), out, parts, cost, done: rows == 0 }
    }

    /// The cost of `rows` bits.
    pub(super) fn cost_of(role: Role, rows: usize) -> Cost {
        let deal = Deal::<W>::cost(role, FIRST, 0, rows);
        Cost { rounds: 2 * deal.rounds, bytes_sent: deal.bytes_sent + (rows * W::BYTES) as u64 }
    }

    fn dealt(&mut self, deal: Deal<W>) {
        let a = deal.finish().1;
        let sum = zip(&a, &self.out, W::plus);
        let free = Arc::new(std::mem::replace(&mut self.out, sum));
        let cx = self.cx.take().expect("one product");
        self.parts.add(PhasePart::Product(product(cx, Arc::new(a), free), Self::multiplied));
    }

    fn multiplied(&mut self, product: Product<W>) {
        self.out = zip(&self.out, &product.finish(), |sum, z| sum.minus(z).minus(z));
        self.done = true;
    }

    /// Shares of the numbers, after the run, plane by plane.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        assert!(self.done, "finish comes after the last round");
        self.out
    }
}

phased!([W: Word] Inject<W>);

/// One party's endpoint of a selection between two columns, row by row.
pub struct Select<W: Word> {
    cx: Option<Context>,
    y: Column<W>,
    /// First d = x − y, then d − 2 w.
    difference: Arc<Column<W>>,
    /// The product w = b_2 d.
    part: Option<Column<W>>,
    parts: Parts<Self, W>,
    cost: Cost,
    done: bool,
}

impl<W: Word> Select<W> {
    /// Selects x if the bit of a row is 1, else y.
    ///
    /// # Errors
    /// [`ShareError::Operand`] unless `choose` is one plane and all operands have the same number
    /// of rows.
    pub fn new(batch: &mut Batch, choose: &Bits, x: &Column<W>, y: &Column<W>) -> Result<Self, ShareError> {
        let rows = rows(&[x, y])?;
        same("the plane of choices", (1, rows), shape(choose))?;
        let [dealing, first, cx] = [0; 3].map(|_: u8| batch.context());
        let role = cx.role;
        let known: Scratch<W> = numbers(cx.backend, &of_bits(role, choose.shares()), rows);
        let difference = Arc::new(minus(x, y));
        let mut parts = Parts::new();
        if rows > 0 {
            // The product is the first part, so its result is taken before the dealing's.
            let first = product(first, Arc::new(third(role, &known)), difference.clone());
            parts.add(PhasePart::Product(first, Self::multiplied));
            let dealt = Dealt { bits: Scratch::default(), numbers: known };
            parts.add(PhasePart::Deal(Deal::new(&dealing, FIRST, &dealt), Self::dealt));
        }
        let deal = Deal::<W>::cost(role, FIRST, 0, rows);
        let bytes_sent = deal.bytes_sent + (2 * rows * W::BYTES) as u64;
        let cost = Cost { rounds: 2 * deal.rounds, bytes_sent };
        Ok(Select { cx: Some(cx), y: y.clone(), difference, part: None, parts, cost, done: rows == 0 })
    }

    fn multiplied(&mut self, first: Product<W>) {
        self.part = Some(first.finish());
    }

    fn dealt(&mut self, deal: Deal<W>) {
        let w = self.part.take().expect("the first product is taken before");
        let factor = zip(&self.difference, &w, |d, w| d.minus(w).minus(w));
        self.y = zip(&self.y, &w, W::plus);
        let cx = self.cx.take().expect("one second product");
        let second = product(cx, Arc::new(deal.finish().1), Arc::new(factor));
        self.parts.add(PhasePart::Product(second, Self::chosen));
    }

    fn chosen(&mut self, second: Product<W>) {
        self.y = zip(&self.y, &second.finish(), W::plus);
        self.done = true;
    }

    /// Shares of the selected numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        assert!(self.done, "finish comes after the last round");
        self.y
    }
}

phased!([W: Word] Select<W>);

/// A product of columns whose lengths this module made equal.
fn product<W: Word>(cx: Context, x: Arc<Column<W>>, y: Arc<Column<W>>) -> Product<W> {
    Product::new(cx, x, y).expect("columns of as many rows")
}

/// A linear function of two columns, applied to each share.
pub(super) fn zip<W: Word>(x: &Column<W>, y: &Column<W>, of: impl Fn(W, W) -> W) -> Column<W> {
    let each = |x: &[W], y: &[W]| pool::collect(x.iter().zip(y).map(|(x, y)| of(*x, *y)));
    Rep3 { own: each(&x.own, &y.own), next: each(&x.next, &y.next) }
}
