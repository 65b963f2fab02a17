//! Runs a plan, wave by wave: the values that are present, and the time and cost of each node.
//! [`crate::ArithmeticParty`] exchanges the messages.

use crate::{
    TwoError,
    form::StepValue,
    kept::KeptInputs,
    plan::{Plan, Spent},
    prim::{StepWay, Two, way},
    runtime::{Brought, Own},
};
use hushwire_compute::Tensor;
use hushwire_machine::Cost;
use hushwire_plan::{LiveValues, PlanStep, Wave, local};
use std::{collections::BTreeMap, time::Instant};

/// The values of a running plan.
pub(crate) struct PlanRun<'p> {
    index: usize,
    pub(crate) plan: &'p Plan,
    pub(crate) kept: Option<&'p KeptInputs>,
    brought: Brought,
    values: LiveValues<'p, Two>,
    /// The cost of each node.
    pub(crate) spent: BTreeMap<usize, Spent>,
}

impl<'p> PlanRun<'p> {
    /// `own` are this party's inputs, in order.
    pub(crate) fn new(index: usize, plan: &'p Plan, own: Vec<Tensor>) -> Result<Self, TwoError> {
        let brought = plan.brought(index, own)?;
        let (values, spent) = (LiveValues::new(&plan.steps), BTreeMap::new());
        Ok(PlanRun { index, plan, kept: None, brought, values, spent })
    }

    /// The same, starting with the kept values. `own` are this party's other inputs.
    pub(crate) fn after(plan: &'p Plan, kept: &'p KeptInputs, own: Vec<Tensor>) -> Result<Self, TwoError> {
        let brought = match kept.index == kept.owner {
            true if !own.is_empty() => return Err(TwoError::Inputs { found: own.len(), expected: 0 }),
            true => plan.nothing(),
            false => plan.brought(kept.index, own)?,
        };
        let (values, spent) = (LiveValues::after(&plan.steps, &kept.values), BTreeMap::new());
        Ok(PlanRun { index: kept.index, plan, kept: Some(kept), brought, values, spent })
    }

    pub(crate) fn done(&self) -> usize {
        self.values.done()
    }

    /// Runs all steps that need no message and whose operands are present.
    pub(crate) fn alone(&mut self) -> Result<(), TwoError> {
        let spent = &mut self.spent;
        let mut own = Own { index: self.index, brought: &self.brought };
        self.values.alone(|step, prim, reads| {
            let begun = Instant::now();
            let form = local(&mut own, step, prim, reads)?;
            took(spent, step, begun, Cost::default());
            Ok(form)
        })
    }

    /// Records the time since `begun` and the cost for a step, or a part of it.
    pub(crate) fn took(&mut self, step: &PlanStep<Two>, begun: Instant, cost: Cost) {
        took(&mut self.spent, step, begun, cost);
    }

    /// All ready steps with messages, with their operands.
    pub(crate) fn wave(&mut self) -> Wave<'p, Two> {
        self.values.wave()
    }

    /// Takes the values of a wave after its pieces have landed.
    pub(crate) fn end(&mut self, wave: Wave<'p, Two>) {
        self.values.end(wave);
    }

    pub(crate) fn outputs(self) -> Vec<StepValue> {
        self.values.outputs()
    }
}

fn took(spent: &mut BTreeMap<usize, Spent>, step: &PlanStep<Two>, begun: Instant, cost: Cost) {
    let (spent, time) = (spent.entry(step.node).or_default(), begun.elapsed());
    spent.all += time;
    spent.cost.rounds += cost.rounds;
    spent.cost.bytes_sent += cost.bytes_sent;
    if matches!(way(step), StepWay::Products | StepWay::Encrypted(_)) {
        spent.products += time;
    }
}
