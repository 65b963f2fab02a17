//! The gate in front of a machine: exact lengths, calls in turn, and nothing after an error.
//!
//! ```text
//! caller ── Machine::write, read, turn ──► gate ── say, hear, answer ──► protocol
//! ```
//!
//! A transport of a user's own may hand on what a peer sent, short or long; a check that stops
//! where a message stops would then pass. Behind the gate no protocol hears another length than its
//! round declares, and none goes on after an error, which would be a second try at a check. It
//! costs a comparison of lengths a round.

use core::cell::Cell;

use crate::{
    machine::{Exchanged, Round},
    misstep::Misstep,
};

/// Whose turn it is.
#[derive(Clone, Copy)]
enum Turn {
    /// Between two rounds.
    Speak,
    /// This round's message is written.
    Hear(Round),
    /// A step failed, or its call came out of turn. SECURITY: there is no way back.
    Lost(&'static str),
}

/// The gate's state, a field of a machine with one slot; [`gated!`](crate::gated) asks it.
///
/// A call begins by a question here, which leaves the machine lost, and ends by [`Latch::spoken`]
/// or [`Latch::heard`]: an error or a panic between them has no way back.
pub struct Latch {
    turn: Cell<Turn>,
    /// The machine looks at its own messages again.
    own: bool,
}

impl Latch {
    /// The latch of a machine that has done nothing yet, and does not look at its own messages
    /// again.
    #[must_use]
    pub const fn new() -> Self {
        Latch { turn: Cell::new(Turn::Speak), own: false }
    }

    /// The latch of a machine that looks at its own messages again: they must come back in full.
    #[must_use]
    pub const fn with_own() -> Self {
        Latch { own: true, ..Self::new() }
    }

    /// The latch of a machine that never runs.
    #[must_use]
    pub const fn lost(step: &'static str) -> Self {
        Latch { turn: Cell::new(Turn::Lost(step)), own: false }
    }

    fn lose<T>(&self, step: &'static str) -> Result<T, Misstep> {
        self.turn.set(Turn::Lost(step));
        Err(Misstep::Lost { step })
    }

    /// The round under way of a machine whose next round is `next`. The last round stays until
    /// its answer is heard, though the machine may be further.
    pub fn round(&self, next: impl FnOnce() -> Option<Round>) -> Option<Round> {
        match self.turn.get() {
            Turn::Speak => next(),
            Turn::Hear(round) => Some(round),
            // Some round, so that nobody takes it for done.
            Turn::Lost(name) => Some(Round::even(name, 0)),
        }
    }

    /// Whether a message of `bytes` may be written, and in which round; in none when the protocol
    /// is done.
    ///
    /// # Errors
    /// Another length, or not its turn.
    pub fn speak(
        &self,
        next: impl FnOnce() -> Option<Round>,
        bytes: usize,
    ) -> Result<Option<Round>, Misstep> {
        let round = match self.turn.get() {
            Turn::Speak => next(),
            // A second message of one round would have other contents under the same pads.
            Turn::Hear(Round { name, .. }) | Turn::Lost(name) => return self.lose(name),
        };
        let now = round.unwrap_or(AFTER);
        self.buffer(now.name, bytes, now.out)?;
        if round.is_some() {
            // Lost until it is known to be well.
            self.turn.set(Turn::Lost(now.name));
        }
        Ok(round)
    }

    /// The round's message is written.
    pub fn spoken(&self, round: Round) {
        self.turn.set(Turn::Hear(round));
    }

    /// Whether a round without a message of this party's has to begin: speaking may be left out
    /// then.
    ///
    /// # Errors
    /// There is a message to write first.
    pub fn silent(&self, next: impl FnOnce() -> Option<Round>) -> Result<bool, Misstep> {
        match self.turn.get() {
            Turn::Speak => match next() {
                Some(round) if round.out > 0 => self.lose(round.name),
                round => Ok(round.is_some()),
            },
            _ => Ok(false),
        }
    }

    /// Whether the round's messages may be taken; `None` when the protocol is done, and nothing
    /// came.
    ///
    /// # Errors
    /// Other lengths, or not its turn.
    pub fn hear<'m>(&self, messages: &[Exchanged<'m>]) -> Result<Option<Exchanged<'m>>, Misstep> {
        let round = match self.turn.get() {
            Turn::Hear(round) => Some(round),
            Turn::Lost(name) => return self.lose(name),
            Turn::Speak => None,
        };
        let Round { name, out, into } = round.unwrap_or(AFTER);
        let &[message] = messages else {
            self.turn.set(Turn::Lost(name));
            return Err(Misstep::Buffer { step: name, found: messages.len(), expected: 1 });
        };
        if message.heard.len() != into {
            self.turn.set(Turn::Lost(name));
            return Err(Misstep::Message { step: name, found: message.heard.len(), expected: into });
        }
        if self.own {
            self.buffer(name, message.own.len(), out)?;
        }
        if round.is_some() {
            self.turn.set(Turn::Lost(name));
        }
        Ok(round.map(|_| message))
    }

    /// The round's messages are taken.
    pub fn heard(&self) {
        self.turn.set(Turn::Speak);
    }

    /// Compares the length of a buffer of the caller's.
    ///
    /// # Errors
    /// It is another.
    pub fn buffer(&self, step: &'static str, found: usize, expected: usize) -> Result<(), Misstep> {
        if found == expected {
            return Ok(());
        }
        self.turn.set(Turn::Lost(step));
        Err(Misstep::Buffer { step, found, expected })
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

/// The round of a machine that is done.
const AFTER: Round = Round::even("after the last step", 0);
