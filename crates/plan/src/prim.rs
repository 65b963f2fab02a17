//! Primitives: the work of a step, and all that follows from it without any party's data.
//!
//! A primitive that only one back end has is of a type of that back end. Every function here and in
//! a back end matches all primitives, so that a back end that forgets one does not compile.

use crate::{
    picks::Picks,
    share::Sharing,
    size::{Axis, Pooling, Size},
};
use hushwire_circuit::Program;
use hushwire_compute::{ComputeError, Op, Scalar, Tensor, back_end};
use std::sync::Arc;

/// The primitives that only this back end has.
pub trait Primitives: Sharing {
    /// A primitive of its own that needs no message.
    type OwnLocal;
    /// A primitive of its own with messages.
    type OwnTalk;
    /// The facts about factors that a product needs.
    type FactorFacts;
    /// Whether a value may be opened in pieces.
    const OPENS_IN_PIECES: bool;

    /// The size of the value of its own primitive without messages.
    fn size_of_local(own: &Self::OwnLocal, reads: &[Size]) -> Size;
    /// The size of the value of its own primitive with messages, and how its rows are computed.
    fn size_of_talk(own: &Self::OwnTalk, reads: &[Size]) -> (Size, StepRows);
    /// The number of parts of an order by keys of `bits` bits.
    fn stages(rows: usize, bits: usize) -> usize;
}

/// How the rows of a step's value are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRows {
    /// All at once, so the step is not cut.
    Whole,
    /// Each from the same row of the operands, so that the step may be cut.
    Each,
    /// As [`Self::Each`], and the rows may overwrite an operand of the same size.
    Over,
}

/// The order of a sort's key.
#[derive(Clone, Copy, Debug)]
pub struct KeyOrder {
    /// Whether its numbers are signed.
    pub signed: bool,
    /// Whether the greatest key comes first.
    pub descending: bool,
}

/// The known range of shifted numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Unsigned, in the whole ring.
    None,
    /// Signed, in the whole ring.
    Any,
    /// In [0, 2^(ℓ−1)).
    Positive,
    /// In [−2^(ℓ−2), 2^(ℓ−2)).
    Short,
}

impl Sign {
    /// Whether the highest bit is known to be 0. For numbers in [−2^(ℓ−2), 2^(ℓ−2)), this is the
    /// case after 2^(ℓ−2) is added.
    #[must_use]
    pub fn is_known(self) -> bool {
        matches!(self, Sign::Positive | Sign::Short)
    }
}

/// A primitive without a message. Each variant lists the forms of its arguments.
pub enum Local<B: Primitives> {
    /// The input of this number, in the form and size in which it arrives. No arguments.
    Input(usize, Size),
    /// Known elements. No arguments.
    Known(Arc<Tensor>),
    /// An operation in the open: known → known.
    Apply {
        /// The operation.
        op: Op,
        /// The scalar of the result.
        scalar: Scalar,
        /// The lengths of the result.
        lengths: Vec<usize>,
    },
    /// Known → bits.
    AsBits,
    /// Known → words of a ring.
    AsWords(u32),
    /// The same numbers modulo a smaller power of two: words → words.
    Narrow(u32),
    /// Moved elements: several values of one form → that form.
    Pick(Arc<Picks>),
    /// The rows at known places. The first argument has `rows` rows of `inner` elements, and the
    /// second one the places.
    Gather {
        /// The number of rows.
        rows: usize,
        /// The elements of a row.
        inner: usize,
    },
    /// a + b or a − b of words.
    Sum {
        /// Whether it computes a − b.
        minus: bool,
    },
    /// Words times known elements: one element for all, or one for each.
    Scale,
    /// Words times a power of two.
    Shift(u32),
    /// Sums along an axis of words.
    Fold {
        /// The axis.
        axis: Axis,
        /// Whether the sum up to each element is computed.
        prefix: bool,
    },
    /// Sums of the elements of windows: words → words.
    PoolSum(Pooling),
    /// The product of words of r × k and words of k × c. One of the matrices is known elements.
    MatMulKnown {
        /// r, k, c.
        shape: [usize; 3],
        /// Whether the first argument is the known matrix.
        left: bool,
    },
    /// A block without ANDs on every row: several values of bits → bits.
    Block(Arc<Program>),
    /// A program without ANDs on all bits of all elements: several values of bits → bits of that
    /// width and number of elements.
    Flat(Arc<Program>, [usize; 2]),
    /// The inverse of an order.
    Invert,
    /// A primitive that only this back end has.
    Own(B::OwnLocal),
}

