//! Plans: the steps that compute a computation, with the form of every value.

use crate::{Cut, Door, doors, lower::ring, prim::Three};
use hushwire_compute::{Computation, ComputeError, Op};
use hushwire_plan::{PlanLowering, PlanSteps};
use std::collections::HashMap;

/// The steps that compute a computation, the same at all parties.
pub struct Plan {
    pub(crate) steps: PlanSteps<Three>,
    /// The form of each input.
    pub(crate) inputs: Vec<Door>,
    /// The form in which each output goes.
    pub(crate) outputs: Vec<Door>,
    /// Other steps, where rounds are dear.
    far: Option<Box<FarPlan>>,
}

/// The plan of the same computation whose windows are compared in few rounds.
struct FarPlan {
    plan: Plan,
    /// Rows of the largest value whose windows are compared: it is for runs that bring as many to
    /// fewer rounds.
    rows: usize,
    /// The steps of this plan that are done when a wave begins, and those of the other one when its
    /// wave of the same operation does.
    told: Vec<(usize, usize)>,
}

impl Plan {
    /// The plan of a computation without symbols.
    ///
    /// # Errors
    /// A length has no number yet, or an operation that three parties do not run on shares.
    pub fn new(computation: &Computation) -> Result<Plan, ComputeError> {
        Plan::with(computation, true, &[])
    }

    /// The plan of a computation some of whose inputs are kept as bit planes, whatever it does with
    /// them: `planes` says so of each input, in order; those that it does not reach come as is
    /// best.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_planes(computation: &Computation, planes: &[bool]) -> Result<Plan, ComputeError> {
        Plan::with(computation, true, planes)
    }

    /// The same on bits alone, without numbers in rings.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn on_bits(computation: &Computation) -> Result<Plan, ComputeError> {
        Plan::with(computation, false, &[])
    }

    fn with(computation: &Computation, rings: bool, planes: &[bool]) -> Result<Plan, ComputeError> {
        let mut numbers = doors::numbers(computation, |scalar| ring(scalar).filter(|_| rings).is_some());
        let inputs = computation.nodes().iter().zip(&mut numbers);
        let inputs = inputs.filter(|(node, _)| matches!(node.op, Op::Input(_)));
        inputs.zip(planes).for_each(|((_, number), planes)| *number &= !planes);
        let (mut plan, windowed) = Plan::lowered(computation, rings, numbers.clone(), false)?;
        if windowed > 0 {
            let (far, rows) = Plan::lowered(computation, rings, numbers, true)?;
            // Doors do not depend on the way of a run.
            if far.inputs == plan.inputs && far.outputs == plan.outputs {
                plan.far = Some(Box::new(FarPlan::new(&plan, far, rows)));
            }
        }
        Ok(plan)
    }

    /// A plan whose windows are compared in few rounds or not, and the rows of the largest value
    /// that has windows for which that matters.
    fn lowered(
        computation: &Computation,
        rings: bool,
        numbers: Vec<bool>,
        few_rounds: bool,
    ) -> Result<(Plan, usize), ComputeError> {
        let better = HashMap::new();
        let three = Three { rings, numbers, doors: vec![], few_rounds, windowed: 0, better };
        let (steps, three) = PlanLowering::new(computation, three).plan()?;
        let outputs = computation.outputs().iter().zip(steps.outputs());
        let scalar = |output: &hushwire_compute::Output| computation.node(output.value).ty.scalar;
        let outputs = outputs.map(|(output, slot)| Door::of(scalar(output), steps[*slot].size)).collect();
        Ok((Plan { steps, inputs: three.doors, outputs, far: None }, three.windowed))
    }

    /// The plan of a run that is cut so.
    pub(crate) fn at(&self, cut: Cut) -> &Plan {
        self.far.as_ref().filter(|far| far.rows <= cut.few()).map_or(self, |far| &far.plan)
    }

    /// The steps that a run that is cut so tells, of those that it has done, and all: its own
    /// unless it has others, and then those of the wave of the same operation.
    pub(crate) fn told(&self, cut: Cut, done: usize) -> (usize, usize) {
        let whole = self.steps.len();
        let Some(far) = self.far.as_ref().filter(|far| far.rows <= cut.few()) else { return (done, whole) };
        if done >= far.plan.steps.len() {
            return (whole, whole);
        }
        let before = far.told.partition_point(|(at, _)| *at <= done);
        (before.checked_sub(1).map_or(0, |leg| far.told[leg].1), whole)
    }

    /// The inputs, in order, in the form in which they come.
    #[must_use]
    pub fn inputs(&self) -> &[Door] {
        &self.inputs
    }

    /// The outputs, in order, in the form in which they go.
    pub fn outputs(&self) -> impl Iterator<Item = Door> {
        self.outputs.iter().copied()
    }
}

impl FarPlan {
    fn new(near: &Plan, plan: Plan, rows: usize) -> FarPlan {
        let legs = near.course();
        // Later waves never go back.
        let mut most = 0;
        let told = plan.course().into_iter().map(|leg| {
            let same = legs.iter().find(|near| near.node == leg.node);
            most = same.map_or(0, |same| same.done).max(most);
            (leg.done, most)
        });
        let told = told.collect();
        FarPlan { plan, rows, told }
    }
}
