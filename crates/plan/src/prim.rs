//! Primitives: what a step does, and all that follows from it without anybody's data.
//!
//! A primitive that one back end has alone is of a type of that back end. Every function here and
//! in a back end matches all primitives, so that a back end that forgets one does not compile.

use crate::{
    picks::Picks,
    share::Sharing,
    size::{Axis, Pooling, Size},
};
use hushwire_circuit::Program;
use hushwire_compute::{ComputeError, Op, Scalar, Tensor, back_end};
use std::sync::Arc;

/// The primitives that a back end has alone.
pub trait Primitives: Sharing {
    /// A primitive without a message that it has alone.
    type OwnLocal;
    /// A primitive with messages that it has alone.
    type OwnTalk;
    /// The facts about its factors that a product needs.
    type FactorFacts;
    /// Whether a value may be opened in pieces.
    const OPENS_IN_PIECES: bool;

    /// The size of an own primitive's value.
    fn size_of_local(own: &Self::OwnLocal, reads: &[Size]) -> Size;
    /// The size of an own primitive's value, and how its rows are computed.
    fn size_of_talk(own: &Self::OwnTalk, reads: &[Size]) -> (Size, StepRows);
    /// The parts of an order by keys of `bits` bits.
    fn stages(rows: usize, bits: usize) -> usize;
}

/// How the rows of a step's value are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRows {
    /// All at once: the step is not cut.
    Whole,
    /// Each from the same row of what the step reads, so that the step may be cut.
    Each,
    /// As [`Self::Each`]; they may be written over a value of the same size that the step reads.
    Over,
}

/// How a key of a sort counts.
#[derive(Clone, Copy, Debug)]
pub struct KeyOrder {
    /// Whether its numbers have a sign.
    pub signed: bool,
    /// Whether the greatest comes first.
    pub descending: bool,
}

/// The range of numbers that are shifted, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Unsigned, of the whole ring.
    None,
    /// Signed, of the whole ring.
    Any,
    /// In [0, 2^(ℓ−1)).
    Positive,
    /// In [−2^(ℓ−2), 2^(ℓ−2)).
    Short,
}

impl Sign {
    /// Whether the highest bit is 0, of numbers in [−2^(ℓ−2), 2^(ℓ−2)) plus 2^(ℓ−2).
    #[must_use]
    pub fn is_known(self) -> bool {
        matches!(self, Sign::Positive | Sign::Short)
    }
}

/// A primitive without a message. Each has the forms of its arguments beside it.
pub enum Local<B: Primitives> {
    /// The input of this number, as it comes, and its form. No arguments.
    Input(usize, Size),
    /// Known elements. No arguments.
    Known(Arc<Tensor>),
    /// An operation in the open: known → known.
    Apply {
        /// The operation.
        op: Op,
        /// The scalar of its result.
        scalar: Scalar,
        /// The lengths of its result.
        lengths: Vec<usize>,
    },
    /// Known → bits.
    AsBits,
    /// Known → words of a ring.
    AsWords(u32),
    /// The same numbers modulo less: words → words.
    Narrow(u32),
    /// Elements moved: forms of one kind → that.
    Pick(Arc<Picks>),
    /// The rows at known places, which are the second argument, of `rows` rows of `inner` elements.
    Gather {
        /// Rows that there are.
        rows: usize,
        /// Elements of a row.
        inner: usize,
    },
    /// a + b, a − b of words.
    Sum {
        /// Whether it is a − b.
        minus: bool,
    },
    /// Words times known elements, one or as many.
    Scale,
    /// Words times a power of two.
    Shift(u32),
    /// Sums along an axis of words.
    Fold {
        /// The axis.
        axis: Axis,
        /// Whether there is a sum after each element.
        prefix: bool,
    },
    /// Sums of the elements of windows: words → words.
    PoolSum(Pooling),
    /// Words of r × k times words of k × c, of which one is known elements.
    MatMulKnown {
        /// r, k, c.
        shape: [usize; 3],
        /// Whether the first argument is the known one.
        left: bool,
    },
    /// A block without ANDs on every row: bits … → bits.
    Block(Arc<Program>),
    /// A program without ANDs on all bits of all elements: bits … → bits of that width and as many
    /// elements.
    Flat(Arc<Program>, [usize; 2]),
    /// An order, undone.
    Invert,
    /// A primitive that the back end has alone.
    Own(B::OwnLocal),
}

