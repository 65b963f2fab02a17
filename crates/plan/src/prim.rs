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
    type Local;
    /// A primitive with messages that it has alone.
    type Talk;
    /// The facts about its factors that a product needs.
    type Factors;
    /// Whether a value may be opened in pieces.
    const OPENS_IN_PIECES: bool;

    /// The size of an own primitive's value.
    fn size_of_local(own: &Self::Local, reads: &[Size]) -> Size;
    /// The size of an own primitive's value.
    fn size_of_talk(own: &Self::Talk, reads: &[Size]) -> Size;
    /// Whether each row of an own primitive's value is computed from the same row of what it reads.
    fn is_row_by_row(own: &Self::Talk) -> bool;
    /// The parts of an order by keys of so many bits.
    fn stages(rows: usize, bits: usize) -> usize;
}

/// How a key of a sort counts.
#[derive(Clone, Copy, Debug)]
pub struct Key {
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

/// A primitive without a message. Arguments are values in the forms that stand beside each.
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
    Own(B::Local),
}

/// A primitive in which parties talk, and that makes orders of rows or moves rows by them.
pub enum Reorder {
    /// Bits of keys, the first most significant → the order of their rows.
    Sort {
        /// Rows.
        rows: usize,
        /// How keys count.
        keys: Vec<Key>,
    },
    /// Words, the place to which each row goes → that order.
    ToOrder,
    /// Bits or words in rows of so many elements, and an order → the rows in it.
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
    Product(B::Factors),
    /// Words of r × k times words of k × c.
    MatMul([usize; 3], B::Factors),
    /// One bit each, words, words → the second where it is 1, else the third.
    Choose,
    /// Words < words → one bit each. Of numbers as wide as their ring alone.
    Less {
        /// Whether they have a sign.
        signed: bool,
    },
    /// The same where every difference is a signed number of the ring.
    LessBounded,
    /// Words = words → one bit each, likewise.
    Equal,
    /// Words without so many lower bits, rounded towards −∞.
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
    Own(B::Talk),
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

    /// A program on everything, whose outputs are elements of a width, so many of them.
    #[must_use]
    pub fn flat(program: Arc<Program>, size: [usize; 2]) -> Self {
        if program.ands() > 0 { Talk::Flat(program, size).into() } else { Local::Flat(program, size).into() }
    }

    /// By what it is told from others that read the same; none where two are taken for different.
    pub(crate) fn same(&self) -> Option<Same> {
        match self {
            Prim::Local(local) => local.same(),
            Prim::Talk(talk) => talk.same(),
        }
    }
}

impl<B: Primitives> Local<B> {
    fn same(&self) -> Option<Same> {
        match self {
            Local::Pick(picks) => Some(Same::Pick(picks.clone())),
            Local::Block(program) => Some(Same::Block(Arc::as_ptr(program))),
            Local::AsBits => Some(Same::AsBits),
            Local::AsWords(ring) => Some(Same::AsWords(*ring)),
            Local::Narrow(ring) => Some(Same::Narrow(*ring)),
            Local::Invert => Some(Same::Invert),
            Local::Input(..)
            | Local::Known(_)
            | Local::Apply { .. }
            | Local::Gather { .. }
            | Local::Sum { .. }
            | Local::Scale
            | Local::Shift(_)
            | Local::Fold { .. }
            | Local::PoolSum(_)
            | Local::MatMulKnown { .. }
            | Local::Flat(..)
            | Local::Own(_) => None,
        }
    }

