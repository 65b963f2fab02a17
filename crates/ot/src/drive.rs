//! Runs a machine over a channel.

use hushwire_machine::{Channel, drive};

use crate::{Machine, OtError};

/// Message buffers that are kept from run to run, because fresh pages cost more than the socket.
#[derive(Default)]
pub struct Driver(drive::Driver);

impl Driver {
    /// A driver without buffers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `steps` to its end.
    ///
    /// # Errors
    /// The machine's or the channel's error; an abort names the channel's peer.
    pub fn run(
        &mut self,
        channel: &mut Channel,
        steps: &mut dyn Machine<Error = OtError>,
    ) -> Result<(), OtError> {
        let peer = channel.from().or(channel.to());
        self.0.run(channel, steps).map_err(|e| e.of(peer))
    }
}

/// The same as [`Driver::run`], with buffers of its own.
///
/// # Errors
/// The same as for [`Driver::run`].
pub fn drive(channel: &mut Channel, steps: &mut dyn Machine<Error = OtError>) -> Result<(), OtError> {
    Driver::new().run(channel, steps)
}
