//! A party's inputs that stay while a plan runs many times, such as the weights of a served model.
//!
//! ```text
//! once      inputs ─► words of their rings, in the order in which layers take them
//!                  ─► weights of layers under encryption, transformed
//! each run  OTs, keys, seeds, masks, encryptions of 0 and flooding, none of which is kept
//! ```

use crate::{
    TwoError,
    encrypted::{signed, within},
    plan::Plan,
    prim::Two,
    runtime::{Brought, Own},
};
use hushwire_aes::Backend;
use hushwire_bfv::TransformedWeights;
use hushwire_compute::Tensor;
use hushwire_plan::{KeptValues, Slot, local};
use std::collections::BTreeMap;

/// The inputs that one of two parties brings to a plan, as this party holds them. They include the
/// values that follow from them without a message. These are the same in every run and session.
pub struct KeptInputs {
    digest: [u8; 32],
    pub(crate) index: usize,
    /// The party that brings them.
    pub(crate) owner: usize,
    pub(crate) values: KeptValues<Two>,
    /// The transformed weights of layers, by the layer's step.
    pub(crate) layers: BTreeMap<Slot, TransformedWeights>,
}

impl KeptInputs {
    /// Keeps all inputs of party `owner` at party `index`, which gives the values in order if the
    /// inputs are its own. Transformed weights take at most `most` bytes; further layers transform
    /// theirs in each run. `threads` is LOCAL.
    ///
    /// # Errors
    /// The inputs are not those of the plan, or a weight exceeds a layer's bound.
    pub fn new(
        plan: &Plan,
        [index, owner]: [usize; 2],
        own: Vec<Tensor>,
        most: u64,
        threads: usize,
    ) -> Result<KeptInputs, TwoError> {
        let brought = if index == owner { plan.brought(index, own)? } else { plan.nothing() };
        let mut party = Own { index, brought: &brought };
        let stays = |k: usize| plan.inputs[k].owner == owner;
        let values =
            KeptValues::new(&plan.steps, stays, |step, prim, reads| local(&mut party, step, prim, reads))?;
        let (mut layers, mut held) = (BTreeMap::new(), 0);
        for (at, layer) in plan.layers().filter(|(_, layer)| layer.evaluator == index) {
            let linear = &layer.linear;
            held += linear.transformed_bytes();
            if let Some(weights) = values.value(plan.steps[at].reads[0]).filter(|_| held <= most) {
                let numbers = signed(&weights.words().own, linear.ring());
                layers.insert(at, TransformedWeights::new(Backend::best(), linear, &numbers, threads)?);
            }
        }
        Ok(KeptInputs { digest: plan.digest, index, owner, values, layers })
    }

    /// Whether they are of this plan, at this party.
    pub(crate) fn fits(&self, plan: &Plan, index: usize) -> bool {
        self.digest == plan.digest && self.index == index
    }
}

impl Plan {
    /// The list of inputs without any values.
    pub(crate) fn nothing(&self) -> Brought {
        vec![None; self.inputs.len()]
    }

    /// Puts one party's inputs at their places among all inputs, if they fit.
    pub(crate) fn brought(&self, index: usize, own: Vec<Tensor>) -> Result<Brought, TwoError> {
        let mine = self.inputs.iter().enumerate().filter(|(_, input)| input.owner == index);
        let (mut brought, expected) = (self.nothing(), mine.clone().count());
        if own.len() != expected {
            return Err(TwoError::Inputs { found: own.len(), expected });
        }
        for (place, ((k, input), tensor)) in mine.zip(own).enumerate() {
            if tensor.scalar() != input.scalar || tensor.lengths() != &input.lengths[..] {
                return Err(TwoError::Input { place });
            }
            brought[k] = Some(tensor);
        }
        // This check comes before any message.
        for (at, layer) in self.layers().filter(|(_, layer)| layer.evaluator == index) {
            if let Some(weights) = self.input_of(self.steps[at].reads[0]).and_then(|k| brought[k].as_ref()) {
                within(weights, &layer.linear)?;
            }
        }
        Ok(brought)
    }
}