/// A primitive with messages that makes orders of rows, or permutes rows.
pub enum Reorder {
    /// Bits of keys, the most significant first → the order of their rows.
    Sort {
        /// The number of rows.
        rows: usize,
        /// The order of each key.
        keys: Vec<KeyOrder>,
    },
    /// Words with the place to which each row goes → that order.
    ToOrder,
    /// Bits or words in rows of `inner` elements, and an order → the rows in that order.
    Permute {
        /// The elements of a row.
        inner: usize,
    },
}

/// A primitive with messages.
pub enum Talk<B: Primitives> {
    /// Bits → words of a ring.
    ToWords(u32),
    /// The product of words and words, element by element.
    Product(B::FactorFacts),
    /// The product of words of r × k and words of k × c.
    MatMul([usize; 3], B::FactorFacts),
    /// One bit each, words, words → the first words if the bit is 1, else the second.
    Choose,
    /// Words < words → one bit each. The numbers are as wide as their ring.
    Less {
        /// Whether the numbers are signed.
        signed: bool,
    },
    /// The same if every difference is a signed number of the ring.
    LessBounded,
    /// Words = words → one bit each, under the same condition.
    Equal,
    /// Words without their lowest bits, rounded towards −∞.
    Truncate {
        /// The number of bits.
        by: u32,
        /// Whether the numbers are signed.
        signed: bool,
        /// The known range of the numbers.
        sign: Sign,
    },
    /// Makes an order, or brings rows into one.
    Reorder(Reorder),
    /// A block on every row: several values of bits → bits.
    Block(Arc<Program>),
    /// A program on all bits of all elements: several values of bits → bits of that width and
    /// number of elements.
    Flat(Arc<Program>, [usize; 2]),
    /// Bits or words → known.
    Open {
        /// The scalar of the elements.
        scalar: Scalar,
        /// The lengths of the opened value.
        lengths: Vec<usize>,
    },
    /// A primitive that only this back end has.
    Own(B::OwnTalk),
}

/// The work of a step.
pub enum Prim<B: Primitives> {
    /// A primitive without a message.
    Local(Local<B>),
    /// A primitive with messages.
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

/// The identity of a primitive that has equal values for equal operands. For example, scans by one
/// column of starts pick and join its flags in the same way.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum Same {
    Pick(Arc<Picks>),
    /// A block, identified by its address: all blocks of one operation share it.
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

    /// A program on all bits. Its outputs have a width and a number of elements.
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

/// The facts that follow from a primitive and the sizes of its operands.
pub(crate) struct PrimFacts {
    /// The size of its value.
    pub(crate) size: Size,
    pub(crate) rows: StepRows,
    /// The identity among primitives with the same operands; `None` if two of them count as
    /// different.
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

/// The picks of rows at known places, from `rows` rows of `inner` elements.
///
/// # Errors
/// A place does not exist.
pub fn gathered(rows: usize, inner: usize, places: &Tensor) -> Result<Picks, ComputeError> {
    let number = Scalar::unsigned(64);
    let all = Tensor::from_words(number, &[rows], (0..rows).map(|r| r as u128));
    let found = back_end::apply(&Op::Gather, &[&all, places], number, &[places.len()])?;
    let rows = found.words().iter().map(|row| *row as usize);
    Ok(Picks::of(&rows.flat_map(|r| r * inner..(r + 1) * inner).collect::<Vec<_>>()))
}

/// The bytes of a circuit's wires, for this many shares and planes of `plane` bytes.
#[must_use]
pub fn wires(program: &Program, plane: usize, shares: usize) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        (shares * block.slots() * plane * copies).max(64 * block.slots()) as u64
    };
    (0..stages.len()).map(of).max().unwrap_or(0)
}
