//! The values of a run in progress.
//!
//! [`LiveValues`] has each value from its step to its last reader, and tells which steps are ready.
//! It drops a value after its last reader. [`KeptValues`] has the values that all runs of a plan
//! share.

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
    /// For each value, the number of steps that have yet to read it. An output is read once more.
    readers: Vec<usize>,
    ready: ReadySteps,
}

/// The values that all runs of a plan have in common. They follow, without a message, from inputs
/// that stay. Those that other steps read are kept.
///
/// SECURITY: a local step takes no randomness, so these values mask nothing.
pub struct KeptValues<B: Primitives> {
    values: Vec<Option<StepValue<B>>>,
    readers: Vec<usize>,
    ready: ReadySteps,
}

impl<B: Primitives> KeptValues<B> {
    /// Runs the steps that need no message and read no inputs except those that stay, as
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

    /// The value of a step, if it stays.
    #[must_use]
    pub fn value(&self, at: Slot) -> Option<&StepValue<B>> {
        self.values[at].as_ref()
    }
}

impl<'p, B: Primitives> LiveValues<'p, B> {
    /// Starts a run without any step done.
    #[must_use]
    pub fn new(steps: &'p PlanSteps<B>) -> Self {
        let values = steps.iter().map(|_| None).collect();
        LiveValues { steps, values, readers: steps.readers(), ready: steps.ready() }
    }

    /// Starts a run in which only the steps of `kept` are done. They are of the same plan.
    #[must_use]
    pub fn after(steps: &'p PlanSteps<B>, kept: &KeptValues<B>) -> Self {
        let KeptValues { values, readers, ready } = kept;
        LiveValues { steps, values: values.clone(), readers: readers.clone(), ready: ready.clone() }
    }

    /// The number of steps that have run.
    #[must_use]
    pub fn done(&self) -> usize {
        self.ready.done()
    }

    /// Takes a step's value. An unread value is dropped at once.
    fn put(&mut self, slot: Slot, form: StepValue<B>) {
        self.values[slot] = (self.readers[slot] > 0).then_some(form);
        self.ready.ran(slot);
    }

    /// The values that a step reads. Values without further readers are dropped here.
    fn take(&mut self, at: Slot) -> Vec<StepValue<B>> {
        self.steps[at].reads.iter().map(|slot| self.read(*slot)).collect()
    }

    /// A value for one of its readers. The last reader gets the only reference.
    fn read(&mut self, slot: Slot) -> StepValue<B> {
        self.readers[slot] -= 1;
        let value = &mut self.values[slot];
        let form = if self.readers[slot] == 0 { value.take() } else { value.clone() };
        form.expect("it ran, and is kept while it has readers")
    }

    /// Runs all steps that need no message and whose operands are present. The function computes
    /// the value of a local primitive from its operands.
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

    /// The ready steps with messages. Such a step begins by [`Self::wave_of`], or the caller runs
    /// it by [`Self::read_by`] and then [`Self::made`].
    #[must_use]
    pub fn ready(&self) -> Vec<Slot> {
        self.ready.talking()
    }

    /// The operands of a step that does not run in a wave. Those without further readers belong to
    /// the caller alone.
    pub fn read_by(&mut self, at: Slot) -> Vec<StepValue<B>> {
        self.take(at)
    }

    /// Takes the value of a step that ran outside of a wave.
    pub fn made(&mut self, at: Slot, form: StepValue<B>) {
        self.put(at, form);
    }

    /// All ready steps with messages, with their operands.
    pub fn wave(&mut self) -> Wave<'p, B> {
        let steps = self.steps;
        let ready = self.ready.talking().into_iter();
        Wave::new(ready.map(|at| (&steps[at], steps.extent(at), self.take(at))))
    }

    /// Some steps with their operands here, which have as many rows as the extent.
    pub fn wave_of(&mut self, steps: impl IntoIterator<Item = (Extent, Vec<StepValue<B>>)>) -> Wave<'p, B> {
        let all = self.steps;
        Wave::new(steps.into_iter().map(|(extent, reads)| (&all[extent.at], extent, reads)))
    }

    /// Takes the values of a wave after all its pieces have landed. Values that were opened in
    /// pieces get their lengths again.
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

    /// The values of the outputs, in order. All steps must have run.
    #[must_use]
    pub fn outputs(mut self) -> Vec<StepValue<B>> {
        self.steps.outputs().iter().map(|slot| self.read(*slot)).collect()
    }
}
