//! Wire traces: one hash of all that a party sends.

use hushwire_wire::drive::{Exchanged, Executor};

/// An executor that hashes every message it makes, so that a test can pin the bytes on the wire.
pub struct Traced<E> {
    inner: E,
    hash: blake3::Hasher,
}

impl<E> Traced<E> {
    /// Listens to `inner`.
    pub fn new(inner: E) -> Self {
        Traced { inner, hash: blake3::Hasher::new() }
    }

    /// The executor itself.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    /// The first 16 bytes of the hash of layer numbers, lengths and messages, in hex.
    pub fn digest(&self) -> String {
        hex::encode(&self.hash.finalize().as_bytes()[..16])
    }
}

impl<E: Executor> Executor for Traced<E> {
    fn layers(&self) -> usize {
        self.inner.layers()
    }
    fn message_bytes(&self, layer: usize) -> usize {
        self.inner.message_bytes(layer)
    }
    fn step_name(&self, layer: usize) -> &'static str {
        self.inner.step_name(layer)
    }
    fn local(&mut self, layer: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        self.inner.local(layer, arrived, message);
        self.hash.update(&(layer as u64).to_le_bytes());
        self.hash.update(&(message.len() as u64).to_le_bytes());
        self.hash.update(message);
    }
    fn finish(&mut self, arrived: Exchanged<'_>) {
        self.inner.finish(arrived);
    }
}
