//! The buffers of a circuit's batch.

use crate::slots::Slots;
use hushwire_block::Buffer;
use hushwire_circuit::Registers;

/// Buffers of one batch, kept for the next batch.
#[derive(Default)]
pub struct CircuitWorkspace {
    pub(crate) slots: Slots,
    pub(crate) registers: [Registers; 2],
    /// Planes of messages with few bits, a byte each.
    pub(crate) products: Buffer,
    pub(crate) arrived: [Buffer; 2],
}

impl CircuitWorkspace {
    /// The bytes of the buffers that grow with a batch that is read and written in place.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.most()
    }
}
