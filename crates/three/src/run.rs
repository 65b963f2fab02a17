//! Runs of a plan, wave by wave.

use crate::{
    Cut, Plan, ThreeError,
    form::Form,
    lanes::{Lanes, Stop},
    local::local,
    plan::{Prim, Slot, Step},
    wave::{Task, Wave},
};
use hushwire_rep3::{Batch, Party, Role, ShareError, ring::Bits};
use hushwire_wire::Channel;
use std::{borrow::BorrowMut, sync::Arc};

/// Runs a plan as one of three parties. A lane is a ring, which leads to the left neighbour and from the right one, and a channel that
/// leads the other way; there are as many as the cut has. `inputs` are shares of all inputs, in the computation's order; gives shares of
/// all outputs, likewise. `go_on` is asked between rounds, on this thread, with the steps done and all steps.
///
/// # Errors
/// Shares of another size; a value that is known and does not fit; a channel failed; `go_on` said no.
///
/// # Panics
/// If there are not as many lanes as the cut has (the caller's bug).
pub fn run<C: BorrowMut<Channel> + Send>(
    party: &mut Party,
    lanes: Vec<[C; 2]>,
    plan: &Plan,
    cut: Cut,
    inputs: Vec<Bits>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Bits>, ThreeError> {
    let mut run = Run::new(party.role(), plan, cut, inputs)?;
    let mut lanes = Lanes::new(cut, lanes);
    loop {
        run.alone(&mut party.next_batch()?)?;
        let (done, whole) = (run.done(), plan.steps.len());
        let mut go_on = || go_on(done, whole);
        if !go_on() {
            return Err(ThreeError::Cancelled);
        }
        let mut wave = run.wave(party)?;
        if wave.is_empty() {
            return run.outputs();
        }
        lanes.run(wave.groups(), &Stop::default(), &mut go_on)?;
        wave.end(&mut run)?;
    }
}

/// The values of a plan under way.
pub(crate) struct Run<'p> {
    role: Role,
    plan: &'p Plan,
    cut: Cut,
    values: Vec<Option<Form>>,
    /// Of each value, the steps that will still read it; outputs are read once more.
    readers: Vec<usize>,
    /// Steps that have run.
    ran: Vec<bool>,
}

impl<'p> Run<'p> {
    pub(crate) fn new(role: Role, plan: &'p Plan, cut: Cut, inputs: Vec<Bits>) -> Result<Self, ThreeError> {
        let wrong =
            |expected, found| ShareError::Length { what: "the shares of all inputs", expected, found };
        if inputs.len() != plan.inputs.len() {
            return Err(wrong(plan.inputs.len(), inputs.len()).into());
        }
        for (input, (scalar, elements)) in inputs.iter().zip(&plan.inputs) {
            if (input.width(), input.rows()) != (scalar.bits(), *elements) {
                return Err(wrong(scalar.bits() * elements, input.width() * input.rows()).into());
            }
        }
        let mut readers = vec![0; plan.steps.len()];
        let read = plan.steps.iter().flat_map(|step| &step.reads).chain(&plan.outputs);
        read.for_each(|slot| readers[*slot] += 1);
        let mut inputs = inputs.into_iter();
        let value = |step: &Step| match step.prim {
            Prim::Input => inputs.next().map(|bits| Form::Bits(Arc::new(bits))),
            _ => None,
        };
        let values: Vec<Option<Form>> = plan.steps.iter().map(value).collect();
        let ran = values.iter().map(Option::is_some).collect();
        Ok(Run { role, plan, cut, values, readers, ran })
    }

    fn done(&self) -> usize {
        self.ran.iter().filter(|ran| **ran).count()
    }

    /// A step's value; one that nobody reads goes at once.
    pub(crate) fn put(&mut self, slot: Slot, form: Form) {
        self.values[slot] = (self.readers[slot] > 0).then_some(form);
        self.ran[slot] = true;
    }

    fn is_ready(&self, at: Slot) -> bool {
        !self.ran[at] && self.plan.steps[at].reads.iter().all(|slot| self.ran[*slot])
    }

    /// The values that a step reads; those that nobody reads again go.
    fn take(&mut self, step: &Step) -> Vec<Form> {
        let take = |slot: &Slot| {
            self.readers[*slot] -= 1;
            let value = &mut self.values[*slot];
            let form = if self.readers[*slot] == 0 { value.take() } else { value.clone() };
            form.expect("it ran, and is kept while it has readers")
        };
        step.reads.iter().map(take).collect()
    }

    /// Runs all steps that need no message and whose values are there.
    pub(crate) fn alone(&mut self, batch: &mut Batch) -> Result<(), ThreeError> {
        let plan = self.plan;
        for (at, step) in plan.steps.iter().enumerate() {
            if !step.talks() && self.is_ready(at) {
                let reads = self.take(step);
                let form = local(self.role, batch, step, &reads)?;
                self.put(at, form);
            }
        }
        Ok(())
    }

    /// All steps that are ready, none of which has begun.
    pub(crate) fn wave(&mut self, party: &mut Party) -> Result<Wave<'p>, ThreeError> {
        let plan = self.plan;
        let ready: Vec<Slot> = (0..plan.steps.len()).filter(|at| self.is_ready(*at)).collect();
        let task = |at: Slot| Task::new(at, &plan.steps[at], self.take(&plan.steps[at]));
        Wave::new(ready.into_iter().map(task).collect(), self.cut, party)
    }

    pub(crate) fn outputs(self) -> Result<Vec<Bits>, ThreeError> {
        let output = |slot: &Slot| (**self.values[*slot].as_ref().expect("every step ran").bits()).clone();
        Ok(self.plan.outputs.iter().map(output).collect())
    }
}
