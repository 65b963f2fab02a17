//! A wave's steps, cut into pieces, and their values put together.

use crate::{
    Cut, ThreeError,
    cut::Extent,
    form::Form,
    lower::Three,
    machines::{Ready, begin},
    pieces::{Joined, piece},
};
use hushwire_machine::drive::{Abreast, With};
use hushwire_plan::{Slot, Talk};
use hushwire_rep3::{Batch, Party, ShareError};
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A step of a wave.
pub(crate) struct Task<'p> {
    at: Slot,
    talk: &'p Talk<Three>,
    /// The values that it reads: those of a step that runs whole are its machine's alone once it has begun. `None` is the one in whose memory
    /// the value is made, which lies in `made`.
    reads: Mutex<Vec<Option<Form>>>,
    extent: Extent,
    made: Made,
}

type Made = Arc<Mutex<Joined>>;

impl<'p> Task<'p> {
    pub(crate) fn new(at: Slot, talk: &'p Talk<Three>, reads: Vec<Form>) -> Self {
        let rows = reads.iter().map(Form::rows).max().unwrap_or(0);
        let extent = Extent { rows, cuts: talk.is_row_by_row() };
        let mut reads: Vec<Option<Form>> = reads.into_iter().map(Some).collect();
        let made = match home(talk, extent, &mut reads).and_then(Option::take) {
            Some(form) => Joined::Over(form),
            None => Joined::Nothing,
        };
        Task { at, talk, reads: Mutex::new(reads), extent, made: Arc::new(Mutex::new(made)) }
    }

    /// The values that it reads, whole; they are the caller's from then on.
    fn whole(&self) -> Vec<Form> {
        let reads = std::mem::take(&mut *lock(&self.reads));
        let of = |read: Option<Form>| read.unwrap_or_else(|| lock(&self.made).take_over());
        reads.into_iter().map(of).collect()
    }

    /// Rows of the values that it reads. Of the one that is written over these rows are as they were, since pieces are read before they are
    /// made, and no two have a row in common.
    fn rows(&self, rows: &Range<usize>) -> Result<Vec<Form>, ShareError> {
        let reads = lock(&self.reads);
        let of = |read: &Option<Form>| match read {
            Some(form) => piece(form, rows),
            None => piece(lock(&self.made).over(), rows),
        };
        reads.iter().map(of).collect()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value in whose memory a step's may be made: of the same kind and size, read by nobody else, rows each for themselves. Fresh memory
/// would cost more than the step.
fn home<'r>(
    talk: &Talk<Three>,
    extent: Extent,
    reads: &'r mut [Option<Form>],
) -> Option<&'r mut Option<Form>> {
    let rows = extent.rows;
    let fits = |form: &mut Form| match talk {
        Talk::Block(program) => form.is_alone_bits(program.output_bits(), rows),
        Talk::Product(()) | Talk::Choose => form.is_alone_words(rows),
        Talk::ToWords(_)
        | Talk::MatMul(..)
        | Talk::Less { .. }
        | Talk::LessBounded
        | Talk::Equal
        | Talk::Truncate { .. }
        | Talk::Sort { .. }
        | Talk::ToOrder
        | Talk::Permute { .. }
        | Talk::Flat(..)
        | Talk::Open { .. }
        | Talk::Own(_) => false,
    };
    reads.iter_mut().filter(|_| extent.cuts).find_map(|read| read.as_mut().is_some_and(fits).then_some(read))
}

/// A part of a step, not yet begun. A batch is its own.
struct Piece<'p> {
    task: Arc<Task<'p>>,
    rows: Range<usize>,
    cut: Cut,
    batch: Batch,
}

/// Pieces that share rounds, not yet begun.
pub(crate) struct Group<'p>(Vec<Piece<'p>>);

/// Pieces that share rounds, under way, and what each is.
pub(crate) type Flight<'p> = With<Abreast<Box<dyn Ready + 'p>>, Vec<Place<'p>>>;

