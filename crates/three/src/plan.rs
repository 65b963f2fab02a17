//! Plans: the steps that compute a computation, with the form of every value.

use crate::{Door, cut::Extent, form::Ring, lower::Lower, picks::Picks, windows::Pooling};
use hushwire_circuit::Program;
use hushwire_compute::{Computation, ComputeError, Op, Scalar, Tensor};
use hushwire_rep3::ring::Geometry;
use std::{ops::Range, sync::Arc};

/// A step's number, which is that of its value.
pub(crate) type Slot = usize;

/// Elements before, of and behind an axis: `outer` series of `n` elements, `inner` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) outer: usize,
    pub(crate) n: usize,
    pub(crate) inner: usize,
}

impl Axis {
    pub(crate) fn of(lengths: &[usize], axis: usize) -> Axis {
        Axis {
            outer: lengths[..axis].iter().product(),
            n: lengths[axis],
            inner: lengths[axis + 1..].iter().product(),
        }
    }

    /// Series.
    pub(crate) fn series(self) -> usize {
        self.outer * self.inner
    }

    /// The place of element `i` of series `k`.
    pub(crate) fn place(self, k: usize, i: usize) -> usize {
        (k / self.inner * self.n + i) * self.inner + k % self.inner
    }
}

/// How a key of a sort counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(crate) signed: bool,
    pub(crate) descending: bool,
}

/// A primitive. Arguments are values in the forms that stand beside each.
#[derive(Clone)]
pub(crate) enum Prim {
    /// Bits of the next input. No arguments.
    Input,
    /// Known elements. No arguments.
    Known(Arc<Tensor>),
    /// An operation in the open: known → known.
    Apply { op: Op, scalar: Scalar, lengths: Vec<usize> },
    /// Known → bits.
    AsBits,
    /// Known → words.
    AsWords(Ring),
    /// The same numbers modulo less: words → words.
    Narrow(Ring),
    /// Elements moved: forms of one kind → that.
    Pick(Arc<Picks>),
    /// Of `rows` rows of `inner` elements, those at known places, the second argument.
    Gather { rows: usize, inner: usize },
    /// a + b, a − b of words.
    Sum { minus: bool },
    /// Words times known elements, one or as many.
    Scale,
    /// Sums along an axis of words; with `prefix` after each element.
    Fold { axis: Axis, prefix: bool },
    /// Flags as words 0 or 1 → how much farther the row of each goes if it is 1 than if it is 0, rows of one value first.
    Farther { ones_first: bool },
    /// Flags, and how much farther each row goes → where it goes.
    Targets { ones_first: bool },
    /// Words → these of their bits. Rectified are numbers of as many bits in two's complement: they have 0 in place of what is below 0, and no sign.
    ToBits { bits: Range<usize>, rectified: bool },
    /// Bits → words.
    ToWords(Ring),
    /// One bit each → words that are 0 or 1.
    Inject(Ring),
    /// Words × words.
    Product,
    /// Words of r × k times words of k × c.
    MatMul([usize; 3]),
    /// Pictures and filters as words, channels first as computations have them → words.
    Conv2d(Geometry),
    /// Words of r × k times words of k × c, of which one, the first argument if `left`, is known elements; no message.
    MatMulKnown { shape: [usize; 3], left: bool },
    /// Pictures and filters, of which one is known, the pictures if `left`, as `Conv2d`; no message.
    Conv2dKnown { geometry: Geometry, left: bool },
    /// Sums of the elements of windows: words → words.
    PoolSum(Pooling),
    /// One bit each, words, words → the second where it is 1, else the third.
    Choose,
    /// Words < words → one bit each. Of numbers as wide as their ring alone.
    Less { signed: bool },
    /// The same where no difference needs more bits than the ring has, sign included.
    LessBounded,
    /// Words = words → one bit each, likewise.
    Equal,
    /// Words without so many lower bits, rounded towards −∞, likewise.
    Truncate { bits: u32, signed: bool },
    /// Bits of keys, the first most significant → the order of their rows.
    Sort { rows: usize, keys: Vec<Key> },
    /// Bits of keys → an order that brings equal ones together, the first `first` rows before others of one key.
    Meet { rows: usize, first: usize },
    /// Places of rows, words of 32 or 64 bits → the order in which row `places[i]` comes i-th.
    FromPlaces,
    /// An order, undone.
    Invert,
    /// Bits or words in rows of so many elements, and an order → the rows in it.
    Permute { inner: usize },
    /// Flags as words of 64 bits, and words in as many rows → the flagged rows, `kept` of them.
    Compact { kept: usize },
    /// The numbers from 0 on in an order → words of 64 bits.
    Places { rows: usize },
    /// A block on every row: bits … → bits.
    Block(Arc<Program>),
    /// A program on all bits of all elements: bits … → bits of that width and as many elements.
    Flat(Arc<Program>, [usize; 2]),
    /// Bits or words → known.
    Open { scalar: Scalar, lengths: Vec<usize> },
}

