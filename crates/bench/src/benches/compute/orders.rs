//! Operations on the order of rows.

use std::sync::Arc;

use hushwire_aes::Backend;
use hushwire_machine::{
    NetError,
    drive::{Line, Machine},
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{
    Context, ShareError,
    ring::{Column, FromPlaces, Permutation, Permute, Sort, SortKey, Sum, Word, test_support::share_words},
};

use super::{
    bits::deal_bits,
    ops::{Finish, OpSetup, Parts, deal, elements, widened},
};

/// This party's shares of columns, one after the other.
fn rows<W: Word>(columns: &[Column<W>]) -> Vec<u64> {
    columns.iter().flat_map(|column| widened(&column.own)).collect()
}

/// A party's shares of columns.
type Columns<W> = Vec<Arc<Column<W>>>;

/// Columns, one after the other, and the parties' shares of each.
fn deal_columns<W: Word>(n: usize, columns: usize) -> (Vec<W>, [Columns<W>; 3]) {
    let (mut numbers, mut shares) = (vec![], [vec![], vec![], vec![]]);
    for k in 0..columns {
        let (column, of) = deal::<W>(10 + k as u8, n);
        numbers.extend(column);
        shares.iter_mut().zip(of).for_each(|(all, one)| all.push(one));
    }
    (numbers, shares)
}

/// The expected result for columns in an order: row `order[i]` comes `i`-th.
fn ordered<W: Word>(numbers: &[W], order: &[usize]) -> Vec<u64> {
    let columns = numbers.chunks(order.len());
    columns.flat_map(|column| order.iter().map(|row| column[*row].number())).collect()
}

/// Columns in an order that is drawn for each run.
pub(crate) fn shuffle<W: Word>(n: usize, columns: usize) -> OpSetup {
    let (numbers, shares) = deal_columns::<W>(n, columns);
    let expected = (widened(&numbers), Parts::Shuffled(W::BITS));
    // In, out, and both messages.
    elements(6 * n * columns * W::BYTES, expected, move |i, mut batch| {
        let order = Permutation::random(&mut batch, n)?;
        Ok(Permute::<Sum<W>>::new(batch.context(), order, shares[i].clone())?)
    })
}

impl<W: Word> Finish for Permute<Sum<W>> {
    fn parts(self) -> Vec<u64> {
        rows(&self.finish())
    }
}

impl Finish for Line<'static, Vec<u64>, NetError> {
    fn parts(self) -> Vec<u64> {
        self.finish()
    }
}

/// A machine whose result is an order.
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

/// Columns in the order that a machine computes. Without an order, or with one of other rows, there
/// is no result, and the check of results fails.
fn ordered_by<W: Word, M: Orders + Send + 'static>(
    mut order: M,
    cx: Context,
    columns: Columns<W>,
) -> Line<'static, Vec<u64>, NetError> {
    Line::over(2, |talk| async move {
        talk.run(&mut order).await?;
        let Ok(mut apply) = order.order().and_then(|order| Permute::<Sum<W>>::new(cx, order, columns)) else {
            return Ok(vec![]);
        };
        talk.run(&mut apply).await?;
        Ok(rows(&apply.finish()))
    })
}

/// Columns sorted by a key with all bits of a word. Levels with fewer pairs than `few` are compared
/// by trees.
pub(crate) fn sort<W: Word>(n: usize, columns: usize, few: usize) -> OpSetup {
    let (numbers, keys) = deal_bits(1, W::BITS, n);
    let (payload, shares) = deal_columns::<W>(n, columns);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_key(|row| numbers[*row]);
    let expected = (ordered(&payload, &order), Parts::Sum(W::BITS));
    elements(6 * n * columns * W::BYTES, expected, move |i, mut batch| {
        let key = SortKey { bits: keys[i].clone(), signed: false, descending: false };
        let (cx, columns) = (batch.context(), shares[i].clone());
        Ok(ordered_by(Sort::wide_from(batch, n, &[key], few)?, cx, columns))
    })
}

/// Columns permuted by shared places of their rows. The order is computed from the places, and
/// applied.
pub(crate) fn permute<W: Word>(n: usize, columns: usize) -> OpSetup {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([6; 16]), "bench compute places");
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, (prg.next_u64() % (last as u64 + 1)) as usize);
    }
    let mut places = vec![0; n];
    order.iter().enumerate().for_each(|(place, row)| places[*row] = place as u64);
    let places = share_words(&mut prg, &places).map(Arc::new);
    let (payload, shares) = deal_columns::<W>(n, columns);
    let expected = (ordered(&payload, &order), Parts::Sum(W::BITS));
    // Places are moved in 32 bits.
    elements(6 * n * (columns * W::BYTES + 4), expected, move |i, mut batch| {
        let made = FromPlaces::new(&mut batch, &places[i])?;
        Ok(ordered_by(made, batch.context(), shares[i].clone()))
    })
}
