//! Rows whose flag is set, in order, at the front.
//!
//! ```text
//! A(i)    flagged rows before row i            B(i) = all flagged rows + i − A(i)
//! place   B + f (A − B)                        flagged rows in order, then the others in order: a stable sort by one bit
//! ```
//!
//! Prefix sums are local; what is left are products with flags, the permutation from the places, and moving the rows.

use super::{
    column::Column,
    group::Sum,
    mul::Product,
    permutation::Permutation,
    permute::{Permute, permute_cost},
    places::FromPlaces,
    word::Word,
};
use crate::{Batch, Rep3, Role, ShareError};
use hushwire_machine::{
    Cost, NetError,
    drive::{Exchanged, Machine, Misstep, Round},
};
use std::sync::Arc;

/// The part of the protocol under way.
enum Step<W: Word> {
    /// Flags times differences of places, and flags times payload.
    Multiply(Product<u32>, Product<W>),
    Place(FromPlaces),
    Move(Permute<Sum<W>>),
    Done,
    /// SECURITY: there is no way back from an error.
    Lost,
}

/// One party's half of compacting columns of one width: of the rows whose flag is set, the first `rows`, in order; zeros behind them.
///
/// **Rounds and bytes.** One round of products, a word of 32 bits a row and a word a row and column; then [`FromPlaces`] and a
/// [`Permute`]: [`compact_cost`].
/// **Security.** What is opened is a uniform permutation, as [`FromPlaces`] says; how many rows are flagged does not show.
pub struct Compact<W: Word> {
    batch: Batch,
    columns: usize,
    rows: usize,
    kept: usize,
    /// B, and the payload where it is flagged.
    others: Column<u32>,
    masked: Vec<Arc<Column<W>>>,
    step: Step<W>,
    permutation: Option<Arc<Permutation>>,
    out: Vec<Column<W>>,
    cost: Cost,
}

impl<W: Word> Compact<W> {
    /// `flags` are 0 or 1 modulo 2^64, a number a row; `rows` is how many rows come out.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all columns have as many rows as there are flags, and fewer than 2^32.
    pub fn new(
        mut batch: Batch,
        flags: &Column<u64>,
        columns: &[Arc<Column<W>>],
        rows: usize,
    ) -> Result<Compact<W>, ShareError> {
        let expected = flags.own.len();
        let shares = columns.iter().flat_map(|column| [column.own.len(), column.next.len()]);
        for found in shares.chain([flags.next.len()]) {
            if found != expected {
                return Err(ShareError::Length { what: "a column to compact", expected, found });
            }
        }
        let role = batch.session().role();
        let narrow = flags_as::<u32>(flags, 1);
        let (others, differences) = places(role, &narrow);
        let places = Product::new(batch.context(), Arc::new(narrow), Arc::new(differences))?;
        let joined =
            |share: fn(&Column<W>) -> &Vec<W>| columns.iter().flat_map(|c| share(c)).copied().collect();
        let payload = Column { own: joined(|c| &c.own), next: joined(|c| &c.next) };
        let repeated = flags_as::<W>(flags, columns.len());
        let columns = columns.len();
        let mut machine = Compact {
            columns,
            rows: expected,
            kept: rows,
            others,
            masked: vec![],
            step: Step::Multiply(
                places,
                Product::new(batch.context(), Arc::new(repeated), Arc::new(payload))?,
            ),
            permutation: None,
            out: vec![],
            cost: compact_cost(role, expected, columns * W::BYTES),
            batch,
        };
        if expected == 0 {
            machine.step = Step::Done;
            machine.out = (0..columns).map(|_| Column::zeros(0)).collect();
        }
        Ok(machine)
    }

    /// The columns, after the run, `rows` rows each.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(mut self) -> Vec<Column<W>> {
        assert!(matches!(self.step, Step::Done), "finish comes after the last round");
        for column in &mut self.out {
            column.own.resize(self.kept, W::default());
            column.next.resize(self.kept, W::default());
        }
        self.out
    }

    /// The permutation that brings flagged rows to the front, for more columns: theirs are not zero behind the flagged rows. After
    /// the run; `None` of no rows.
    #[must_use]
    pub fn permutation(&self) -> Option<Arc<Permutation>> {
        self.permutation.clone()
    }

    /// Goes on to a step that has a round, or to the end.
    fn settle(&mut self) -> Result<(), ShareError> {
        while self.round(0).is_none() {
            match std::mem::replace(&mut self.step, Step::Done) {
                Step::Multiply(places, payload) => {
                    let mut places = places.finish();
                    for (share, others) in
                        [(&mut places.own, &self.others.own), (&mut places.next, &self.others.next)]
                    {
                        share.iter_mut().zip(others).for_each(|(share, other)| *share = share.plus(*other));
                    }
                    let payload = payload.finish();
                    let column = |i: usize, share: &[W]| share[i * self.rows..(i + 1) * self.rows].to_vec();
                    let columns = (0..self.columns)
                        .map(|i| Rep3 { own: column(i, &payload.own), next: column(i, &payload.next) });
                    self.masked = columns.map(Arc::new).collect();
                    self.step = Step::Place(FromPlaces::of_narrow(&mut self.batch, Arc::new(places))?);
                }
                Step::Place(places) => {
                    let permutation = places.finish()?;
                    self.permutation = Some(permutation.clone());
                    let columns = std::mem::take(&mut self.masked);
                    self.step = Step::Move(Permute::new(self.batch.context(), permutation, columns)?);
                }
                Step::Move(moved) => self.out = moved.finish(),
                Step::Done | Step::Lost => return Ok(()),
            }
        }
        Ok(())
    }
}

