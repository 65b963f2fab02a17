//! Steps and their order: local steps run at once, then all ready steps run abreast, as a wave.

use crate::{
    prim::{Prim, Primitives, StepRows, Talk},
    ready::ReadySteps,
    size::{Size, Slot},
};
use std::ops::{Deref, Range};

/// A primitive and what it reads, all computed before.
pub struct PlanStep<B: Primitives> {
    /// Its work.
    pub prim: Prim<B>,
    /// The values that it reads.
    pub reads: Vec<Slot>,
    /// The form and size of its value.
    pub size: Size,
    /// How the rows of its value are computed.
    pub rows: StepRows,
    /// The computation's node that it is a part of.
    pub node: usize,
}

impl<B: Primitives> PlanStep<B> {
    /// Its work, where the parties talk.
    pub fn talk(&self) -> Option<&Talk<B>> {
        match &self.prim {
            Prim::Local(_) => None,
            Prim::Talk(talk) => Some(talk),
        }
    }

    /// Whether the parties talk.
    pub fn talks(&self) -> bool {
        self.talk().is_some()
    }
}

/// The rows of a step that talks, and whether each of them is computed for itself, so that the step
/// may be cut.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The step.
    pub at: Slot,
    /// Its rows.
    pub rows: usize,
    /// Whether it may be cut.
    pub cuts: bool,
}

/// A part of a step: which, and which of its rows.
pub type StepPiece = (Slot, Range<usize>);

/// The steps that compute a computation, the same at all parties.
pub struct PlanSteps<B: Primitives> {
    steps: Vec<PlanStep<B>>,
    outputs: Vec<Slot>,
}

impl<B: Primitives> Deref for PlanSteps<B> {
    type Target = [PlanStep<B>];
    fn deref(&self) -> &[PlanStep<B>] {
        &self.steps
    }
}

/// What happens to steps and values in a run, in its order. From that follow the memory that a run
/// takes, and which steps are under way at the same time.
pub trait Watch {
    /// A step without a message runs.
    fn local(&mut self, at: Slot);
    /// The steps of a wave run, after `done` others.
    fn wave(&mut self, wave: &[Slot], done: usize);
    /// A value's last reader has run.
    fn goes(&mut self, at: Slot);
}

impl<B: Primitives> PlanSteps<B> {
    /// The steps from which outputs follow, in order.
    pub(crate) fn needed(mut steps: Vec<PlanStep<B>>, mut outputs: Vec<Slot>) -> PlanSteps<B> {
        let mut needed = vec![false; steps.len()];
        outputs.iter().for_each(|slot| needed[*slot] = true);
        for at in (0..steps.len()).rev() {
            if needed[at] {
                steps[at].reads.iter().for_each(|slot| needed[*slot] = true);
            }
        }
        let mut count = 0;
        let place = |needed: &bool| {
            count += usize::from(*needed);
            count - usize::from(*needed)
        };
        let places: Vec<usize> = needed.iter().map(place).collect();
        let mut is_needed = needed.into_iter();
        steps.retain(|_| is_needed.next() == Some(true));
        let reads = steps.iter_mut().flat_map(|step| &mut step.reads);
        reads.chain(&mut outputs).for_each(|slot| *slot = places[*slot]);
        PlanSteps { steps, outputs }
    }

    /// Goes through all steps that talk, so that a back end can number them.
    pub fn each_talk(&mut self, mut each: impl FnMut(&mut Talk<B>)) {
        for step in &mut self.steps {
            if let Prim::Talk(talk) = &mut step.prim {
                each(talk);
            }
        }
    }

    /// The values of outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Slot] {
        &self.outputs
    }

    /// The sizes of what a step reads.
    #[must_use]
    pub fn sizes_read(&self, at: Slot) -> Vec<Size> {
        self.steps[at].reads.iter().map(|slot| self.steps[*slot].size).collect()
    }

    /// The most elements of what a step reads.
    #[must_use]
    pub fn rows_read(&self, at: Slot) -> usize {
        self.steps[at].reads.iter().map(|slot| self.steps[*slot].size.rows()).max().unwrap_or(0)
    }

    /// The rows of a step, and whether it is cut.
    #[must_use]
    pub fn extent(&self, at: Slot) -> Extent {
        let cuts = self.steps[at].rows != StepRows::Whole;
        Extent { at, rows: self.rows_read(at), cuts }
    }

    /// The sizes of what a piece of `rows` rows reads and makes; those of the step where it is not
    /// cut.
    #[must_use]
    pub fn piece_sizes(&self, at: Slot, rows: usize) -> (Vec<Size>, Size) {
        let cuts = self.extent(at).cuts;
        let part = |size: Size| if cuts { size.with_rows(rows) } else { size };
        (self.sizes_read(at).into_iter().map(part).collect(), part(self.steps[at].size))
    }

    /// The number of steps that read each value; outputs are read once more.
    pub(crate) fn readers(&self) -> Vec<usize> {
        let mut readers = vec![0; self.steps.len()];
        let read = self.steps.iter().flat_map(|step| &step.reads).chain(&self.outputs);
        read.for_each(|slot| readers[*slot] += 1);
        readers
    }

    /// The steps that are ready before any has run.
    pub(crate) fn ready(&self) -> ReadySteps {
        ReadySteps::new(self.steps.iter().map(|step| (&step.reads[..], step.talks())))
    }

    /// Goes through a run without anybody's data.
    pub fn walk(&self, watch: &mut impl Watch) {
        let (mut readers, mut ready) = (self.readers(), self.ready());
        let mut end = |ready: &mut ReadySteps, at: Slot, watch: &mut dyn Watch| {
            for slot in &self.steps[at].reads {
                readers[*slot] -= 1;
                if readers[*slot] == 0 {
                    watch.goes(*slot);
                }
            }
            ready.ran(at);
        };
        loop {
            while let Some(at) = ready.local(Some) {
                watch.local(at);
                end(&mut ready, at, watch);
            }
            let wave = ready.talking();
            if wave.is_empty() {
                return;
            }
            watch.wave(&wave, ready.done());
            wave.into_iter().for_each(|at| end(&mut ready, at, watch));
        }
    }

    /// The steps that talk, in waves: each needs what the waves before have computed.
    #[must_use]
    pub fn waves(&self) -> Vec<Vec<Slot>> {
        let (mut waves, mut after) = (Vec::<Vec<Slot>>::new(), vec![]);
        for (at, step) in self.steps.iter().enumerate() {
            let wave = step.reads.iter().map(|slot: &Slot| after[*slot]).max().unwrap_or(0);
            after.push(wave + usize::from(step.talks()));
            if step.talks() {
                if waves.len() <= wave {
                    waves.resize_with(wave + 1, Vec::new);
                }
                waves[wave].push(at);
            }
        }
        waves
    }
}
