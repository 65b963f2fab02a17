//! Operations on the order of rows.

use std::sync::Arc;

use hushwire_rep3::{
    Batch, Context, Role,
    ring::{Column, Permutation, Permute, Sort, SortKey, Sum, Word, test_support::share_words},
};
use hushwire_wire::{
    NetError,
    drive::{Exchanged, Machine, Round},
};

use super::{
    bits::deal_bits,
    ops::{Made, Parts, deal, elements, widened},
};

/// This party's share of the only column.
fn column<W: Word>(columns: &[Column<W>]) -> Vec<u64> {
    columns.first().map_or(vec![], |column| widened(&column.own))
}

/// A column in an order that is drawn for each run.
pub(crate) fn shuffle<W: Word>(n: usize) -> Made {
    let (numbers, shares) = deal::<W>(1, n);
    let begin = move |role: Role, mut batch: Batch| {
        let order = Permutation::random(&mut batch, n)?;
        Ok(Permute::new(batch.context(), order, vec![shares[role.index()].clone()])?)
    };
    // In, out, and both messages.
    let expected = (widened(&numbers), Parts::Shuffled(W::BITS));
    elements(6 * n * W::BYTES, expected, begin, |run: Permute<Sum<W>>| column(&run.finish()))
}

/// A sort, and its order applied to a column.
pub(crate) struct Sorted<W: Word> {
    step: Step<W>,
    then: Option<(Context, Arc<Column<W>>)>,
}

enum Step<W: Word> {
    Sort(Box<Sort>),
    Apply(Permute<Sum<W>>),
    /// Between two steps, and after an error.
    Nothing,
}

/// The call, of the machine under way.
macro_rules! of_step {
    ($step:expr, $run:ident => $call:expr, $nothing:expr) => {
        match $step {
            Step::Sort($run) => $call,
            Step::Apply($run) => $call,
            Step::Nothing => $nothing,
        }
    };
}

impl<W: Word> Machine for Sorted<W> {
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
            (Step::Sort(sort), Some((cx, column))) => match Permute::new(cx, sort.finish(), vec![column]) {
                Ok(apply) => Step::Apply(apply),
                // No order of other rows than those that it was made of.
                Err(_) => Step::Nothing,
            },
            (step, _) => step,
        };
        Ok(())
    }
}

/// A column in order by keys that are its own bits.
pub(crate) fn sort<W: Word>(n: usize) -> Made {
    let (numbers, keys) = deal_bits(1, W::BITS, n);
    let words: Vec<W> = numbers.iter().map(|number| W::of(*number)).collect();
    let mut prg = hushwire_prg::Prg::new(
        hushwire_aes::Backend::best(),
        &hushwire_prg::Seed::from_bytes([4; 16]),
        "bench compute sort",
    );
    let columns = share_words(&mut prg, &words).map(Arc::new);
    let begin = move |role: Role, mut batch: Batch| {
        let key = SortKey { bits: keys[role.index()].clone(), signed: false, descending: false };
        let then = Some((batch.context(), columns[role.index()].clone()));
        let sort = Sort::new(batch, n, &[key])?;
        Ok(Sorted { step: Step::Sort(Box::new(sort)), then })
    };
    let end = |run: Sorted<W>| match run.step {
        Step::Apply(run) => column(&run.finish()),
        _ => vec![],
    };
    let mut expected = numbers;
    expected.sort_unstable();
    elements(6 * n * W::BYTES, (expected, Parts::Sum(W::BITS)), begin, end)
}
