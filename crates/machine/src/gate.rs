//! The gate in front of a machine. It enforces exact lengths and the order of calls, and allows
//! nothing after an error.
//!
//! ```text
//! caller ── Machine::write, read, turn ──► gate ── say, hear, answer ──► protocol
//! ```
//!
//! A user's own transport may pass on a peer's message that is too short or too long. A check that
//! stops where a message stops would then pass. Behind the gate, a protocol gets only messages of
//! the lengths that its round declares. It never continues after an error, which would allow a
//! second try at a check. The cost is a comparison of lengths for each round.

use core::cell::Cell;

use crate::{
    machine::{Exchanged, Round},
    misstep::Misstep,
};

/// The state of a machine's turn.
#[derive(Clone, Copy)]
enum Turn {
    /// Between two rounds.
    Speak,
    /// This round's message is written.
    Hear(Round),
    /// A step failed, or was called out of turn. SECURITY: this is final.
    Lost(&'static str),
}

/// The gate's state, a field of a machine with one slot. [`gated!`](crate::gated) uses it.
///
/// A call begins with a check here, which marks the machine as lost, and ends with
/// [`Latch::spoken`] or [`Latch::heard`]. After an error or a panic between them, the machine stays
/// lost.
pub struct Latch {
    turn: Cell<Turn>,
    /// Whether the machine reads its own messages again.
    own: bool,
}

impl Latch {
    /// The latch of a machine that has done nothing yet, and does not read its own messages again.
    #[must_use]
    pub const fn new() -> Self {
        Latch { turn: Cell::new(Turn::Speak), own: false }
    }

    /// The latch of a machine that reads its own messages again, so they must be passed back in
    /// full.
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

    /// The round in progress of a machine whose next round is `next`. The last round stays until
    /// its answer is received, even if the machine is further.
    pub fn round(&self, next: impl FnOnce() -> Option<Round>) -> Option<Round> {
        match self.turn.get() {
            Turn::Speak => next(),
            Turn::Hear(round) => Some(round),
            // A round is returned, so that the machine does not look done.
            Turn::Lost(name) => Some(Round::even(name, 0)),
        }
    }

    /// Checks that a message of `bytes` may be written. Returns the round, or `None` if the
    /// protocol is done.
    ///
    /// # Errors
    /// The length differs, or it is not the time to write.
    pub fn speak(
        &self,
        next: impl FnOnce() -> Option<Round>,
        bytes: usize,
    ) -> Result<Option<Round>, Misstep> {
        let round = match self.turn.get() {
            Turn::Speak => next(),
            // A second message in one round would have other contents under the same pads.
            Turn::Hear(Round { name, .. }) | Turn::Lost(name) => return self.lose(name),
        };
        let now = round.unwrap_or(AFTER);
        self.buffer(now.name, bytes, now.out)?;
        if round.is_some() {
            // The machine is lost until the call has succeeded.
            self.turn.set(Turn::Lost(now.name));
        }
        Ok(round)
    }

    /// Records that the round's message is written.
    pub fn spoken(&self, round: Round) {
        self.turn.set(Turn::Hear(round));
    }

    /// Whether a round without a message from this party must begin, in which case writing may be
    /// skipped.
    ///
    /// # Errors
    /// A message must be written first.
    pub fn silent(&self, next: impl FnOnce() -> Option<Round>) -> Result<bool, Misstep> {
        match self.turn.get() {
            Turn::Speak => match next() {
                Some(round) if round.out > 0 => self.lose(round.name),
                round => Ok(round.is_some()),
            },
            _ => Ok(false),
        }
    }

    /// Checks that the round's messages may be taken. `None` if the protocol is done, and the
    /// messages are empty.
    ///
    /// # Errors
    /// The lengths differ, or it is not the time to read.
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

    /// Records that the round's messages are taken.
    pub fn heard(&self) {
        self.turn.set(Turn::Speak);
    }

    /// Checks the length of a buffer of the caller's.
    ///
    /// # Errors
    /// The length differs.
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
