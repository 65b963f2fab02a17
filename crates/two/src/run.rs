//! Runs of a plan, wave by wave.

use crate::{
    TwoError,
    encrypted::within,
    form::{Form, Joined},
    local::{Brought, local},
    lower::{Input, Two},
    plan::{Piece, Plan, Spent, Step, is_product},
};
use hushwire_compute::Tensor;
use hushwire_machine::Cost;
use hushwire_plan::{Slot, Values};
use std::{collections::BTreeMap, time::Instant};

/// The values of a plan under way.
pub(crate) struct Run<'p> {
    party: usize,
    pub(crate) plan: &'p Plan,
    brought: Brought,
    values: Values<'p, Two>,
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
        let joined = plan.steps.iter().map(|_| Joined::Nothing).collect();
        let (values, spent) = (Values::new(&plan.steps), BTreeMap::new());
        Ok(Run { party, plan, brought, values, joined, spent })
    }

    pub(crate) fn done(&self) -> usize {
        self.values.done()
    }

    /// Runs all steps that need no message and whose values are there.
    pub(crate) fn alone(&mut self) -> Result<(), TwoError> {
        let (party, brought, spent) = (self.party, &self.brought, &mut self.spent);
        self.values.alone(|step, prim, reads| {
            let begun = Instant::now();
            let form = local(party, brought, step, prim, reads)?;
            took(spent, step, begun, Cost::default());
            Ok(form)
        })
    }

    /// A step, or a part of it, took the time since then.
    pub(crate) fn took(&mut self, step: &Step, begun: Instant, cost: Cost) {
        took(&mut self.spent, step, begun, cost);
    }

    /// All steps that are ready and talk, with what they read.
    pub(crate) fn wave(&mut self) -> Vec<(Slot, Vec<Form>)> {
        self.values.wave()
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
            self.values.put(*at, form);
        }
    }

    pub(crate) fn outputs(self) -> Vec<Form> {
        self.values.outputs()
    }
}

fn took(spent: &mut BTreeMap<usize, Spent>, step: &Step, begun: Instant, cost: Cost) {
    let (spent, time) = (spent.entry(step.node).or_default(), begun.elapsed());
    spent.all += time;
    spent.cost.rounds += cost.rounds;
    spent.cost.bytes_sent += cost.bytes_sent;
    if is_product(step) {
        spent.products += time;
    }
}
