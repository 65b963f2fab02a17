//! Inputs whose shares stay while a plan runs again and again, such as a served model's weights.
//!
//! Kept values follow from the shares of these inputs without a message and without randomness.
//! It is one sharing, of which a party sees the same part in every run, and it masks nothing.

use crate::{Cut, Plan, ThreeError, form::StepValue, prim::Three, run::came, runtime::Own};
use hushwire_plan::{KeptValues, local};
use hushwire_rep3::{Rep3Party, Shares};
use std::sync::OnceLock;

/// Shares of some inputs of a plan at one of three parties, in their forms, and what follows from
/// them. They serve runs of its plan alone, at any cut and in any session.
pub struct KeptInputs {
    inputs: Vec<Option<StepValue>>,
    /// For near parties and for far ones, whose steps are others.
    values: [OnceLock<KeptValues<Three>>; 2],
}

impl KeptInputs {
    /// Shares of some inputs, with their places, of at most the plan's number of them.
    ///
    /// # Errors
    /// Shares of another size.
    pub fn new(plan: &Plan, shares: Vec<(usize, Shares)>) -> Result<KeptInputs, ThreeError> {
        let mut inputs: Vec<Option<StepValue>> = plan.inputs().iter().map(|_| None).collect();
        for (k, shares) in shares {
            inputs[k] = Some(came(shares, plan.inputs()[k])?);
        }
        Ok(KeptInputs { inputs, values: Default::default() })
    }

    /// The values that follow from them, computed once for near parties and once for far ones. It
    /// takes a batch either way: which session comes first differs from party to party.
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
