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

/// The gate's state: whose turn it is.
#[derive(Clone, Copy)]
enum Turn {
    /// Between two exchanges.
    Speak,
    /// This exchange's message is written.
    Hear(Tick),
    /// A step failed, or its call came out of turn. SECURITY: there is no way back.
    Lost(&'static str),
}

/// A machine's state for the gate.
pub struct Latch(Cell<Turn>);

impl Latch {
    /// Of a machine that has done nothing yet.
    pub(crate) const fn new() -> Self {
        Latch(Cell::new(Turn::Speak))
    }

    /// The latch of a machine that never runs.
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
    /// The protocol's error.
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError>;

    /// Takes the peer's message, and goes on to the next exchange.
    ///
    /// # Errors
    /// The message is malformed, or a check failed.
    fn take(&mut self, message: &[u8]) -> Result<(), OtError>;

    /// The gate's state.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Says one byte and hears two, then hears one; 9 is malformed, and 8 is a bug.
    struct Two {
        at: usize,
        latch: Latch,
    }

    fn two() -> Two {
        Two { at: 0, latch: Latch::new() }
    }

    const FIRST: Tick = Tick { name: "first", out: 1, into: 2 };
    const SECOND: Tick = Tick { name: "second", out: 0, into: 1 };

    impl Machine for Two {
        fn exchange(&self) -> Option<Tick> {
            [FIRST, SECOND].get(self.at / 2).copied()
        }
        fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
            // As a machine that has gone on by the time it hears.
            self.at += 1;
            out.fill(7);
            Ok(())
        }
        fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
            assert_ne!(message[0], 8, "a bug");
            self.at += 1;
            if message[0] == 9 { Err(OtError::malformed("nine", "it is nine")) } else { Ok(()) }
        }
        fn latch(&self) -> &Latch {
            &self.latch
        }
    }

    fn is_lost(machine: &mut Two) -> bool {
        let at = machine.at;
        let answers =
            [machine.speak(&mut [0]), machine.hear(&[1]), machine.hear(&[]), machine.speak(&mut [])];
        let looks_done = machine.tick().is_none_or(|tick| tick.out + tick.into > 0);
        let moved = machine.at != at;
        !looks_done && !moved && answers.iter().all(|answer| matches!(answer, Err(OtError::Lost { .. })))
    }

    #[test]
    fn steps_in_turn_reach_the_end_and_stay_there() {
        let (mut machine, mut out) = (two(), [0]);
        assert_eq!(machine.tick(), Some(FIRST));
        machine.speak(&mut out).expect("its turn");
        assert_eq!((machine.tick(), out), (Some(FIRST), [7]), "until the answer is heard");
        machine.hear(&[1, 1]).expect("two bytes");
        assert_eq!(machine.tick(), Some(SECOND));
        machine.hear(&[1]).expect("with nothing to say, speaking may be left out");
        assert!(machine.at == 4 && machine.tick().is_none());
        assert!(machine.speak(&mut []).is_ok() && machine.hear(&[]).is_ok() && machine.tick().is_none());
        assert!(matches!(machine.hear(&[1]), Err(OtError::Malformed { .. })));
        assert!(is_lost(&mut machine));
    }

    #[test]
    fn other_lengths_calls_out_of_turn_and_errors_end_a_machine() {
        let spoken = || {
            let mut machine = two();
            machine.speak(&mut [0]).expect("its turn");
            machine
        };
        for message in [&[][..], &[1], &[1, 1, 1]] {
            let mut machine = spoken();
            assert!(matches!(machine.hear(message), Err(OtError::Malformed { message: "first", .. })));
            assert!(machine.at == 1 && is_lost(&mut machine), "{message:?} is not taken");
        }
        let mut machine = spoken();
        assert!(matches!(machine.hear(&[9, 0]), Err(OtError::Malformed { message: "nine", .. })));
        assert!(is_lost(&mut machine));
        let mut machine = spoken();
        assert!(matches!(machine.speak(&mut [0]), Err(OtError::Lost { step: "first" })));
        assert!(is_lost(&mut machine));
        let mut machine = two();
        assert!(matches!(machine.hear(&[1, 1]), Err(OtError::Lost { step: "first" })));
        assert!(machine.at == 0 && is_lost(&mut machine));
        assert!(is_lost(&mut Two { at: 0, latch: Latch::lost("before") }));
    }

    #[test]
    fn a_panic_leaves_a_machine_lost() {
        let mut machine = two();
        machine.speak(&mut [0]).expect("its turn");
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| machine.hear(&[8, 0])));
        assert!(caught.is_err() && is_lost(&mut machine));
    }
}
