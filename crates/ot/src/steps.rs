//! Two machines at once over one channel, and both ends of one on one thread.

use hushwire_machine::drive::Lockstep;

use crate::{
    Exchanged, Machine, OtError, Round,
    machine::{Guarded, Latch, guarded},
};

/// Two protocols at once over one channel, such as OTs in both directions. Messages of a round stand one after the
/// other; the party that has `first` as sender has a peer that has `first` as receiver.
pub struct Duplex<A, B> {
    first: A,
    second: B,
    latch: Latch,
}

impl<A: Machine<Error = OtError>, B: Machine<Error = OtError>> Duplex<A, B> {
    /// `first` speaks first in every message.
    pub fn new(first: A, second: B) -> Self {
        Self { first, second, latch: Latch::new() }
    }
}

guarded!([A: Machine<Error = OtError>, B: Machine<Error = OtError>] Duplex<A, B>);

impl<A: Machine<Error = OtError>, B: Machine<Error = OtError>> Guarded for Duplex<A, B> {
    fn exchange(&self) -> Option<Round> {
        let (first, second) = (self.first.round(0), self.second.round(0));
        both(first.map_or("two protocols at once", |round| round.name), first, second)
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        write_both(&mut self.first, &mut self.second, out)
    }
    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        read_both(&mut self.first, &mut self.second, message)
    }
    fn latch(&self) -> &Latch {
        &self.latch
    }
}

/// The exchange of two machines whose messages stand one after the other.
pub(crate) fn both(name: &'static str, first: Option<Round>, second: Option<Round>) -> Option<Round> {
    match (first, second) {
        (Some(a), Some(b)) => Some(Round { name, out: a.out + b.out, into: a.into + b.into }),
        (a, b) => a.or(b),
    }
}

/// Writes the message of two machines.
pub(crate) fn write_both(
    first: &mut dyn Machine<Error = OtError>,
    second: &mut dyn Machine<Error = OtError>,
    out: &mut [u8],
) -> Result<(), OtError> {
    let (a, b) = out.split_at_mut(first.round(0).map_or(0, |round| round.out.min(out.len())));
    if first.round(0).is_some() {
        first.write(0, a)?;
    }
    if second.round(0).is_some() {
        second.write(0, b)?;
    }
    Ok(())
}

/// Takes the message of two machines.
pub(crate) fn read_both(
    first: &mut dyn Machine<Error = OtError>,
    second: &mut dyn Machine<Error = OtError>,
    message: &[u8],
) -> Result<(), OtError> {
    // Both are asked before either moves on.
    let (of_first, of_second) = (first.round(0), second.round(0));
    let (a, b) = message.split_at(of_first.map_or(0, |round| round.into.min(message.len())));
    if of_first.is_some() {
        first.read(&[Exchanged::heard(a)])?;
    }
    if of_second.is_some() {
        second.read(&[Exchanged::heard(b)])?;
    }
    Ok(())
}

/// Runs both parties of a protocol on this thread, without a channel.
///
/// # Errors
/// The first error of either party.
///
/// # Panics
/// If the parties' rounds do not mirror each other: a bug of the protocol.
pub fn lockstep<'m>(
    a: &'m mut (dyn Machine<Error = OtError> + 'm),
    b: &'m mut (dyn Machine<Error = OtError> + 'm),
) -> Result<(), OtError> {
    Lockstep::new().run(&mut [a, b])
}
