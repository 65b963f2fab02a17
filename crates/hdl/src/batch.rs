//! One batch of instances on a device, behind the trait of software parties.
//!
//! **Functionality.** As [`hushwire_rep3::CircuitBatch`] for `128 · cores · lanes` instances of the loaded circuit, with
//! the same bytes on the wire: shared planes of all bits that are not common → shared planes of the outputs.
//! **Paper.** Araki et al. 2016. **Security.** As of the device. **Rounds and bytes.** One message a layer of ANDs, one
//! bit an AND. **Constant time.** Here shares are only copied.

use crate::{Cause, Device, HdlError};
use hushwire_rep3::Shares;
use hushwire_wire::drive::{Exchanged, Executor};
use std::sync::Arc;

/// A batch under way; [`Device::batch`] begins one.
pub struct HdlBatch {
    device: Device,
    context: usize,
    messages: Arc<[usize]>,
    output: Option<Result<Shares, HdlError>>,
}

impl HdlBatch {
    pub(crate) fn new(device: Device, context: usize, messages: Arc<[usize]>) -> Self {
        HdlBatch { device, context, messages, output: None }
    }

    /// Shares of the output planes, after the run.
    ///
    /// # Errors
    /// The device's first error, in whichever batch it was; [`Cause::Misuse`] before the run has ended.
    pub fn output(self) -> Result<Shares, HdlError> {
        self.device.check()?;
        self.output.unwrap_or_else(|| {
            let cause = Cause::Misuse("the batch has not ended".to_owned());
            Err(HdlError { device: "the device".to_owned(), step: "the end of a batch", cause })
        })
    }
}

impl Executor for HdlBatch {
    fn layers(&self) -> usize {
        self.messages.len()
    }

    fn message_bytes(&self, layer: usize) -> usize {
        self.messages[layer]
    }

    fn step_name(&self, _layer: usize) -> &'static str {
        "a circuit layer"
    }

    fn local(&mut self, _layer: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        if self.device.layer(self.context, arrived.next, message).is_err() {
            // The device keeps the error; what was in the message before must not go out.
            message.fill(0);
        }
    }

    fn finish(&mut self, arrived: Exchanged<'_>) {
        self.output = Some(self.device.end(self.context, arrived.next));
    }
}
