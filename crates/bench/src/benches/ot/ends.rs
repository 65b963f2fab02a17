//! One thread of a party: its endpoint of an extension, and the buffers that it reuses.

use hushwire_aes::Backend;
use hushwire_block::{Block, Buffer};
use hushwire_machine::Channel;
use hushwire_ot::{
    Driver, OtError, Receiver, Receiving, Role, Security, Sender, Sending, Unverified, Verified,
};
use hushwire_prg::{Prg, Seed};

use super::grid::OtKind;
use crate::{BoxError, workers::Worker};

/// The most OTs that a row makes in one call.
const MOST: usize = 1 << 24;
/// A larger number is streamed: OTs are made in calls of this many with the same buffers, so that
/// memory does not grow.
const STREAMED: usize = 1 << 20;

/// The OTs of one call, if a thread makes `count`.
fn call(count: usize) -> usize {
    if count <= MOST { count } else { STREAMED }
}

/// An endpoint's inputs and outputs for the OTs of a call. Buffers that a kind does not need stay
/// empty.
#[derive(Default)]
struct Buffers {
    /// q or t, or the messages that the receiver learns.
    blocks: Buffer,
    /// The sender's messages, two for each OT.
    pairs: Buffer,
    /// The receiver's choices.
    choices: Vec<u8>,
}

/// The first `count` pairs.
fn pairs(buffer: &Buffer, count: usize) -> &[[Block; 2]] {
    &buffer.blocks().as_chunks().0[..count]
}

impl Buffers {
    fn new(role: Role, kind: OtKind, count: usize) -> Self {
        let mut noise = Prg::new(Backend::best(), &Seed::from_bytes([0x0b; 16]), "hushwire bench ot");
        let mut buffers = Self::default();
        match (role, kind) {
            (Role::Sender, OtKind::Rot | OtKind::Ot) => buffers.pairs.set_len(32 * count),
            _ => buffers.blocks.set_len(16 * count),
        }
        if (role, kind) == (Role::Sender, OtKind::Ot) {
            noise.fill(&mut buffers.pairs);
        }
        if role == Role::Receiver && kind != OtKind::Rcot {
            buffers.choices = vec![0; count.div_ceil(8)];
            noise.fill(&mut buffers.choices);
        }
        buffers
    }

    fn sending(&mut self, kind: OtKind, count: usize) -> Sending<'_> {
        match kind {
            OtKind::Rcot => Sending::Rcot(&mut self.blocks.blocks_mut()[..count]),
            OtKind::Cot => Sending::Cot(&mut self.blocks.blocks_mut()[..count]),
            OtKind::Rot => {
                let pairs = &mut self.pairs.blocks_mut().as_chunks_mut().0[..count];
                Sending::Rot { pairs, chosen: true }
            }
            OtKind::Ot => Sending::Ot(pairs(&self.pairs, count)),
        }
    }

    fn receiving(&mut self, kind: OtKind, count: usize) -> Receiving<'_> {
        let (blocks, choices) = (&mut self.blocks.blocks_mut()[..count], &self.choices[..]);
        match kind {
            OtKind::Rcot => Receiving::Rcot(blocks),
            OtKind::Cot => Receiving::Cot { choices, t: blocks },
            OtKind::Rot => Receiving::RotChosen { choices, messages: blocks },
            OtKind::Ot => Receiving::Ot { choices, messages: blocks },
        }
    }
}

/// An extension's endpoint, in either role.
pub(super) enum OpenedEnd<S: Security> {
    Sender(Box<Sender<S>>),
    Receiver(Box<Receiver<S>>),
}

/// One thread of a party.
pub(super) struct PartyThread<S: Security> {
    opened: OpenedEnd<S>,
    kind: OtKind,
    driver: Driver,
    /// `None` after an error.
    channel: Option<Channel>,
    buffers: Buffers,
    count: usize,
    /// The number of times that the thread has made its OTs.
    pub(super) repetitions: u64,
}

