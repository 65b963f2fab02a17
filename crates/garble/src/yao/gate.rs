//! The gate before a party's steps: exact lengths, calls in turn, and nothing after an error.

use crate::GarbleError;
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Machine, Round},
};
use hushwire_ot::OtError;
use zeroize::Zeroizing;

/// One role's steps. Only [`Gate`] calls `say` and `take`: in turn, with the lengths of [`Steps::round`], and not after an
/// error.
pub(super) trait Steps {
    /// The round under way, from before its message is made until the peer's is taken.
    fn round(&self) -> Option<Round>;
    /// Writes the round's message.
    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError>;
    /// Takes the peer's message, and goes on.
    fn take(&mut self, heard: &[u8]) -> Result<(), GarbleError>;
    /// See [`Machine::cost`].
    fn cost(&self) -> Option<Cost> {
        None
    }
}

/// Steps that end in outputs.
pub(super) trait Running: Steps + Send {
    /// Planes of the outputs that this party learns, after the last round.
    fn outputs(&mut self) -> Zeroizing<Vec<u8>>;
}

impl<P: Steps + ?Sized> Steps for Box<P> {
    fn round(&self) -> Option<Round> {
        (**self).round()
    }
    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError> {
        (**self).say(out)
    }
    fn take(&mut self, heard: &[u8]) -> Result<(), GarbleError> {
        (**self).take(heard)
    }
    fn cost(&self) -> Option<Cost> {
        (**self).cost()
    }
}

/// Steps as a machine.
pub(super) struct Gate<P> {
    pub(super) steps: P,
    /// The step that failed, or that a call came out of turn for. SECURITY: there is no way back.
    lost: Option<&'static str>,
    /// This round's message is written.
    spoken: bool,
}

impl<P: Steps> Gate<P> {
    pub(super) fn new(steps: P) -> Self {
        Gate { steps, lost: None, spoken: false }
    }

    /// Whether no round is left.
    pub(super) fn is_done(&self) -> bool {
        self.lost.is_none() && self.steps.round().is_none()
    }

    /// The round of a call that is in its turn. From here on it is lost until it is known to be well, so that a panic leaves
    /// it lost.
    fn enter(&mut self, in_turn: bool) -> Result<Round, GarbleError> {
        let round = self.steps.round().unwrap_or(Round::even("after the last step", 0));
        let lost = self.lost.replace(round.name).or(if in_turn { None } else { Some(round.name) });
        lost.map_or(Ok(round), |step| Err(OtError::Lost { step }.into()))
    }
}

impl<P: Steps> Machine for Gate<P> {
    type Error = GarbleError;

    fn round(&self, _slot: usize) -> Option<Round> {
        // Some round, so that nobody takes it for done.
        self.lost.map_or_else(|| self.steps.round(), |name| Some(Round::even(name, 0)))
    }

    fn write(&mut self, _slot: usize, out: &mut [u8]) -> Result<(), GarbleError> {
        let round = self.enter(!self.spoken)?;
        assert_eq!(out.len(), round.out, "a buffer as long as the round says");
        self.steps.say(out)?;
        (self.lost, self.spoken) = (None, true);
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), GarbleError> {
        let round = self.enter(self.spoken)?;
        let heard = messages[0].heard;
        if heard.len() != round.into {
            let what = format!("{} bytes instead of {}", heard.len(), round.into);
            return Err(GarbleError::malformed(None, round.name, what));
        }
        self.steps.take(heard)?;
        (self.lost, self.spoken) = (None, false);
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        self.steps.cost()
    }
}