    pub(crate) fn size(&self, reads: &[Size]) -> Size {
        match self {
            Local::Input(_, size) => *size,
            Local::Known(tensor) => Size::Known(tensor.scalar().bits(), tensor.len()),
            Local::Apply { scalar, lengths, .. } => Size::Known(scalar.bits(), lengths.iter().product()),
            Local::AsBits => Size::Bits(reads[0].width(), reads[0].rows()),
            Local::AsWords(ring) | Local::Narrow(ring) => Size::Words(*ring, reads[0].rows()),
            Local::Pick(picks) => reads[0].with_rows(picks.len()),
            Local::Gather { inner, .. } => reads[0].with_rows(reads[1].rows() * inner),
            Local::Fold { axis, prefix: false } => reads[0].with_rows(axis.series()),
            Local::PoolSum(pooling) => reads[0].with_rows(pooling.windows()),
            Local::MatMulKnown { shape: [rows, _, columns], left } => {
                reads[usize::from(*left)].with_rows(rows * columns)
            }
            Local::Block(program) => Size::Bits(program.output_bits(), reads[0].rows()),
            Local::Flat(_, [width, rows]) => Size::Bits(*width, *rows),
            Local::Sum { .. }
            | Local::Scale
            | Local::Shift(_)
            | Local::Fold { prefix: true, .. }
            | Local::Invert => reads[0],
            Local::Own(own) => B::size_of_local(own, reads),
        }
    }
}

impl<B: Primitives> Talk<B> {
    fn same(&self) -> Option<Same> {
        match self {
            Talk::Block(program) => Some(Same::Block(Arc::as_ptr(program))),
            Talk::ToWords(ring) => Some(Same::ToWords(*ring)),
            Talk::Reorder(Reorder::Permute { inner }) => Some(Same::Permute(*inner)),
            Talk::Product(_)
            | Talk::MatMul(..)
            | Talk::Choose
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Reorder(Reorder::Sort { .. } | Reorder::ToOrder)
            | Talk::Flat(..)
            | Talk::Open { .. }
            | Talk::Own(_) => None,
        }
    }

    pub(crate) fn size(&self, reads: &[Size]) -> Size {
        match self {
            Talk::ToWords(ring) => Size::Words(*ring, reads[0].rows()),
            Talk::MatMul([rows, _, columns], _) => reads[0].with_rows(rows * columns),
            Talk::Choose => reads[1],
            Talk::Less { .. } | Talk::LessBounded | Talk::Equal => Size::Bits(1, reads[0].rows()),
            Talk::Reorder(Reorder::Sort { rows, .. }) => {
                Size::Order(*rows, B::stages(*rows, reads.iter().map(|size| size.width()).sum()))
            }
            Talk::Reorder(Reorder::ToOrder) => Size::Order(reads[0].rows(), usize::from(reads[0].rows() > 1)),
            Talk::Block(program) => Size::Bits(program.output_bits(), reads[0].rows()),
            Talk::Flat(_, [width, rows]) => Size::Bits(*width, *rows),
            Talk::Open { scalar, lengths } => Size::Known(scalar.bits(), lengths.iter().product()),
            Talk::Product(_) | Talk::Truncate { .. } | Talk::Reorder(Reorder::Permute { .. }) => reads[0],
            Talk::Own(own) => B::size_of_talk(own, reads),
        }
    }

    /// Whether its value's rows are those of what it reads, each computed for itself.
    #[must_use]
    pub fn is_row_by_row(&self) -> bool {
        match self {
            Talk::ToWords(_)
            | Talk::Product(_)
            | Talk::Choose
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Block(_) => true,
            Talk::MatMul(..) | Talk::Reorder(_) | Talk::Flat(..) => false,
            Talk::Open { .. } => B::OPENS_IN_PIECES,
            Talk::Own(own) => B::is_row_by_row(own),
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

/// Bytes of a circuit's wires, in so many shares, for planes of so many bytes.
#[must_use]
pub fn wires(program: &Program, plane: usize, shares: usize) -> u64 {
    let stages = program.stages();
    let of = |k: usize| {
        let (block, copies) = stages.shape(k);
        (shares * block.slots() * plane * copies).max(64 * block.slots()) as u64
    };
    (0..stages.len()).map(of).max().unwrap_or(0)
}
