//! One batch of instances on a device, behind the trait of software parties.
//!
//! **Functionality.** As [`hushwire_rep3::CircuitBatch`] for `128 · cores · lanes` instances of the loaded circuit, with
//! the same bytes on the wire: shared planes of all bits that are not common → shared planes of the outputs.
//! **Paper.** Araki et al. 2016. **Security.** As of the device. **Rounds and bytes.** One message a layer of ANDs, one
//! bit an AND. **Constant time.** Here shares are only copied.

use crate::{Cause, Device, HdlError};
use hushwire_rep3::Shares;
use hushwire_wire::Cost;
use hushwire_wire::drive::{Exchanged, Machine, Round};
use std::sync::Arc;

/// A batch under way; [`Device::batch`] begins one.
pub struct HdlBatch {
    device: Device,
    context: usize,
    messages: Arc<[usize]>,
    /// The round under way.
    round: usize,
    output: Option<Shares>,
}

impl HdlBatch {
    pub(crate) fn new(device: Device, context: usize, messages: Arc<[usize]>) -> Self {
        HdlBatch { device, context, messages, round: 0, output: None }
    }

    /// Shares of the output planes, after the run.
    ///
    /// # Errors
    /// The device's first error, in whichever batch it was; [`Cause::Misuse`] before the run has ended.
    pub fn output(self) -> Result<Shares, HdlError> {
        self.device.check()?;
        self.output.ok_or_else(|| {
            let cause = Cause::Misuse("the batch has not ended".to_owned());
            HdlError { device: "the device".to_owned(), step: "the end of a batch", cause }
        })
    }

    fn at(&self, round: usize) -> Option<Round> {
        Some(Round::even("a circuit layer", *self.messages.get(round)?))
    }
}

impl Machine for HdlBatch {
    type Error = HdlError;

    fn round(&self, _slot: usize) -> Option<Round> {
        self.at(self.round)
    }

    fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), HdlError> {
        self.device.layer(self.context, &[], out)
    }

    fn upcoming(&self) -> Option<Round> {
        self.at(self.round + 1)
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), HdlError> {
        self.device.layer(self.context, messages[0].heard, out)?;
        self.round += 1;
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), HdlError> {
        self.output = Some(self.device.end(self.context, messages[0].heard)?);
        self.round = self.messages.len();
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        let bytes_sent = self.messages.iter().map(|bytes| *bytes as u64).sum();
        Some(Cost { rounds: self.messages.len() as u64, bytes_sent })
    }
}
