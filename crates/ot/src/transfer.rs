//! Chosen OTs of a whole table over a channel, at a level that is chosen at run time. OTs are made
//! in batches, and each batch is checked before it is reported.

use hushwire_block::Block;
use hushwire_machine::Channel;
use hushwire_prg::Seed;

use crate::{
    Context, Driver, Level, Malicious, OtError, Protocol, Receiving, Security, SemiHonest, Sending,
    open_receiver, open_sender,
};

/// AGREEMENT: the number of OTs between two checks; a multiple of eight, so that a batch's choices
/// fill whole bytes.
const BATCH: usize = 1 << 18;

/// The terms of a transfer, the same at both endpoints.
#[derive(Clone, Copy)]
pub struct Transfer {
    /// The agreed context, which no other transfer uses.
    pub context: Context,
    /// The extension.
    pub protocol: Protocol,
    /// The security level; the protocol must exist at this level.
    pub level: Level,
}

impl Transfer {
    /// Offers all pairs of `messages`. `done` gets the number of each batch's OTs after they are
    /// checked.
    ///
    /// # Errors
    /// The protocol does not exist at this level, the channel failed, or the receiver cheated.
    pub fn send(
        &self,
        channel: &mut Channel,
        messages: &[[Block; 2]],
        done: &mut dyn FnMut(usize),
    ) -> Result<(), OtError> {
        match self.level {
            Level::SemiHonest => self.send_at::<SemiHonest>(channel, messages, done),
            Level::Malicious => self.send_at::<Malicious>(channel, messages, done),
        }
    }

    /// Receives one message of each pair into `chosen`: bit `i % 8` of byte `i / 8` of `choices` is
    /// the choice of OT `i`. `done` gets the number of each batch's OTs after they are checked.
    /// After an error the contents of `chosen` are meaningless.
    ///
    /// # Errors
    /// The protocol does not exist at this level, the channel failed, or the sender cheated.
    ///
    /// # Panics
    /// If there are fewer choices than places (the caller's bug).
    pub fn receive(
        &self,
        channel: &mut Channel,
        choices: &[u8],
        chosen: &mut [Block],
        done: &mut dyn FnMut(usize),
    ) -> Result<(), OtError> {
        assert!(8 * choices.len() >= chosen.len(), "a choice for every OT");
        match self.level {
            Level::SemiHonest => self.receive_at::<SemiHonest>(channel, choices, chosen, done),
            Level::Malicious => self.receive_at::<Malicious>(channel, choices, chosen, done),
        }
    }

    fn send_at<S: Security>(
        &self,
        channel: &mut Channel,
        messages: &[[Block; 2]],
        done: &mut dyn FnMut(usize),
    ) -> Result<(), OtError> {
        let driver = &mut Driver::new();
        let mut sender = open_sender::<S>(driver, channel, &self.context, self.protocol, &Seed::random())?;
        for batch in messages.chunks(BATCH) {
            let mut steps = sender.extend(Sending::Ot(batch));
            driver.run(channel, &mut steps)?;
            let made = steps.finish();
            let mut check = sender.verify();
            driver.run(channel, &mut check)?;
            made.open(&check.finish())?;
            done(batch.len());
        }
        Ok(())
    }

    fn receive_at<S: Security>(
        &self,
        channel: &mut Channel,
        choices: &[u8],
        chosen: &mut [Block],
        done: &mut dyn FnMut(usize),
    ) -> Result<(), OtError> {
        let driver = &mut Driver::new();
        let mut receiver =
            open_receiver::<S>(driver, channel, &self.context, self.protocol, &Seed::random())?;
        for (messages, choices) in chosen.chunks_mut(BATCH).zip(choices.chunks(BATCH / 8)) {
            let count = messages.len();
            let mut steps = receiver.extend(Receiving::Ot { choices, messages });
            driver.run(channel, &mut steps)?;
            let made = steps.finish();
            let mut check = receiver.verify();
            driver.run(channel, &mut check)?;
            made.open(&check.finish())?;
            done(count);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sid;
    use hushwire_aes::Backend;
    use hushwire_machine::{PartyId, inproc};
    use std::{thread, time::Duration};

    /// More than a batch, so that the second batch needs choices from the middle.
    const COUNT: usize = BATCH + 1001;

    fn run(protocol: Protocol, level: Level) -> Result<(), OtError> {
        let context = Context { sid: Sid([9; 32]), backend: Backend::best() };
        let transfer = Transfer { context, protocol, level };
        let ids = [PartyId(0), PartyId(1)];
        let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(10)).into_iter();
        let (Some(mut zero), Some(mut one)) = (nets.next(), nets.next()) else { panic!("two parties") };
        let message = |i: usize, choice: u8| Block::from_u128(2 * i as u128 + u128::from(choice));
        let choices: Vec<u8> = (0..COUNT.div_ceil(8)).map(|i| ((i * 151) >> 3) as u8).collect();
        let mut chosen = vec![Block::ZERO; COUNT];
        let mut batches = vec![];
        thread::scope(|scope| {
            let sending = scope.spawn(move || {
                let messages: Vec<_> = (0..COUNT).map(|i| [message(i, 0), message(i, 1)]).collect();
                let mut channel = zero.channel(0, Some(ids[1]), Some(ids[1]))?;
                transfer.send(&mut channel, &messages, &mut |_| ())
            });
            let mut channel = one.channel(0, Some(ids[0]), Some(ids[0]))?;
            let received =
                transfer.receive(&mut channel, &choices, &mut chosen, &mut |done| batches.push(done));
            drop(channel);
            sending.join().expect("no panic").and(received)
        })?;
        assert_eq!(batches, [BATCH, COUNT - BATCH]);
        for (i, block) in chosen.iter().enumerate() {
            assert_eq!(*block, message(i, choices[i / 8] >> (i % 8) & 1), "OT {i}");
        }
        Ok(())
    }

    #[test]
    fn every_choice_gets_its_message() {
        for level in [Level::SemiHonest, Level::Malicious] {
            run(Protocol::SoftSpoken4, level).unwrap_or_else(|e| panic!("{e}"));
        }
    }

    #[test]
    fn an_extension_that_the_level_lacks_is_refused() {
        assert!(run(Protocol::Iknp, Level::Malicious).is_err());
    }
}
