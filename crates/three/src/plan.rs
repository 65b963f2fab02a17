//! Plans: the steps that compute a computation, with the form of every value.

use crate::{Door, doors, lower::ring, prim::Three};
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
        let three = Three { rings, numbers, doors: vec![], better: HashMap::new() };
        let (steps, Three { doors: inputs, .. }) = PlanLowering::new(computation, three).plan()?;
        let outputs = computation.outputs().iter().zip(steps.outputs());
        let scalar = |output: &hushwire_compute::Output| computation.node(output.value).ty.scalar;
        let outputs = outputs.map(|(output, slot)| Door::of(scalar(output), steps[*slot].size)).collect();
        Ok(Plan { steps, inputs, outputs })
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