impl Prim {
    /// Words → as many bits.
    pub(crate) fn to_bits(width: usize) -> Prim {
        Prim::ToBits { bits: 0..width, rectified: false }
    }
}

/// A primitive and what it reads, all computed before.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) prim: Prim,
    pub(crate) reads: Vec<Slot>,
    /// The computation's node that it is of.
    pub(crate) node: usize,
}

impl Step {
    /// Whether the parties talk.
    pub(crate) fn talks(&self) -> bool {
        match &self.prim {
            Prim::ToBits { .. }
            | Prim::ToWords(_)
            | Prim::Inject(_)
            | Prim::Product
            | Prim::MatMul(_)
            | Prim::Conv2d(_)
            | Prim::Choose
            | Prim::Less { .. }
            | Prim::LessBounded
            | Prim::Equal
            | Prim::Truncate { .. }
            | Prim::Sort { .. }
            | Prim::Meet { .. }
            | Prim::FromPlaces
            | Prim::Compact { .. }
            | Prim::Permute { .. }
            | Prim::Places { .. }
            | Prim::Open { .. } => true,
            Prim::Block(program) | Prim::Flat(program, _) => program.ands() > 0,
            _ => false,
        }
    }
}

impl Step {
    /// Whether its value's rows are those of what it reads, each computed for itself.
    fn is_row_by_row(&self) -> bool {
        matches!(
            &self.prim,
            Prim::ToBits { .. }
                | Prim::ToWords(_)
                | Prim::Inject(_)
                | Prim::Product
                | Prim::Choose
                | Prim::Less { .. }
                | Prim::LessBounded
                | Prim::Equal
                | Prim::Truncate { .. }
                | Prim::Block(_)
                | Prim::Open { .. }
        )
    }

    /// How the step may be cut, by the rows of what it reads.
    pub(crate) fn extent(&self, reads: impl Iterator<Item = usize>) -> Extent {
        Extent { rows: reads.max().unwrap_or(0), cuts: self.is_row_by_row() }
    }
}

/// The steps that compute a computation, the same at all parties.
pub struct Plan {
    pub(crate) steps: Vec<Step>,
    /// The form of each input.
    pub(crate) inputs: Vec<Door>,
    /// The value of each output, and the form in which it goes.
    pub(crate) outputs: Vec<(Slot, Door)>,
}

impl Plan {
    /// The plan of a computation without symbols.
    ///
    /// # Errors
    /// A length has no number yet, or an operation that three parties do not run on shares.
    pub fn new(computation: &Computation) -> Result<Plan, ComputeError> {
        Lower::plan(computation, true)
    }

    /// The inputs, in order, in the form in which they come.
    #[must_use]
    pub fn inputs(&self) -> &[Door] {
        &self.inputs
    }

    /// The outputs, in order, in the form in which they go.
    pub fn outputs(&self) -> impl Iterator<Item = Door> {
        self.outputs.iter().map(|(_, door)| *door)
    }

    /// Without steps whose values no output comes from. Inputs come all the same.
    pub(crate) fn needed(mut self) -> Plan {
        let mut needed: Vec<bool> = self.steps.iter().map(|step| matches!(step.prim, Prim::Input)).collect();
        self.outputs.iter().for_each(|(slot, _)| needed[*slot] = true);
        for at in (0..self.steps.len()).rev() {
            if needed[at] {
                self.steps[at].reads.iter().for_each(|slot| needed[*slot] = true);
            }
        }
        let places: Vec<usize> = needed
            .iter()
            .scan(0, |count, needed| {
                *count += usize::from(*needed);
                Some(*count - usize::from(*needed))
            })
            .collect();
        let mut at = 0;
        self.steps.retain(|_| {
            at += 1;
            needed[at - 1]
        });
        self.steps.iter_mut().flat_map(|step| &mut step.reads).for_each(|slot| *slot = places[*slot]);
        self.outputs.iter_mut().for_each(|(slot, _)| *slot = places[*slot]);
        self
    }

    /// The same on bits alone, without numbers in rings.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn on_bits(computation: &Computation) -> Result<Plan, ComputeError> {
        Lower::plan(computation, false)
    }
}
