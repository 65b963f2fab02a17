//! The choices of a back end.

use crate::{
    lower::{Forms, Lowered, PlanLowering},
    prim::{Primitives, Talk},
    size::Slot,
};
use hushwire_compute::{ComputeError, Op, Scalar, Steps};
use std::ops::Range;

/// The choices of a back end while a computation is lowered.
pub trait Backend: Primitives {
    /// The reason why there is no plan.
    type PlanRefusal: From<ComputeError>;

    /// Who runs plans, for errors.
    const PARTIES: &'static str;

    /// Bits of the ring of a scalar's numbers; none for what is no number, or wider than words.
    fn ring(&self, scalar: Scalar) -> Option<u32>;
    /// The form of input `k`, which is node `at`.
    fn input(lower: &mut PlanLowering<'_, Self>, at: usize, k: usize) -> Lowered<Forms>;
    /// The value of an output.
    fn output(lower: &mut PlanLowering<'_, Self>, at: usize) -> Lowered<Slot>;
    /// A step was added: the last one.
    fn added(lower: &mut PlanLowering<'_, Self>);
    /// A node was lowered.
    ///
    /// # Errors
    /// The plan is larger than it may be.
    fn lowered(lower: &PlanLowering<'_, Self>) -> Result<(), Self::PlanRefusal>;
    /// Bits that a circuit may have beside the steps so far; `None` where there is no limit.
    fn most_bits(lower: &PlanLowering<'_, Self>) -> Option<usize>;
    /// Whether an operation is computed on words. Some ring has the numbers of its operands.
    fn on_words(lower: &PlanLowering<'_, Self>, op: &Op, args: &[usize]) -> bool;

    /// Whether this many bits are joined by one circuit, in place of a step for each level of a
    /// tree.
    fn joins_at_once(elements: usize) -> bool;
    /// Whether this many elements of a value that may be words are copied down as words.
    fn copies_words(lower: &PlanLowering<'_, Self>, of: usize, elements: usize) -> bool;

    /// Words → some of their bits, of the first on.
    fn to_bits(lower: &mut PlanLowering<'_, Self>, bits: Range<usize>, rows: usize) -> Talk<Self>;
    /// The words of a value that there is in a narrow form.
    fn of_narrow(lower: &mut PlanLowering<'_, Self>, narrow: Slot, ring: u32) -> Slot;
    /// Signed numbers that are words, as a wider type; none where their bits are words again there.
    ///
    /// # Errors
    /// As of [`PlanLowering::words`].
    fn widened(lower: &mut PlanLowering<'_, Self>, of: usize, to: Scalar) -> Lowered<Option<Forms>> {
        let (_, _, _) = (lower, of, to);
        Ok(None)
    }
    /// The facts about values that a product of them needs.
    fn factors(lower: &PlanLowering<'_, Self>, reads: [Slot; 2]) -> Self::FactorFacts;
    /// A product, row by row.
    fn product(lower: &mut PlanLowering<'_, Self>, reads: [Slot; 2]) -> Slot;
    /// A product of matrices.
    fn matmul(lower: &mut PlanLowering<'_, Self>, reads: [Slot; 2], shape: [usize; 3]) -> Slot;
    /// A convolution.
    fn conv2d(
        lower: &mut PlanLowering<'_, Self>,
        args: &[usize],
        way: (Steps, u32),
        to: &[usize],
        ring: u32,
    ) -> Lowered<Forms>;
    /// The words of a value whose least and greatest elements are found by comparing words; none
    /// where bits are compared.
    fn comparable(lower: &mut PlanLowering<'_, Self>, of: usize) -> Lowered<Option<Slot>>;
    /// The less or the greater of two values' elements, as bits of a scalar.
    fn better(lower: &mut PlanLowering<'_, Self>, op: &Op, scalar: Scalar, pair: [Slot; 2]) -> Slot {
        lower.on_bits(op, &[scalar; 2], scalar, pair.to_vec())
    }
    /// The greatest of each window of a value, where the back end has steps of its own for them.
    fn greatest_of_windows(
        lower: &mut PlanLowering<'_, Self>,
        of: usize,
        windows: ([u32; 2], Steps),
    ) -> Lowered<Option<Forms>> {
        let (_, _, _) = (lower, of, windows);
        Ok(None)
    }
    /// Whether maxima of this value with 0, or of its windows, are rectifiers.
    fn rectifies(lower: &PlanLowering<'_, Self>, of: usize, windows: bool) -> bool;
    /// Numbers without their lowest bits where they are positive, else 0; none where the back end
    /// has no step of its own for that.
    fn rectified(lower: &mut PlanLowering<'_, Self>, of: usize, by: u32) -> Lowered<Option<Forms>>;
    /// The same of the greatest element of each window of a value. `nodes` are those of the pool
    /// and of the maximum with 0.
    fn rectified_pool(
        lower: &mut PlanLowering<'_, Self>,
        of: usize,
        nodes: [usize; 2],
        by: u32,
    ) -> Lowered<Forms>;
    /// The order that puts the rows with one value of their flag before the rows with the other,
    /// and keeps the order of rows with the same flag.
    fn partition(lower: &mut PlanLowering<'_, Self>, flags: Slot, ones_first: bool) -> Slot;
    /// An order that brings equal keys together.
    fn meet(lower: &mut PlanLowering<'_, Self>, args: &[usize], first: usize) -> Lowered<Slot>;
    /// An order of known places: at each, the row that comes there.
    fn known_order(lower: &mut PlanLowering<'_, Self>, places: Slot) -> Slot;
    /// The rows that an order brings, as words of 64 bits.
    fn places(lower: &mut PlanLowering<'_, Self>, order: Slot, rows: usize) -> Slot;
    /// An order of rows, moved by another.
    fn composed(lower: &mut PlanLowering<'_, Self>, args: &[usize]) -> Lowered<Slot>;
    /// The first `kept` flagged rows; none where that is a circuit.
    fn compact(lower: &mut PlanLowering<'_, Self>, args: &[usize], kept: usize) -> Lowered<Option<Forms>>;
}
