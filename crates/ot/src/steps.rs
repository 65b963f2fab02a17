//! Protocols as machines without input or output.

use crate::{
    OtError,
    machine::{Latch, Machine},
};

/// One exchange of a party: what it sends and, at the same time, what it receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tick {
    /// Names the step in errors.
    pub name: &'static str,
    /// Bytes that this party sends.
    pub out: usize,
    /// Bytes that this party receives.
    pub into: usize,
}

/// One party's half of a protocol: [`Steps::tick`], [`Steps::speak`], [`Steps::hear`], over and over until there is no
/// tick. A message sent in a tick does not depend on the one received in it.
///
/// After an error the machine answers [`OtError::Lost`], and always has a tick: it never looks done. So it does after a
/// call out of turn, such as a second `speak` of a driver whose channel failed and that tries again.
pub trait Steps {
    /// The exchange under way, or the next one; `None` when the protocol is done. Both parties' ticks mirror each other.
    fn tick(&self) -> Option<Tick>;

    /// Writes the message of this tick. It may be left out where [`Tick::out`] is 0.
    ///
    /// # Errors
    /// The protocol's error; [`OtError::Lost`].
    ///
    /// # Panics
    /// If `out` does not have [`Tick::out`] bytes (the caller's bug).
    fn speak(&mut self, out: &mut [u8]) -> Result<(), OtError>;

    /// Takes the peer's message of this tick, and goes on to the next tick. Any message may come here: one of another
    /// length than [`Tick::into`] is refused.
    ///
    /// # Errors
    /// The message is malformed, or a check failed; [`OtError::Lost`].
    fn hear(&mut self, message: &[u8]) -> Result<(), OtError>;
}

impl Steps for &mut (dyn Steps + '_) {
    fn tick(&self) -> Option<Tick> {
        (**self).tick()
    }
    fn speak(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        (**self).speak(out)
    }
    fn hear(&mut self, message: &[u8]) -> Result<(), OtError> {
        (**self).hear(message)
    }
}

/// Two protocols at once over one channel, such as OTs in both directions. Messages of a tick stand one after the
/// other; the party that has `first` as sender has a peer that has `first` as receiver.
pub struct Duplex<A, B> {
    first: A,
    second: B,
    latch: Latch,
}

impl<A: Steps, B: Steps> Duplex<A, B> {
    /// `first` speaks first in every message.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second, latch: Latch::new() }
    }
}

impl<A: Steps, B: Steps> Machine for Duplex<A, B> {
    fn exchange(&self) -> Option<Tick> {
        let (first, second) = (self.first.tick(), self.second.tick());
        both(first.map_or("two protocols at once", |tick| tick.name), first, second)
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        speak_both(&mut self.first, &mut self.second, out)
    }
    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        hear_both(&mut self.first, &mut self.second, message)
    }
    fn latch(&self) -> &Latch {
        &self.latch
    }
}

/// The exchange of two machines whose messages stand one after the other.
pub(crate) fn both(name: &'static str, first: Option<Tick>, second: Option<Tick>) -> Option<Tick> {
    match (first, second) {
        (Some(a), Some(b)) => Some(Tick { name, out: a.out + b.out, into: a.into + b.into }),
        (a, b) => a.or(b),
    }
}

/// Writes the message of two machines.
pub(crate) fn speak_both(
    first: &mut dyn Steps,
    second: &mut dyn Steps,
    out: &mut [u8],
) -> Result<(), OtError> {
    let (a, b) = out.split_at_mut(first.tick().map_or(0, |tick| tick.out.min(out.len())));
    if first.tick().is_some() {
        first.speak(a)?;
    }
    if second.tick().is_some() {
        second.speak(b)?;
    }
    Ok(())
}

/// Takes the message of two machines.
pub(crate) fn hear_both(
    first: &mut dyn Steps,
    second: &mut dyn Steps,
    message: &[u8],
) -> Result<(), OtError> {
    // Both are asked before either moves on.
    let (of_first, of_second) = (first.tick(), second.tick());
    let (a, b) = message.split_at(of_first.map_or(0, |tick| tick.into.min(message.len())));
    if of_first.is_some() {
        first.hear(a)?;
    }
    if of_second.is_some() {
        second.hear(b)?;
    }
    Ok(())
}

/// Runs both parties of a protocol on this thread, without a channel.
///
/// # Errors
/// The first error of either party.
///
/// # Panics
/// If the parties' ticks do not mirror each other: a bug of the protocol.
pub fn lockstep(a: &mut dyn Steps, b: &mut dyn Steps) -> Result<(), OtError> {
    let (mut from_a, mut from_b) = (Vec::new(), Vec::new());
    loop {
        let (Some(ta), Some(tb)) = (a.tick(), b.tick()) else {
            assert!(a.tick().is_none() && b.tick().is_none(), "one party is done before the other");
            return Ok(());
        };
        assert!(ta.out == tb.into && ta.into == tb.out, "ticks differ: {ta:?} and {tb:?}");
        from_a.clear();
        from_a.resize(ta.out, 0);
        from_b.clear();
        from_b.resize(tb.out, 0);
        a.speak(&mut from_a)?;
        b.speak(&mut from_b)?;
        a.hear(&from_b)?;
        b.hear(&from_a)?;
    }
}
