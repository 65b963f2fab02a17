//! The primitives that three parties alone have.

use crate::Door;
use hushwire_circuit::Program;
use hushwire_plan::{Primitives, Size, StepRows};
use hushwire_rep3::ring::Geometry;
use std::{collections::HashMap, ops::Range, sync::Arc};

/// Three parties: what they keep while a computation is lowered.
pub(crate) struct Three {
    /// Whether numbers may be in rings.
    pub(crate) rings: bool,
    /// Whether numbers serve all that read a node, for each node.
    pub(crate) numbers: Vec<bool>,
    /// The form of each input.
    pub(crate) doors: Vec<Door>,
    /// Whether windows are compared in few rounds, as words.
    pub(crate) few_rounds: bool,
    /// Rows of the largest value whose windows are, or might be.
    pub(crate) windowed: usize,
    /// Circuits of better elements: whether the less is better, whether there are signs, and bits.
    pub(crate) better: HashMap<(bool, bool, usize), Better>,
}

/// A circuit of fewest ANDs, and one of fewest rounds.
#[derive(Clone)]
pub(crate) struct Better {
    pub(crate) ripple: Arc<Program>,
    pub(crate) prefix: Arc<Program>,
}

/// Without a message.
pub(crate) enum OwnLocal {
    /// Pictures and filters, of which one is known, the pictures if `left`, as [`OwnTalk::Conv2d`].
    Conv2dKnown { geometry: Geometry, left: bool },
    /// Flags as words 0 or 1 → how much farther the row of each goes if it is 1 than if it is 0,
    /// rows of one value first.
    Farther { ones_first: bool },
    /// Flags, and how much farther each row goes → where it goes.
    Targets { ones_first: bool },
}

/// With messages.
pub(crate) enum OwnTalk {
    /// Words → these of their bits. Rectified are numbers of as many bits in two's complement: they
    /// have 0 in place of what is below 0, and no sign.
    ToBits { bits: Range<usize>, rectified: bool },
    /// Two values' bits → the bits of the better element of each row.
    Better(Better),
    /// Words → words: numbers of as many bits in two's complement without the lowest bits, and 0 in
    /// place of those below 0.
    Rectify { bits: Range<usize> },
    /// Two or three values' words, of which any two differ by at most this many signed bits → the
    /// words of the greatest element of each row.
    Greatest { bits: usize },
    /// Pictures and filters as words, channels first as computations have them → words.
    Conv2d(Geometry),
    /// Bits of keys → an order that brings equal ones together, the first `first` rows before
    /// others of one key.
    Meet { rows: usize, first: usize },
    /// Flags as words of 64 bits, and words in as many rows → the flagged rows, `kept` of them.
    Compact { kept: usize },
    /// The numbers from 0 on in an order → words of 64 bits.
    Places { rows: usize },
}

impl Primitives for Three {
    type OwnLocal = OwnLocal;
    type OwnTalk = OwnTalk;
    type FactorFacts = ();
    const OPENS_IN_PIECES: bool = true;

    fn size_of_local(own: &OwnLocal, reads: &[Size]) -> Size {
        match own {
            OwnLocal::Conv2dKnown { geometry, left } => {
                reads[usize::from(*left)].with_rows(geometry.results().unwrap_or(0))
            }
            OwnLocal::Farther { .. } | OwnLocal::Targets { .. } => reads[0],
        }
    }

    fn size_of_talk(own: &OwnTalk, reads: &[Size]) -> (Size, StepRows) {
        let whole = |size: Size| (size, StepRows::Whole);
        match own {
            OwnTalk::ToBits { bits, rectified } => {
                (Size::Bits(bits.len() - usize::from(*rectified), reads[0].rows()), StepRows::Each)
            }
            OwnTalk::Rectify { .. } | OwnTalk::Better(_) | OwnTalk::Greatest { .. } => {
                (reads[0], StepRows::Each)
            }
            OwnTalk::Conv2d(geometry) => whole(reads[0].with_rows(geometry.results().unwrap_or(0))),
            OwnTalk::Meet { rows, .. } => whole(Size::Order(*rows, 1)),
            OwnTalk::Compact { kept } => {
                let inner = reads[1].rows().checked_div(reads[0].rows()).unwrap_or(0);
                whole(reads[1].with_rows(kept * inner))
            }
            OwnTalk::Places { rows } => whole(Size::Words(64, *rows)),
        }
    }

    fn stages(_: usize, _: usize) -> usize {
        1
    }
}
