//! The gate that every machine stands behind: exact lengths, calls in turn, and nothing after an error.
//!
//! ```text
//! caller ── Machine::write, Machine::read ──► gate ── Guarded::say, Guarded::take ──► protocol
//! ```
//!
//! A transport of a user's own may hand on what a peer sent, short or long; a check that stops where a message stops
//! would then pass. [`Machine`](crate::Machine) is implemented here alone, so that none hears another length than its round
//! declares, and none goes on after an error, which would be a second try at a check.

use core::cell::Cell;

use crate::{OtError, Round};

/// The gate's state: whose turn it is.
#[derive(Clone, Copy)]
enum Turn {
    /// Between two exchanges.
    Speak,
    /// This exchange's message is written.
    Hear(Round),
    /// A step failed, or its call came out of turn. SECURITY: there is no way back.
    Lost(&'static str),
}

/// A machine's state for the gate.
pub(crate) struct Latch(Cell<Turn>);

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

/// A party's half of a protocol, behind the gate. Only the gate calls [`Guarded::say`] and [`Guarded::take`]: in turn,
/// with the lengths that [`Guarded::exchange`] declared, and not after an error.
pub(crate) trait Guarded {
    /// The next exchange; `None` when the protocol is done.
    fn exchange(&self) -> Option<Round>;

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

/// The round under way, as the gate has it.
pub(crate) fn round<M: Guarded + ?Sized>(machine: &M) -> Option<Round> {
    match machine.latch().0.get() {
        Turn::Speak => machine.exchange(),
        Turn::Hear(round) => Some(round),
        // Some round, so that nobody takes it for done.
        Turn::Lost(name) => Some(Round::even(name, 0)),
    }
}

/// Lets the machine write, in its turn.
pub(crate) fn write<M: Guarded + ?Sized>(machine: &mut M, out: &mut [u8]) -> Result<(), OtError> {
    let round = match machine.latch().0.get() {
        Turn::Speak => machine.exchange(),
        // A second message of one exchange would have other contents under the same pads.
        Turn::Hear(Round { name, .. }) | Turn::Lost(name) => return machine.latch().lose(name),
    };
    assert_eq!(out.len(), round.map_or(0, |round| round.out), "a buffer as long as the round says");
    let Some(round) = round else { return Ok(()) };
    // Lost until it is known to be well, so that a panic leaves it lost.
    machine.latch().0.set(Turn::Lost(round.name));
    machine.say(out)?;
    // The round stands until the answer is heard, though the machine may be further.
    machine.latch().0.set(Turn::Hear(round));
    Ok(())
}

/// Lets the machine take a message, in its turn and of its length.
pub(crate) fn read<M: Guarded + ?Sized>(machine: &mut M, message: &[u8]) -> Result<(), OtError> {
    if let (Turn::Speak, Some(round)) = (machine.latch().0.get(), machine.exchange()) {
        if round.out > 0 {
            return machine.latch().lose(round.name);
        }
        write(machine, &mut [])?;
    }
    let round = match machine.latch().0.get() {
        Turn::Hear(round) => round,
        Turn::Lost(name) => return machine.latch().lose(name),
        // Done.
        Turn::Speak if message.is_empty() => return Ok(()),
        Turn::Speak => Round::even("after the last step", 0),
    };
    machine.latch().0.set(Turn::Lost(round.name));
    wrong_length(round.name, message, round.into)?;
    machine.take(message)?;
    machine.latch().0.set(Turn::Speak);
    Ok(())
}

/// A [`Machine`](hushwire_wire::drive::Machine) of a guarded type: the gate before it.
macro_rules! guarded {
    ([$($parameters:tt)*] $type:ty) => {
        impl<$($parameters)*> $crate::Machine for $type {
            type Error = $crate::OtError;

            fn round(&self, _slot: usize) -> Option<$crate::Round> {
                $crate::machine::round(self)
            }
            fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), $crate::OtError> {
                $crate::machine::write(self, out)
            }
            fn read(&mut self, messages: &[$crate::Exchanged<'_>]) -> Result<(), $crate::OtError> {
                $crate::machine::read(self, messages[0].heard)
            }
        }
    };
}
pub(crate) use guarded;

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
    use crate::{Exchanged, Machine};

