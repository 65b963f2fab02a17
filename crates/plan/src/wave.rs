//! The steps of a wave, cut into pieces, and the assembly of their values.
//!
//! A piece has some rows of a step. Pieces of one group run together and share rounds, and their
//! values are put at their rows. A step that may not be cut is one piece.

use crate::{
    form::{Joined, StepValue},
    prim::{Primitives, StepRows},
    runtime::Runtime,
    share::piece,
    size::Slot,
    steps::{Extent, PlanStep, StepPiece},
};
use hushwire_machine::{
    drive::{Abreast, With},
    lock,
};
use std::{
    ops::Range,
    sync::{Arc, Mutex},
};

/// A step of a wave.
pub struct StepTask<'p, B: Primitives> {
    /// The step.
    pub step: &'p PlanStep<B>,
    /// Its rows, and whether it may be cut.
    pub extent: Extent,
    /// The operands. If the step runs whole, they belong to its machine alone after it has begun.
    /// `None` replaces the operand in whose memory the value is made, which lies in `made`.
    reads: Mutex<Vec<Option<StepValue<B>>>>,
    made: Mutex<Joined<B>>,
}

impl<'p, B: Primitives> StepTask<'p, B> {
    fn new(step: &'p PlanStep<B>, extent: Extent, reads: Vec<StepValue<B>>) -> Self {
        let mut reads: Vec<Option<StepValue<B>>> = reads.into_iter().map(Some).collect();
        let made = match home(step, extent, &mut reads).and_then(Option::take) {
            Some(form) => Joined::Over(form),
            None => Joined::Nothing,
        };
        StepTask { step, extent, reads: Mutex::new(reads), made: Mutex::new(made) }
    }

    /// The whole operands, which belong to the caller from then on.
    pub fn whole(&self) -> Vec<StepValue<B>> {
        let reads = std::mem::take(&mut *lock(&self.reads));
        reads.into_iter().map(|read| read.unwrap_or_else(|| lock(&self.made).take())).collect()
    }

    /// Rows of the operands. The operand that is overwritten still has these rows unchanged: each
    /// piece is read before it is computed. No two pieces share a row.
    fn rows(&self, rows: &Range<usize>) -> Vec<StepValue<B>> {
        let of = |read: &Option<StepValue<B>>| match read {
            Some(form) => piece(form, rows),
            None => piece(lock(&self.made).over(), rows),
        };
        lock(&self.reads).iter().map(of).collect()
    }

    /// Takes the value of some rows.
    pub fn put(&self, rows: &Range<usize>, form: StepValue<B>) {
        lock(&self.made).put(self.extent.rows, rows, form);
    }
}

/// The operand in whose memory a step's value may be made. It has the same kind and size, no other
/// reader, and independent rows. Fresh memory would cost more than the step.
pub fn home<'r, B: Primitives>(
    step: &PlanStep<B>,
    extent: Extent,
    reads: &'r mut [Option<StepValue<B>>],
) -> Option<&'r mut Option<StepValue<B>>> {
    let may = extent.cuts && step.rows == StepRows::Over;
    let fits = |form: &mut StepValue<B>| form.is_alone(step.size.with_rows(extent.rows));
    reads.iter_mut().filter(|_| may).find_map(|read| read.as_mut().is_some_and(fits).then_some(read))
}

/// All steps of a wave.
pub struct Wave<'p, B: Primitives>(Vec<Arc<StepTask<'p, B>>>);

/// Pieces that share rounds and have not begun.
pub struct Group<'p, E: Runtime>(Vec<(PiecePlace<'p, E>, E::Supplies)>);

/// Pieces that share rounds and are running, and the place of each.
pub type Flight<'p, E> = With<Abreast<<E as Runtime>::StepMachine<'p>>, Vec<PiecePlace<'p, E>>>;

/// The task of a piece, and the piece's rows.
pub type PiecePlace<'p, B> = (Arc<StepTask<'p, B>>, Range<usize>);

impl<'p, B: Primitives> Wave<'p, B> {
    pub(crate) fn new(ready: impl Iterator<Item = (&'p PlanStep<B>, Extent, Vec<StepValue<B>>)>) -> Self {
        Wave(ready.map(|(step, extent, reads)| Arc::new(StepTask::new(step, extent, reads))).collect())
    }

    /// Whether there is no step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each step with its rows, and whether it may be cut.
    #[must_use]
    pub fn extents(&self) -> Vec<Extent> {
        self.0.iter().map(|task| task.extent).collect()
    }

    /// A step of the wave.
    ///
    /// # Panics
    /// If the step is not part of the wave (the caller's bug).
    #[must_use]
    pub fn task(&self, at: Slot) -> &Arc<StepTask<'p, B>> {
        self.0.iter().find(|task| task.extent.at == at).expect("a step of the wave")
    }

    /// The values, after all pieces have landed.
    pub fn end(self) -> impl Iterator<Item = (&'p PlanStep<B>, Slot, StepValue<B>)> {
        self.0.into_iter().map(|task| (task.step, task.extent.at, lock(&task.made).take()))
    }
}

impl<'p, E: Runtime> Wave<'p, E> {
    /// Pieces that share rounds, each with its supplies.
    pub fn group(&self, pieces: Vec<(StepPiece, E::Supplies)>) -> Group<'p, E> {
        let place = |((at, rows), supplies): (StepPiece, _)| ((self.task(at).clone(), rows), supplies);
        Group(pieces.into_iter().map(place).collect())
    }
}

impl<'p, E: Runtime> Group<'p, E> {
    /// Whether there is no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Begins all pieces.
    ///
    /// # Errors
    /// As [`Runtime::begin`].
    pub fn begin(self) -> Result<Flight<'p, E>, E::RunFailure> {
        let (mut machines, mut places) = (vec![], vec![]);
        for ((task, rows), supplies) in self.0 {
            let Extent { rows: all, cuts, .. } = task.extent;
            let reads = if rows.len() == all || !cuts { task.whole() } else { task.rows(&rows) };
            machines.push(E::begin(supplies, task.step, reads, all)?);
            places.push((task, rows));
        }
        Ok(With { machine: Abreast::new(machines), with: places })
    }
}

/// Puts the values of a finished flight in their places.
///
/// # Errors
/// As [`Runtime::end`].
pub fn land<E: Runtime>(flight: Flight<'_, E>) -> Result<(), E::RunFailure> {
    for (machine, (task, rows)) in flight.machine.into_machines().zip(flight.with) {
        task.put(&rows, E::end(machine)?);
    }
    Ok(())
}
