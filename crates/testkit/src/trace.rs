//! Wire traces: one hash of all that a party sends.

use hushwire_machine::Cost;
use hushwire_machine::drive::{Exchanged, Machine, Round};

/// The earlier content of a buffer has no part in a message.
const OLD: u8 = 0xa5;

/// A machine that hashes every message it makes, so that a test can pin the bytes on the wire.
pub struct Traced<M> {
    inner: M,
    hash: blake3::Hasher,
    messages: u64,
}

impl<M> Traced<M> {
    /// Listens to `inner`.
    pub fn new(inner: M) -> Self {
        Traced { inner, hash: blake3::Hasher::new(), messages: 0 }
    }

    /// The machine itself.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// The first 16 bytes of the hash of message numbers, lengths and messages, in hex.
    pub fn digest(&self) -> String {
        hex::encode(&self.hash.finalize().as_bytes()[..16])
    }

    fn hear(&mut self, message: &[u8]) {
        self.hash.update(&self.messages.to_le_bytes());
        self.hash.update(&(message.len() as u64).to_le_bytes());
        self.hash.update(message);
        self.messages += 1;
    }
}

impl<M: Machine> Machine for Traced<M> {
    type Error = M::Error;

    fn slots(&self) -> usize {
        self.inner.slots()
    }
    fn round(&self, slot: usize) -> Option<Round> {
        self.inner.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), M::Error> {
        out.fill(OLD);
        self.inner.write(slot, out)?;
        self.hear(out);
        Ok(())
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), M::Error> {
        self.inner.read(messages)
    }
    fn upcoming(&self) -> Option<Round> {
        self.inner.upcoming()
    }
    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), M::Error> {
        out.fill(OLD);
        self.inner.turn(messages, out)?;
        self.hear(out);
        Ok(())
    }
    fn cost(&self) -> Option<Cost> {
        self.inner.cost()
    }
}
