//! Orders of rows that lie on all shards, and rows that they permute. Operands are first moved so
//! that each shard has whole rows. Then all shards run one machine together, and its value is moved
//! back to the bounds of elements.

use super::{cost::across_rows, moves::Between};
use crate::{
    Cut, ThreeError,
    form::{Held, RingWords, Stages, StepValue, in_ring},
    machines::{Begun, MEETING, columns_in, columns_of_strings, interleaved, ready, strings_of_columns},
    prim::{OwnTalk, Three},
};
use hushwire_plan::{KeyOrder, PlanStep, Reorder, Route, Sharing, Size, Talk, misplaced};
use hushwire_rep3::{
    Batch, Mover,
    ring::{Column, SortKey, Sum, Xor, sharded},
};
use std::sync::Arc;

/// The operands of a step across all shards, restricted to this shard's rows, and the number of
/// rows of all shards.
pub(super) struct Across {
    reads: Vec<StepValue>,
    rows: usize,
    /// The elements of a row of its value, and the rows of its value.
    inner: usize,
    made: usize,
}

impl Across {
    /// Moves a step's operands to bounds of whole rows.
    pub(super) fn new(
        between: &mut Between<'_>,
        step: &PlanStep<Three>,
        mut reads: Vec<StepValue>,
        sizes: &[Size],
    ) -> Result<Across, ThreeError> {
        let rows = across_rows(step, sizes);
        let moved = match step.talk() {
            Some(Talk::Reorder(Reorder::Permute { .. })) => Some(0),
            Some(Talk::Own(OwnTalk::Compact { .. })) => Some(1),
            _ => None,
        };
        let (mut inner, mut made) = (1, step.size.rows());
        if let Some(k) = moved {
            inner = sizes[k].rows().checked_div(rows).unwrap_or(0);
            made = step.size.rows().checked_div(inner).unwrap_or(0);
            let (from, to) = (between.bounds(rows * inner), of_rows(between, rows, inner));
            reads[k] = between.moved(&[&reads[k]], &Route::again(&from, &to, between.shard()))?;
        }
        Ok(Across { reads, rows, inner, made })
    }

    /// Moves a step's value back to bounds of elements.
    pub(super) fn end(&self, between: &mut Between<'_>, form: StepValue) -> Result<StepValue, ThreeError> {
        if let StepValue::Order(_) = form {
            return Ok(form);
        }
        let (from, to) = (of_rows(between, self.made, self.inner), between.bounds(self.made * self.inner));
        between.moved(&[&form], &Route::again(&from, &to, between.shard()))
    }

