//! The gate of machines with two slots. It checks exact lengths and the order of calls, and refuses
//! all calls after an error, as [`gated!`](hushwire_machine::gated) does for one slot.

use hushwire_machine::{
    NetError,
    drive::{Exchanged, Misstep, Round},
};

/// A field of a machine with two slots, which [`two_way!`] consults.
#[derive(Default)]
pub(crate) struct TwoWayGate(Turn);

#[derive(Default, PartialEq)]
enum Turn {
    #[default]
    Ring,
    Back,
    Hear,
    /// SECURITY: a machine cannot continue after an error.
    Lost,
}

impl TwoWayGate {
    /// Begins to write a slot's message; the machine is lost until [`TwoWayGate::written`].
    pub(super) fn write(&mut self, slot: usize, round: Round, found: usize) -> Result<(), NetError> {
        let turn = std::mem::replace(&mut self.0, Turn::Lost);
        let fits = turn == if slot == 0 { Turn::Ring } else { Turn::Back };
        if !fits {
            return Err(Misstep::Lost { step: round.name }.into());
        }
        if found != round.out {
            return Err(Misstep::Buffer { step: round.name, found, expected: round.out }.into());
        }
        Ok(())
    }

    pub(super) fn written(&mut self, slot: usize) {
        self.0 = if slot == 0 { Turn::Back } else { Turn::Hear };
    }

    /// Begins to take a round's messages; the machine is lost until [`TwoWayGate::heard`].
    pub(super) fn hear<'m>(
        &mut self,
        rounds: [Round; 2],
        messages: &[Exchanged<'m>],
    ) -> Result<[Exchanged<'m>; 2], NetError> {
        let step = rounds[0].name;
        if std::mem::replace(&mut self.0, Turn::Lost) != Turn::Hear {
            return Err(Misstep::Lost { step }.into());
        }
        let &[ring, back] = messages else {
            return Err(Misstep::Buffer { step, found: messages.len(), expected: 2 }.into());
        };
        for (message, round) in [ring, back].iter().zip(rounds) {
            if message.heard.len() != round.into {
                return Err(
                    Misstep::Message { step, found: message.heard.len(), expected: round.into }.into()
                );
            }
            if message.own.len() != round.out {
                return Err(Misstep::Buffer { step, found: message.own.len(), expected: round.out }.into());
            }
        }
        Ok([ring, back])
    }

    pub(super) fn heard(&mut self) {
        self.0 = Turn::Ring;
    }
}

/// Implements [`Machine`](hushwire_machine::drive::Machine) for a type with two slots behind its
/// [`TwoWayGate`]. The type has these private functions:
///
/// ```text
/// gate(&mut self) -> &mut TwoWayGate               its field
/// exchange(&self) -> Option<[Round; 2]>            the next round, ring and back; None when the
///                                                  protocol is done
/// say(&mut self, slot, &mut [u8])                  writes this round's message to a slot, 0 then 1
/// hear(&mut self, [Exchanged; 2])                  takes the round's messages and advances
/// ```
macro_rules! two_way {
    ([$($parameters:tt)*] $type:ty; $($more:tt)*) => {
        impl<$($parameters)*> hushwire_machine::drive::Machine for $type {
            type Error = hushwire_machine::NetError;

            fn slots(&self) -> usize {
                2
            }
            fn round(&self, slot: usize) -> Option<hushwire_machine::drive::Round> {
                self.exchange().map(|rounds| rounds[slot])
            }
            fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), hushwire_machine::NetError> {
                let Some(rounds) = self.exchange() else { return Ok(()) };
                self.gate().write(slot, rounds[slot], out.len())?;
                self.say(slot, out);
                self.gate().written(slot);
                Ok(())
            }
            fn read(
                &mut self,
                messages: &[hushwire_machine::drive::Exchanged<'_>],
            ) -> Result<(), hushwire_machine::NetError> {
                let Some(rounds) = self.exchange() else { return Ok(()) };
                let messages = self.gate().hear(rounds, messages)?;
                self.hear(messages);
                self.gate().heard();
                Ok(())
            }
            $($more)*
        }
    };
}

pub(crate) use two_way;
