//! Operations on the order of rows.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_machine::{
    NetError,
    drive::{Exchanged, Machine, Round},
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{
    Batch, Context, Role, ShareError,
    ring::{Column, FromPlaces, Permutation, Permute, Sort, SortKey, Sum, Word, test_support::share_words},
};

use super::{
    bits::deal_bits,
    ops::{Made, Parts, deal, elements, widened},
};

/// This party's shares of columns, one behind the other.
fn rows<W: Word>(columns: &[Column<W>]) -> Vec<u64> {
    columns.iter().flat_map(|column| widened(&column.own)).collect()
}

/// A party's shares of columns.
type Columns<W> = Vec<Arc<Column<W>>>;

/// Columns, one behind the other, and the parties' shares of each.
fn deal_columns<W: Word>(n: usize, columns: usize) -> (Vec<W>, [Columns<W>; 3]) {
    let (mut numbers, mut shares) = (vec![], [vec![], vec![], vec![]]);
    for k in 0..columns {
        let (column, of) = deal::<W>(10 + k as u8, n);
        numbers.extend(column);
        shares.iter_mut().zip(of).for_each(|(all, one)| all.push(one));
    }
    (numbers, shares)
}

/// The expected result of columns whose row `order[i]` comes `i`-th.
fn ordered<W: Word>(numbers: &[W], order: &[usize]) -> Vec<u64> {
    let columns = numbers.chunks(order.len());
    columns.flat_map(|column| order.iter().map(|row| column[*row].number())).collect()
}

/// Columns in an order that is drawn for each run.
pub(crate) fn shuffle<W: Word>(n: usize, columns: usize) -> Made {
    let (numbers, shares) = deal_columns::<W>(n, columns);
    let begin = move |role: Role, mut batch: Batch| {
        let order = Permutation::random(&mut batch, n)?;
        Ok(Permute::new(batch.context(), order, shares[role.index()].clone())?)
    };
    let expected = (widened(&numbers), Parts::Shuffled(W::BITS));
    let end = |run: Permute<Sum<W>>| rows(&run.finish());
    // In, out, and both messages.
    elements(6 * n * columns * W::BYTES, expected, begin, end)
}

/// A machine that leaves an order.
pub(crate) trait Orders: Machine<Error = NetError> {
    fn order(self) -> Result<Arc<Permutation>, ShareError>;
}

impl Orders for Sort {
    fn order(self) -> Result<Arc<Permutation>, ShareError> {
        Ok(self.finish())
    }
}

impl Orders for FromPlaces {
    fn order(self) -> Result<Arc<Permutation>, ShareError> {
        self.finish()
    }
}

/// An order, and columns in it.
pub(crate) struct Ordered<W: Word, M> {
    step: Step<W, M>,
    then: Option<(Context, Columns<W>)>,
}

enum Step<W: Word, M> {
    Order(Box<M>),
    Apply(Permute<Sum<W>>),
    /// Between two steps, and after an error.
    Nothing,
}

/// The call, of the machine under way.
macro_rules! of_step {
    ($step:expr, $run:ident => $call:expr, $nothing:expr) => {
        match $step {
            Step::Order($run) => $call,
            Step::Apply($run) => $call,
            Step::Nothing => $nothing,
        }
    };
}

impl<W: Word, M: Orders> Machine for Ordered<W, M> {
    type Error = NetError;

    fn slots(&self) -> usize {
        2
    }
    fn round(&self, slot: usize) -> Option<Round> {
        of_step!(&self.step, run => run.round(slot), None)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        of_step!(&mut self.step, run => run.write(slot, out), Ok(()))
    }
    fn upcoming(&self) -> Option<Round> {
        of_step!(&self.step, run => run.upcoming(), None)
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        of_step!(&mut self.step, run => run.turn(messages, out), Ok(()))
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        of_step!(&mut self.step, run => run.read(messages), Ok(()))?;
        if self.round(0).is_some() {
            return Ok(());
        }
        self.step = match (std::mem::replace(&mut self.step, Step::Nothing), self.then.take()) {
            (Step::Order(made), Some((cx, columns))) => {
                // No order, or of other rows: no result, which the check of results tells.
                let apply = made.order().and_then(|order| Permute::new(cx, order, columns));
                apply.map_or(Step::Nothing, Step::Apply)
            }
            (step, _) => step,
        };
        Ok(())
    }
}

impl<W: Word, M> Ordered<W, M> {
    fn new(order: M, cx: Context, columns: Columns<W>) -> Self {
        Ordered { step: Step::Order(Box::new(order)), then: Some((cx, columns)) }
    }

    fn end(self) -> Vec<u64> {
        match self.step {
            Step::Apply(run) => rows(&run.finish()),
            _ => vec![],
        }
    }
}

/// Columns in order by a key of as many bits; levels of fewer pairs than `few` are compared by trees.
pub(crate) fn sort<W: Word>(n: usize, columns: usize, few: usize) -> Made {
    let (numbers, keys) = deal_bits(1, W::BITS, n);
    let (payload, shares) = deal_columns::<W>(n, columns);
    let begin = move |role: Role, mut batch: Batch| {
        let key = SortKey { bits: keys[role.index()].clone(), signed: false, descending: false };
        let (cx, columns) = (batch.context(), shares[role.index()].clone());
        Ok(Ordered::new(Sort::wide_from(batch, n, &[key], few)?, cx, columns))
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|row| numbers[*row]);
    let expected = (ordered(&payload, &order), Parts::Sum(W::BITS));
    elements(6 * n * columns * W::BYTES, expected, begin, |run: Ordered<W, Sort>| run.end())
}

/// Columns by places of their rows that are shared numbers: the order is made of them, and applied.
pub(crate) fn permute<W: Word>(n: usize, columns: usize) -> Made {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([6; 16]), "bench compute places");
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, (prg.next_u64() % (last as u64 + 1)) as usize);
    }
    let mut places = vec![0; n];
    order.iter().enumerate().for_each(|(place, row)| places[*row] = place as u64);
    let places = share_words(&mut prg, &places).map(Arc::new);
    let (payload, shares) = deal_columns::<W>(n, columns);
    let begin = move |role: Role, mut batch: Batch| {
        let made = FromPlaces::new(&mut batch, &places[role.index()])?;
        Ok(Ordered::new(made, batch.context(), shares[role.index()].clone()))
    };
    let expected = (ordered(&payload, &order), Parts::Sum(W::BITS));
    let end = |run: Ordered<W, FromPlaces>| run.end();
    // Places are moved in 32 bits.
    elements(6 * n * (columns * W::BYTES + 4), expected, begin, end)
}
