//! Inputs whose shares stay while a plan runs many times, such as the weights of a served model.
//!
//! Kept values follow from the shares of these inputs without a message and without randomness.
//! They are one sharing. A party sees the same part of it in every run, and it masks nothing.

use crate::{Cut, Plan, ThreeError, form::StepValue, prim::Three, run::input_value, runtime::Own};
use hushwire_plan::{KeptValues, local};
use hushwire_rep3::{Rep3Party, Shares};
use std::sync::OnceLock;

/// The shares of some inputs of a plan at one of three parties, in their forms, and the values that
/// follow from them. They serve only runs of their plan, with any cut and in any session.
pub struct KeptInputs {
    inputs: Vec<Option<StepValue>>,
    /// The values for near parties and for far ones, which have different steps.
    values: [OnceLock<KeptValues<Three>>; 2],
}

impl KeptInputs {
    /// Takes the shares of some inputs, each with its place among the plan's inputs.
    ///
    /// # Errors
    /// A share has another size than its input.
    pub fn new(plan: &Plan, shares: Vec<(usize, Shares)>) -> Result<KeptInputs, ThreeError> {
        let mut inputs: Vec<Option<StepValue>> = plan.inputs().iter().map(|_| None).collect();
        for (k, shares) in shares {
            inputs[k] = Some(input_value(shares, plan.inputs()[k])?);
        }
        Ok(KeptInputs { inputs, values: Default::default() })
    }

    /// The values that follow from the shares. They are computed once for near parties and once for
    /// far ones. The call always uses up a batch, because the first session that computes the
    /// values differs from party to party.
    pub(crate) fn values(
        &self,
        party: &mut Rep3Party,
        plan: &Plan,
        cut: Cut,
    ) -> Result<&KeptValues<Three>, ThreeError> {
        let (role, mut batch, steps) = (party.role(), party.next_batch()?, plan.at(cut));
        let place = &self.values[usize::from(!std::ptr::eq(plan, steps))];
        if let Some(values) = place.get() {
            return Ok(values);
        }
        let mut inputs = self.inputs.clone();
        let mut own = Own { role, batch: &mut batch, inputs: &mut inputs };
        let stays = |k: usize| self.inputs[k].is_some();
        let made =
            KeptValues::new(&steps.steps, stays, |step, prim, reads| local(&mut own, step, prim, reads))?;
        Ok(place.get_or_init(|| made))
    }
}