/// The task that a piece is of, and its rows.
pub(crate) type Place<'p> = (Arc<Task<'p>>, Range<usize>);

impl<'p> Group<'p> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn begin(self) -> Result<Flight<'p>, ThreeError> {
        let (mut machines, mut places) = (vec![], vec![]);
        for Piece { task, rows, cut, batch } in self.0 {
            let all = task.extent.rows;
            let is_whole = rows.len() == all || !task.extent.cuts;
            let reads = if is_whole { task.whole() } else { task.rows(&rows)? };
            machines.push(begin(batch, task.talk, &reads, all, cut)?);
            drop(reads);
            places.push((task, rows));
        }
        Ok(With { machine: Abreast::new(machines), with: places })
    }
}

/// Puts what has run where it belongs.
pub(crate) fn land(flight: Flight<'_>) -> Result<(), ThreeError> {
    for (ready, (task, rows)) in flight.machine.into_machines().zip(flight.with) {
        let form = ready.finish()?;
        lock(&task.made).put(task.extent.rows, &rows, form);
    }
    Ok(())
}

/// All steps of a wave.
pub(crate) struct Wave<'p> {
    groups: Vec<Group<'p>>,
    made: Vec<(Slot, usize, Made)>,
}

impl<'p> Wave<'p> {
    pub(crate) fn new(tasks: Vec<Task<'p>>, cut: Cut, party: &mut Party) -> Result<Self, ThreeError> {
        let extents: Vec<Extent> = tasks.iter().map(|task| task.extent).collect();
        let made = tasks.iter().map(|task| (task.at, task.extent.rows, task.made.clone())).collect();
        let tasks: Vec<Arc<Task<'p>>> = tasks.into_iter().map(Arc::new).collect();
        let mut group = |of: Vec<(usize, Range<usize>)>| -> Result<Group<'p>, ThreeError> {
            let mut pieces = vec![];
            for (task, rows) in of {
                let (task, batch) = (tasks[task].clone(), party.next_batch()?);
                pieces.push(Piece { task, rows, cut, batch });
            }
            Ok(Group(pieces))
        };
        let groups = cut.groups(&extents).into_iter().map(&mut group).collect::<Result<_, _>>()?;
        Ok(Wave { groups, made })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// The groups, to be run.
    pub(crate) fn groups(&mut self) -> Vec<Group<'p>> {
        std::mem::take(&mut self.groups)
    }

    /// The values, after all groups have landed.
    pub(crate) fn end(self) -> Result<Vec<(Slot, Form)>, ThreeError> {
        let value = |(at, rows, made): (Slot, usize, Made)| {
            let joined = std::mem::replace(&mut *lock(&made), Joined::Nothing);
            Ok((at, joined.form(rows)?))
        };
        self.made.into_iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Words;
    use hushwire_rep3::ring::Column;

    fn column(rows: usize) -> Arc<Column<u32>> {
        Arc::new(Column::zeros(rows))
    }

    /// Which of the values a product is made over.
    fn over(cuts: bool, reads: [Arc<Column<u32>>; 2]) -> Option<usize> {
        let mut reads = reads.map(|column| Some(Form::Words(Words::U32(column))));
        home(&Talk::Product(()), Extent { rows: 100, cuts }, &mut reads).and_then(Option::take)?;
        reads.iter().position(Option::is_none)
    }

    #[test]
    fn a_value_is_made_over_one_of_its_size_that_nobody_else_has() {
        assert_eq!(over(true, [column(100), column(100)]), Some(0));
        let kept = column(100);
        assert_eq!(over(true, [kept.clone(), column(100)]), Some(1));
        assert_eq!(over(true, [kept.clone(), kept.clone()]), None);
        assert_eq!(over(true, [column(99), column(99)]), None);
        assert_eq!(over(false, [column(100), column(100)]), None);
    }
}