/// A primitive in which parties talk, and that makes orders of rows or moves rows by them.
pub enum Reorder {
    /// Bits of keys, the first most significant → the order of their rows.
    Sort {
        /// Rows.
        rows: usize,
        /// How keys count.
        keys: Vec<KeyOrder>,
    },
    /// Words, the place to which each row goes → that order.
    ToOrder,
    /// Bits or words in rows of `inner` elements, and an order → the rows in it.
    Permute {
        /// Elements of a row.
        inner: usize,
    },
}

/// A primitive in which parties talk.
pub enum Talk<B: Primitives> {
    /// Bits → words of a ring.
    ToWords(u32),
    /// The product of words with words, element by element.
    Product(B::FactorFacts),
    /// Words of r × k times words of k × c.
    MatMul([usize; 3], B::FactorFacts),
    /// One bit each, words, words → the second where it is 1, else the third.
    Choose,
    /// Words < words → one bit each. The numbers are as wide as their ring.
    Less {
        /// Whether they have a sign.
        signed: bool,
    },
    /// The same where every difference is a signed number of the ring.
    LessBounded,
    /// Words = words → one bit each, likewise.
    Equal,
    /// Words without their lowest bits, rounded towards −∞.
    Truncate {
        /// Bits.
        by: u32,
        /// Whether numbers have a sign.
        signed: bool,
        /// Where they lie.
        sign: Sign,
    },
    /// Rows brought to an order.
    Reorder(Reorder),
    /// A block on every row: bits … → bits.
    Block(Arc<Program>),
    /// A program on all bits of all elements: bits … → bits of that width and as many elements.
    Flat(Arc<Program>, [usize; 2]),
    /// Bits or words → known.
    Open {
        /// The elements' scalar.
        scalar: Scalar,
        /// Their lengths.
        lengths: Vec<usize>,
    },
    /// A primitive that the back end has alone.
    Own(B::OwnTalk),
}

/// The work of a step.
pub enum Prim<B: Primitives> {
    /// No message.
    Local(Local<B>),
    /// Messages.
    Talk(Talk<B>),
}

impl<B: Primitives> From<Local<B>> for Prim<B> {
    fn from(prim: Local<B>) -> Self {
        Prim::Local(prim)
    }
}

impl<B: Primitives> From<Reorder> for Prim<B> {
    fn from(prim: Reorder) -> Self {
        Prim::Talk(Talk::Reorder(prim))
    }
}

impl<B: Primitives> From<Talk<B>> for Prim<B> {
    fn from(prim: Talk<B>) -> Self {
        Prim::Talk(prim)
    }
}

/// A primitive that has the same value wherever it reads the same: scans by one column of starts,
/// say, pick and join its flags alike.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Same {
    Pick(Arc<Picks>),
    /// A block, by its place in memory: those of one operation are one.
    Block(*const Program),
    ToWords(u32),
    Permute(usize),
    Invert,
    AsBits,
    AsWords(u32),
    Narrow(u32),
}

impl<B: Primitives> Prim<B> {
    /// A block on every row.
    pub(crate) fn block(program: Arc<Program>) -> Self {
        if program.ands() > 0 { Talk::Block(program).into() } else { Local::Block(program).into() }
    }

    /// A program on everything. Its outputs have a width and a number of elements.
    #[must_use]
    pub fn flat(program: Arc<Program>, size: [usize; 2]) -> Self {
        if program.ands() > 0 { Talk::Flat(program, size).into() } else { Local::Flat(program, size).into() }
    }

    pub(crate) fn facts(&self, reads: &[Size]) -> PrimFacts {
        match self {
            Prim::Local(local) => local.facts(reads),
            Prim::Talk(talk) => talk.facts(reads),
        }
    }
}

/// What follows from a primitive and the sizes of what it reads.
pub(crate) struct PrimFacts {
    /// The size of its value.
    pub(crate) size: Size,
    pub(crate) rows: StepRows,
    /// By what it is told from others that read the same; none where two are taken for different.
    pub(crate) same: Option<Same>,
}

impl PrimFacts {
    fn of(size: Size, rows: StepRows) -> Self {
        PrimFacts { size, rows, same: None }
    }

    fn like(self, same: Same) -> Self {
        PrimFacts { same: Some(same), ..self }
    }
}