    /// Says one byte and hears two, then hears one; 9 is malformed, and 8 is a bug.
    struct Two {
        at: usize,
        latch: Latch,
    }

    fn two() -> Two {
        Two { at: 0, latch: Latch::new() }
    }

    const FIRST: Round = Round { name: "first", out: 1, into: 2 };
    const SECOND: Round = Round { name: "second", out: 0, into: 1 };

    guarded!([] Two);

    impl Guarded for Two {
        fn exchange(&self) -> Option<Round> {
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
        let answers = [
            machine.write(0, &mut [0]),
            machine.read(&[Exchanged::heard(&[1])]),
            machine.read(&[Exchanged::heard(&[])]),
            machine.write(0, &mut []),
        ];
        let looks_done = machine.round(0).is_none_or(|tick| tick.out + tick.into > 0);
        let moved = machine.at != at;
        !looks_done && !moved && answers.iter().all(|answer| matches!(answer, Err(OtError::Lost { .. })))
    }

    #[test]
    fn steps_in_turn_reach_the_end_and_stay_there() {
        let (mut machine, mut out) = (two(), [0]);
        assert_eq!(machine.round(0), Some(FIRST));
        machine.write(0, &mut out).expect("its turn");
        assert_eq!((machine.round(0), out), (Some(FIRST), [7]), "until the answer is heard");
        machine.read(&[Exchanged::heard(&[1, 1])]).expect("two bytes");
        assert_eq!(machine.round(0), Some(SECOND));
        machine.read(&[Exchanged::heard(&[1])]).expect("with nothing to say, speaking may be left out");
        assert!(machine.at == 4 && machine.round(0).is_none());
        assert!(
            machine.write(0, &mut []).is_ok()
                && machine.read(&[Exchanged::heard(&[])]).is_ok()
                && machine.round(0).is_none()
        );
        assert!(matches!(machine.read(&[Exchanged::heard(&[1])]), Err(OtError::Malformed { .. })));
        assert!(is_lost(&mut machine));
    }

    #[test]
    fn other_lengths_calls_out_of_turn_and_errors_end_a_machine() {
        let spoken = || {
            let mut machine = two();
            machine.write(0, &mut [0]).expect("its turn");
            machine
        };
        for message in [&[][..], &[1], &[1, 1, 1]] {
            let mut machine = spoken();
            assert!(matches!(
                machine.read(&[Exchanged::heard(message)]),
                Err(OtError::Malformed { message: "first", .. })
            ));
            assert!(machine.at == 1 && is_lost(&mut machine), "{message:?} is not taken");
        }
        let mut machine = spoken();
        assert!(matches!(
            machine.read(&[Exchanged::heard(&[9, 0])]),
            Err(OtError::Malformed { message: "nine", .. })
        ));
        assert!(is_lost(&mut machine));
        let mut machine = spoken();
        assert!(matches!(machine.write(0, &mut [0]), Err(OtError::Lost { step: "first" })));
        assert!(is_lost(&mut machine));
        let mut machine = two();
        assert!(matches!(machine.read(&[Exchanged::heard(&[1, 1])]), Err(OtError::Lost { step: "first" })));
        assert!(machine.at == 0 && is_lost(&mut machine));
        assert!(is_lost(&mut Two { at: 0, latch: Latch::lost("before") }));
    }

    #[test]
    fn a_panic_leaves_a_machine_lost() {
        let mut machine = two();
        machine.write(0, &mut [0]).expect("its turn");
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            machine.read(&[Exchanged::heard(&[8, 0])])
        }));
        assert!(caught.is_err() && is_lost(&mut machine));
    }
}