    /// Begins a step. Its machine waits for the party's other shards.
    pub(super) fn begin<'m>(
        &self,
        mut batch: Batch,
        talk: &Talk<Three>,
        cut: Cut,
        mover: &'m mut dyn Mover,
    ) -> Begun<'m> {
        let (reads, rows) = (&self.reads, self.rows);
        match talk {
            Talk::Reorder(Reorder::Sort { keys, .. }) => {
                let key = |(form, key): (&StepValue, &KeyOrder)| SortKey {
                    bits: form.bits().clone(),
                    signed: key.signed,
                    descending: key.descending,
                };
                let keys: Vec<SortKey> = reads.iter().zip(keys).map(key).collect();
                let machine = sharded::sort(batch, mover, rows, &keys, cut.few())?;
                ready(machine, |m| Ok(spread(m.finish())))
            }
            Talk::Reorder(Reorder::ToOrder) => {
                let narrow = Three::narrowed(reads[0].words(), 32);
                let machine = sharded::from_places(batch, mover, rows, u32::column(&narrow).clone())?;
                ready(machine, |m| Ok(spread(m.finish())))
            }
            Talk::Reorder(Reorder::Permute { .. }) => match &reads[0] {
                StepValue::Words(words) => in_ring!(words.ring(), permuted(&mut batch, self, words, mover)),
                _ if reads[0].bits().width() <= 8 => self.permuted_strings::<u8>(&mut batch, mover),
                _ => self.permuted_strings::<u64>(&mut batch, mover),
            },
            Talk::Own(OwnTalk::Meet { first, .. }) => {
                let keys: Vec<_> = reads.iter().map(|form| form.bits().clone()).collect();
                let machine = sharded::meet(batch, mover, rows, &keys, *first, cut.few().min(MEETING))?;
                ready(machine, |m| Ok(spread(m.finish())))
            }
            Talk::Own(OwnTalk::Compact { kept }) => {
                let words = reads[1].words();
                in_ring!(words.ring(), compacted(batch, self, words, *kept, mover))
            }
            Talk::Own(OwnTalk::Places { .. }) => {
                let (by, inverse) = order_of(&reads[0]);
                let machine = sharded::places(batch.context(), mover, by, inverse)?;
                ready(machine, |m| Ok(StepValue::Words(u64::words(m.finish()))))
            }
            Talk::ToWords(_)
            | Talk::Product(())
            | Talk::MatMul(..)
            | Talk::Choose
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Block(_)
            | Talk::Flat(..)
            | Talk::Open { .. }
            | Talk::Own(
                OwnTalk::ToBits { .. }
                | OwnTalk::Rectify { .. }
                | OwnTalk::Better(_)
                | OwnTalk::Greatest { .. }
                | OwnTalk::Conv2d(_),
            ) => misplaced(),
        }
    }

    fn permuted_strings<'m, W: Held>(&self, batch: &mut Batch, mover: &'m mut dyn Mover) -> Begun<'m> {
        let (x, backend, inner) = (&self.reads[0], batch.backend(), self.inner);
        let (by, inverse) = order_of(&self.reads[1]);
        let (width, own) = (x.bits().width(), by.own_rows().len());
        if inner == 1 && width <= W::BITS {
            let machine = sharded::permute_bits::<W>(batch.context(), mover, by, x.bits(), inverse)?;
            return ready(machine, |m| Ok(StepValue::of_bits(m.finish())));
        }
        let columns = columns_of_strings::<W>(backend, x, inner, own)?;
        let machine = sharded::permute::<Xor<W>>(batch.context(), mover, by, columns, inverse)?;
        ready(machine, move |m| strings_of_columns(backend, &m.finish(), [width, own, inner]))
    }
}

/// The bounds of elements that keep rows of `inner` elements together.
fn of_rows(between: &Between<'_>, rows: usize, inner: usize) -> Vec<usize> {
    between.bounds(rows).into_iter().map(|bound| bound * inner).collect()
}

fn spread(order: Arc<sharded::Permutation>) -> StepValue {
    StepValue::Order((Stages::Spread(order), false))
}

fn order_of(form: &StepValue) -> (Arc<sharded::Permutation>, bool) {
    let (order, inverse) = form.order();
    (order.spread().clone(), *inverse)
}

fn permuted<'m, W: Held>(
    batch: &mut Batch,
    across: &Across,
    words: &RingWords,
    mover: &'m mut dyn Mover,
) -> Begun<'m> {
    let (by, inverse) = order_of(&across.reads[1]);
    let columns = columns_in(W::column(words), by.own_rows().len(), across.inner);
    let machine = sharded::permute::<Sum<W>>(batch.context(), mover, by, columns, inverse)?;
    ready(machine, |m| Ok(words_of(m.finish())))
}

fn compacted<'m, W: Held>(
    batch: Batch,
    across: &Across,
    words: &RingWords,
    kept: usize,
    mover: &'m mut dyn Mover,
) -> Begun<'m> {
    let flags = u64::column(across.reads[0].words());
    let columns = columns_in(W::column(words), flags.rows(), across.inner);
    let machine = sharded::compact::<W>(batch, mover, across.rows, flags, &columns, kept)?;
    ready(machine, |m| Ok(words_of(m.finish().0)))
}

fn words_of<W: Held>(columns: Vec<Column<W>>) -> StepValue {
    StepValue::Words(W::words(interleaved(columns)))
}