/// Flags as numbers of another ring, all of them so many times over.
fn flags_as<W: Word>(flags: &Column<u64>, times: usize) -> Column<W> {
    let share = |share: &[u64]| {
        let words = share.iter().map(|flag| W::of(*flag)).collect::<Vec<_>>();
        words.repeat(times)
    };
    Column { own: share(&flags.own), next: share(&flags.next) }
}

/// The place of every row if it is not flagged, and what its place is more if it is.
fn places(role: Role, flags: &Column<u32>) -> (Column<u32>, Column<u32>) {
    let rows = flags.own.len();
    let (mut others, mut differences) = (Column::zeros(rows), Column::zeros(rows));
    let shares = [
        (&flags.own, &mut others.own, &mut differences.own),
        (&flags.next, &mut others.next, &mut differences.next),
    ];
    for (held, (flags, others, differences)) in shares.into_iter().enumerate() {
        let all = flags.iter().fold(0, |sum: u32, flag| sum.plus(*flag));
        // A row's number is known: it is in x_0 alone.
        let known = u32::from(role.constant_slot() == Some(held));
        let mut before = 0u32;
        for (i, flag) in flags.iter().enumerate() {
            others[i] = all.plus(known.times(i as u32)).minus(before);
            differences[i] = before.minus(others[i]);
            before = before.plus(*flag);
        }
    }
    (others, differences)
}

const NAME: &str = "a compaction";

fn surplus(found: usize) -> Result<(), NetError> {
    if found == 0 { Ok(()) } else { Err(Misstep::Buffer { step: NAME, found, expected: 0 }.into()) }
}

/// The part of a message that a product takes, and what follows.
fn part<'m>(product: &impl Machine, message: Exchanged<'m>) -> (Exchanged<'m>, Exchanged<'m>) {
    let round = product.round(0).unwrap_or(Round::even(NAME, 0));
    let (own, sent) = message.own.split_at(round.out.min(message.own.len()));
    let (heard, came) = message.heard.split_at(round.into.min(message.heard.len()));
    (Exchanged { own, heard }, Exchanged { own: sent, heard: came })
}

impl<W: Word> Step<W> {
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        match self {
            Step::Multiply(places, payload) => {
                let bytes = places.round(slot).map_or(0, |round| round.out);
                let (first, second) = out.split_at_mut(bytes.min(out.len()));
                places.write(slot, first)?;
                payload.write(slot, second)
            }
            Step::Place(places) => places.write(slot, out),
            Step::Move(moved) => moved.write(slot, out),
            Step::Done => surplus(out.len()),
            Step::Lost => Err(Misstep::Lost { step: NAME }.into()),
        }
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        match self {
            Step::Multiply(places, payload) => {
                let &[ring, back] = messages else {
                    return Err(Misstep::Buffer { step: NAME, found: messages.len(), expected: 2 }.into());
                };
                let (first, second) = part(places, ring);
                places.read(&[first, back])?;
                payload.read(&[second, back])
            }
            Step::Place(places) => places.read(messages),
            Step::Move(moved) => moved.read(messages),
            Step::Done => Ok(()),
            Step::Lost => Err(Misstep::Lost { step: NAME }.into()),
        }
    }
}

impl<W: Word> Machine for Compact<W> {
    type Error = NetError;

    fn slots(&self) -> usize {
        2
    }

    fn round(&self, slot: usize) -> Option<Round> {
        match &self.step {
            Step::Multiply(places, payload) => {
                let first = places.round(slot)?;
                let second = payload.round(slot).unwrap_or(Round::even(NAME, 0));
                Some(Round { out: first.out + second.out, into: first.into + second.into, ..first })
            }
            Step::Place(places) => places.round(slot),
            Step::Move(moved) => moved.round(slot),
            Step::Done => None,
            Step::Lost => Some(Round::even(NAME, 0)),
        }
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        let done = self.step.write(slot, out);
        if done.is_err() {
            self.step = Step::Lost;
        }
        done
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        let settled = self.step.read(messages).and_then(|()| {
            let no_flags = |e: ShareError| NetError::Malformed { peer: None, msg: NAME, what: e.to_string() };
            self.settle().map_err(no_flags)
        });
        if settled.is_err() {
            self.step = Step::Lost;
        }
        settled
    }

    fn cost(&self) -> Option<Cost> {
        Some(self.cost)
    }
}

/// The cost of compacting rows of so many bytes in all their columns.
#[must_use]
pub fn compact_cost(role: Role, rows: usize, width: usize) -> Cost {
    let flags = permute_cost(role, false, 4 * rows);
    let moved = permute_cost(role, false, width * rows);
    Cost {
        rounds: u64::from(rows > 0) + flags.rounds + moved.rounds,
        bytes_sent: ((4 + width) * rows) as u64 + flags.bytes_sent + moved.bytes_sent,
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
