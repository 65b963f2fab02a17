//! The work of a back end on values.

use crate::{
    form::Form,
    prim::{Primitives, Talk},
    size::Size,
    steps::Step,
};
use hushwire_circuit::Program;
use hushwire_compute::{ComputeError, Tensor};
use hushwire_machine::drive::Machine;
use std::sync::Arc;

/// A back end at work: the values of steps without messages, the machines of steps with messages,
/// and the prices of both.
pub trait Engine: Primitives {
    /// A party's own data for steps without messages: its number, its inputs, its randomness.
    type Party<'r>;
    /// The reason why a run has no result.
    type Failure: From<ComputeError>;
    /// A machine's randomness and correlations, and the terms on which it runs.
    type Supplies;
    /// A step with messages under way, or a piece of one.
    type Machine<'p>: Machine;
    /// The cost of a step, or of a piece of one.
    type Price;
    /// All that prices depend on beside sizes.
    type Terms<'r>;

    /// The value of input `k`, which is taken once.
    fn input_value(party: &mut Self::Party<'_>, k: usize, size: Size) -> Form<Self>;
    /// Known elements as shares of bits.
    fn known_bits(party: &mut Self::Party<'_>, known: &Tensor) -> Self::Bits;
    /// Known elements as shares of numbers.
    fn known_words(party: &mut Self::Party<'_>, known: &Tensor, ring: u32) -> Self::Words;
    /// Matrices of r × k and k × c, of which one is known: the left one if `left`.
    ///
    /// # Errors
    /// More products than the back end takes.
    fn matmul_known(
        party: &mut Self::Party<'_>,
        shape: [usize; 3],
        words: &Self::Words,
        known: &Tensor,
        left: bool,
    ) -> Result<Self::Words, Self::Failure>;
    /// A circuit without ANDs on every row.
    ///
    /// # Errors
    /// More bits than the back end takes.
    fn affine(
        party: &mut Self::Party<'_>,
        program: &Arc<Program>,
        reads: &[&Self::Bits],
    ) -> Result<Self::Bits, Self::Failure>;
    /// The value of an own primitive without messages.
    ///
    /// # Errors
    /// The primitive's.
    fn own(
        party: &mut Self::Party<'_>,
        own: &Self::Local,
        reads: &[Form<Self>],
    ) -> Result<Form<Self>, Self::Failure>;

    /// Begins a step with messages, or a piece of it, on values of as many rows. The whole step has
    /// `of` rows.
    ///
    /// # Errors
    /// Values that do not fit the step.
    fn begin<'p>(
        supplies: Self::Supplies,
        step: &'p Step<Self>,
        reads: Vec<Form<Self>>,
        of: usize,
    ) -> Result<Self::Machine<'p>, Self::Failure>;
    /// The value that a machine leaves.
    ///
    /// # Errors
    /// The machine's.
    fn end(machine: Self::Machine<'_>) -> Result<Form<Self>, Self::Failure>;
    /// The cost of a step on values of these sizes, or of a piece of a step of `of` rows.
    fn price(
        terms: &mut Self::Terms<'_>,
        talk: &Talk<Self>,
        reads: &[Size],
        made: Size,
        of: usize,
    ) -> Self::Price;
}
