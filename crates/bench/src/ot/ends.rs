//! One thread of a party: its end of an extension, and the buffers that it fills again and again.

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_ot::{
    Driver, OtError, Receiver, Receiving, Role, Security, Sender, Sending, Unverified, Verified,
};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::Channel;

use super::grid::Kind;
use crate::{BoxError, crew::Worker};

/// What an end holds of its OTs. Buffers that a kind does not need stay empty.
#[derive(Default)]
struct Buffers {
    /// q or t, or the messages that the receiver gets.
    blocks: Vec<Block>,
    /// The sender's messages.
    pairs: Vec<[Block; 2]>,
    /// The receiver's choices.
    choices: Vec<u8>,
}

impl Buffers {
    fn new(role: Role, kind: Kind, count: usize) -> Self {
        let mut noise = Prg::new(Backend::best(), &Seed::from_bytes([0x0b; 16]), "hushwire bench ot");
        let mut buffers = Self::default();
        match (role, kind) {
            (Role::Sender, Kind::Rot | Kind::Ot) => buffers.pairs = vec![[Block::ZERO; 2]; count],
            _ => buffers.blocks = vec![Block::ZERO; count],
        }
        if (role, kind) == (Role::Sender, Kind::Ot) {
            noise.fill_blocks(buffers.pairs.as_flattened_mut());
        }
        if role == Role::Receiver && kind != Kind::Rcot {
            buffers.choices = vec![0; count.div_ceil(8)];
            noise.fill(&mut buffers.choices);
        }
        buffers
    }

    fn sending(&mut self, kind: Kind) -> Sending<'_> {
        match kind {
            Kind::Rcot => Sending::Rcot(&mut self.blocks),
            Kind::Cot => Sending::Cot(&mut self.blocks),
            Kind::Rot => Sending::Rot { pairs: &mut self.pairs, chosen: true },
            Kind::Ot => Sending::Ot(&self.pairs),
        }
    }

    fn receiving(&mut self, kind: Kind) -> Receiving<'_> {
        let Self { blocks, choices, .. } = self;
        match kind {
            Kind::Rcot => Receiving::Rcot(blocks),
            Kind::Cot => Receiving::Cot { choices, t: blocks },
            Kind::Rot => Receiving::RotChosen { choices, messages: blocks },
            Kind::Ot => Receiving::Ot { choices, messages: blocks },
        }
    }
}

/// An extension's end, of either role.
pub(super) enum Opened<S: Security> {
    Sender(Box<Sender<S>>),
    Receiver(Box<Receiver<S>>),
}

/// One thread of a party.
pub(super) struct End<S: Security> {
    opened: Opened<S>,
    kind: Kind,
    driver: Driver,
    /// `None` after an error.
    channel: Option<Channel>,
    buffers: Buffers,
    /// How often it has made its OTs.
    pub(super) repetitions: u64,
}

impl<S: Security> End<S> {
    pub(super) fn new(opened: Opened<S>, kind: Kind, count: usize, driver: Driver, channel: Channel) -> Self {
        let role = match &opened {
            Opened::Sender(_) => Role::Sender,
            Opened::Receiver(_) => Role::Receiver,
        };
        let (channel, buffers) = (Some(channel), Buffers::new(role, kind, count));
        Self { opened, kind, driver, channel, buffers, repetitions: 0 }
    }

    fn extend(&mut self) -> Result<(), OtError> {
        let Self { opened, kind, driver, channel: Some(channel), buffers, .. } = self else { return Ok(()) };
        match opened {
            Opened::Sender(sender) => {
                let mut steps = sender.extend(buffers.sending(*kind));
                driver.run(channel, &mut steps)?;
                let made = steps.finish();
                let mut check = sender.verify();
                driver.run(channel, &mut check)?;
                open(made, check.finish())
            }
            Opened::Receiver(receiver) => {
                let mut steps = receiver.extend(buffers.receiving(*kind));
                driver.run(channel, &mut steps)?;
                let made = steps.finish();
                let mut check = receiver.verify();
                driver.run(channel, &mut check)?;
                open(made, check.finish())
            }
        }
    }
}

/// In either mode: what was not checked is not counted.
fn open<W, S: Security>(made: Unverified<W, S>, proof: Verified) -> Result<(), OtError> {
    made.open(&proof).map(drop)
}

impl<S: Security> Worker for End<S> {
    fn repeat(&mut self) -> Result<(), BoxError> {
        self.repetitions += 1;
        Ok(self.extend()?)
    }

    fn abandon(&mut self) {
        self.channel = None;
    }
}

/// Compares all OTs that two ends made last. `spoiled` makes one of them wrong, for a test.
pub(super) fn compare<S: Security>(a: &End<S>, b: &mut End<S>, spoiled: bool) -> Result<(), BoxError> {
    let Opened::Sender(sender) = &a.opened else { return Err("the first end is no sender".into()) };
    let (delta, sent, got) = (sender.delta(), &a.buffers, &mut b.buffers);
    if let (true, Some(block)) = (spoiled, got.blocks.last_mut()) {
        *block ^= Block::from_u128(1 << 77);
    }
    let chosen = |i: usize| got.choices[i / 8] >> (i % 8) & 1 == 1;
    let (count, mut wrong, mut ones) = (got.blocks.len(), 0usize, 0usize);
    for (i, t) in got.blocks.iter().enumerate() {
        let choice = if a.kind == Kind::Rcot { t.lsb() } else { chosen(i) };
        let right = match a.kind {
            Kind::Rcot | Kind::Cot => {
                let q = sent.blocks[i];
                !q.lsb() && t.lsb() == choice && *t == q ^ delta.and_bit(choice)
            }
            Kind::Rot | Kind::Ot => {
                let [zero, one] = sent.pairs[i];
                zero != one && *t == if choice { one } else { zero }
            }
        };
        wrong += usize::from(!right);
        ones += usize::from(choice);
    }
    if wrong > 0 {
        return Err(format!("{wrong} of {count} OTs are wrong, nothing is reported").into());
    }
    // Of random bits, half are set; a quarter never is from some hundreds on.
    if count > 400 && !(count / 4..=count - count / 4).contains(&ones) {
        return Err(
            format!("{ones} of {count} choices are 1, which is not random; nothing is reported").into()
        );
    }
    Ok(())
}
