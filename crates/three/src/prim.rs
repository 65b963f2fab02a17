//! The primitives that three parties alone have.

use hushwire_rep3::ring::Geometry;
use std::ops::Range;

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
