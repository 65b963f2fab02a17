//! One batch of instances on a device, with the trait of software parties.
//!
//! **Functionality.** As [`hushwire_rep3::CircuitBatch`] for `128 · cores · lanes` instances of the
//! loaded circuit, with the same bytes on the wire: shared planes of all bits that are not common →
//! shared planes of the outputs. **Paper.** Araki et al. 2016. **Security.** As for the device.
//! **Rounds and bytes.** One message per layer of ANDs, one bit per AND. **Constant time.** This
//! module only copies shares.

use crate::{Cause, Device, HdlError};
use hushwire_machine::drive::{Exchanged, Latch, Misstep, Round};
use hushwire_machine::{Cost, gated};
use hushwire_rep3::Shares;
use std::sync::Arc;

/// A batch in progress; [`Device::batch`] begins it.
pub struct HdlBatch {
    device: Device,
    context: usize,
    messages: Arc<[usize]>,
    /// The number of rounds whose messages have been made.
    made: usize,
    output: Option<Shares>,
    latch: Latch,
}

impl HdlBatch {
    pub(crate) fn new(device: Device, context: usize, messages: Arc<[usize]>) -> Self {
        HdlBatch { device, context, messages, made: 0, output: None, latch: Latch::new() }
    }

    /// The shares of the output planes, after the run.
    ///
    /// # Errors
    /// The device's first error, in whichever batch it happened; [`Cause::Misuse`] if the run has
    /// not ended.
    pub fn output(self) -> Result<Shares, HdlError> {
        self.device.check()?;
        self.output.ok_or_else(|| misuse("the end of a batch", "the batch has not ended".to_owned()))
    }
}

fn misuse(step: &'static str, what: String) -> HdlError {
    HdlError { device: "the device".to_owned(), step, cause: Cause::Misuse(what) }
}

impl From<Misstep> for HdlError {
    fn from(misstep: Misstep) -> Self {
        misuse("a circuit layer", misstep.to_string())
    }
}

gated!(fused [] HdlBatch, HdlError;
    fn cost(&self) -> Option<Cost> {
        let bytes_sent = self.messages.iter().map(|bytes| *bytes as u64).sum();
        Some(Cost { rounds: self.messages.len() as u64, bytes_sent })
    }
);

impl HdlBatch {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        Some(Round::even("a circuit layer", *self.messages.get(self.made)?))
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), HdlError> {
        self.answer(Exchanged::NOTHING, out)
    }

    fn answer(&mut self, message: Exchanged<'_>, out: &mut [u8]) -> Result<(), HdlError> {
        self.device.layer(self.context, message.heard, out)?;
        self.made += 1;
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), HdlError> {
        self.output = Some(self.device.end(self.context, message.heard)?);
        Ok(())
    }
}
