//! Buffers that hold old bytes.

use hushwire_machine::Cost;
use hushwire_machine::drive::{Exchanged, Machine, Round};

/// The former content of a buffer, which must not reach a message.
const OLD: u8 = 0xa5;

/// A machine whose buffers hold old bytes whenever a message is requested, as a transport's buffers
/// do.
pub struct Dirty<M>(M);

impl<M> Dirty<M> {
    /// Wraps `inner` with dirty buffers.
    pub fn new(inner: M) -> Self {
        Dirty(inner)
    }
}

impl<M: Machine> Machine for Dirty<M> {
    type Error = M::Error;

    fn slots(&self) -> usize {
        self.0.slots()
    }
    fn round(&self, slot: usize) -> Option<Round> {
        self.0.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), M::Error> {
        out.fill(OLD);
        self.0.write(slot, out)
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), M::Error> {
        self.0.read(messages)
    }
    fn upcoming(&self) -> Option<Round> {
        self.0.upcoming()
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), M::Error> {
        out.fill(OLD);
        self.0.turn(messages, out)
    }
    fn cost(&self) -> Option<Cost> {
        self.0.cost()
    }
}
