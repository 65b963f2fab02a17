//! Runs of a plan, wave by wave.

use crate::{
    TwoError,
    encrypted::within,
    form::{Form, Joined},
    local::{Brought, local},
    plan::{Input, Piece, Plan, Slot, Spent, Step},
};
use hushwire_compute::Tensor;
use hushwire_machine::Cost;
use std::{collections::BTreeMap, time::Instant};

/// The values of a plan under way.
pub(crate) struct Run<'p> {
    party: usize,
    pub(crate) plan: &'p Plan,
    brought: Brought,
    values: Vec<Option<Form>>,
    /// Of each value, the steps that will still read it; outputs are read once more.
    readers: Vec<usize>,
    ran: Vec<bool>,
    joined: Vec<Joined>,
    /// Of nodes.
    pub(crate) spent: BTreeMap<usize, Spent>,
}

impl<'p> Run<'p> {
    /// `own` are this party's inputs, in order.
    pub(crate) fn new(party: usize, plan: &'p Plan, own: Vec<Tensor>) -> Result<Self, TwoError> {
        let expected = plan.inputs.iter().filter(|input| input.owner == party).count();
        if own.len() != expected {
            return Err(TwoError::Inputs { found: own.len(), expected });
        }
        let fits = |input: &Input, tensor: &Tensor| {
            tensor.scalar() == input.scalar && tensor.lengths() == &input.lengths[..]
        };
        let (mut brought, mut own) = (vec![], own.into_iter().enumerate());
        for input in &plan.inputs {
            brought.push(match if input.owner == party { own.next() } else { None } {
                Some((place, tensor)) if !fits(input, &tensor) => return Err(TwoError::Input { place }),
                other => other.map(|(_, tensor)| tensor),
            });
        }
        // Before anything is sent.
        for (step, layer) in plan.layers().filter(|(_, layer)| layer.evaluator == party) {
            if let Some(weights) = plan.input_of(step.reads[0]).and_then(|k| brought[k].as_ref()) {
                within(weights, &layer.linear)?;
            }
        }
        let n = plan.steps.len();
        let mut readers = vec![0; n];
        let outputs = plan.outputs.iter().map(|output| &output.slot);
        plan.steps.iter().flat_map(|step| &step.reads).chain(outputs).for_each(|slot| readers[*slot] += 1);
        let joined = (0..n).map(|_| Joined::Nothing).collect();
        let (values, ran, spent) = (vec![None; n], vec![false; n], BTreeMap::new());
        Ok(Run { party, plan, brought, values, readers, ran, joined, spent })
    }

    pub(crate) fn done(&self) -> usize {
        self.ran.iter().filter(|ran| **ran).count()
    }

    fn put(&mut self, slot: Slot, form: Form) {
        self.values[slot] = (self.readers[slot] > 0).then_some(form);
        self.ran[slot] = true;
    }

    fn is_ready(&self, at: Slot) -> bool {
        !self.ran[at] && self.plan.steps[at].reads.iter().all(|slot| self.ran[*slot])
    }

    /// The values that a step reads; those that nobody reads again go.
    pub(crate) fn take(&mut self, step: &Step) -> Vec<Form> {
        let take = |slot: &Slot| {
            self.readers[*slot] -= 1;
            let value = &mut self.values[*slot];
            let form = if self.readers[*slot] == 0 { value.take() } else { value.clone() };
            form.expect("it ran, and is kept while it has readers")
        };
        step.reads.iter().map(take).collect()
    }

    /// Runs all steps that need no message and whose values are there.
    pub(crate) fn alone(&mut self) -> Result<(), TwoError> {
        let plan = self.plan;
        for (at, step) in plan.steps.iter().enumerate() {
            if !step.talks() && self.is_ready(at) {
                let reads = self.take(step);
                let begun = Instant::now();
                let form = local(self.party, &self.brought, step, &reads)?;
                self.took(step, begun, Cost::default());
                self.put(at, form);
            }
        }
        Ok(())
    }

    /// A step, or a part of it, took the time since then.
    pub(crate) fn took(&mut self, step: &Step, begun: Instant, cost: Cost) {
        let (spent, time) = (self.spent.entry(step.node).or_default(), begun.elapsed());
        spent.all += time;
        spent.cost.rounds += cost.rounds;
        spent.cost.bytes_sent += cost.bytes_sent;
        if step.is_product() {
            spent.products += time;
        }
    }

    /// All steps that are ready and talk, with what they read.
    pub(crate) fn wave(&mut self) -> Vec<(Slot, Vec<Form>)> {
        let plan = self.plan;
        let ready: Vec<Slot> = (0..plan.steps.len()).filter(|at| self.is_ready(*at)).collect();
        ready.into_iter().map(|at| (at, self.take(&plan.steps[at]))).collect()
    }

    /// A piece's value.
    pub(crate) fn land(&mut self, (at, rows): &Piece, form: Form) {
        let all = self.plan.steps[*at].size.rows();
        let rows = if self.plan.is_whole(*at) { 0..all } else { rows.clone() };
        self.joined[*at].put(all, &rows, form);
    }

    /// All pieces of these steps have landed.
    pub(crate) fn end(&mut self, wave: &[Slot]) {
        for at in wave {
            let joined = std::mem::replace(&mut self.joined[*at], Joined::Nothing);
            let form = joined.form().expect("every step is in pieces");
            self.put(*at, form);
        }
    }

    pub(crate) fn outputs(self) -> Vec<Form> {
        let output = |slot: Slot| self.values[slot].clone().expect("every step ran");
        self.plan.outputs.iter().map(|output_of| output(output_of.slot)).collect()
    }
}
