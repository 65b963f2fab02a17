//! Protocols as machines without input or output.

use crate::OtError;

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
/// tick. What is sent in a tick does not depend on what is received in it.
///
/// After an error the machine is of no use.
pub trait Steps {
    /// The next exchange; `None` when the protocol is done. Both parties' ticks mirror each other.
    fn tick(&self) -> Option<Tick>;

    /// Writes the message of this tick; `out` has [`Tick::out`] bytes, which may be none.
    ///
    /// # Errors
    /// What the protocol says.
    fn speak(&mut self, out: &mut [u8]) -> Result<(), OtError>;

    /// Takes the peer's message of this tick, of [`Tick::into`] bytes, and goes on to the next tick.
    ///
    /// # Errors
    /// The message is malformed, or a check failed.
    fn hear(&mut self, message: &[u8]) -> Result<(), OtError>;
}

impl<T: Steps + ?Sized> Steps for &mut T {
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

/// Refuses a message of another length than the tick says: a transport of the user's own may hand on what a peer sent.
pub(crate) fn wrong_length(name: &'static str, message: &[u8], wanted: usize) -> Result<(), OtError> {
    let len = message.len();
    if len == wanted {
        Ok(())
    } else {
        Err(OtError::malformed(name, format!("{len} bytes instead of {wanted}")))
    }
}

/// Two protocols at once over one channel, such as OTs in both directions. Messages of a tick stand one after the
/// other; the party that has `first` as sender has a peer that has `first` as receiver.
pub struct Duplex<A, B> {
    /// Speaks first in every message.
    pub first: A,
    /// Speaks second.
    pub second: B,
}

impl<A: Steps, B: Steps> Steps for Duplex<A, B> {
    fn tick(&self) -> Option<Tick> {
        match (self.first.tick(), self.second.tick()) {
            (Some(a), Some(b)) => Some(Tick { name: a.name, out: a.out + b.out, into: a.into + b.into }),
            (a, b) => a.or(b),
        }
    }

    fn speak(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        let cut = self.first.tick().map_or(0, |tick| tick.out);
        let (a, b) = out.split_at_mut(cut);
        if self.first.tick().is_some() {
            self.first.speak(a)?;
        }
        if self.second.tick().is_some() {
            self.second.speak(b)?;
        }
        Ok(())
    }

    fn hear(&mut self, message: &[u8]) -> Result<(), OtError> {
        // Both are asked before either moves on.
        let (first, second) = (self.first.tick(), self.second.tick());
        let into = [&first, &second].map(|tick| tick.as_ref().map_or(0, |tick| tick.into));
        wrong_length("two protocols at once", message, into.iter().sum())?;
        let (a, b) = message.split_at(into[0]);
        if first.is_some() {
            self.first.hear(a)?;
        }
        if second.is_some() {
            self.second.hear(b)?;
        }
        Ok(())
    }
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
