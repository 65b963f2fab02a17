//! Runs of a plan, wave by wave.

use crate::{
    Cut, Door, Plan, ThreeError,
    form::{Form, Held, Words, in_ring, lowered},
    lanes::{Lanes, Stop},
    local::local,
    plan::{Prim, Slot, Step},
    wave::{Task, Wave},
};
use hushwire_machine::Channel;
use hushwire_rep3::{
    Batch, Party, Role, ShareError, Shares, pool,
    ring::{Bits, Column},
};
use std::{borrow::BorrowMut, sync::Arc};

/// Runs a plan as one of three parties. A lane is a ring, which leads to the left neighbour and from the right one, and a channel that
/// leads the other way; there are as many as the cut has. `inputs` are shares of all inputs in bytes, as [`Plan::inputs`] says; gives those
/// of all outputs, as [`Plan::outputs`] says. `go_on` is asked between rounds, on this thread, with the steps done and all steps.
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
    inputs: Vec<Shares>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Shares>, ThreeError> {
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
            let outputs = run.outputs()?;
            pool::trim();
            return Ok(outputs);
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
    pub(crate) fn new(role: Role, plan: &'p Plan, cut: Cut, inputs: Vec<Shares>) -> Result<Self, ThreeError> {
        let wrong =
            |expected, found| ShareError::Length { what: "the shares of all inputs", expected, found };
        if inputs.len() != plan.inputs.len() {
            return Err(wrong(plan.inputs.len(), inputs.len()).into());
        }
        for (input, door) in inputs.iter().zip(&plan.inputs) {
            if let Some(found) = [input.own.len(), input.next.len()].into_iter().find(|n| *n != door.bytes())
            {
                return Err(wrong(door.bytes(), found).into());
            }
        }
        let mut readers = vec![0; plan.steps.len()];
        let outputs = plan.outputs.iter().map(|(slot, _)| slot);
        let read = plan.steps.iter().flat_map(|step| &step.reads).chain(outputs);
        read.for_each(|slot| readers[*slot] += 1);
        let mut inputs = inputs.into_iter().zip(&plan.inputs);
        let value = |step: &Step| match step.prim {
            Prim::Input => inputs.next().map(|(shares, door)| came(shares, *door)).transpose(),
            _ => Ok(None),
        };
        let values = plan.steps.iter().map(value).collect::<Result<Vec<Option<Form>>, _>>()?;
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

    /// A step's value that pieces made up: what was opened gets its lengths again.
    pub(crate) fn shaped(&self, at: Slot, form: Form) -> Form {
        match (&self.plan.steps[at].prim, form) {
            (Prim::Open { lengths, .. }, Form::Known(all)) if all.lengths() != lengths => {
                Form::Known(Arc::new(Arc::unwrap_or_clone(all).reshaped(lengths)))
            }
            (_, form) => form,
        }
    }

    fn is_ready(&self, at: Slot) -> bool {
        !self.ran[at] && self.plan.steps[at].reads.iter().all(|slot| self.ran[*slot])
    }

    /// The values that a step reads; those that nobody reads again go.
    fn take(&mut self, step: &Step) -> Vec<Form> {
        step.reads.iter().map(|slot| self.read(*slot)).collect()
    }

    /// A value for one of its readers; the last one has it alone.
    fn read(&mut self, slot: Slot) -> Form {
        self.readers[slot] -= 1;
        let value = &mut self.values[slot];
        let form = if self.readers[slot] == 0 { value.take() } else { value.clone() };
        form.expect("it ran, and is kept while it has readers")
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

    pub(crate) fn outputs(mut self) -> Result<Vec<Shares>, ThreeError> {
        let plan = self.plan;
        Ok(plan.outputs.iter().map(|(slot, door)| goes(self.read(*slot), *door)).collect())
    }
}

/// The form of an input from its shares in bytes, which are as long as they must be.
fn came(shares: Shares, door: Door) -> Result<Form, ShareError> {
    fn words<W: Held>(shares: &Shares) -> Words {
        let all = |share: &[u8]| pool::collect(share.chunks_exact(W::BYTES).map(W::read));
        W::words(Column { own: all(&shares.own), next: all(&shares.next) })
    }
    Ok(match door.ring {
        None => Form::Bits(Arc::new(Bits::new(door.scalar.bits(), door.elements, shares)?)),
        Some(ring) => Form::Words(in_ring!(ring, words(&shares))),
    })
}

/// Shares of an output in bytes.
fn goes(form: Form, door: Door) -> Shares {
    fn words<W: Held>(words: &Words, bits: usize) -> Shares {
        let column = lowered(W::column(words), bits);
        let all = |share: &[W]| {
            let mut bytes = pool::zeros(share.len() * W::BYTES);
            bytes.chunks_exact_mut(W::BYTES).zip(share).for_each(|(to, word)| word.write(to));
            bytes
        };
        Shares { own: all(&column.own), next: all(&column.next) }
    }
    match (door.ring, form) {
        (None, Form::Bits(bits)) => Arc::unwrap_or_clone(bits).trimmed().into_shares(),
        (Some(ring), form) => in_ring!(ring, words(form.words(), door.scalar.bits())),
        (None, _) => unreachable!("a plan knows the forms of its values"),
    }
}
