//! The work of a back end on values, as the trait [`Runtime`].
//!
//! A back end computes the value of a step without messages. For a step with messages it makes a
//! machine, which runs in rounds with those of other steps. It also prices each step from sizes
//! alone.

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

/// The work of a back end: the values of steps without messages, the machines of steps with
/// messages, and the prices of both.
pub trait Runtime: Primitives {
    /// A party's own data for steps without messages: its number, its inputs, its randomness.
    type LocalParty<'r>;
    /// The reason why a run has no result.
    type RunFailure: From<ComputeError>;
    /// A machine's randomness and correlations, and the parameters with which it runs.
    type Supplies;
    /// A running step with messages, or a piece of one.
    type StepMachine<'p>: Machine;
    /// The cost of a step, or of a piece of one.
    type StepPrice;
    /// The facts that prices depend on, in addition to sizes.
    type PriceTerms<'r>;

    /// The value of input `k`. It is taken once.
    fn input_value(party: &mut Self::LocalParty<'_>, k: usize, size: Size) -> StepValue<Self>;
    /// Known elements as shares of bits.
    fn known_bits(party: &mut Self::LocalParty<'_>, known: &Tensor) -> Self::BitShares;
    /// Known elements as shares of numbers.
    fn known_words(party: &mut Self::LocalParty<'_>, known: &Tensor, ring: u32) -> Self::WordShares;
    /// The product of matrices of r × k and k × c. One matrix is known, the left one if `left`.
    ///
    /// # Errors
    /// There are more products than the back end supports.
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
    /// There are more bits than the back end supports.
    fn affine(
        party: &mut Self::LocalParty<'_>,
        program: &Arc<Program>,
        reads: &[&Self::BitShares],
    ) -> Result<Self::BitShares, Self::RunFailure>;
    /// The value of an own primitive without messages.
    ///
    /// # Errors
    /// The errors of the primitive.
    fn own(
        party: &mut Self::LocalParty<'_>,
        own: &Self::OwnLocal,
        reads: &[StepValue<Self>],
    ) -> Result<StepValue<Self>, Self::RunFailure>;

    /// Begins a step with messages, or a piece of it, on operands of the piece's rows. The whole
    /// step has `of` rows.
    ///
    /// # Errors
    /// The operands do not fit the step.
    fn begin<'p>(
        supplies: Self::Supplies,
        step: &'p PlanStep<Self>,
        reads: Vec<StepValue<Self>>,
        of: usize,
    ) -> Result<Self::StepMachine<'p>, Self::RunFailure>;
    /// The value that a machine has when it ends.
    ///
    /// # Errors
    /// The errors of the machine.
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