impl<S: Security> PartyThread<S> {
    pub(super) fn new(
        opened: OpenedEnd<S>,
        kind: OtKind,
        count: usize,
        driver: Driver,
        channel: Channel,
    ) -> Self {
        let role = match &opened {
            OpenedEnd::Sender(_) => Role::Sender,
            OpenedEnd::Receiver(_) => Role::Receiver,
        };
        let (channel, buffers) = (Some(channel), Buffers::new(role, kind, call(count)));
        Self { opened, kind, driver, channel, buffers, count, repetitions: 0 }
    }

    /// The OTs of the last call, which the buffers hold at the end.
    fn held(&self) -> usize {
        match self.count % call(self.count).max(1) {
            0 => call(self.count),
            rest => rest,
        }
    }

    fn extend(&mut self, count: usize) -> Result<(), OtError> {
        let Self { opened, kind, driver, channel: Some(channel), buffers, .. } = self else { return Ok(()) };
        match opened {
            OpenedEnd::Sender(sender) => {
                let mut steps = sender.extend(buffers.sending(*kind, count));
                driver.run(channel, &mut steps)?;
                let made = steps.finish();
                let mut check = sender.verify();
                driver.run(channel, &mut check)?;
                open(made, check.finish())
            }
            OpenedEnd::Receiver(receiver) => {
                let mut steps = receiver.extend(buffers.receiving(*kind, count));
                driver.run(channel, &mut steps)?;
                let made = steps.finish();
                let mut check = receiver.verify();
                driver.run(channel, &mut check)?;
                open(made, check.finish())
            }
        }
    }
}

/// Opens OTs in either mode. Unchecked OTs do not count.
fn open<W, S: Security>(made: Unverified<W, S>, proof: Verified) -> Result<(), OtError> {
    made.open(&proof).map(drop)
}

impl<S: Security> Worker for PartyThread<S> {
    fn repeat(&mut self) -> Result<(), BoxError> {
        self.repetitions += 1;
        let call = call(self.count);
        for made in (0..self.count).step_by(call.max(1)) {
            self.extend(call.min(self.count - made))?;
        }
        Ok(())
    }

    fn abandon(&mut self) {
        self.channel = None;
    }
}

/// Compares all OTs that two endpoints made last. For a test, `spoiled` makes one of them wrong.
pub(super) fn compare<S: Security>(
    a: &PartyThread<S>,
    b: &mut PartyThread<S>,
    spoiled: bool,
) -> Result<(), BoxError> {
    let OpenedEnd::Sender(sender) = &a.opened else { return Err("the first end is no sender".into()) };
    let (delta, count, sent, got) = (sender.delta(), a.held(), &a.buffers, &mut b.buffers);
    if let (true, Some(block)) = (spoiled, got.blocks.blocks_mut()[..count].last_mut()) {
        *block ^= Block::from_u128(1 << 77);
    }
    let chosen = |i: usize| got.choices[i / 8] >> (i % 8) & 1 == 1;
    let (mut wrong, mut ones) = (0usize, 0usize);
    for (i, t) in got.blocks.blocks()[..count].iter().enumerate() {
        let choice = if a.kind == OtKind::Rcot { t.lsb() } else { chosen(i) };
        let right = match a.kind {
            OtKind::Rcot | OtKind::Cot => {
                let q = sent.blocks.blocks()[i];
                !q.lsb() && t.lsb() == choice && *t == q ^ delta.and_bit(choice)
            }
            OtKind::Rot | OtKind::Ot => {
                let [zero, one] = pairs(&sent.pairs, count)[i];
                zero != one && *t == if choice { one } else { zero }
            }
        };
        wrong += usize::from(!right);
        ones += usize::from(choice);
    }
    if wrong > 0 {
        return Err(format!("{wrong} of {count} OTs are wrong, nothing is reported").into());
    }
    // Half of random bits are 1. From some hundreds of bits on, the share is never below a quarter.
    if count > 400 && !(count / 4..=count - count / 4).contains(&ones) {
        return Err(
            format!("{ones} of {count} choices are 1, which is not random; nothing is reported").into()
        );
    }
    Ok(())
}
