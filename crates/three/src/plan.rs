//! Plans: the steps of a computation, with the form of every value. A computation with windows has
//! two plans: one with the fewest bytes, and one with few rounds for parties that are far from each
//! other. The cut of a run chooses between them.

use crate::{Cut, Door, doors, lower::ring, prim::Three};
use hushwire_compute::{Computation, ComputeError, Op};
use hushwire_plan::{PlanLowering, PlanSteps};
use std::collections::HashMap;

/// The steps of a computation. They are the same for all parties.
pub struct Plan {
    pub(crate) steps: PlanSteps<Three>,
    /// The form of each input.
    pub(crate) inputs: Vec<Door>,
    /// The form in which each output leaves the run.
    pub(crate) outputs: Vec<Door>,
    /// The other steps that are used if rounds are expensive.
    far: Option<Box<FarPlan>>,
}

/// The plan of the same computation that compares windows in few rounds.
struct FarPlan {
    plan: Plan,
    /// The rows of the largest value whose windows are compared. The plan serves runs for which
    /// that many rows are worth fewer rounds.
    rows: usize,
    /// For each wave, the number of this plan's steps that are done when it begins. The second
    /// number is that of the other plan when its wave of the same operation begins.
    told: Vec<(usize, usize)>,
}

impl Plan {
    /// Returns the plan of a computation without symbols.
    ///
    /// # Errors
    /// A length has no number yet, or three parties do not run an operation on shares.
    pub fn new(computation: &Computation) -> Result<Plan, ComputeError> {
        Plan::with(computation, true, &[])
    }

    /// Returns the plan of a computation with some inputs kept as bit planes, even if numbers would
    /// be cheaper. `planes` has a flag for each input, in order. Inputs beyond its end have their
    /// cheapest form.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_planes(computation: &Computation, planes: &[bool]) -> Result<Plan, ComputeError> {
        Plan::with(computation, true, planes)
    }

    /// The same with bits only, without numbers in rings.
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
            // Both plans must have the same doors, since the cut chooses between them.
            if far.inputs == plan.inputs && far.outputs == plan.outputs {
                plan.far = Some(Box::new(FarPlan::new(&plan, far, rows)));
            }
        }
        Ok(plan)
    }

    /// A plan that compares windows in few rounds or not. The number is the rows of the largest
    /// value with windows for which that matters.
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

    /// The plan for a run with this cut.
    pub(crate) fn at(&self, cut: Cut) -> &Plan {
        self.far.as_ref().filter(|far| far.rows <= cut.few()).map_or(self, |far| &far.plan)
    }

    /// The number of completed steps and the total that a run with this cut reports. For the far
    /// plan, these are the steps of the near plan at the wave of the same operation.
    pub(crate) fn told(&self, cut: Cut, done: usize) -> (usize, usize) {
        let whole = self.steps.len();
        let Some(far) = self.far.as_ref().filter(|far| far.rows <= cut.few()) else { return (done, whole) };
        if done >= far.plan.steps.len() {
            return (whole, whole);
        }
        let before = far.told.partition_point(|(at, _)| *at <= done);
        (before.checked_sub(1).map_or(0, |leg| far.told[leg].1), whole)
    }

    /// The inputs, in order, with the form in which each enters the run.
    #[must_use]
    pub fn inputs(&self) -> &[Door] {
        &self.inputs
    }

    /// The outputs, in order, with the form in which each leaves the run.
    pub fn outputs(&self) -> impl Iterator<Item = Door> {
        self.outputs.iter().copied()
    }
}

impl FarPlan {
    fn new(near: &Plan, plan: Plan, rows: usize) -> FarPlan {
        let legs = near.course();
        // The reported number never decreases.
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
