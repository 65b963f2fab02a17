//! The primitives that only two parties have, and the way in which each step runs. The crate
//! `hushwire_plan` has the primitives that all back ends share.

use crate::{encrypted::EncryptedLayer, order::sorts, ring::Holders};
use hushwire_circuit::Program;
use hushwire_compute::Scalar;
use hushwire_plan::{Local, PlanStep, Prim, Primitives, Reorder, Size, StepRows, Talk};
use std::{collections::HashMap, sync::Arc};

/// An input: the index of the party that brings it, the type of its elements, and its shape.
#[derive(Clone, Debug)]
pub(crate) struct PlanInput {
    pub(crate) owner: usize,
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
}

/// The means of multiplying private matrices and kernels by shared numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// Correlated OTs. Numbers have no bound, but much is sent.
    #[default]
    Ot,
    /// Homomorphic encryption ([`hushwire_bfv`]), and OTs if a layer has no room for its noise.
    He,
}

/// The back end for two parties, with its state while a computation is lowered.
pub(crate) struct Two {
    pub(crate) inputs: Vec<PlanInput>,
    /// The parties whose shares of each step's words or bits are not 0.
    pub(crate) holders: Vec<Holders>,
    /// Circuits that add shares, by their width and whether they take few rounds.
    pub(crate) adders: HashMap<(u32, bool), Arc<Program>>,
    pub(crate) products: Products,
    /// The bytes that the lists of the steps so far take; the lowering refuses more than `most`.
    pub(crate) lists: u64,
    pub(crate) most: u64,
}

/// The primitives without messages.
pub(crate) enum OwnLocal {
    /// The outputs of a program on bits from output `from` on, as many as `size` has.
    Part { from: usize, size: Size },
    /// Known places → the order in which each place names the row that comes there.
    AsOrder,
    /// Two orders → their composition, first one first.
    Then,
}

/// The primitives with messages.
pub(crate) enum OwnTalk {
    /// Words → bits, by a circuit that adds the shares.
    ToBits(Arc<Program>),
    /// Products of rows of words with one factor for each row. All rows have the same number of
    /// words. The holders are those of the rows and of the factors.
    Rows([Holders; 2]),
    /// The same signed numbers modulo twice as much: words → words.
    Widen,
    /// Words without their lowest bits, with negative numbers replaced by 0, in a ring with as many
    /// bits fewer: words → words.
    Rectify { by: u32 },
    /// The same nonnegative numbers in a larger ring: words → words of that ring.
    Extend(u32),
    /// A convolution of images with one party's weights, under encryption. Weights and images are
    /// words.
    Encrypted(Box<EncryptedLayer>),
}

impl Primitives for Two {
    type OwnLocal = OwnLocal;
    type OwnTalk = OwnTalk;
    type FactorFacts = [Holders; 2];
    const OPENS_IN_PIECES: bool = false;

    fn size_of_local(own: &OwnLocal, reads: &[Size]) -> Size {
        match own {
            OwnLocal::Part { size, .. } => *size,
            OwnLocal::AsOrder => Size::Order(reads[0].rows(), 0),
            OwnLocal::Then => Size::Order(reads[0].rows(), reads[0].stages() + reads[1].stages()),
        }
    }

    fn size_of_talk(own: &OwnTalk, reads: &[Size]) -> (Size, StepRows) {
        let (ring, rows) = (reads[0].ring(), reads[0].rows());
        let each = |size: Size| (size, StepRows::Each);
        match own {
            OwnTalk::ToBits(program) => each(Size::Bits(program.output_bits(), rows)),
            OwnTalk::Rows(_) => (reads[0], StepRows::Whole),
            OwnTalk::Widen => each(Size::Words(ring + 1, rows)),
            OwnTalk::Rectify { by } => each(Size::Words(ring - by, rows)),
            OwnTalk::Extend(to) => each(Size::Words(*to, rows)),
            OwnTalk::Encrypted(layer) => {
                let results = layer.linear.coefficients() as usize;
                (Size::Words(layer.linear.ring(), results), StepRows::Whole)
            }
        }
    }

    fn stages(rows: usize, bits: usize) -> usize {
        sorts(rows, bits).count()
    }
}

/// The way in which the parties run a step.
pub(crate) enum StepWay<'p> {
    /// Without messages, or in pieces together with other steps.
    Pieces,
    /// The same, for a product of matrices.
    Products,
    /// Alone. Its OTs are made during the step, in batches of its own.
    Reorder(&'p Reorder),
    /// Alone, with messages of its own.
    Encrypted(&'p EncryptedLayer),
}

/// The way in which a step runs.
pub(crate) fn way(step: &PlanStep<Two>) -> StepWay<'_> {
    match &step.prim {
        Prim::Local(local) => match local {
            Local::MatMulKnown { .. } => StepWay::Products,
            Local::Input(..)
            | Local::Known(_)
            | Local::Apply { .. }
            | Local::AsBits
            | Local::AsWords(_)
            | Local::Narrow(_)
            | Local::Pick(_)
            | Local::Gather { .. }
            | Local::Sum { .. }
            | Local::Scale
            | Local::Shift(_)
            | Local::Fold { .. }
            | Local::PoolSum(_)
            | Local::Block(_)
            | Local::Flat(..)
            | Local::Invert
            | Local::Own(OwnLocal::Part { .. } | OwnLocal::AsOrder | OwnLocal::Then) => StepWay::Pieces,
        },
        Prim::Talk(talk) => match talk {
            Talk::Reorder(reorder) => StepWay::Reorder(reorder),
            Talk::MatMul(..) => StepWay::Products,
            Talk::ToWords(_)
            | Talk::Product(_)
            | Talk::Choose
            | Talk::Less { .. }
            | Talk::LessBounded
            | Talk::Equal
            | Talk::Truncate { .. }
            | Talk::Block(_)
            | Talk::Flat(..)
            | Talk::Open { .. } => StepWay::Pieces,
            Talk::Own(own) => match own {
                OwnTalk::Encrypted(layer) => StepWay::Encrypted(layer),
                OwnTalk::ToBits(_)
                | OwnTalk::Rows(_)
                | OwnTalk::Widen
                | OwnTalk::Rectify { .. }
                | OwnTalk::Extend(_) => StepWay::Pieces,
            },
        },
    }
}