impl<B: Primitives> Local<B> {
    fn facts(&self, reads: &[Size]) -> PrimFacts {
        let of = |size: Size| PrimFacts::of(size, StepRows::Whole);
        match self {
            Local::Input(_, size) => of(*size),
            Local::Known(tensor) => of(Size::Known(tensor.scalar().bits(), tensor.len())),
            Local::Apply { scalar, lengths, .. } => of(Size::Known(scalar.bits(), lengths.iter().product())),
            Local::AsBits => of(Size::Bits(reads[0].width(), reads[0].rows())).like(Same::AsBits),
            Local::AsWords(ring) => of(Size::Words(*ring, reads[0].rows())).like(Same::AsWords(*ring)),
            Local::Narrow(ring) => of(Size::Words(*ring, reads[0].rows())).like(Same::Narrow(*ring)),
            Local::Pick(picks) => of(reads[0].with_rows(picks.len())).like(Same::Pick(picks.clone())),
            Local::Gather { inner, .. } => of(reads[0].with_rows(reads[1].rows() * inner)),
            Local::Fold { axis, prefix: false } => of(reads[0].with_rows(axis.series())),
            Local::PoolSum(pooling) => of(reads[0].with_rows(pooling.windows())),
            Local::MatMulKnown { shape: [rows, _, columns], left } => {
                of(reads[usize::from(*left)].with_rows(rows * columns))
            }
            Local::Block(program) => of(block_size(program, reads)).like(Same::Block(Arc::as_ptr(program))),
            Local::Flat(_, [width, rows]) => of(Size::Bits(*width, *rows)),
            Local::Invert => of(reads[0]).like(Same::Invert),
            Local::Sum { .. } | Local::Scale | Local::Shift(_) | Local::Fold { prefix: true, .. } => {
                of(reads[0])
            }
            Local::Own(own) => of(B::size_of_local(own, reads)),
        }
    }
}

fn block_size(program: &Program, reads: &[Size]) -> Size {
    Size::Bits(program.output_bits(), reads[0].rows())
}

impl<B: Primitives> Talk<B> {
    fn facts(&self, reads: &[Size]) -> PrimFacts {
        let whole = |size: Size| PrimFacts::of(size, StepRows::Whole);
        let each = |size: Size| PrimFacts::of(size, StepRows::Each);
        let over = |size: Size| PrimFacts::of(size, StepRows::Over);
        match self {
            Talk::ToWords(ring) => each(Size::Words(*ring, reads[0].rows())).like(Same::ToWords(*ring)),
            Talk::Product(_) => over(reads[0]),
            Talk::MatMul([rows, _, columns], _) => whole(reads[0].with_rows(rows * columns)),
            Talk::Choose => over(reads[1]),
            Talk::Less { .. } | Talk::LessBounded | Talk::Equal => each(Size::Bits(1, reads[0].rows())),
            Talk::Truncate { .. } => each(reads[0]),
            Talk::Reorder(Reorder::Sort { rows, .. }) => {
                let bits = reads.iter().map(|size| size.width()).sum();
                whole(Size::Order(*rows, B::stages(*rows, bits)))
            }
            Talk::Reorder(Reorder::ToOrder) => {
                whole(Size::Order(reads[0].rows(), usize::from(reads[0].rows() > 1)))
            }
            Talk::Reorder(Reorder::Permute { inner }) => whole(reads[0]).like(Same::Permute(*inner)),
            Talk::Block(program) => over(block_size(program, reads)).like(Same::Block(Arc::as_ptr(program))),
            Talk::Flat(_, [width, rows]) => whole(Size::Bits(*width, *rows)),
            Talk::Open { scalar, lengths } => {
                let size = Size::Known(scalar.bits(), lengths.iter().product());
                if B::OPENS_IN_PIECES { each(size) } else { whole(size) }
            }
            Talk::Own(own) => {
                let (size, rows) = B::size_of_talk(own, reads);
                PrimFacts::of(size, rows)
            }
        }
    }
}

/// The elements of rows at known places: of `rows` rows of `inner` elements.
///
/// # Errors
/// A place that does not exist.
pub fn gathered(rows: usize, inner: usize, places: &Tensor) -> Result<Picks, ComputeError> {
    let number = Scalar::unsigned(64);
    let all = Tensor::from_words(number, &[rows], (0..rows).map(|r| r as u128));
    let found = back_end::apply(&Op::Gather, &[&all, places], number, &[places.len()])?;
    let rows = found.words().iter().map(|row| *row as usize);
    Ok(Picks::of(&rows.flat_map(|r| r * inner..(r + 1) * inner).collect::<Vec<_>>()))
}

/// Bytes of a circuit's wires, for a number of shares, and planes of `plane` bytes.
#[must_use]
pub fn wires(program: &Program, plane: usize, shares: usize) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        (shares * block.slots() * plane * copies).max(64 * block.slots()) as u64
    };
    (0..stages.len()).map(of).max().unwrap_or(0)
}
