//! A wave's steps, cut into pieces, and their values put together.

use crate::{
    Cut, ThreeError,
    cut::Extent,
    form::Form,
    machines::{Ready, begin},
    pieces::{Joined, piece},
    plan::{Slot, Step},
    run::Run,
};
use hushwire_rep3::{Batch, Party};
use hushwire_wire::drive::{Abreast, With};
use std::{
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// A step of a wave.
pub(crate) struct Task<'p> {
    at: Slot,
    step: &'p Step,
    /// The values that it reads: those of a step that runs whole are its machine's alone once it has begun.
    reads: Mutex<Vec<Form>>,
    extent: Extent,
    made: Made,
}

type Made = Arc<Mutex<Joined>>;

impl<'p> Task<'p> {
    pub(crate) fn new(at: Slot, step: &'p Step, reads: Vec<Form>) -> Self {
        let extent = step.extent(reads.iter().map(Form::rows));
        Task { at, step, reads: Mutex::new(reads), extent, made: Arc::new(Mutex::new(Joined::Nothing)) }
    }
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
            let mut reads = task.reads.lock().unwrap_or_else(PoisonError::into_inner);
            let ready = if rows.len() == all || !task.extent.cuts {
                let reads = std::mem::take(&mut *reads);
                begin(batch, task.step, &reads, all, cut)
            } else {
                let reads = reads.iter().map(|form| piece(form, &rows)).collect::<Result<Vec<_>, _>>()?;
                begin(batch, task.step, &reads, all, cut)
            };
            machines.push(ready?);
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
        task.made.lock().unwrap_or_else(PoisonError::into_inner).put(task.extent.rows, &rows, form);
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
    pub(crate) fn end(self, run: &mut Run<'_>) -> Result<(), ThreeError> {
        for (at, rows, made) in self.made {
            let joined =
                std::mem::replace(&mut *made.lock().unwrap_or_else(PoisonError::into_inner), Joined::Nothing);
            run.put(at, run.shaped(at, joined.form(rows)?));
        }
        Ok(())
    }
}
