//! The primitives that two parties alone have.

use crate::{encrypted::Layer, ring::Holders};
use hushwire_circuit::Program;
use hushwire_plan::Size;
use std::sync::Arc;

/// Without a message.
pub(crate) enum OwnLocal {
    /// Some outputs of a program on everything, and their size.
    Part { from: usize, size: Size },
    /// Known places → the order in which the row of each comes.
    AsOrder,
    /// Two orders → the first, then the second.
    Then,
}

/// With messages.
pub(crate) enum OwnTalk {
    /// Words → bits, by a circuit that adds the shares.
    ToBits(Arc<Program>),
    /// Rows of words by a factor each, as many words in each row.
    Rows([Holders; 2]),
    /// The same signed numbers modulo twice as much: words → words.
    Widen,
    /// Words without so many lower bits, 0 in place of those below 0, modulo as much less: words →
    /// words.
    Rectify { by: u32 },
    /// The same numbers, from 0 on, modulo more: words → words of a ring.
    Extend(u32),
    /// Images by the weights that one party has, under encryption: weights and images, as words.
    Encrypted(Layer),
}
