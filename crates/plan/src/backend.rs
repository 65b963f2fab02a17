//! The choices that a back end makes while a computation is lowered, as the trait [`Backend`].
//!
//! The lowering asks the back end for the form of inputs and outputs, and whether an operation is
//! computed on words or on bits. For each form it asks for the steps that convert to it. All
//! choices must follow from the computation alone, so that all parties make the same plan.

use crate::{
    lower::{Forms, Lowered, PlanLowering},
    prim::{Primitives, Talk},
    size::Slot,
};
use hushwire_compute::{ComputeError, Op, Scalar, Steps};
use std::ops::Range;

/// The choices of a back end while a computation is lowered.
pub trait Backend: Primitives {
    /// The reason why a computation has no plan.
    type PlanRefusal: From<ComputeError>;

    /// The parties that run plans, as errors name them.
    const PARTIES: &'static str;

    /// The bits of the ring for a scalar's numbers. `None` if it is not a number, or is wider than
    /// words.
    fn ring(&self, scalar: Scalar) -> Option<u32>;
    /// The forms of input `k`, which is node `at`.
    fn input(lower: &mut PlanLowering<'_, Self>, at: usize, k: usize) -> Lowered<Forms>;
    /// The value of an output.
    fn output(lower: &mut PlanLowering<'_, Self>, at: usize) -> Lowered<Slot>;
    /// Called after a step was added. It is the last step.
    fn added(lower: &mut PlanLowering<'_, Self>);
    /// Called after a node was lowered.
    ///
    /// # Errors
    /// The plan exceeds its largest size.
    fn lowered(lower: &PlanLowering<'_, Self>) -> Result<(), Self::PlanRefusal>;
    /// The bits that a circuit may have in addition to the steps so far; `None` if there is no
    /// limit.
    fn most_bits(lower: &PlanLowering<'_, Self>) -> Option<usize>;
    /// Whether an operation is computed on words. A ring exists for the numbers of its operands.
    fn on_words(lower: &PlanLowering<'_, Self>, op: &Op, args: &[usize]) -> bool;

    /// Whether one circuit joins this many bits, instead of one step for each level of a tree.
    fn joins_at_once(elements: usize) -> bool;
    /// Whether this many elements of a value are repeated as words. The value may be words.
    fn copies_words(lower: &PlanLowering<'_, Self>, of: usize, elements: usize) -> bool;

    /// The primitive that converts words to some of their bits, counted from the lowest.
    fn to_bits(lower: &mut PlanLowering<'_, Self>, bits: Range<usize>, rows: usize) -> Talk<Self>;
    /// The words of a value that exists in a narrow form.
    fn of_narrow(lower: &mut PlanLowering<'_, Self>, narrow: Slot, ring: u32) -> Slot;
    /// Signed numbers that are words, as a wider type. `None` if the back end widens their bits
    /// instead.
    ///
    /// # Errors
    /// As for [`PlanLowering::words`].
    fn widened(lower: &mut PlanLowering<'_, Self>, of: usize, to: Scalar) -> Lowered<Option<Forms>> {
        let (_, _, _) = (lower, of, to);
        Ok(None)
    }
    /// The facts about two values that their product needs.
    fn factors(lower: &PlanLowering<'_, Self>, reads: [Slot; 2]) -> Self::FactorFacts;
    /// The product of two values, row by row.
    fn product(lower: &mut PlanLowering<'_, Self>, reads: [Slot; 2]) -> Slot;
    /// The product of two matrices.
    fn matmul(lower: &mut PlanLowering<'_, Self>, reads: [Slot; 2], shape: [usize; 3]) -> Slot;
    /// A convolution.
    fn conv2d(
        lower: &mut PlanLowering<'_, Self>,
        args: &[usize],
        way: (Steps, u32),
        to: &[usize],
        ring: u32,
    ) -> Lowered<Forms>;
    /// The words of a value whose least and greatest elements are found by comparing words; `None`
    /// if bits are compared.
    fn comparable(lower: &mut PlanLowering<'_, Self>, of: usize) -> Lowered<Option<Slot>>;
    /// The lesser or the greater elements of two values, as bits of a scalar.
    fn better(lower: &mut PlanLowering<'_, Self>, op: &Op, scalar: Scalar, pair: [Slot; 2]) -> Slot {
        lower.on_bits(op, &[scalar; 2], scalar, pair.to_vec())
    }
    /// The greatest element of each window of a value, if the back end has its own steps for it.
    fn greatest_of_windows(
        lower: &mut PlanLowering<'_, Self>,
        of: usize,
        windows: ([u32; 2], Steps),
    ) -> Lowered<Option<Forms>> {
        let (_, _, _) = (lower, of, windows);
        Ok(None)
    }
    /// Whether maxima of this value with 0, or of its windows, are computed as rectifiers.
    fn rectifies(lower: &PlanLowering<'_, Self>, of: usize, windows: bool) -> bool;
    /// Numbers without their `by` lowest bits if they are positive, else 0. `None` if the back end
    /// has no step of its own for it.
    fn rectified(lower: &mut PlanLowering<'_, Self>, of: usize, by: u32) -> Lowered<Option<Forms>>;
    /// The same for the greatest element of each window of a value. `nodes` are the nodes of the
    /// pool and of the maximum with 0.
    fn rectified_pool(
        lower: &mut PlanLowering<'_, Self>,
        of: usize,
        nodes: [usize; 2],
        by: u32,
    ) -> Lowered<Forms>;
    /// The order that puts the rows with one value of their flag before the rows with the other.
    /// Rows with the same flag keep their order.
    fn partition(lower: &mut PlanLowering<'_, Self>, flags: Slot, ones_first: bool) -> Slot;
    /// An order that makes rows with equal keys neighbours.
    fn meet(lower: &mut PlanLowering<'_, Self>, args: &[usize], first: usize) -> Lowered<Slot>;
    /// An order given by known places: each place names the row that comes there.
    fn known_order(lower: &mut PlanLowering<'_, Self>, places: Slot) -> Slot;
    /// The rows in an order, as words of 64 bits.
    fn places(lower: &mut PlanLowering<'_, Self>, order: Slot, rows: usize) -> Slot;
    /// An order of rows, permuted by another order.
    fn composed(lower: &mut PlanLowering<'_, Self>, args: &[usize]) -> Lowered<Slot>;
    /// The first `kept` flagged rows; `None` if a circuit computes them.
    fn compact(lower: &mut PlanLowering<'_, Self>, args: &[usize], kept: usize) -> Lowered<Option<Forms>>;
}
