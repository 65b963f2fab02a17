//! Two machines at once over one channel, both endpoints of a machine on one thread, and lines
//! whose messages go one way each.

use hushwire_block::Buffer;
use hushwire_machine::drive::{Lockstep, Talk};

use crate::{
    CheckStep, Exchanged, Extension, Machine, OtError, Role, Round, Security,
    machine::{Guarded, Latch, guarded},
};

/// Two protocols at once over one channel, such as OTs in both directions. The messages of a round
/// follow one after the other. A party with a sender as `first` must have a peer with a receiver as
/// `first`.
pub struct Duplex<A, B> {
    first: A,
    second: B,
    latch: Latch,
}

impl<A: Machine<Error = OtError>, B: Machine<Error = OtError>> Duplex<A, B> {
    /// In every message, the part of `first` comes first.
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

/// The combined exchange of two machines, whose messages follow one after the other.
pub(crate) fn both(name: &'static str, first: Option<Round>, second: Option<Round>) -> Option<Round> {
    match (first, second) {
        (Some(a), Some(b)) => Some(Round { name, out: a.out + b.out, into: a.into + b.into }),
        (a, b) => a.or(b),
    }
}

/// Writes the combined message of two machines.
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

/// Reads the combined message of two machines.
pub(crate) fn read_both(
    first: &mut dyn Machine<Error = OtError>,
    second: &mut dyn Machine<Error = OtError>,
    message: &[u8],
) -> Result<(), OtError> {
    // Both machines are asked before either moves on.
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

/// One-way messages, which an endpoint makes or receives.
pub(crate) struct Steps {
    talk: Talk,
    role: Role,
    message: Buffer,
}

impl Steps {
    pub(crate) fn new(talk: Talk, role: Role) -> Self {
        Steps { talk, role, message: Buffer::new() }
    }

    /// Makes or receives a message of `bytes` bytes. OTs in stock need none.
    pub(crate) async fn take(
        &mut self,
        name: &'static str,
        from: Role,
        bytes: usize,
        act: impl FnOnce(&[u8], &mut [u8]) -> Result<(), OtError>,
    ) -> Result<(), OtError> {
        let mut message = std::mem::take(&mut self.message);
        if from == self.role {
            self.talk.ready(name, bytes, 0).await;
            message.set_len(bytes);
            act(&[], &mut message)?;
            self.message = self.talk.exchange_in(name, message, 0).await;
        } else {
            message.set_len(0);
            self.message = self.talk.exchange_in(name, message, bytes).await;
            act(&self.message, &mut [])?;
        }
        Ok(())
    }

    /// Runs the check of the segment that was closed.
    pub(crate) async fn check<S: Security>(&mut self, end: &mut dyn Extension<S>) -> Result<(), OtError> {
        for (i, CheckStep { name, from, bytes }) in end.check_steps().to_vec().into_iter().enumerate() {
            self.take(name, from, bytes, |heard, said| end.check(i, heard, said)).await?;
        }
        Ok(())
    }
}
