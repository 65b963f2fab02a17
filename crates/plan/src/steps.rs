//! Steps and their order. Local steps run at once; then all ready steps with messages run together,
//! as a wave.

use crate::{
    prim::{Prim, Primitives, StepRows, Talk},
    ready::ReadySteps,
    size::{Size, Slot},
};
use std::ops::{Deref, Range};

/// A primitive and its operands, which are computed before.
pub struct PlanStep<B: Primitives> {
    /// Its work.
    pub prim: Prim<B>,
    /// The values that it reads.
    pub reads: Vec<Slot>,
    /// The form and size of its value.
    pub size: Size,
    /// How the rows of its value are computed.
    pub rows: StepRows,
    /// The node of the computation to which it belongs.
    pub node: usize,
}

impl<B: Primitives> PlanStep<B> {
    /// The primitive, if it has messages.
    pub fn talk(&self) -> Option<&Talk<B>> {
        match &self.prim {
            Prim::Local(_) => None,
            Prim::Talk(talk) => Some(talk),
        }
    }

    /// Whether the step has messages.
    pub fn talks(&self) -> bool {
        self.talk().is_some()
    }
}

/// The rows of a step with messages. It may be cut if each row is computed independently.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The step.
    pub at: Slot,
    /// Its rows.
    pub rows: usize,
    /// Whether it may be cut.
    pub cuts: bool,
}

/// A part of a step: the step, and a range of its rows.
pub type StepPiece = (Slot, Range<usize>);

/// The steps of a computation, which are the same for all parties.
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

/// Receives the events of a run, in order: the steps, and the values that are dropped. From these
/// follow the memory that a run takes, and the steps that run at the same time.
pub trait Watch {
    /// A step without a message runs.
    fn local(&mut self, at: Slot);
    /// The steps of a wave run, after `done` others.
    fn wave(&mut self, wave: &[Slot], done: usize);
    /// A value's last reader has run, so the value is dropped.
    fn goes(&mut self, at: Slot);
}

impl<B: Primitives> PlanSteps<B> {
    /// The steps that contribute to outputs, in order.
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

    /// Visits all primitives with messages, so that a back end can number them.
    pub fn each_talk(&mut self, mut each: impl FnMut(&mut Talk<B>)) {
        for step in &mut self.steps {
            if let Prim::Talk(talk) = &mut step.prim {
                each(talk);
            }
        }
    }

    /// The values of the outputs, in order.
    #[must_use]
    pub fn outputs(&self) -> &[Slot] {
        &self.outputs
    }

    /// The sizes of a step's operands.
    #[must_use]
    pub fn sizes_read(&self, at: Slot) -> Vec<Size> {
        self.steps[at].reads.iter().map(|slot| self.steps[*slot].size).collect()
    }

    /// The number of elements of a step's largest operand.
    #[must_use]
    pub fn rows_read(&self, at: Slot) -> usize {
        self.steps[at].reads.iter().map(|slot| self.steps[*slot].size.rows()).max().unwrap_or(0)
    }

    /// The rows of a step, and whether it may be cut.
    #[must_use]
    pub fn extent(&self, at: Slot) -> Extent {
        let cuts = self.steps[at].rows != StepRows::Whole;
        Extent { at, rows: self.rows_read(at), cuts }
    }

    /// The sizes of the operands and the value of a piece of `rows` rows. For a step that is not
    /// cut, the sizes are those of the step.
    #[must_use]
    pub fn piece_sizes(&self, at: Slot, rows: usize) -> (Vec<Size>, Size) {
        let cuts = self.extent(at).cuts;
        let part = |size: Size| if cuts { size.with_rows(rows) } else { size };
        (self.sizes_read(at).into_iter().map(part).collect(), part(self.steps[at].size))
    }

    /// The number of steps that read each value. An output is read once more.
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

    /// Simulates a run without any party's data.
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

    /// The steps with messages, in waves. Each wave needs values of the waves before it.
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
