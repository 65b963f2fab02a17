//! Moves a machine's messages over a channel.

use hushwire_block::Buffer;
use hushwire_wire::Channel;

use crate::{OtError, Steps};

/// Message buffers, kept from run to run: fresh pages cost more than the socket.
#[derive(Default)]
pub struct Driver {
    out: Buffer,
    into: Buffer,
}

impl Driver {
    /// With no buffers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `steps` to its end.
    ///
    /// # Errors
    /// The machine's error or the channel's; an abort names the channel's peer.
    pub fn run(&mut self, channel: &mut Channel, steps: &mut dyn Steps) -> Result<(), OtError> {
        let peer = channel.from().or(channel.to());
        while let Some(tick) = steps.tick() {
            self.out.reserve_len(tick.out);
            self.into.reserve_len(tick.into);
            let (out, into) = (&mut self.out[..tick.out], &mut self.into[..tick.into]);
            steps.speak(out).map_err(|e| e.of(peer))?;
            channel.exchange(tick.name, out, into)?;
            steps.hear(into).map_err(|e| e.of(peer))?;
        }
        Ok(())
    }
}

/// [`Driver::run`] with buffers of its own.
///
/// # Errors
/// As there.
pub fn drive(channel: &mut Channel, steps: &mut dyn Steps) -> Result<(), OtError> {
    Driver::new().run(channel, steps)
}
