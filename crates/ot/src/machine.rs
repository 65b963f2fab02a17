//! The gate that every machine stands behind: exact lengths, calls in turn, and nothing after an error.
//!
//! ```text
//! caller ── Steps::speak, Steps::hear ──► gate ── Machine::say, Machine::take ──► protocol
//! ```
//!
//! A transport of a user's own may hand on what a peer sent, short or long; a check that stops where a message stops
//! would then pass. [`Steps`] is implemented for machines here alone, so that none hears another length than its tick
//! declares, and none goes on after an error, which would be a second try at a check.

use core::cell::Cell;

use crate::{OtError, Steps, Tick};

/// Whose turn it is.
#[derive(Clone, Copy)]
enum Turn {
    /// Between two exchanges.
    Speak,
    /// This exchange's message is written.
    Hear(Tick),
    /// A step failed, or its call came out of turn. SECURITY: there is no way back.
    Lost(&'static str),
}

/// What a machine keeps for the gate.
pub struct Latch(Cell<Turn>);

impl Latch {
    /// Of a machine that has done nothing yet.
    pub(crate) const fn new() -> Self {
        Latch(Cell::new(Turn::Speak))
    }

    /// Of a machine that never runs.
    pub(crate) const fn lost(step: &'static str) -> Self {
        Latch(Cell::new(Turn::Lost(step)))
    }

    /// Ends the machine.
    fn lose(&self, step: &'static str) -> Result<(), OtError> {
        self.0.set(Turn::Lost(step));
        Err(OtError::Lost { step })
    }
}

/// A party's half of a protocol, behind the gate. Only the gate calls [`Machine::say`] and [`Machine::take`]: in turn,
/// with the lengths that [`Machine::exchange`] declared, and not after an error.
pub trait Machine {
    /// The next exchange; `None` when the protocol is done.
    fn exchange(&self) -> Option<Tick>;

    /// Writes this exchange's message.
    ///
    /// # Errors
    /// What the protocol says.
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError>;

    /// Takes the peer's message, and goes on to the next exchange.
    ///
    /// # Errors
    /// The message is malformed, or a check failed.
    fn take(&mut self, message: &[u8]) -> Result<(), OtError>;

    /// Where the gate keeps its state.
    fn latch(&self) -> &Latch;
}

impl<M: Machine + ?Sized> Machine for &mut M {
    fn exchange(&self) -> Option<Tick> {
        (**self).exchange()
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        (**self).say(out)
    }
    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        (**self).take(message)
    }
    fn latch(&self) -> &Latch {
        (**self).latch()
    }
}

impl<M: Machine + ?Sized> Steps for M {
    fn tick(&self) -> Option<Tick> {
        match self.latch().0.get() {
            Turn::Speak => self.exchange(),
            Turn::Hear(tick) => Some(tick),
            // Some tick, so that nobody takes it for done.
            Turn::Lost(name) => Some(Tick { name, out: 0, into: 0 }),
        }
    }

    fn speak(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        let tick = match self.latch().0.get() {
            Turn::Speak => self.exchange(),
            // A second message of one exchange would have other contents under the same pads.
            Turn::Hear(Tick { name, .. }) | Turn::Lost(name) => return self.latch().lose(name),
        };
        assert_eq!(out.len(), tick.map_or(0, |tick| tick.out), "a buffer as long as the tick says");
        let Some(tick) = tick else { return Ok(()) };
        // Lost until it is known to be well, so that a panic leaves it lost.
        self.latch().0.set(Turn::Lost(tick.name));
        self.say(out)?;
        // The tick stands until the answer is heard, though the machine may be further.
        self.latch().0.set(Turn::Hear(tick));
        Ok(())
    }

    fn hear(&mut self, message: &[u8]) -> Result<(), OtError> {
        if let (Turn::Speak, Some(tick)) = (self.latch().0.get(), self.exchange()) {
            if tick.out > 0 {
                return self.latch().lose(tick.name);
            }
            self.speak(&mut [])?;
        }
        let tick = match self.latch().0.get() {
            Turn::Hear(tick) => tick,
            Turn::Lost(name) => return self.latch().lose(name),
            // Done.
            Turn::Speak if message.is_empty() => return Ok(()),
            Turn::Speak => Tick { name: "after the last step", out: 0, into: 0 },
        };
        self.latch().0.set(Turn::Lost(tick.name));
        wrong_length(tick.name, message, tick.into)?;
        self.take(message)?;
        self.latch().0.set(Turn::Speak);
        Ok(())
    }
}

/// Refuses a message of another length.
pub(crate) fn wrong_length(name: &'static str, message: &[u8], wanted: usize) -> Result<(), OtError> {
    let len = message.len();
    if len == wanted {
        Ok(())
    } else {
        Err(OtError::malformed(name, format!("{len} bytes instead of {wanted}")))
    }
}
