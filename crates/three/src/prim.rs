//! The primitives that only three parties have, with the sizes of their values. The other
//! primitives are those of `hushwire_plan`.

use crate::Door;
use hushwire_circuit::Program;
use hushwire_plan::{Primitives, Size, StepRows};
use hushwire_rep3::ring::Geometry;
use std::{collections::HashMap, ops::Range, sync::Arc};

/// The back end for three parties, with its state while a computation is lowered.
pub(crate) struct Three {
    /// Whether numbers may be words in rings.
    pub(crate) rings: bool,
    /// For each node, whether all its readers can use numbers.
    pub(crate) numbers: Vec<bool>,
    /// The form of each input.
    pub(crate) doors: Vec<Door>,
    /// Whether windows are compared as words, in few rounds.
    pub(crate) few_rounds: bool,
    /// The rows of the largest value whose windows are compared this way, or could be.
    pub(crate) windowed: usize,
    /// The circuits for better elements. The key tells whether the lesser element is better,
    /// whether numbers are signed, and their bits.
    pub(crate) better: HashMap<(bool, bool, usize), Better>,
}

/// Two circuits: one with the fewest ANDs, and one with the fewest rounds.
#[derive(Clone)]
pub(crate) struct Better {
    pub(crate) ripple: Arc<Program>,
    pub(crate) prefix: Arc<Program>,
}

/// The primitives without messages.
pub(crate) enum OwnLocal {
    /// The convolution of pictures and filters, one of which is known: the pictures if `left`.
    /// Layout as in [`OwnTalk::Conv2d`].
    Conv2dKnown { geometry: Geometry, left: bool },
    /// Flags as words 0 or 1 → the distance between each row's place if its flag is 1 and its place
    /// if the flag is 0. Rows of one value come first.
    Farther { ones_first: bool },
    /// Flags, and the product of each flag with its distance → the place to which each row goes.
    Targets { ones_first: bool },
}

/// The primitives with messages.
pub(crate) enum OwnTalk {
    /// Words → some of their bits. If rectified, the words are numbers in two's complement with
    /// `bits.end` bits. Negative numbers become 0, and the result has no sign bit.
    ToBits { bits: Range<usize>, rectified: bool },
    /// Two values' bits → the bits of the better element of each row.
    Better(Better),
    /// Words → words. The numbers in two's complement lose their lowest bits, and negative numbers
    /// become 0.
    Rectify { bits: Range<usize> },
    /// The words of two or three values, of which any two differ by at most this many signed bits →
    /// the words of the greatest element of each row.
    Greatest { bits: usize },
    /// Pictures and filters as words, channels first as in computations → words.
    Conv2d(Geometry),
    /// Bits of keys → an order that makes equal keys neighbours. Within a key, the first `first`
    /// rows come before the others.
    Meet { rows: usize, first: usize },
    /// Flags as words of 64 bits, and words with as many rows → `kept` flagged rows.
    Compact { kept: usize },
    /// An order → the numbers 0, 1, 2, … in this order, as words of 64 bits.
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
