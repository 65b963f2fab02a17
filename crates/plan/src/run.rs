//! The values of a run under way.

use crate::{
    form::StepValue,
    prim::{Local, Prim, Primitives, Talk},
    ready::ReadySteps,
    size::Slot,
    steps::{Extent, PlanStep, PlanSteps},
    wave::Wave,
};
use std::sync::Arc;

/// The values of a run: each stays until its last reader has run.
pub struct LiveValues<'p, B: Primitives> {
    steps: &'p PlanSteps<B>,
    values: Vec<Option<StepValue<B>>>,
    /// For each value, the number of steps that will still read it; outputs are read once more.
    readers: Vec<usize>,
    ready: ReadySteps,
}

/// The values that all runs of a plan have in common: they follow, without a message, from inputs
/// that stay. Those that other steps read are kept.
///
/// SECURITY: a local step takes no randomness, so that nothing in here masks anything.
pub struct KeptValues<B: Primitives> {
    values: Vec<Option<StepValue<B>>>,
    readers: Vec<usize>,
    ready: ReadySteps,
}

impl<B: Primitives> KeptValues<B> {
    /// Runs the steps that need no message and read no inputs but those that stay, as
    /// [`LiveValues::alone`] does.
    ///
    /// # Errors
    /// The errors of the function.
    pub fn new<'p, E>(
        steps: &'p PlanSteps<B>,
        stays: impl Fn(usize) -> bool,
        make: impl FnMut(&'p PlanStep<B>, &'p Local<B>, &[StepValue<B>]) -> Result<StepValue<B>, E>,
    ) -> Result<Self, E> {
        let mut live = LiveValues::new(steps);
        live.locals(|local| !matches!(local, Local::Input(k, _) if !stays(*k)), make)?;
        Ok(KeptValues { values: live.values, readers: live.readers, ready: live.ready })
    }

    /// The value of a step, where it stays.
    #[must_use]
    pub fn value(&self, at: Slot) -> Option<&StepValue<B>> {
        self.values[at].as_ref()
    }
}

impl<'p, B: Primitives> LiveValues<'p, B> {
    /// Nothing has run.
    #[must_use]
    pub fn new(steps: &'p PlanSteps<B>) -> Self {
        let values = steps.iter().map(|_| None).collect();
        LiveValues { steps, values, readers: steps.readers(), ready: steps.ready() }
    }

    /// The steps of `kept` alone have run, which are of the same plan.
    #[must_use]
    pub fn after(steps: &'p PlanSteps<B>, kept: &KeptValues<B>) -> Self {
        let KeptValues { values, readers, ready } = kept;
        LiveValues { steps, values: values.clone(), readers: readers.clone(), ready: ready.clone() }
    }

    /// Steps that have run.
    #[must_use]
    pub fn done(&self) -> usize {
        self.ready.done()
    }

    /// Takes a step's value. A value that nobody reads is dropped at once.
    fn put(&mut self, slot: Slot, form: StepValue<B>) {
        self.values[slot] = (self.readers[slot] > 0).then_some(form);
        self.ready.ran(slot);
    }

    /// The values that a step reads. Those that nobody reads again are dropped here.
    fn take(&mut self, at: Slot) -> Vec<StepValue<B>> {
        self.steps[at].reads.iter().map(|slot| self.read(*slot)).collect()
    }

    /// A value for one of its readers; the last one has it alone.
    fn read(&mut self, slot: Slot) -> StepValue<B> {
        self.readers[slot] -= 1;
        let value = &mut self.values[slot];
        let form = if self.readers[slot] == 0 { value.take() } else { value.clone() };
        form.expect("it ran, and is kept while it has readers")
    }

    /// Runs all steps that need no message and whose values are there, by a function that makes the
    /// value of a local primitive from what it reads.
    ///
    /// # Errors
    /// The errors of the function.
    pub fn alone<E>(
        &mut self,
        make: impl FnMut(&'p PlanStep<B>, &'p Local<B>, &[StepValue<B>]) -> Result<StepValue<B>, E>,
    ) -> Result<(), E> {
        self.locals(|_| true, make)
    }

    fn locals<E>(
        &mut self,
        runs: impl Fn(&Local<B>) -> bool,
        mut make: impl FnMut(&'p PlanStep<B>, &'p Local<B>, &[StepValue<B>]) -> Result<StepValue<B>, E>,
    ) -> Result<(), E> {
        let steps = self.steps;
        let next = |at: Slot| match &steps[at].prim {
            Prim::Local(local) if runs(local) => Some((at, local)),
            Prim::Local(_) | Prim::Talk(_) => None,
        };
        while let Some((at, local)) = self.ready.local(next) {
            let reads = self.take(at);
            let form = make(&steps[at], local, &reads)?;
            drop(reads);
            self.put(at, form);
        }
        Ok(())
    }

    /// The steps that are ready and talk. A step that talks is begun by [`Self::wave_of`], or is
    /// run by others: [`Self::read_by`], then [`Self::made`].
    #[must_use]
    pub fn ready(&self) -> Vec<Slot> {
        self.ready.talking()
    }

    /// The values that a step reads, whose value another way than a wave's makes. Those that nobody
    /// reads again are the caller's alone.
    pub fn read_by(&mut self, at: Slot) -> Vec<StepValue<B>> {
        self.take(at)
    }

    /// Takes a step's value that was made so.
    pub fn made(&mut self, at: Slot, form: StepValue<B>) {
        self.put(at, form);
    }

    /// All steps that are ready and talk, with what they read.
    pub fn wave(&mut self) -> Wave<'p, B> {
        let steps = self.steps;
        let ready = self.ready.talking().into_iter();
        Wave::new(ready.map(|at| (&steps[at], steps.extent(at), self.take(at))))
    }

    /// Some steps with what they read here: as many rows as an extent says.
    pub fn wave_of(&mut self, steps: impl IntoIterator<Item = (Extent, Vec<StepValue<B>>)>) -> Wave<'p, B> {
        let all = self.steps;
        Wave::new(steps.into_iter().map(|(extent, reads)| (&all[extent.at], extent, reads)))
    }

    /// Takes the values of a wave, all of whose pieces have landed. What was opened in pieces gets
    /// its lengths again.
    pub fn end(&mut self, wave: Wave<'p, B>) {
        for (step, at, form) in wave.end() {
            let form = match (step.talk(), form) {
                (Some(Talk::Open { lengths, .. }), StepValue::Known(all)) if all.lengths() != lengths => {
                    StepValue::of_known(Arc::unwrap_or_clone(all).reshaped(lengths))
                }
                (_, form) => form,
            };
            self.put(at, form);
        }
    }

    /// The values of outputs, in order. All steps have run.
    #[must_use]
    pub fn outputs(mut self) -> Vec<StepValue<B>> {
        self.steps.outputs().iter().map(|slot| self.read(*slot)).collect()
    }
}
