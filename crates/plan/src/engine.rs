//! The work of a back end on values.

use crate::{
    form::StepValue,
    prim::{Primitives, Talk},
    size::Size,
    steps::PlanStep,
};
use hushwire_circuit::Program;
use hushwire_compute::{ComputeError, Tensor};
use hushwire_machine::drive::Machine;
use std::sync::Arc;

/// A back end at work: the values of steps without messages, the machines of steps with messages,
/// and the prices of both.
pub trait Runtime: Primitives {
    /// A party's own data for steps without messages: its number, its inputs, its randomness.
    type LocalParty<'r>;
    /// The reason why a run has no result.
    type RunFailure: From<ComputeError>;
    /// A machine's randomness and correlations, and the terms on which it runs.
    type Supplies;
    /// A step with messages under way, or a piece of one.
    type StepMachine<'p>: Machine;
    /// The cost of a step, or of a piece of one.
    type StepPrice;
    /// All that prices depend on beside sizes.
    type PriceTerms<'r>;

    /// The value of input `k`, which is taken once.
    fn input_value(party: &mut Self::LocalParty<'_>, k: usize, size: Size) -> StepValue<Self>;
    /// Known elements as shares of bits.
    fn known_bits(party: &mut Self::LocalParty<'_>, known: &Tensor) -> Self::BitShares;
    /// Known elements as shares of numbers.
    fn known_words(party: &mut Self::LocalParty<'_>, known: &Tensor, ring: u32) -> Self::WordShares;
    /// Matrices of r × k and k × c, of which one is known: the left one if `left`.
    ///
    /// # Errors
    /// More products than the back end takes.
    fn matmul_known(
        party: &mut Self::LocalParty<'_>,
        shape: [usize; 3],
        words: &Self::WordShares,
        known: &Tensor,
        left: bool,
    ) -> Result<Self::WordShares, Self::RunFailure>;
    /// A circuit without ANDs on every row.
    ///
    /// # Errors
    /// More bits than the back end takes.
    fn affine(
        party: &mut Self::LocalParty<'_>,
        program: &Arc<Program>,
        reads: &[&Self::BitShares],
    ) -> Result<Self::BitShares, Self::RunFailure>;
    /// The value of an own primitive without messages.
    ///
    /// # Errors
    /// The primitive's.
    fn own(
        party: &mut Self::LocalParty<'_>,
        own: &Self::OwnLocal,
        reads: &[StepValue<Self>],
    ) -> Result<StepValue<Self>, Self::RunFailure>;

    /// Begins a step with messages, or a piece of it, on values of as many rows. The whole step has
    /// `of` rows.
    ///
    /// # Errors
    /// Values that do not fit the step.
    fn begin<'p>(
        supplies: Self::Supplies,
        step: &'p PlanStep<Self>,
        reads: Vec<StepValue<Self>>,
        of: usize,
    ) -> Result<Self::StepMachine<'p>, Self::RunFailure>;
    /// The value that a machine leaves.
    ///
    /// # Errors
    /// The machine's.
    fn end(machine: Self::StepMachine<'_>) -> Result<StepValue<Self>, Self::RunFailure>;
    /// The cost of a step on values of these sizes, or of a piece of a step of `of` rows.
    fn price(
        terms: &mut Self::PriceTerms<'_>,
        talk: &Talk<Self>,
        reads: &[Size],
        made: Size,
        of: usize,
    ) -> Self::StepPrice;
}
