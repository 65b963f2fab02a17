//! Runs of a plan, wave by wave.

use crate::{
    Plan, ThreeError,
    form::Form,
    local::local,
    machines::{Ready, begin},
    plan::{Prim, Slot, Step},
};
use hushwire_rep3::{Batch, Party, Role, ShareError, ring::Bits};
use hushwire_wire::{
    Channel,
    drive::{Abreast, Driver, Machine},
};
use std::sync::Arc;

/// Runs a plan as one of three parties, on `ring`, which leads to the left neighbour and from the right one, and `back`, which leads the other
/// way. `inputs` are shares of all inputs, in the computation's order; gives shares of all outputs, likewise. `go_on` is asked
/// between rounds, with the steps done and all steps.
///
/// # Errors
/// Shares of another size; a value that is known and does not fit; a channel failed; `go_on` said no.
pub fn run(
    party: &mut Party,
    [ring, back]: [&mut Channel; 2],
    plan: &Plan,
    inputs: Vec<Bits>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Bits>, ThreeError> {
    let mut run = Run::new(party, plan, inputs)?;
    let mut driver = Driver::new();
    let mut channels = [ring, back];
    loop {
        let mut batch = party.next_batch()?;
        run.alone(&mut batch)?;
        let done = run.done();
        if !go_on(done, plan.steps.len()) {
            return Err(ThreeError::Cancelled);
        }
        let mut wave = run.wave(party, &mut batch)?;
        if wave.is_empty() {
            return run.outputs();
        }
        let mut abreast = Abreast::new(wave.iter_mut().map(|(_, ready)| ready.machine()).collect());
        let slots = abreast.slots();
        let mut rounds = driver.begin(&mut abreast);
        while rounds.step(&mut channels[..slots])? {
            if !go_on(done, plan.steps.len()) {
                return Err(ThreeError::Cancelled);
            }
        }
        for (slot, ready) in wave {
            run.put(slot, ready.finish()?);
        }
    }
}

pub(crate) type Wave<'p> = Vec<(Slot, Box<dyn Ready + 'p>)>;

/// The values of a plan under way.
pub(crate) struct Run<'p> {
    role: Role,
    plan: &'p Plan,
    values: Vec<Option<Form>>,
    /// Of each value, the steps that will still read it; outputs are read once more.
    readers: Vec<usize>,
    /// Steps that have run.
    ran: Vec<bool>,
}

impl<'p> Run<'p> {
    pub(crate) fn new(party: &Party, plan: &'p Plan, inputs: Vec<Bits>) -> Result<Self, ThreeError> {
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
        Ok(Run { role: party.role(), plan, values, readers, ran })
    }

    fn done(&self) -> usize {
        self.ran.iter().filter(|ran| **ran).count()
    }

    pub(crate) fn put(&mut self, slot: Slot, form: Form) {
        self.values[slot] = Some(form);
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
    pub(crate) fn wave(&mut self, party: &mut Party, batch: &mut Batch) -> Result<Wave<'p>, ThreeError> {
        let plan = self.plan;
        let ready: Vec<Slot> = (0..plan.steps.len()).filter(|at| self.is_ready(*at)).collect();
        let begin = |at: Slot| {
            let step = &plan.steps[at];
            let reads = self.take(step);
            Ok((at, begin(party, batch, step, &reads)?))
        };
        ready.into_iter().map(begin).collect()
    }

    pub(crate) fn outputs(self) -> Result<Vec<Bits>, ThreeError> {
        let output = |slot: &Slot| (**self.values[*slot].as_ref().expect("every step ran").bits()).clone();
        Ok(self.plan.outputs.iter().map(output).collect())
    }
}
