//! A wave's steps, cut into pieces, and their values put together.

use crate::{
    engine::Engine,
    form::{Form, Joined},
    prim::{Primitives, Talk},
    share::piece,
    size::Slot,
    steps::{Extent, Piece, Step},
};
use hushwire_machine::drive::{Abreast, With};
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A step of a wave.
pub struct Task<'p, B: Primitives> {
    /// The step.
    pub step: &'p Step<B>,
    /// Its rows, and whether it is cut.
    pub extent: Extent,
    /// The values that it reads: those of a step that runs whole are its machine's alone once it
    /// has begun. `None` is the one in whose memory the value is made, which lies in `made`.
    reads: Mutex<Vec<Option<Form<B>>>>,
    made: Mutex<Joined<B>>,
}

impl<'p, B: Primitives> Task<'p, B> {
    fn new(step: &'p Step<B>, extent: Extent, reads: Vec<Form<B>>) -> Self {
        let mut reads: Vec<Option<Form<B>>> = reads.into_iter().map(Some).collect();
        let made = match home(step, extent, &mut reads).and_then(Option::take) {
            Some(form) => Joined::Over(form),
            None => Joined::Nothing,
        };
        Task { step, extent, reads: Mutex::new(reads), made: Mutex::new(made) }
    }

    /// The values that it reads, whole; they are the caller's from then on.
    pub fn whole(&self) -> Vec<Form<B>> {
        let reads = std::mem::take(&mut *lock(&self.reads));
        reads.into_iter().map(|read| read.unwrap_or_else(|| lock(&self.made).take())).collect()
    }

    /// Rows of the values that it reads. Of the one that is written over these rows are as they
    /// were, since pieces are read before they are made, and no two have a row in common.
    fn rows(&self, rows: &Range<usize>) -> Vec<Form<B>> {
        let of = |read: &Option<Form<B>>| match read {
            Some(form) => piece(form, rows),
            None => piece(lock(&self.made).over(), rows),
        };
        lock(&self.reads).iter().map(of).collect()
    }

    /// Takes the value of some rows.
    pub fn put(&self, rows: &Range<usize>, form: Form<B>) {
        lock(&self.made).put(self.extent.rows, rows, form);
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value in whose memory a step's may be made: of the same kind and size, read by nobody else,
/// rows each for themselves. Fresh memory would cost more than the step.
pub fn home<'r, B: Primitives>(
    step: &Step<B>,
    extent: Extent,
    reads: &'r mut [Option<Form<B>>],
) -> Option<&'r mut Option<Form<B>>> {
    let may = extent.cuts
        && step.talk().is_some_and(|talk| match talk {
            Talk::Block(_) | Talk::Product(_) | Talk::Choose => true,
            Talk::ToWords(_)
            | Talk::MatMul(..)
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Reorder(_)
            | Talk::Flat(..)
            | Talk::Open { .. }
            | Talk::Own(_) => false,
        });
    let fits = |form: &mut Form<B>| form.is_alone(step.size);
    reads.iter_mut().filter(|_| may).find_map(|read| read.as_mut().is_some_and(fits).then_some(read))
}

/// All steps of a wave.
pub struct Wave<'p, B: Primitives>(Vec<Arc<Task<'p, B>>>);

/// Pieces that share rounds, not yet begun.
pub struct Group<'p, E: Engine>(Vec<(Place<'p, E>, E::Supplies)>);

/// Pieces that share rounds, under way, and what each is.
pub type Flight<'p, E> = With<Abreast<<E as Engine>::Machine<'p>>, Vec<Place<'p, E>>>;

/// The task that a piece is of, and its rows.
pub type Place<'p, B> = (Arc<Task<'p, B>>, Range<usize>);

impl<'p, B: Primitives> Wave<'p, B> {
    pub(crate) fn new(ready: impl Iterator<Item = (&'p Step<B>, Extent, Vec<Form<B>>)>) -> Self {
        Wave(ready.map(|(step, extent, reads)| Arc::new(Task::new(step, extent, reads))).collect())
    }

    /// Whether there is no step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each step, its rows, and whether it is cut.
    #[must_use]
    pub fn extents(&self) -> Vec<Extent> {
        self.0.iter().map(|task| task.extent).collect()
    }

    /// A step of the wave.
    ///
    /// # Panics
    /// If the step is none of it (the caller's bug).
    #[must_use]
    pub fn task(&self, at: Slot) -> &Arc<Task<'p, B>> {
        self.0.iter().find(|task| task.extent.at == at).expect("a step of the wave")
    }

    /// The values, after all pieces have landed.
    pub(crate) fn end(self) -> impl Iterator<Item = (&'p Step<B>, Slot, Form<B>)> {
        self.0.into_iter().map(|task| (task.step, task.extent.at, lock(&task.made).take()))
    }
}

impl<'p, E: Engine> Wave<'p, E> {
    /// Pieces that share rounds, each with its supplies.
    pub fn group(&self, pieces: Vec<(Piece, E::Supplies)>) -> Group<'p, E> {
        let place = |((at, rows), supplies): (Piece, _)| ((self.task(at).clone(), rows), supplies);
        Group(pieces.into_iter().map(place).collect())
    }
}

impl<'p, E: Engine> Group<'p, E> {
    /// Whether there is no piece.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Begins all pieces.
    ///
    /// # Errors
    /// As [`Engine::begin`].
    pub fn begin(self) -> Result<Flight<'p, E>, E::Failure> {
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

/// Puts the values of a flight that has ended where they belong.
///
/// # Errors
/// As [`Engine::end`].
pub fn land<E: Engine>(flight: Flight<'_, E>) -> Result<(), E::Failure> {
    for (machine, (task, rows)) in flight.machine.into_machines().zip(flight.with) {
        task.put(&rows, E::end(machine)?);
    }
    Ok(())
}
